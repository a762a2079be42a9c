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

from conjunto.pruning.adapters._adapter import Adapter, rows_seen
from conjunto.pruning.adapters.sklearn_forest import OF_THE_WHOLE, refuse_outputs


class SklearnBagging(Adapter):
    """Bagging of any learner."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        refuse_outputs(fitted)
        self.classes = getattr(fitted, "classes_", None)
        self.soft = self.classes is not None and any(hasattr(model, "predict_proba") for model in fitted.estimators_)

    def __len__(self) -> int:
        return len(self.fitted.estimators_)

    def _read(self, X: Any) -> Any:
        self._check_columns(X)
        return check_array(X, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False, input_name="X")

    def _said(self, t: int, rows: Any) -> NDArray[Any]:
        return self.fitted.estimators_[t].predict(rows[:, self.fitted.estimators_features_[t]])

    def _share(self, t: int, rows: Any) -> NDArray[np.float64]:
        assert self.classes is not None
        model = self.fitted.estimators_[t]
        share = np.zeros((rows.shape[0], len(self.classes)))
        if hasattr(model, "predict_proba"):
            # A member whose sample missed a class has no column for it.
            share[:, model.classes_] = model.predict_proba(rows[:, self.fitted.estimators_features_[t]])
        else:
            share[np.arange(len(share)), self._said(t, rows)] = 1.0
        return share

    def seen(self, n: int) -> NDArray[np.bool_]:
        """Return which of the n training rows each member saw."""
        samples = self.fitted.estimators_samples_
        if len(samples) != len(self):
            raise ValueError(
                f"{self._name} does not know the samples of members from before a warm start: nothing can be said "
                "about what is out of bag"
            )
        seen = rows_seen(samples, n, self._name)
        if seen.all():
            raise ValueError(f"{self._name} showed all rows to every member (bootstrap=False): nothing is out of bag")
        return seen

    def take(self, members: Any) -> Any:
        """Return an ensemble with these members, in this order."""
        chosen = self._chosen(members)
        part = copy.copy(self.fitted)
        part.estimators_ = [self.fitted.estimators_[t] for t in chosen]
        part.estimators_features_ = [self.fitted.estimators_features_[t] for t in chosen]
        part.n_estimators = len(chosen)
        # From the seeds of the members, which have no public name, scikit-learn draws estimators_samples_ again.
        seeds = getattr(self.fitted, "_seeds", None)
        if seeds is not None and len(seeds) == len(self):
            part._seeds = np.asarray(seeds)[chosen]
        for name in OF_THE_WHOLE:
            part.__dict__.pop(name, None)
        return part
