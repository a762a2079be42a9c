"""Many methods on many data sets: ranks, Friedman's test, and which methods Nemenyi's test cannot tell apart.

With ranks r_ij of k methods on N data sets and average ranks R_j, Friedman's statistic is
`chi2 = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4)`, divided by `1 - sum(t^3 - t) / (N k (k^2 - 1))` where t
methods share a rank. The papers: Friedman 1937, Iman & Davenport 1980, Nemenyi 1963; for comparisons of classifiers
Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1-30.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, f, rankdata, studentized_range

from conjunto.checks import check_count, check_number
from conjunto.evaluation.cliques import close_runs
from conjunto.experiments.statistics._arrays import as_numbers
from conjunto.ties import levels


@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """What Friedman's test says of a table.

    Parameters
    ----------
    chi_squared, p_value : float
        Friedman's statistic and the probability, if all methods were the same, of one at least as large.
    f_statistic, f_p_value : float
        The same by Iman and Davenport's F, which is less conservative. Where the data sets are `unanimous` F is
        infinite, whatever their number, and p the probability that they agree by chance.
    average_ranks : ndarray of shape (methods,)
        The mean rank of each method; 1 is best.
    n_datasets : int
        The number of data sets.
    """

    chi_squared: float
    p_value: float
    f_statistic: float
    f_p_value: float
    average_ranks: NDArray[np.float64]
    n_datasets: int

    @property
    def unanimous(self) -> bool:
        """Whether every data set puts the methods in the same order, so that F has no finite value."""
        return math.isinf(self.f_statistic)


def average_ranks(table: ArrayLike, *, greater_is_better: bool = False) -> NDArray[np.float64]:
    """Return the mean rank of each method: `R_j = 1/N sum_i r_ij`; rank 1 is best, equals share their mean rank.

    Parameters
    ----------
    table : array-like of shape (data sets, methods)
        The mean of each method on each data set, without gaps. Numbers that differ by less than 1e-10 of the largest of
        their row are equal; round them first if what is equal in print is to be equal in rank.
    greater_is_better : bool, default=False
        Whether rank 1 goes to the largest number of a row (an accuracy) or to the smallest (an error).

    Returns
    -------
    ndarray of shape (methods,)

    References
    ----------
    Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1-30.

    Examples
    --------
    >>> from conjunto.experiments.statistics import average_ranks
    >>> average_ranks([[0.1, 0.2, 0.3], [0.2, 0.2, 0.1]])
    array([1.75, 2.25, 2.  ])
    """
    return _ranks(table, greater_is_better).mean(axis=0)


def friedman(table: ArrayLike, *, greater_is_better: bool = False, correct_ties: bool = True) -> FriedmanTest:
    """Friedman's test: do the methods of a table differ at all?

    `chi2` (see the module) has k - 1 degrees of freedom; Iman and Davenport's
    `F = (N - 1) chi2 / (N (k - 1) - chi2)` has k - 1 and (k - 1)(N - 1).

    Parameters
    ----------
    table : array-like of shape (data sets, methods)
        The mean of each method on each data set, without gaps; at least 2 x 2.
    greater_is_better : bool, default=False
        Whether rank 1 goes to the largest number of a row or to the smallest. The statistics do not depend on it.
    correct_ties : bool, default=True
        Allow for shared ranks, as `scipy.stats.friedmanchisquare` does; without, the formula as Demsar prints it,
        which is conservative if there are any.

    Returns
    -------
    FriedmanTest
        If all ranks are shared, both statistics are 0 and p = 1. If every data set has the same ranks, F would be
        divided by 0: it is infinite, and its p is `1 / m^(N - 1)`, where m is the number of ways to give these ranks
        to the methods (k! without ties): so probable is it that N orders drawn at random are the same.

    References
    ----------
    Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of variance, Journal of
    the American Statistical Association 32 (1937) 675-701.
    Iman & Davenport, Approximations of the critical region of the Friedman statistic, Communications in Statistics
    A 9 (1980) 571-595.

    Examples
    --------
    >>> from conjunto.experiments.statistics import friedman
    >>> test = friedman([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2], [0.3, 0.1, 0.5]])
    >>> test.chi_squared, round(test.f_statistic, 3), test.average_ranks
    (4.5, 3.857, array([1.25, 2.  , 2.75]))
    """
    ranks = _ranks(table, greater_is_better)
    n, k = ranks.shape
    if n < 2 or k < 2:
        raise ValueError(f"table must have at least 2 data sets and 2 methods, got {n} and {k}")
    # Ranks are halves and these sums exact, so that perfect agreement is seen as such.
    middle = (k + 1) / 2
    between = float(((ranks.sum(axis=0) - n * middle) ** 2).sum())
    spread = float(((ranks - middle) ** 2).sum()) if correct_ties else n * k * (k * k - 1) / 12
    chi_squared = (k - 1) * between / spread if spread > 0 else 0.0
    rest = n * spread - between
    if rest > 0:
        f_statistic = (n - 1) * between / rest
        f_p_value = float(f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    else:
        f_statistic = math.inf if between > 0 else 0.0
        f_p_value = _chance_of_agreement(ranks[0], n)
    return FriedmanTest(
        chi_squared=chi_squared,
        p_value=float(chi2.sf(chi_squared, k - 1)),
        f_statistic=f_statistic,
        f_p_value=f_p_value,
        average_ranks=ranks.mean(axis=0),
        n_datasets=n,
    )


def nemenyi_critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return how far two average ranks must be apart for Nemenyi's test: `CD = q sqrt(k (k + 1) / (6 N))`.

    q is the upper alpha point of the studentized range of k normal variables, infinite degrees of freedom, divided by
    sqrt(2): alpha is the probability of any false difference among all k (k - 1) / 2 pairs.

    Parameters
    ----------
    n_methods, n_datasets : int
        k, at least 2, and N.
    alpha : float, default=0.05
        The level of the test, in (0, 1).

    Returns
    -------
    float

    References
    ----------
    Nemenyi, Distribution-free multiple comparisons (thesis, Princeton University, 1963).
    Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1-30.

    Examples
    --------
    >>> from conjunto.experiments.statistics import nemenyi_critical_difference
    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    k, n = check_count("n_methods", n_methods, 2), check_count("n_datasets", n_datasets)
    if check_number("alpha", alpha, 0.0, 1.0, open_high=True) == 0:
        raise ValueError("alpha must be greater than 0, got 0")
    q = float(studentized_range.isf(alpha, k, np.inf)) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n))


def nemenyi_cliques(average_ranks: ArrayLike, critical_difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups of methods that the test cannot tell apart: the bars of a critical-difference diagram.

    Two methods differ significantly if their average ranks are at least the critical difference apart. Sorted by rank,
    a group is a run whose ends are closer than that; runs inside other runs are left out, and so are single methods.

    Parameters
    ----------
    average_ranks : array-like of shape (methods,)
        As given by `average_ranks` or `friedman`; 1 is best.
    critical_difference : float
        As given by `nemenyi_critical_difference`.

    Returns
    -------
    list of tuples of int
        The numbers of the methods of each group, best rank first; groups in order of their best member.

    References
    ----------
    Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1-30.

    Examples
    --------
    >>> from conjunto.experiments.statistics import nemenyi_cliques
    >>> nemenyi_cliques([3.5, 1.0, 2.0, 3.0], 1.25)
    [(1, 2), (2, 3), (3, 0)]
    """
    ranks = as_numbers("average_ranks", average_ranks, 1)
    check_number("critical_difference", critical_difference, 0.0, math.inf)
    order = np.argsort(ranks, kind="stable")
    return [tuple(order[run].tolist()) for run in close_runs(ranks[order].tolist(), critical_difference)]


def _ranks(table: ArrayLike, greater_is_better: bool) -> NDArray[np.float64]:
    means = as_numbers("table", table, 2)
    if means.size == 0:
        raise ValueError(f"table is empty, got shape {means.shape}")
    return np.asarray(rankdata(levels(-means if greater_is_better else means), axis=1), dtype=np.float64)


def _chance_of_agreement(ranks: NDArray[np.float64], n: int) -> float:
    """The probability that n data sets, each giving these ranks to the methods at random, all do so alike."""
    _, shared = np.unique(ranks, return_counts=True)
    ways = math.lgamma(len(ranks) + 1) - sum(math.lgamma(count + 1) for count in shared.tolist())
    return math.exp(-(n - 1) * ways)
