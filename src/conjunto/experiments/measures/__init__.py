"""What is measured of a fitted model on test rows, or on those it was trained on: one literal table.

A measure is a function of `Scored`, or the mean of a loss of every row. Most ask for answers alone, so that they can be
taken later of what a store has kept; a few ask the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures import of_classes as classes
from conjunto.experiments.measures import of_models as models
from conjunto.experiments.measures import of_values as values
from conjunto.experiments.measures.scored import Scored as Scored  # what measures are functions of

Losses = Callable[[Scored], NDArray[np.float64] | None]


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
    asks_model: bool = False
    """Whether answers are not enough, so that it can only be taken while the model is there."""
    losses: Losses | None = None
    """What every row adds to the measure, for tests over rows; None where there is no such thing."""

    @property
    def of_answers(self) -> bool:
        """Whether it can be taken of what a model said about test rows."""
        return not self.asks_model and not self.training


def _mean(losses: Losses) -> Callable[[Scored], float]:
    """The measure that is the mean of a loss; NaN where there is none."""

    def mean(scored: Scored) -> float:
        found = losses(scored)
        return float("nan") if found is None else float(found.mean())

    return mean


def _loss(title: str, task: str, losses: Losses, **more: Any) -> Measure:
    return Measure(title, task, _mean(losses), losses=losses, **more)


def _score(title: str, of: Callable[[Scored], float], **more: Any) -> Measure:
    return Measure(title, "classification", of, True, **more)


MEASURES: dict[str, Measure] = {
    "error": _loss("error", "classification", classes.wrong, percent=True),
    "training-error": Measure(
        "error on the training rows", "classification", _mean(classes.wrong), percent=True, training=True
    ),
    "accuracy": _score("accuracy", lambda scored: 1 - float(classes.wrong(scored).mean()), percent=True),
    "balanced-error": _loss("balanced error", "classification", classes.wrong_balanced, percent=True),
    "balanced-accuracy": _score(
        "balanced accuracy", lambda scored: 1 - float(classes.wrong_balanced(scored).mean()), percent=True
    ),
    "geometric-mean": _score("geometric mean of recalls", classes.geometric_mean, percent=True, short="G-mean"),
    "f1": _score("macro F1", classes.averaged("f1", "macro")),
    "weighted-f1": _score("F1, weighted by class", classes.averaged("f1", "weighted")),
    "positive-f1": _score("F1 of the rarer class", classes.of_two("f1"), short="F1+"),
    "precision": _score("macro precision", classes.averaged("precision", "macro")),
    "weighted-precision": _score("precision, weighted by class", classes.averaged("precision", "weighted")),
    "recall": _score("macro recall", classes.averaged("recall", "macro")),
    "jaccard": _score("macro Jaccard index", classes.averaged("jaccard", "macro")),
    # Of two classes the rarer one counts as positive; of more, there is no number.
    "sensitivity": _score("sensitivity", classes.rate(positive=True, among_predicted=False), percent=True),
    "specificity": _score("specificity", classes.rate(positive=False, among_predicted=False), percent=True),
    "positive-predictive-value": _score(
        "positive predictive value", classes.rate(positive=True, among_predicted=True), percent=True, short="PPV"
    ),
    "negative-predictive-value": _score(
        "negative predictive value", classes.rate(positive=False, among_predicted=True), percent=True, short="NPV"
    ),
    "mcc": _score("Matthews correlation", classes.mcc, short="MCC"),
    "kappa": _score("Cohen's kappa", classes.kappa),
    "log-loss": _loss("log loss", "classification", classes.loss_of_truth, staged=False),
    "brier": _loss("Brier score", "classification", classes.squared_distance, staged=False, short="Brier"),
    "calibration-error": Measure(
        "calibration error", "classification", classes.calibration_error, staged=False, short="ECE"
    ),
    "auc": _score("area under the ROC curve", classes.auc, staged=False, short="AUC"),
    "average-precision": _score("average precision", classes.average_precision, staged=False, short="AP"),
    "top-2-accuracy": _score("right with two guesses", classes.within_two, percent=True, staged=False, short="top 2"),
    "members-worse-than-chance": Measure(
        "members worse than chance",
        "classification",
        models.members_worse_than_chance,
        percent=True,
        staged=False,
        asks_model=True,
    ),
    "mean-leaves": Measure(
        "mean number of leaves", "any", models.mean_leaves, staged=False, short="leaves", asks_model=True
    ),
    "ordering-seconds": Measure(
        "seconds to order the members", "any", models.ordering_seconds, staged=False, asks_model=True
    ),
    "rmse": Measure("root mean squared error", "regression", values.rmse, short="RMSE", losses=values.squared),
    "mse": _loss("mean squared error", "regression", values.squared, short="MSE"),
    "mae": _loss("mean absolute error", "regression", values.absolute, short="MAE"),
    "r2": Measure("R²", "regression", values.r2, True, losses=values.squared),
    "median-absolute-error": Measure("median absolute error", "regression", values.median_absolute, short="MedAE"),
    "max-error": Measure("largest error", "regression", values.largest),
    "mape": Measure("mean absolute error, relative", "regression", values.relative, percent=True, short="MAPE"),
    "rmsle": Measure("root mean squared error of logarithms", "regression", values.squared_logarithm, short="RMSLE"),
    "explained-variance": Measure("explained variance", "regression", values.explained_variance, True),
    "d2-absolute-error": Measure("D² of absolute errors", "regression", values.absolute_share, True, short="D²"),
    "poisson-deviance": Measure("Poisson deviance", "regression", values.deviance(1)),
    "gamma-deviance": Measure("gamma deviance", "regression", values.deviance(2)),
}

SKEWED = ("average-precision", "auc", "balanced-error", "error", "log-loss")
"""What is measured by default where one class is rare: to say "never" has a small error and is worth nothing."""


RARE = 0.1
"""A class with a smaller share of the rows is rare: whoever never says it is seldom wrong."""


def is_skewed(counts: NDArray[Any]) -> bool:
    """Whether the rarest class is rare; of many classes, where all shares are small, also by half of an even share."""
    least = float(np.min(counts) / np.sum(counts))
    return least < RARE and least < 0.5 / len(counts)


def default_measures(task: str) -> tuple[str, ...]:
    """What is measured when nothing is asked for; the first is the one that tables are sorted by."""
    return ("error", "balanced-error", "auc", "log-loss") if task == "classification" else ("rmse", "mae", "r2")
