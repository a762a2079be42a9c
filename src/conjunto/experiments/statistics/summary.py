"""Repeated measurements of one thing: their mean and how far to trust it, `sd / sqrt(n)`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from conjunto.experiments.statistics._arrays import as_numbers


@dataclass(frozen=True)
class MeanAndError:
    """A mean and how far it may be off.

    Parameters
    ----------
    mean : float
        The mean.
    sd : float
        The standard deviation of the values, n - 1 in the denominator; NaN if n = 1.
    error : float
        The standard error of the mean, sd / sqrt(n); NaN if n = 1.
    n : int
        The number of values.
    """

    mean: float
    sd: float
    error: float
    n: int


def mean_and_error(values: ArrayLike) -> MeanAndError:
    """Return mean m, `sd = sqrt(sum((x - m)^2) / (n - 1))` and standard error `sd / sqrt(n)`.

    The standard error is that of independent values; over repeated partitions of one data set it is too small, see
    `corrected_resampled_t`.

    Parameters
    ----------
    values : array-like of shape (n,)
        At least one number; NaN is refused.

    Returns
    -------
    MeanAndError

    References
    ----------
    Student, The probable error of a mean, Biometrika 6 (1908) 1-25.

    Examples
    --------
    >>> from conjunto.experiments.statistics import mean_and_error
    >>> mean_and_error([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).mean
    5.0
    """
    numbers = as_numbers("values", values, 1)
    n = len(numbers)
    if n == 0:
        raise ValueError("values is empty")
    sd = float(numbers.std(ddof=1)) if n > 1 else math.nan
    return MeanAndError(float(numbers.mean()), sd, sd / math.sqrt(n), n)
