"""A list of fitted models of any kind: a plurality of labels, or a mean of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.voters.adapter import Adapter
from conjunto.voters.checking import columns_expected_by
from conjunto.voters.protocol import Unknown
from conjunto.voters.voting_models import ModelListClassifier, ModelListRegressor, classes_of, encode_answers


class ModelList(Adapter):
    """Models that were fitted apart from each other."""

    def __init__(self, fitted: Any) -> None:
        super().__init__(fitted)
        self._models = list(fitted if isinstance(fitted, Sequence) else fitted.estimators_)
        self.classes_ = classes_of(self._models)

    def __len__(self) -> int:
        return len(self._models)

    @property
    def name(self) -> str:
        """For messages."""
        return "a list of models"

    @property
    def knows_columns(self) -> Any:
        """A model that speaks for all of them; None where they do not agree."""
        return columns_expected_by(self._models)

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        answers = np.asarray(self._models[t].predict(rows))
        return answers if self.classes_ is None else encode_answers(answers, self.classes_, f"models[{t}]")

    def seen(self) -> Unknown:
        """Return why it is not known: a fitted model does not tell what it was fitted on."""
        return Unknown(
            "a list of models does not tell which rows each of them was fitted on: give rows that none of them saw"
        )

    def take(self, voters: Any) -> ModelListClassifier | ModelListRegressor:
        """Return an estimator of these models, in this order."""
        models = [self._models[t] for t in self._chosen(voters)]
        if self.classes_ is None:
            return ModelListRegressor.of_fitted(models)
        # Classes that only the models left out knew stay known: labels keep their codes.
        return ModelListClassifier.of_fitted(models, self.classes_)
