"""What is measured of a fitted model on test rows, or on those it was trained on: one literal table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes


@dataclass(frozen=True, eq=False)
class Scored:
    """A fitted model on rows with known answers; everything a measure may ask for, computed when asked."""

    model: Any
    X: Any
    """The rows as the model takes them: what `rows_for` returns."""
    y: NDArray[Any]
    predicted: NDArray[Any]
    classes: NDArray[Any] | None = None
    """All classes of the data set: the training rows may have missed some."""

    @staticmethod
    def of(model: Any, X: Any, y: NDArray[Any], classes: NDArray[Any] | None) -> Scored:
        """The model on these rows, which it reads once for all that is asked of it."""
        rows = rows_for(model, X)
        return Scored(model, rows, y, one_per_row(model.predict(rows)), classes)

    @cached_property
    def proba(self) -> NDArray[np.float64] | None:
        """(n, K) over all classes; None where the model gives no probabilities."""
        if self.classes is None or not hasattr(self.model, "predict_proba"):
            return None
        known = self.model.predict_proba(self.X)
        proba = np.zeros((len(known), len(self.classes)))
        proba[:, Classes(self.classes).places(self.model.classes_, type(self.model).__name__)] = known
        return proba

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The true classes as codes."""
        assert self.classes is not None
        return Classes(self.classes).encode(self.y).astype(np.intp)


@dataclass(frozen=True)
class Measure:
    """A measure: its title, how it is computed, and how its values are read."""

    title: str
    task: str
    """"classification", "regression" or "any"."""
    of: Callable[[Scored], float]
    greater_is_better: bool = False
    percent: bool = False
    staged: bool = True
    """Whether predictions are enough, so that a prefix of an ensemble can be measured."""
    training: bool = False
    """Whether it is taken on the training rows in place of the test rows."""
    short: str = ""
    """The title where the full one is too long, as at the head of a column."""


def rows_for(model: Any, X: Any) -> Any:
    """X as the model reads it, checked and encoded once for many questions; X itself where the model cannot read."""
    return model.read(X) if callable(getattr(model, "read", None)) else X


def one_per_row(predicted: Any) -> NDArray[Any]:
    """One answer per row: some libraries give a column, which would be compared with every row."""
    return np.asarray(predicted).ravel()


def _error(scored: Scored) -> float:
    return float(np.mean(scored.predicted != scored.y))


def _balanced_error(scored: Scored) -> float:
    wrong = scored.predicted != scored.y
    return float(np.mean([wrong[scored.y == label].mean() for label in np.unique(scored.y)]))


def _geometric_mean(scored: Scored) -> float:
    right = scored.predicted == scored.y
    recalls = [right[scored.y == label].mean() for label in np.unique(scored.y)]
    return float(np.prod(recalls) ** (1 / len(recalls)))


def _macro_f1(scored: Scored) -> float:
    from sklearn.metrics import f1_score

    labels = np.unique(scored.y)  # the classes of the rows, not also those that one method happens to predict
    return float(f1_score(scored.y, scored.predicted, labels=labels, average="macro", zero_division=0))


def _weighted_f1(scored: Scored) -> float:
    from sklearn.metrics import f1_score

    labels = np.unique(scored.y)
    return float(f1_score(scored.y, scored.predicted, labels=labels, average="weighted", zero_division=0))


def _precision(average: str) -> Callable[[Scored], float]:
    """A mean over the classes of the rows: "macro" or "weighted" by their frequency."""

    def precision(scored: Scored) -> float:
        from sklearn.metrics import precision_score

        labels = np.unique(scored.y)
        return float(precision_score(scored.y, scored.predicted, labels=labels, average=average, zero_division=0))

    return precision


def _rate(place: int, *, among_predicted: bool) -> Callable[[Scored], float]:
    """Of two classes: the share of right answers among the rows of one, or among those predicted to be of it."""

    def rate(scored: Scored) -> float:
        if scored.classes is None or len(scored.classes) != 2:
            return float("nan")
        rows = (scored.predicted if among_predicted else scored.y) == scored.classes[place]
        return float(np.mean(scored.predicted[rows] == scored.y[rows])) if rows.any() else float("nan")

    return rate


def _mcc(scored: Scored) -> float:
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(scored.y, scored.predicted))


def _log_loss(scored: Scored) -> float:
    if scored.proba is None:
        return float("nan")
    # A vote share can be exactly 0, and its logarithm infinite: clipped, as scikit-learn does for doubles.
    of_truth = scored.proba[np.arange(len(scored.y)), scored.codes]
    return float(-np.log(np.clip(of_truth, np.finfo(float).eps, 1)).mean())


