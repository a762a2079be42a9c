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

from conjunto.pruning.adapters._adapter import Adapter, rows_seen

# What a part of a forest cannot take over: it is about all trees together.
OF_THE_WHOLE = ("oob_score_", "oob_decision_function_", "oob_prediction_")


class SklearnForest(Adapter):
    """A forest that averages the class shares, or the values, of its trees."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        refuse_outputs(fitted)
        self.classes = getattr(fitted, "classes_", None)
        self.soft = self.classes is not None

    def __len__(self) -> int:
        return len(self.fitted.estimators_)

    def _read(self, X: Any) -> Any:
        self._check_columns(X)
        # Whether NaN will do depends on the trees, which say so themselves.
        return check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=False, input_name="X")

    def _share(self, t: int, rows: Any) -> NDArray[np.float64]:
        return self.fitted.estimators_[t].predict_proba(rows)

    def _said(self, t: int, rows: Any) -> NDArray[Any]:
        return self.fitted.estimators_[t].predict(rows)

    def seen(self, n: int) -> NDArray[np.bool_]:
        """Return which of the n training rows each tree saw."""
        if not self.fitted.bootstrap:
            raise ValueError(
                f"{self._name} was fitted with bootstrap=False: every tree saw all rows, and nothing is out of bag"
            )
        samples = self.fitted.estimators_samples_
        if self.fitted.max_samples is None and len(samples[0]) != n:
            raise ValueError(
                f"{self._name} was fitted on {len(samples[0])} rows: out-of-bag rows need them, not {n} others"
            )
        return rows_seen(samples, n, self._name)

    def take(self, members: Any) -> Any:
        """Return a forest with these trees, in this order."""
        chosen = self._chosen(members)
        part = copy.copy(self.fitted)
        part.estimators_ = [self.fitted.estimators_[t] for t in chosen]
        part.n_estimators = len(chosen)
        for name in OF_THE_WHOLE:
            part.__dict__.pop(name, None)
        return part


def refuse_outputs(fitted: Any) -> None:
    """Refuse ensembles with several answers per row."""
    if getattr(fitted, "n_outputs_", 1) > 1 or isinstance(getattr(fitted, "classes_", None), list):
        raise TypeError(
            f"{type(fitted).__name__} has several outputs, and members vote on one: fit one ensemble per output"
        )
