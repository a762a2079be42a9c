import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from conjunto.experiments.statistics import (
    BayesianComparison,
    bayesian_correlated_t,
    bayesian_signed_rank,
    corrected_resampled_t,
)
from conjunto.experiments.statistics.bayes import _shares

# Demsar (2006), table 6: AUC of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets.
AUC = np.array(
    [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.975, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
    ]
)


def as_tuple(found):
    return found.left_better, found.equivalent, found.right_better


@pytest.mark.parametrize("s", [0.1, 0.5, 1.0, 4.0])
def test_one_data_set_has_a_closed_form(s):
    """Left wins unless the prior's weight w ~ Beta(s, 1) has w^2 >= 1/2: P = (1/2)^(s/2)."""
    left, equivalent, right = as_tuple(
        bayesian_signed_rank([0.1], [0.3], rope=0.01, prior_strength=s, samples=100_000, random_state=0)
    )
    assert left == pytest.approx(0.5 ** (s / 2), abs=4 * 0.5 / math.sqrt(100_000))
    assert equivalent == pytest.approx(1 - left)
    assert right == 0


@pytest.mark.parametrize(
    ("i", "j", "rope", "prior", "expected"),
    [
        # baycomp 1.0.3 (the authors' package), SignedRankTest(x, y, rope, prior=…, nsamples=2_000_000).probs(), seeds
        # 77 and, for prior=1, 78. No sum of differences hits the edge of these ropes: baycomp counts half of such a
        # pair as outside, the paper all of it as inside.
        (0, 1, 0.00525, 0.5, (0.000025, 0.0503815, 0.9495935)),
        (0, 1, 0.01025, 0.5, (0.0, 0.3290665, 0.6709335)),
        (0, 2, 0.00525, 0.5, (0.3750165, 0.125783, 0.4992005)),
        (1, 3, 0.00525, 0.5, (0.024814, 0.4188735, 0.5563125)),
        (0, 1, 0.01025, 1.0, (0.0, 0.3656505, 0.6343495)),
    ],
)
def test_signed_rank_is_that_of_baycomp(i, j, rope, prior, expected):
    found = bayesian_signed_rank(
        AUC[i],
        AUC[j],
        rope=rope,
        greater_is_better=True,
        prior_strength=prior,
        samples=100_000,
        random_state=1,
    )
    error = 5 * np.sqrt(np.maximum(np.multiply(expected, 1 - np.array(expected)), 1e-4) / 100_000)
    np.testing.assert_array_less(np.abs(np.array(as_tuple(found)) - expected), error)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9), st.integers(0, 20), st.integers(0, 1000))
def test_running_sums_are_the_sums_over_pairs(whole, bound, seed):
    z, weights = np.array(whole, dtype=float), np.random.default_rng(seed).exponential(size=(3, len(whole)))
    sums = np.zeros((3, 3))
    for i, left in enumerate(whole):
        for j, right in enumerate(whole):
            place = 0 if left + right < -bound else 2 if left + right > bound else 1
            sums[place] += weights[:, i] * weights[:, j]
    np.testing.assert_allclose(_shares(weights, z, float(bound)), sums, atol=1e-10)


def test_signed_rank_by_sampling_one_draw_at_a_time():
    rng = np.random.default_rng(5)
    a, b, rope, draws = rng.normal(0.0, 0.05, 8), rng.normal(0.01, 0.05, 8), 0.02, 20_000
    z = np.concatenate(([0.0], a - b))
    wins = np.zeros(3)
    sums = z[:, None] + z[None, :]
    for w in np.random.default_rng(6).dirichlet([0.5] + [1.0] * 8, draws):
        pairs = np.outer(w, w)
        shares = [pairs[sums < -2 * rope].sum(), pairs[abs(sums) <= 2 * rope].sum(), pairs[sums > 2 * rope].sum()]
        wins[np.argmax(shares)] += 1
    found = bayesian_signed_rank(a, b, rope=rope, samples=draws, random_state=0)
    np.testing.assert_allclose(as_tuple(found), wins / draws, atol=5 * 0.5 * math.sqrt(2 / draws))


def test_a_difference_as_wide_as_the_rope_is_inside_whatever_the_rounding():
    a, b = [0.81, 0.33, 0.57], [0.80, 0.32, 0.56]
    assert 0.81 - 0.80 > 0.01
    assert as_tuple(bayesian_signed_rank(a, b, rope=0.01, samples=100, random_state=0)) == (0, 1, 0)
    assert as_tuple(bayesian_signed_rank(a, b, rope=0.0099, samples=100, random_state=0))[1] < 1


