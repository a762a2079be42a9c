"""What is measured of a fitted model on test rows, or on those it was trained on: one literal table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Judged:
    """A fitted model on rows with known answers; everything a measure may ask for, computed when asked."""

    model: Any
    X: Any
    y: NDArray[Any]
    predicted: NDArray[Any]
    classes: NDArray[Any] | None = None
    """All classes of the data set: the training rows may have missed some."""

    @cached_property
    def proba(self) -> NDArray[np.float64] | None:
        """(n, K) over all classes; None where the model gives no probabilities."""
        if self.classes is None or not hasattr(self.model, "predict_proba"):
            return None
        known = self.model.predict_proba(self.X)
        proba = np.zeros((len(known), len(self.classes)))
        proba[:, np.searchsorted(self.classes, self.model.classes_)] = known
        return proba

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Class codes of the truth."""
        assert self.classes is not None
        return np.searchsorted(self.classes, self.y)


@dataclass(frozen=True)
class Measure:
    """A measure: how it is called and read."""

    title: str
    task: str
    of: Callable[[Judged], float]
    greater_is_better: bool = False
    percent: bool = False
    staged: bool = True
    """Whether predictions are enough, so that a prefix of an ensemble can be measured."""
    training: bool = False
    """Whether it is taken on the training rows in place of the test rows."""


def _error(judged: Judged) -> float:
    return float(np.mean(judged.predicted != judged.y))


def _balanced_error(judged: Judged) -> float:
    wrong = judged.predicted != judged.y
    return float(np.mean([wrong[judged.y == label].mean() for label in np.unique(judged.y)]))


def _geometric_mean(judged: Judged) -> float:
    right = judged.predicted == judged.y
    recalls = [right[judged.y == label].mean() for label in np.unique(judged.y)]
    return float(np.prod(recalls) ** (1 / len(recalls)))


def _macro_f1(judged: Judged) -> float:
    from sklearn.metrics import f1_score

    labels = np.unique(judged.y)  # the classes of the rows, not also those that one method happens to predict
    return float(f1_score(judged.y, judged.predicted, labels=labels, average="macro", zero_division=0))


def _mcc(judged: Judged) -> float:
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(judged.y, judged.predicted))


def _log_loss(judged: Judged) -> float:
    if judged.proba is None:
        return float("nan")
    # A vote share can be exactly 0; as scikit-learn does for doubles, nobody is infinitely sure.
    said = judged.proba[np.arange(len(judged.y)), judged.codes]
    return float(-np.log(np.clip(said, np.finfo(float).eps, 1)).mean())


def _auc(judged: Judged) -> float:
    """Area under the ROC curve; with several classes the mean over pairs of classes (Hand & Till 2001)."""
    if judged.proba is None:
        return float("nan")
    from scipy.stats import rankdata

    present = np.unique(judged.codes)
    if len(present) < 2:
        return float("nan")
    areas = []
    for place, a in enumerate(present):
        for b in present[place + 1 :]:
            rows = (judged.codes == a) | (judged.codes == b)
            for one in (a, b):
                first = judged.codes[rows] == one
                ranks = rankdata(judged.proba[rows, one])
                wins = ranks[first].sum() - first.sum() * (first.sum() + 1) / 2
                areas.append(wins / (first.sum() * (~first).sum()))
    return float(np.mean(areas))


def _members_worse_than_chance(judged: Judged) -> float:
    """Share of members whose own error exceeds (K - 1) / K (thesis, cuadro 4.5)."""
    if not hasattr(judged.model, "votes") or judged.classes is None:
        return float("nan")
    labels = judged.model.votes(judged.X).labels
    if labels is None:
        return float("nan")
    said = judged.model.classes_[labels]
    return float(np.mean((said != judged.y).mean(axis=1) > 1 - 1 / len(judged.classes)))


def _mean_leaves(judged: Judged) -> float:
    """Mean number of leaves of the member trees."""
    trees = getattr(judged.model, "estimators_", [judged.model])
    trees = trees.ravel() if isinstance(trees, np.ndarray) else trees
    if not all(hasattr(tree, "get_n_leaves") for tree in trees):
        return float("nan")
    return float(np.mean([tree.get_n_leaves() for tree in trees]))


def _ordering_seconds(judged: Judged) -> float:
    """What ordering the members took, of models that say so."""
    return float(getattr(judged.model, "ordering_seconds_", np.nan))


def _mse(judged: Judged) -> float:
    return float(np.mean((judged.predicted - judged.y) ** 2))


def _rmse(judged: Judged) -> float:
    return float(np.sqrt(_mse(judged)))


def _mae(judged: Judged) -> float:
    return float(np.mean(np.abs(judged.predicted - judged.y)))


def _r2(judged: Judged) -> float:
    spread = float(np.var(judged.y))
    return 1 - _mse(judged) / spread if spread > 0 else float("nan")


MEASURES: dict[str, Measure] = {
    "error": Measure("error", "classification", _error, percent=True),
    "training-error": Measure("error on the training rows", "classification", _error, percent=True, training=True),
    "balanced-error": Measure("balanced error", "classification", _balanced_error, percent=True),
    "geometric-mean": Measure("geometric mean of recalls", "classification", _geometric_mean, True, percent=True),
    "f1": Measure("macro F1", "classification", _macro_f1, True),
    "mcc": Measure("Matthews correlation", "classification", _mcc, True),
    "log-loss": Measure("log loss", "classification", _log_loss, staged=False),
    "auc": Measure("area under the ROC curve", "classification", _auc, True, staged=False),
    "members-worse-than-chance": Measure(
        "members worse than chance", "classification", _members_worse_than_chance, percent=True, staged=False
    ),
    "mean-leaves": Measure("mean number of leaves", "any", _mean_leaves, staged=False),
    "ordering-seconds": Measure("seconds to order the members", "any", _ordering_seconds, staged=False),
    "rmse": Measure("root mean squared error", "regression", _rmse),
    "mse": Measure("mean squared error", "regression", _mse),
    "mae": Measure("mean absolute error", "regression", _mae),
    "r2": Measure("R²", "regression", _r2, True),
}


def default_measures(task: str) -> tuple[str, ...]:
    """What is measured when nothing is asked for; the first is the one that tables are sorted by."""
    return ("error", "balanced-error", "auc", "log-loss") if task == "classification" else ("rmse", "mae", "r2")
