"""Two methods measured in the same circumstances: is the mean of the differences zero?

With differences d_1 … d_n of mean m and standard deviation s (n - 1 in the denominator), all t-tests are
`t = m / (s sqrt(c))` on n - 1 degrees of freedom: c = 1/n for independent measurements, c = 1/n + n_test/n_train for
measurements on training sets that overlap. Wilcoxon's test looks at the ranks of |d| instead. scipy's versions of the
first and the last are not called: ties, equal differences and the switch to a normal approximation differ there from
release to release, and warn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr
from scipy.stats import rankdata

from conjunto.checks import check_choice, check_number
from conjunto.experiments.statistics._arrays import as_pair, rounding

# Up to this many differences other than zero, the distribution of the rank sum is counted out.
EXACT = 50


@dataclass(frozen=True)
class PairedTest:
    """What a two-tailed test says of paired measurements.

    Parameters
    ----------
    statistic : float
        Student's t, or the smaller of Wilcoxon's two rank sums.
    p_value : float
        The probability, if there were no difference, of a statistic at least as extreme; NaN if n < 2.
    mean_difference : float
        The mean of a - b. Where smaller is better, a negative one speaks for a; NaN if n = 0.
    n : int
        The number of pairs.
    degenerate : bool
        The differences leave nothing to test (n < 2, all zero, or for t-tests all the same), and `p_value` is a
        convention.
    """

    statistic: float
    p_value: float
    mean_difference: float
    n: int
    degenerate: bool = False


def paired_t(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """Student's paired t-test, two-tailed: `t = m / (s / sqrt(n))`, n - 1 degrees of freedom.

    The measurements are taken to be independent. Those of repeated partitions of one data set are not: the test then
    finds differences too easily, and `corrected_resampled_t` is the one to use.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Measurements of two methods; a[i] and b[i] belong together.

    Returns
    -------
    PairedTest
        With n < 2, p is NaN. Differences that are all zero have t = 0 and p = 1; differences that are all the same
        but not zero have t = ±inf and p = 0.

    References
    ----------
    Student, The probable error of a mean, Biometrika 6 (1908) 1-25.

    Examples
    --------
    >>> from conjunto.experiments.statistics import paired_t
    >>> test = paired_t([0.10, 0.12, 0.11, 0.14], [0.12, 0.13, 0.14, 0.16])
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (-4.899, 0.0163)
    """
    return _student(*as_pair(a, b), 0.0)


def corrected_resampled_t(a: ArrayLike, b: ArrayLike, *, test_to_train: float) -> PairedTest:
    """The t-test for repeated partitions of one data set: `t = m / (s sqrt(1/J + n_test/n_train))`, J - 1 degrees.

    The training sets of J partitions share most of their examples, so J measurements are worth less than J
    independent ones; the second term stands for what they share.

    Parameters
    ----------
    a, b : array-like of shape (J,)
        Measurements of two methods on the same J partitions.
    test_to_train : float
        n_test / n_train of one partition: 1/9 for (repeated) 10-fold cross-validation, 1/2 if a third is held out.
        With 0 this is `paired_t`.

    Returns
    -------
    PairedTest
        Conventions for n < 2 and for differences that are all the same as in `paired_t`.

    References
    ----------
    Nadeau & Bengio, Inference for the generalization error, Machine Learning 52 (2003) 239-281.
    Bouckaert & Frank, Evaluating the replicability of significance tests for comparing learning algorithms,
    PAKDD 2004, LNAI 3056, 3-12.

    Examples
    --------
    >>> from conjunto.experiments.statistics import corrected_resampled_t
    >>> test = corrected_resampled_t([0.10, 0.12, 0.11, 0.14], [0.12, 0.13, 0.14, 0.16], test_to_train=1 / 2)
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (-2.828, 0.0663)
    """
    share = check_number("test_to_train", test_to_train, 0.0, math.inf, open_high=True)
    return _student(*as_pair(a, b), share)


def _student(a: NDArray[np.float64], b: NDArray[np.float64], correlation: float) -> PairedTest:
    n, differences = len(a), a - b
    if n < 2:
        return _too_few(differences)
    mean = float(differences.mean())
    noise = rounding(a, b).max()
    if np.abs(differences).max() <= noise:
        return PairedTest(0.0, 1.0, mean, n, degenerate=True)
    if np.ptp(differences) <= noise:
        return PairedTest(math.copysign(math.inf, mean), 0.0, mean, n, degenerate=True)
    statistic = mean / (float(differences.std(ddof=1)) * math.sqrt(1 / n + correlation))
    return PairedTest(statistic, float(2 * stdtr(n - 1, -abs(statistic))), mean, n)


def wilcoxon(a: ArrayLike, b: ArrayLike, *, zero_method: str = "wilcox") -> PairedTest:
    """Wilcoxon's signed-rank test, two-tailed: `T = min(R+, R-)`, the rank sums of positive and negative differences.

    The differences are ranked by size, equal ones sharing their mean rank; differences that differ by no more than
    rounding count as equal. If there is no difference, every rank is as likely to be in R+ as in R-: the distribution
    of R+ is counted out for up to 50 differences other than zero, ties or not, and normal beyond, with mean
    `sum(r) / 2` and variance `sum(r^2) / 4` (no correction for continuity).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Measurements of two methods, usually their means on n data sets; a[i] and b[i] belong together.
    zero_method : {"wilcox", "zsplit"}, default="wilcox"
        Differences of zero: "wilcox" drops them before ranking; "zsplit" ranks them with the others and gives half of
        their ranks to each sum, as Demsar recommends. Whichever way, p is the probability given which of them are
        zero.

    Returns
    -------
    PairedTest
        With n < 2, p is NaN. Differences that are all zero have p = 1.

    References
    ----------
    Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945) 80-83.
    Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1-30.

    Examples
    --------
    >>> from conjunto.experiments.statistics import wilcoxon
    >>> test = wilcoxon([0.10, 0.12, 0.11, 0.14, 0.20], [0.12, 0.13, 0.14, 0.18, 0.19])
    >>> test.statistic, test.p_value
    (1.5, 0.1875)
    """
    check_choice("zero_method", zero_method, ("wilcox", "zsplit"))
    left, right = as_pair(a, b)
    n, differences = len(left), left - right
    if n < 2:
        return _too_few(differences)
    mean = float(differences.mean())
    levels = _levels(np.abs(differences), rounding(left, right))
    if zero_method == "wilcox":
        differences, levels = differences[levels > 0], levels[levels > 0]
    ranks = rankdata(levels)
    zero_share = float(ranks[levels == 0].sum()) / 2
    signs, ranks = differences[levels > 0] > 0, ranks[levels > 0]
    smaller = float(min(ranks[signs].sum(), ranks[~signs].sum()))
    if len(ranks) == 0:
        return PairedTest(zero_share, 1.0, mean, n, degenerate=True)
    tail = _exact_tail(ranks, smaller) if len(ranks) <= EXACT else _normal_tail(ranks, smaller)
    return PairedTest(smaller + zero_share, min(1.0, 2 * tail), mean, n)


def _too_few(differences: NDArray[np.float64]) -> PairedTest:
    mean = float(differences[0]) if len(differences) else math.nan
    return PairedTest(math.nan, math.nan, mean, len(differences), degenerate=True)


def _levels(sizes: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the distinct sizes from below; 0 is zero, and sizes that rounding may have parted share a number."""
    order = np.argsort(sizes, kind="stable")
    noise = noise[order]
    steps = np.diff(sizes[order], prepend=0.0) > noise + np.concatenate(([0.0], noise[:-1]))
    levels = np.empty(len(sizes), dtype=np.intp)
    levels[order] = np.cumsum(steps)
    return levels


def _exact_tail(ranks: NDArray[np.float64], smaller: float) -> float:
    """P(R+ <= smaller): the share of subsets of the ranks with such a sum. Counted in halves, as mean ranks are."""
    halves = np.rint(2 * ranks).astype(np.intp)
    chance = np.zeros(int(halves.sum()) + 1)
    chance[0] = 1.0
    for rank in halves:
        moved = chance[:-rank] / 2
        chance /= 2
        chance[rank:] += moved
    return float(chance[: round(2 * smaller) + 1].sum())


def _normal_tail(ranks: NDArray[np.float64], smaller: float) -> float:
    return float(ndtr((smaller - ranks.sum() / 2) / math.sqrt((ranks**2).sum() / 4)))