def test_identical_methods_are_equivalent_even_without_a_rope():
    assert as_tuple(bayesian_signed_rank([1, 2], [1, 2], rope=0, samples=100)) == (0, 1, 0)


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_swapping_the_methods_or_the_orientation(seed, n):
    """Draws belong to data sets, so that the same seed gives the same answer the other way round."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n)
    ours = bayesian_signed_rank(a, b, rope=0.1, samples=200, random_state=seed)
    swapped = bayesian_signed_rank(b, a, rope=0.1, samples=200, random_state=seed)
    flipped = bayesian_signed_rank(a, b, rope=0.1, samples=200, random_state=seed, greater_is_better=True)
    negated = bayesian_signed_rank(-a, -b, rope=0.1, samples=200, random_state=seed, greater_is_better=True)
    assert as_tuple(swapped) == as_tuple(flipped) == as_tuple(ours)[::-1]
    assert negated == ours
    assert sum(as_tuple(ours)) == pytest.approx(1)


def test_a_wider_rope_makes_equivalence_more_probable():
    found = [
        bayesian_signed_rank(AUC[0], AUC[1], rope=r, samples=2000, random_state=3).equivalent
        for r in np.linspace(0, 0.07, 15)
    ]
    assert found == sorted(found)
    assert found[0] < 0.01
    assert found[-1] == 1


def test_same_seed_same_answer():
    first, second, other = (
        bayesian_signed_rank(AUC[0], AUC[2], rope=0.005, samples=5000, random_state=seed) for seed in (1, 1, 2)
    )
    assert first == second != other


def test_a_thousand_data_sets_take_little_memory():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=1000), rng.normal(size=1000)
    tracemalloc.start()
    bayesian_signed_rank(a, b, rope=0.1, samples=6000, random_state=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize("n", [2, 5, 30])
@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5])
def test_correlated_t_by_integration(n, rho):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    mean = math.fsum(d) / n
    scale = math.sqrt(math.fsum((x - mean) ** 2 for x in d) / (n - 1) * (1 / n + rho / (1 - rho)))
    norm = math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2)) / math.sqrt((n - 1) * math.pi) / scale

    def density(x):
        return norm * (1 + ((x - mean) / scale) ** 2 / (n - 1)) ** (-n / 2)

    expected = [quad(density, -math.inf, -0.2)[0], quad(density, -0.2, 0.2)[0], quad(density, 0.2, math.inf)[0]]
    found = bayesian_correlated_t(d, rope=0.2, rho=rho)
    np.testing.assert_allclose(as_tuple(found), expected, atol=1e-7)
    flipped = bayesian_correlated_t(d, rope=0.2, rho=rho, greater_is_better=True)
    assert as_tuple(flipped) == as_tuple(found)[::-1]
    assert as_tuple(bayesian_correlated_t(-d, rope=0.2, rho=rho)) == pytest.approx(as_tuple(flipped), abs=1e-15)


def test_correlated_t_is_that_of_baycomp():
    """baycomp 1.0.3: CorrelatedTTest(x, y, rope, runs).probs() of 10 folds once and of 10 folds twice."""
    once = bayesian_correlated_t((AUC[0] - AUC[1])[:10], rope=0.005, rho=0.1, greater_is_better=True)
    assert as_tuple(once) == pytest.approx((0.06148009560935889, 0.19264428667971945, 0.7458756177109217), rel=1e-9)
    differences = np.concatenate([AUC[0] - AUC[1], (AUC[2] - AUC[3])[:6]])
    twice = bayesian_correlated_t(differences, rope=0.01, rho=0.1, greater_is_better=True)
    assert as_tuple(twice) == pytest.approx((0.004533488301646512, 0.3663854421425061, 0.6290810695558474), rel=1e-9)


def test_without_a_rope_it_is_half_the_p_of_the_corrected_test():
    """The posterior has the shape of the test's distribution if rho = n_test / n."""
    d = AUC[0] - AUC[1]
    found = bayesian_correlated_t(d, rope=0, rho=1 / 3)
    assert found.right_better == pytest.approx(corrected_resampled_t(AUC[0], AUC[1], test_to_train=1 / 2).p_value / 2)
    assert found.equivalent == pytest.approx(0, abs=1e-15)


def test_differences_that_are_all_the_same():
    assert bayesian_correlated_t([-0.3] * 3, rope=0.1, rho=0.1) == BayesianComparison(1, 0, 0)
    assert bayesian_correlated_t([0.3] * 3, rope=0.1, rho=0.1) == BayesianComparison(0, 0, 1)
    assert bayesian_correlated_t([0.1] * 3, rope=0.1, rho=0.1) == BayesianComparison(0, 1, 0)
    assert bayesian_correlated_t([0.0] * 3, rope=0, rho=0.1) == BayesianComparison(0, 1, 0)


@pytest.mark.parametrize("differences", [[], [0.1]])
def test_fewer_than_two_differences_say_nothing(differences):
    assert all(map(math.isnan, as_tuple(bayesian_correlated_t(differences, rope=0, rho=0.1))))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayesian_signed_rank([1, math.nan], [1, 2], rope=0), "a holds NaN"),
        (lambda: bayesian_signed_rank([1], [1, 2], rope=0), "a and b must have the same length"),
        (lambda: bayesian_signed_rank([], [], rope=0), "a and b are empty"),
        (lambda: bayesian_signed_rank([1], [2], rope=-1), "rope must be a number"),
        (lambda: bayesian_signed_rank([1], [2], rope=0, prior_strength=-1), "prior_strength must be"),
        (lambda: bayesian_signed_rank([1], [2], rope=0, samples=0), "samples must be a whole number"),
        (lambda: bayesian_correlated_t([1, math.nan], rope=0, rho=0.1), "differences holds NaN"),
        (lambda: bayesian_correlated_t([1, 2], rope=0, rho=1), "rho must be a number"),
        (lambda: bayesian_correlated_t([1, 2], rope=math.inf, rho=0), "rope must be a number"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
