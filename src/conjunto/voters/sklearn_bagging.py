"""Bagging of scikit-learn: members on samples of the rows and subsets of the columns.

Members know class codes, and those only of the classes in their sample. Where a member has `predict_proba`, its class
shares are added up, else its vote.
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
from conjunto.voters.sklearn_forest import ABOUT_ALL
from conjunto.voters.sklearn_trees import unlearned


class SklearnBagging(Adapter):
    """Bagging of any learner."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        self.n_outputs_ = int(getattr(fitted.estimators_[0], "n_outputs_", 1))
        self.classes_ = getattr(fitted, "classes_", None)
        has_shares = any(hasattr(model, "predict_proba") for model in fitted.estimators_)
        self.adds_scores = self.classes_ is not None and has_shares

    def __len__(self) -> int:
        return len(self.fitted.estimators_)

    def _read(self, X: Any) -> Any:
        return check_array(X, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False, input_name="X")

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        return self.fitted.estimators_[t].predict(rows[:, self.fitted.estimators_features_[t]])

    def _score(self, t: int, rows: Any) -> NDArray[np.float64]:
        assert self.classes_ is not None
        model = self.fitted.estimators_[t]
        share = np.zeros((rows.shape[0], len(self.classes_)))
        if hasattr(model, "predict_proba"):
            # A member whose sample missed a class has no column for it.
            share[:, model.classes_] = model.predict_proba(rows[:, self.fitted.estimators_features_[t]])
        else:
            share[np.arange(len(share)), self._predicted(t, rows)] = 1.0
        return share

    def seen(self) -> Seen | Unknown:
        """Return which training rows each member saw."""
        samples = self.fitted.estimators_samples_
        if len(samples) != len(self):
            return Unknown(
                f"{self.name} does not know the samples of members from before a warm start: nothing can be said "
                "about what is out of bag"
            )
        if not self.fitted.bootstrap and all(len(rows) == int(rows.max()) + 1 for rows in samples):
            if resamples(self.fitted):
                return unknown_samples(self.name)
            return Unknown(f"{self.name} showed all rows to every member (bootstrap=False): nothing is out of bag")
        return Seen(self.name, samples=samples, refutes=self._refutes)

    def _refutes(self, rows: Any, truth: NDArray[Any] | None) -> bool:
        trees = list(zip(self.fitted.estimators_, self.fitted.estimators_samples_, strict=True))
        columns = self.fitted.estimators_features_
        return truth is not None and unlearned(
            trees, lambda t: rows.rows[:, columns[t]], truth, self.classes_ is not None
        )

    def take(self, voters: Any) -> Any:
        """Return an ensemble with these members, in this order."""
        chosen = self._chosen(voters)
        part = copy.copy(self.fitted)
        part.estimators_ = [self.fitted.estimators_[t] for t in chosen]
        part.estimators_features_ = [self.fitted.estimators_features_[t] for t in chosen]
        part.n_estimators = len(chosen)
        # From the seeds of the members, which have no public name, scikit-learn draws estimators_samples_ again.
        seeds = getattr(self.fitted, "_seeds", None)
        if seeds is not None and len(seeds) == len(self):
            part._seeds = np.asarray(seeds)[chosen]
        for name in ABOUT_ALL:
            part.__dict__.pop(name, None)
        return part