def _auc(scored: Scored) -> float:
    """Area under the ROC curve; with several classes the mean over pairs of classes (Hand & Till 2001)."""
    if scored.proba is None:
        return float("nan")
    from scipy.stats import rankdata

    present = np.unique(scored.codes)
    if len(present) < 2:
        return float("nan")
    areas = []
    for place, a in enumerate(present):
        for b in present[place + 1 :]:
            rows = (scored.codes == a) | (scored.codes == b)
            for one in (a, b):
                first = scored.codes[rows] == one
                ranks = rankdata(scored.proba[rows, one])
                wins = ranks[first].sum() - first.sum() * (first.sum() + 1) / 2
                areas.append(wins / (first.sum() * (~first).sum()))
    return float(np.mean(areas))


def _members_worse_than_chance(scored: Scored) -> float:
    """Share of members whose own error exceeds (K - 1) / K (thesis, cuadro 4.5)."""
    if not hasattr(scored.model, "votes") or scored.classes is None:
        return float("nan")
    labels = scored.model.votes(scored.X).labels
    if labels is None:
        return float("nan")
    votes = scored.model.classes_[labels]
    return float(np.mean((votes != scored.y).mean(axis=1) > 1 - 1 / len(scored.classes)))


def _mean_leaves(scored: Scored) -> float:
    """Mean number of leaves of the member trees."""
    trees = getattr(scored.model, "estimators_", [scored.model])
    trees = trees.ravel() if isinstance(trees, np.ndarray) else trees
    if not all(hasattr(tree, "get_n_leaves") for tree in trees):
        return float("nan")
    return float(np.mean([tree.get_n_leaves() for tree in trees]))


def _ordering_seconds(scored: Scored) -> float:
    """The time that ordering the members took; NaN for models that do not keep it."""
    return float(getattr(scored.model, "ordering_seconds_", np.nan))


def _mse(scored: Scored) -> float:
    return float(np.mean((scored.predicted - scored.y) ** 2))


def _rmse(scored: Scored) -> float:
    return float(np.sqrt(_mse(scored)))


def _mae(scored: Scored) -> float:
    return float(np.mean(np.abs(scored.predicted - scored.y)))


def _r2(scored: Scored) -> float:
    spread = float(np.var(scored.y))
    return 1 - _mse(scored) / spread if spread > 0 else float("nan")


MEASURES: dict[str, Measure] = {
    "error": Measure("error", "classification", _error, percent=True),
    "training-error": Measure("error on the training rows", "classification", _error, percent=True, training=True),
    "balanced-error": Measure("balanced error", "classification", _balanced_error, percent=True),
    "geometric-mean": Measure(
        "geometric mean of recalls", "classification", _geometric_mean, True, percent=True, short="G-mean"
    ),
    "f1": Measure("macro F1", "classification", _macro_f1, True),
    "weighted-f1": Measure("F1, weighted by class", "classification", _weighted_f1, True),
    "precision": Measure("macro precision", "classification", _precision("macro"), True),
    "weighted-precision": Measure("precision, weighted by class", "classification", _precision("weighted"), True),
    # Of two classes the last in order counts as positive, as in scikit-learn; of more, there is no number.
    "sensitivity": Measure("sensitivity", "classification", _rate(1, among_predicted=False), True, percent=True),
    "specificity": Measure("specificity", "classification", _rate(0, among_predicted=False), True, percent=True),
    "positive-predictive-value": Measure(
        "positive predictive value",
        "classification",
        _rate(1, among_predicted=True),
        True,
        percent=True,
        short="PPV",
    ),
    "negative-predictive-value": Measure(
        "negative predictive value",
        "classification",
        _rate(0, among_predicted=True),
        True,
        percent=True,
        short="NPV",
    ),
    "mcc": Measure("Matthews correlation", "classification", _mcc, True, short="MCC"),
    "log-loss": Measure("log loss", "classification", _log_loss, staged=False),
    "auc": Measure("area under the ROC curve", "classification", _auc, True, staged=False, short="AUC"),
    "members-worse-than-chance": Measure(
        "members worse than chance", "classification", _members_worse_than_chance, percent=True, staged=False
    ),
    "mean-leaves": Measure("mean number of leaves", "any", _mean_leaves, staged=False, short="leaves"),
    "ordering-seconds": Measure("seconds to order the members", "any", _ordering_seconds, staged=False),
    "rmse": Measure("root mean squared error", "regression", _rmse, short="RMSE"),
    "mse": Measure("mean squared error", "regression", _mse, short="MSE"),
    "mae": Measure("mean absolute error", "regression", _mae, short="MAE"),
    "r2": Measure("R²", "regression", _r2, True),
}


def default_measures(task: str) -> tuple[str, ...]:
    """What is measured when nothing is asked for; the first is the one that tables are sorted by."""
    return ("error", "balanced-error", "auc", "log-loss") if task == "classification" else ("rmse", "mae", "r2")
