"""How probable is it that one method is better than another: posterior probabilities in place of tests.

Differences within a region of practical equivalence, the rope [-r, r], count as none. The answer is three
probabilities that add up to 1: the left method is better, they are equivalent, the right method is better. Papers:
Benavoli, Corani, Demsar & Zaffalon, Time for a change: a tutorial for comparing multiple classifiers through Bayesian
analysis, JMLR 18 (2017) 1-36, and for one data set Corani & Benavoli 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from conjunto.checks import check_count, check_number
from conjunto.experiments.statistics._arrays import as_numbers, as_pair, rounding
from conjunto.streams import Stream, root_key

# Cells of the weights that are drawn at a time (8 MB).
BLOCK_CELLS = 2**20


@dataclass(frozen=True)
class BayesianComparison:
    """Three probabilities that add up to 1.

    Parameters
    ----------
    left_better : float
        That the first method is better by more than the rope.
    equivalent : float
        That the difference is within the rope.
    right_better : float
        That the second method is better by more than the rope.
    """

    left_better: float
    equivalent: float
    right_better: float


def bayesian_signed_rank(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rope: float,
    greater_is_better: bool = False,
    prior_strength: float = 0.5,
    samples: int = 50_000,
    random_state: Any = None,
) -> BayesianComparison:
    """The Bayesian signed-rank test: two methods on many data sets.

    The distribution of differences is a Dirichlet process whose prior puts a mass s at z_0 = 0. A draw of it is
    weights w ~ Dirichlet(s, 1, …, 1) on z_0 and the differences z_1 … z_n; its shares are
    `sum_ij w_i w_j [z_i + z_j > 2 r]`, the same with `< -2 r`, and the rest. The probability of each answer is the
    share of draws in which its share is the largest.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The means of the left and the right method on the same n data sets.
    rope : float
        r: differences in [-r, r] do not matter; in the unit of a and b.
    greater_is_better : bool, default=False
        Whether the method with the larger numbers is the better one (accuracies) or the other (errors).
    prior_strength : float, default=0.5
        s, the weight of the prior in data sets. Its place, in the rope, speaks for neither method.
    samples : int, default=50000
        The number of draws; the standard error of a probability is at most 0.5 / sqrt(samples).
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Returns
    -------
    BayesianComparison

    References
    ----------
    Benavoli, Corani, Demsar & Zaffalon, Time for a change: a tutorial for comparing multiple classifiers through
    Bayesian analysis, JMLR 18 (2017) 1-36.
    Benavoli, Mangili, Corani, Zaffalon & Ruggeri, A Bayesian Wilcoxon signed-rank test based on the Dirichlet process,
    ICML 2014, JMLR W&CP 32, 1026-1034.

    Examples
    --------
    >>> from conjunto.experiments.statistics import bayesian_signed_rank
    >>> left, right = [0.10, 0.12, 0.11, 0.14, 0.20], [0.12, 0.15, 0.14, 0.18, 0.21]
    >>> found = bayesian_signed_rank(left, right, rope=0.001, random_state=0)
    >>> found.left_better > 0.95, found.right_better
    (True, 0.0)
    """
    left, right = as_pair(a, b)
    if len(left) == 0:
        raise ValueError("a and b are empty")
    check_number("rope", rope, 0.0, math.inf, open_high=True)
    check_number("prior_strength", prior_strength, 0.0, math.inf, open_high=True)
    check_count("samples", samples)
    z = np.concatenate(([0.0], left - right))
    # A sum that exceeds the rope by no more than rounding is inside.
    bound = 2 * rope + 2 * float(rounding(left, right).max())
    random = Stream(root_key(random_state), 0).generator()
    rows = max(1, BLOCK_CELLS // len(z))
    below = above = 0
    for start in range(0, samples, rows):
        # Not divided by their sum: only which share is the largest matters.
        weights = random.standard_exponential((min(rows, samples - start), len(z)))
        weights[:, 0] = random.standard_gamma(prior_strength, len(weights))
        negative, inside, positive = _shares(weights, z, bound)
        below += int((negative > np.maximum(inside, positive)).sum())
        above += int((positive > np.maximum(inside, negative)).sum())
    return _oriented(below / samples, (samples - below - above) / samples, above / samples, greater_is_better)


def _shares(
    weights: NDArray[np.float64], z: NDArray[np.float64], bound: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each row of weights: `sum_ij w_i w_j` over the pairs with z_i + z_j < -bound, in between, and > bound.

    With z sorted, the partners of z_i are a prefix or a suffix, so that running sums take the place of n^2 pairs.
    """
    order = np.argsort(z, kind="stable")
    z, weights = z[order], weights[:, order]
    running = np.zeros((len(weights), len(z) + 1))
    np.cumsum(weights, axis=1, out=running[:, 1:])
    total = running[:, -1]
    low = np.searchsorted(z, -bound - z, side="left")
    high = np.searchsorted(z, bound - z, side="right")
    negative = np.einsum("ij,ij->i", weights, running[:, low])
    positive = np.einsum("ij,ij->i", weights, total[:, None] - running[:, high])
    return negative, total**2 - negative - positive, positive


def bayesian_correlated_t(
    differences: ArrayLike, *, rope: float, rho: float, greater_is_better: bool = False
) -> BayesianComparison:
    """The Bayesian correlated t-test: two methods on repeated partitions of one data set.

    The posterior of the mean difference is Student's t with n - 1 degrees of freedom, placed at the mean of the
    differences, with scale `s sqrt(1/n + rho / (1 - rho))`.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Left minus right method on each partition.
    rope : float
        r: a mean difference in [-r, r] does not matter.
    rho : float
        The correlation of the differences, in [0, 1). n_test / (n_train + n_test) makes the scale that of
        `corrected_resampled_t`: 0.1 for 10-fold cross-validation.
    greater_is_better : bool, default=False
        Whether a positive difference speaks for the left method (accuracies) or the right one (errors).

    Returns
    -------
    BayesianComparison
        With n < 2, all three are NaN. If all differences are the same, all probability is where they are.

    References
    ----------
    Corani & Benavoli, A Bayesian approach for comparing cross-validated algorithms on multiple data sets, Machine
    Learning 100 (2015) 285-304.

    Examples
    --------
    >>> from conjunto.experiments.statistics import bayesian_correlated_t
    >>> found = bayesian_correlated_t([-0.02, -0.01, -0.03, -0.02], rope=0.01, rho=0.1)
    >>> round(found.left_better, 3), round(found.equivalent, 3), round(found.right_better, 3)
    (0.933, 0.063, 0.004)
    """
    values = as_numbers("differences", differences, 1)
    check_number("rope", rope, 0.0, math.inf, open_high=True)
    check_number("rho", rho, 0.0, 1.0, open_high=True)
    n = len(values)
    if n < 2:
        return BayesianComparison(math.nan, math.nan, math.nan)
    mean, noise = float(values.mean()), float(rounding(values).max())
    if np.ptp(values) <= noise:
        below, above = float(mean < -rope - noise), float(mean > rope + noise)
    else:
        scale = float(values.std(ddof=1)) * math.sqrt(1 / n + rho / (1 - rho))
        below, above = float(stdtr(n - 1, (-rope - mean) / scale)), float(stdtr(n - 1, (mean - rope) / scale))
    return _oriented(below, max(0.0, 1 - below - above), above, greater_is_better)


def _oriented(below: float, inside: float, above: float, greater_is_better: bool) -> BayesianComparison:
    """Below and above are left minus right: below zero the left method has the smaller numbers."""
    return BayesianComparison(above, inside, below) if greater_is_better else BayesianComparison(below, inside, above)
