"""A list of fitted models of any kind: a plurality of labels, or a mean of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted

from conjunto.classes import Classes
from conjunto.voters.adapter import Adapter
from conjunto.voters.checking import columns_expected_by, one_answer
from conjunto.voters.protocol import Unknown


class ModelList(Adapter):
    """Models that were fitted apart from each other."""

    def __init__(self, fitted: Any) -> None:
        super().__init__(fitted)
        self._models = list(fitted)
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

    def take(self, voters: Any) -> list[Any]:
        """Return the list of these models, in this order."""
        return [self._models[t] for t in self._chosen(voters)]


def encode_answers(answers: Any, classes: NDArray[Any], who: str) -> NDArray[np.int32]:
    """The code of each label that a model predicts; refuses others, since a code of -1 would be an abstention."""
    return Classes(classes).encode(one_answer(answers, who), who=f"{who} predicts")


def classes_of(models: Sequence[Any]) -> NDArray[Any] | None:
    """The labels that any of the models knows; None where all are regressors."""
    if not are_classifiers(models):
        return None
    for t, model in enumerate(models):
        if isinstance(model.classes_, list) or np.ndim(model.classes_) != 1:
            raise TypeError(f"models[{t}] has several outputs, and models vote on one")
    labels = [np.asarray(model.classes_) for model in models]
    if len({each.dtype.kind in "OUST" for each in labels}) > 1:
        raise TypeError("a list of models must agree on the labels: some know text, others numbers")
    return np.unique(np.concatenate(labels))


def are_classifiers(models: Sequence[Any]) -> bool:
    """Whether fitted models are classifiers, and not regressors; refuses lists of neither or both."""
    if not len(models):
        raise ValueError("a list of models must hold at least one model")
    kinds = [_kind(t, model) for t, model in enumerate(models)]
    if len(set(kinds)) > 1:
        raise TypeError(
            f"a list of models holds classifiers or regressors, not both: models[{kinds.index('classifier')}] is a "
            f"classifier and models[{kinds.index('regressor')}] a regressor"
        )
    return kinds[0] == "classifier"


def _kind(t: int, model: Any) -> str:
    name = f"models[{t}], {(model if isinstance(model, type) else type(model)).__name__},"
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TypeError(f"{name} is no fitted model: it must be an object with predict")
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if hasattr(model, "classes_"):
        return "classifier"
    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        return "regressor"
    raise TypeError(
        f"{name} is known neither as a classifier nor as a regressor: give a classifier the attribute classes_ with "
        "its labels, and derive a regressor from sklearn.base.RegressorMixin and BaseEstimator"
    )
