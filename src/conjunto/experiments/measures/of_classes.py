"""What is measured of classifiers: functions of `Scored`, as scikit-learn defines them.

Averages over classes are over those of the rows, not also those that one method happens to predict. Of two classes the
rarer one of the data set is the positive one. A measure that cannot be taken is NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures.scored import Scored

NOTHING = float("nan")
# A vote share can be exactly 0, and its logarithm infinite: clipped, as scikit-learn does for doubles.
LEAST = np.finfo(float).eps
BINS = 10
"""Of the calibration error: bins of equal width."""


def wrong(scored: Scored) -> NDArray[np.float64]:
    """1 for every row that is put in a wrong class."""
    return (scored.predicted != scored.y).astype(np.float64)


def wrong_balanced(scored: Scored) -> NDArray[np.float64]:
    """What every row adds to the mean of the error rates of the classes."""
    _, codes, counts = np.unique(scored.y, return_inverse=True, return_counts=True)
    return wrong(scored) * len(codes) / (len(counts) * counts[codes])


def loss_of_truth(scored: Scored) -> NDArray[np.float64] | None:
    """-ln of the probability of the true class."""
    if scored.proba is None:
        return None
    return -np.log(np.clip(scored.proba[np.arange(len(scored.y)), scored.codes], LEAST, 1))


def squared_distance(scored: Scored) -> NDArray[np.float64] | None:
    """The squared distance of the probabilities from the truth; of two classes half of it, which is Brier's score."""
    if scored.proba is None:
        return None
    truth = np.zeros_like(scored.proba)
    truth[np.arange(len(scored.y)), scored.codes] = 1
    distance = ((scored.proba - truth) ** 2).sum(axis=1)
    return distance / 2 if scored.proba.shape[1] == 2 else distance


def geometric_mean(scored: Scored) -> float:
    """The geometric mean of the recalls of the classes."""
    right = scored.predicted == scored.y
    recalls = [right[scored.y == label].mean() for label in np.unique(scored.y)]
    return float(np.prod(recalls) ** (1 / len(recalls)))


def averaged(name: str, average: str) -> Callable[[Scored], float]:
    """A score of scikit-learn for one class, averaged over classes: "macro", or "weighted" by their frequency."""

    def score(scored: Scored) -> float:
        from sklearn import metrics

        labels = np.unique(scored.y)
        of = getattr(metrics, f"{name}_score")
        return float(of(scored.y, scored.predicted, labels=labels, average=average, zero_division=0))

    return score


def of_two(name: str) -> Callable[[Scored], float]:
    """A score of scikit-learn for the positive one of two classes; NaN where there are more."""

    def score(scored: Scored) -> float:
        if scored.classes is None or len(scored.classes) != 2:
            return NOTHING
        from sklearn import metrics

        positive = scored.classes[scored.positive]
        of = getattr(metrics, f"{name}_score")
        return float(of(scored.y == positive, scored.predicted == positive, zero_division=0))

    return score


def rate(*, positive: bool, among_predicted: bool) -> Callable[[Scored], float]:
    """Of two classes: the share of right answers among the rows of one, or among those predicted to be of it."""

    def share(scored: Scored) -> float:
        if scored.classes is None or len(scored.classes) != 2:
            return NOTHING
        label = scored.classes[scored.positive if positive else 1 - scored.positive]
        rows = (scored.predicted if among_predicted else scored.y) == label
        return float(np.mean(scored.predicted[rows] == scored.y[rows])) if rows.any() else NOTHING

    return share


def mcc(scored: Scored) -> float:
    """Matthews' correlation."""
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(scored.y, scored.predicted))


def kappa(scored: Scored) -> float:
    """Cohen's kappa; NaN where one class is all that there is and all that is said."""
    from sklearn.metrics import cohen_kappa_score

    if len(np.unique(np.concatenate([scored.y, scored.predicted]))) < 2:
        return NOTHING
    return float(cohen_kappa_score(scored.y, scored.predicted))


def auc(scored: Scored) -> float:
    """Area under the ROC curve; with several classes the mean over pairs of classes (Hand & Till 2001)."""
    if scored.proba is None:
        return NOTHING
    from scipy.stats import rankdata

    present = np.unique(scored.codes)
    if len(present) < 2:
        return NOTHING
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


def average_precision(scored: Scored) -> float:
    """Average precision of the positive one of two classes; of more, the mean over those of the rows."""
    if scored.proba is None:
        return NOTHING
    from sklearn.metrics import average_precision_score

    present = np.unique(scored.codes)
    asked = [scored.positive] if scored.proba.shape[1] == 2 else present
    if not set(asked) <= set(present):
        return NOTHING
    return float(np.mean([average_precision_score(scored.codes == one, scored.proba[:, one]) for one in asked]))


def calibration_error(scored: Scored) -> float:
    """Mean distance between what a model is sure of and how often it is right, in bins of how sure it is.

    Of two classes by the probability of the positive one; of more by that of the likeliest.
    """
    if scored.proba is None:
        return NOTHING
    sure, right = certainty(scored)
    bins = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    apart = np.bincount(bins, right, BINS) - np.bincount(bins, sure, BINS)
    return float(np.abs(apart).sum() / len(sure))


def certainty(scored: Scored) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How sure a model is of what it says of each row, and whether that is so."""
    proba = scored.proba
    assert proba is not None
    if proba.shape[1] == 2:
        return proba[:, scored.positive], (scored.codes == scored.positive).astype(np.float64)
    return proba.max(axis=1), (proba.argmax(axis=1) == scored.codes).astype(np.float64)


def within_two(scored: Scored) -> float:
    """The share of rows whose class is one of the two likeliest; ties go to the lowest class."""
    if scored.proba is None or scored.proba.shape[1] < 3:
        return NOTHING
    likeliest = np.argsort(-scored.proba, axis=1, kind="stable")[:, :2]
    return float((likeliest == scored.codes[:, None]).any(axis=1).mean())
