"""A list of fitted models of any kind: a plurality of labels, or a mean of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.pruning._labels import codes_of
from conjunto.pruning.adapters._adapter import Adapter, columns_expected_by
from conjunto.pruning.model_list import ModelListClassifier, ModelListRegressor, classes_of


class ModelList(Adapter):
    """Models that were fitted apart from each other."""

    def __init__(self, fitted: Any) -> None:
        super().__init__(fitted)
        self._models = list(fitted if isinstance(fitted, Sequence) else fitted.estimators_)
        self.classes = classes_of(self._models)

    def __len__(self) -> int:
        return len(self._models)

    @property
    def _name(self) -> str:
        return "a list of models"

    @property
    def _of_columns(self) -> Any:
        return columns_expected_by(self._models)

    def _read(self, X: Any) -> Any:
        self._check_columns(X)
        return X

    def _said(self, t: int, rows: Any) -> NDArray[Any]:
        said = np.asarray(self._models[t].predict(rows))
        return said if self.classes is None else codes_of(said, self.classes, f"models[{t}]")

    def seen(self, n: int) -> NDArray[np.bool_]:
        """Refuse: a fitted model does not tell what it was fitted on."""
        raise ValueError(
            "a list of models does not tell which rows each of them was fitted on: give rows that none of them saw"
        )

    def take(self, members: Any) -> ModelListClassifier | ModelListRegressor:
        """Return an estimator of these models, in this order."""
        models = [self._models[t] for t in self._chosen(members)]
        if self.classes is None:
            return ModelListRegressor.of_fitted(models)
        # Classes that only the models left out knew stay known: labels keep their codes.
        return ModelListClassifier.of_fitted(models, self.classes)
