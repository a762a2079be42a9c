"""What is measured of regressions: functions of `Scored`, as scikit-learn defines them; NaN where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures.scored import Scored

NOTHING = float("nan")


def squared(scored: Scored) -> NDArray[np.float64]:
    """The squared error of every row."""
    return np.asarray((scored.predicted - scored.y) ** 2, dtype=np.float64)


def absolute(scored: Scored) -> NDArray[np.float64]:
    """The absolute error of every row."""
    return np.asarray(np.abs(scored.predicted - scored.y), dtype=np.float64)


def rmse(scored: Scored) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(squared(scored).mean()))


def r2(scored: Scored) -> float:
    """1 less the squared error as a share of the variance."""
    spread = float(np.var(scored.y))
    return 1 - float(squared(scored).mean()) / spread if spread > 0 else NOTHING


def explained_variance(scored: Scored) -> float:
    """1 less the variance of the errors as a share of the variance."""
    spread = float(np.var(scored.y))
    return 1 - float(np.var(scored.y - scored.predicted)) / spread if spread > 0 else NOTHING


def median_absolute(scored: Scored) -> float:
    """The median of the absolute errors."""
    return float(np.median(absolute(scored)))


def largest(scored: Scored) -> float:
    """The largest absolute error."""
    return float(absolute(scored).max())


def absolute_share(scored: Scored) -> float:
    """The mean absolute error as a share of the mean distance from the median, taken off 1 (D²)."""
    spread = float(np.abs(scored.y - np.median(scored.y)).mean())
    return 1 - float(absolute(scored).mean()) / spread if spread > 0 else NOTHING


def relative(scored: Scored) -> float:
    """The mean of absolute errors as shares of the truth; NaN where a truth is 0."""
    return float((absolute(scored) / np.abs(scored.y)).mean()) if (scored.y != 0).all() else NOTHING


def squared_logarithm(scored: Scored) -> float:
    """Root of the mean squared error of logarithms of 1 + value; NaN where something is negative."""
    if min(scored.y.min(), scored.predicted.min()) <= -1:
        return NOTHING
    return float(np.sqrt(np.mean((np.log1p(scored.predicted) - np.log1p(scored.y)) ** 2)))


def deviance(power: int) -> Callable[[Scored], float]:
    """Tweedie's deviance of a power, 1 for Poisson and 2 for gamma; NaN where it is not defined."""

    def of(scored: Scored) -> float:
        from sklearn.metrics import mean_tweedie_deviance

        least = 0 if power == 1 else np.finfo(float).tiny
        if scored.y.min() < least or scored.predicted.min() <= 0:
            return NOTHING
        return float(mean_tweedie_deviance(scored.y, scored.predicted, power=power))

    return of
