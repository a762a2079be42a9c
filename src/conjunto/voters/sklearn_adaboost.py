"""AdaBoost of scikit-learn: a weighted plurality, or the weighted median of a regression. Members know the labels."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from conjunto.classes import Classes
from conjunto.voters.adapter import Adapter
from conjunto.voters.protocol import Unknown
from conjunto.voters.resampling import resamples, unknown_samples


class SklearnAdaBoost(Adapter):
    """Boosting by weights."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        self.classes_ = getattr(fitted, "classes_", None)
        if self.classes_ is None:
            self.rule = "weighted-median"

    def __len__(self) -> int:
        return len(self.fitted.estimators_)

    def _read(self, X: Any) -> Any:
        return check_array(X, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False, input_name="X")

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        answers = self.fitted.estimators_[t].predict(rows)
        return answers if self.classes_ is None else Classes(self.classes_).encode(answers, who=f"member {t} predicts")

    def _weights(self) -> NDArray[np.float64]:
        # Boosting that ends early leaves zeros for the members that it did not build.
        return np.asarray(self.fitted.estimator_weights_, dtype=np.float64)[: len(self)]

    def seen(self) -> Unknown:
        """Return why it is not known: boosting leaves no row out, or keeps no samples."""
        if resamples(self.fitted):
            return unknown_samples(self.name)
        if self.classes_ is None:
            return Unknown(
                f"{self.name} draws samples by weights that are not kept: what is out of bag cannot be known"
            )
        return Unknown(f"{self.name} shows all rows to every member, as boosting does: nothing is out of bag")

    def take(self, voters: Any) -> Any:
        """Return an ensemble with these members and their weights, in this order."""
        chosen = self._chosen(voters)
        part = copy.copy(self.fitted)
        part.estimators_ = [self.fitted.estimators_[t] for t in chosen]
        part.estimator_weights_ = self.fitted.estimator_weights_[chosen]
        part.estimator_errors_ = self.fitted.estimator_errors_[chosen]
        part.n_estimators = len(chosen)
        return part
