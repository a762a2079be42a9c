"""Random forests and extremely randomized trees of scikit-learn.

Their trees know class codes, not labels, and take what the forest makes of X: an array of 32-bit floats.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from conjunto.voters.adapter import Adapter
from conjunto.voters.protocol import Seen, Unknown
from conjunto.voters.resampling import resamples, unknown_samples
from conjunto.voters.sklearn_trees import unlearned

# What a part of a forest cannot take over: it is about all trees together.
ABOUT_ALL = ("oob_score_", "oob_decision_function_", "oob_prediction_")


class SklearnForest(Adapter):
    """A forest that averages the class shares, or the values, of its trees."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        self.n_outputs_ = fitted.n_outputs_
        self.classes_ = getattr(fitted, "classes_", None)
        self.adds_scores = self.classes_ is not None

    def __len__(self) -> int:
        return len(self.fitted.estimators_)

    def _read(self, X: Any) -> Any:
        # Whether NaN will do depends on the trees, which say so themselves.
        return check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=False, input_name="X")

    def _score(self, t: int, rows: Any) -> Any:
        return self.fitted.estimators_[t].predict_proba(rows)

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        return self.fitted.estimators_[t].predict(rows)

    def seen(self) -> Seen | Unknown:
        """Return which training rows each tree saw."""
        if resamples(self.fitted):
            return unknown_samples(self.name)
        if not self.fitted.bootstrap:
            return Unknown(
                f"{self.name} was fitted with bootstrap=False: every tree saw all rows, and nothing is out of bag"
            )
        # A subclass that draws samples in a way of its own may not have what the property needs.
        samples = getattr(self.fitted, "estimators_samples_", None)
        if samples is None:
            return super().seen()
        return Seen(
            self.name,
            samples=samples,
            n=len(samples[0]) if self.fitted.max_samples is None else None,
            refutes=self._refutes,
        )

    def _refutes(self, rows: Any, truth: NDArray[Any] | None) -> bool:
        trees = list(zip(self.fitted.estimators_, self.fitted.estimators_samples_, strict=True))
        return truth is not None and unlearned(trees, lambda _: rows.rows, truth, self.classes_ is not None)

    def take(self, voters: Any) -> Any:
        """Return a forest with these trees, in this order."""
        chosen = self._chosen(voters)
        part = copy.copy(self.fitted)
        part.estimators_ = [self.fitted.estimators_[t] for t in chosen]
        part.n_estimators = len(chosen)
        for name in ABOUT_ALL:
            part.__dict__.pop(name, None)
        return part
