"""Voting of scikit-learn: models of different kinds, with or without weights. Members know class codes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from conjunto.voters.adapter import Adapter
from conjunto.voters.checking import columns_expected_by
from conjunto.voters.protocol import Unknown


class SklearnVoting(Adapter):
    """A vote, a mean of class shares (`voting="soft"`), or a mean of values."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        self.classes_ = getattr(fitted, "classes_", None)
        self.adds_scores = self.classes_ is not None and fitted.voting == "soft"
        # Models that were dropped before the fit have a name and a weight, but no place in `estimators_`.
        self._kept = [k for k, (_, model) in enumerate(fitted.estimators) if not _dropped(model)]

    def __len__(self) -> int:
        return len(self.fitted.estimators_)

    @property
    def knows_columns(self) -> Any:
        """A model that speaks for all of them; None where they do not agree."""
        return columns_expected_by(self.fitted.estimators_)

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        return self.fitted.estimators_[t].predict(rows)

    def _score(self, t: int, rows: Any) -> NDArray[np.float64]:
        return self.fitted.estimators_[t].predict_proba(rows)

    def _weights(self) -> NDArray[np.float64] | None:
        if self.fitted.weights is None:
            return None
        return np.asarray(self.fitted.weights, dtype=np.float64)[self._kept]

    def seen(self) -> Unknown:
        """Return why it is not known: voting leaves no row out."""
        return Unknown(f"{self.name} shows all rows to every member: nothing is out of bag")

    def take(self, voters: Any) -> Any:
        """Return an ensemble with these models, their names and weights, in this order."""
        chosen = self._chosen(voters)
        part = copy.copy(self.fitted)
        part.estimators = [self.fitted.estimators[self._kept[t]] for t in chosen]
        part.estimators_ = [self.fitted.estimators_[t] for t in chosen]
        names = [name for name, _ in part.estimators]
        part.named_estimators_ = Bunch(**dict(zip(names, part.estimators_, strict=True)))
        if self.fitted.weights is not None:
            part.weights = [self.fitted.weights[self._kept[t]] for t in chosen]
        return part


def _dropped(model: Any) -> bool:
    return isinstance(model, str) and model == "drop"
