import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from conjunto.experiments.statistics import PairedTest, corrected_resampled_t, paired_t, wilcoxon

# Cushny & Peebles' hours of sleep, the example of Student (1908); t and p as printed by R's t.test(paired = TRUE).
SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
# Hollander & Wolfe (1973), depression scores; V = 40 of 45, one-tailed p 0.01953 in R's help of wilcox.test.
DEPRESSION = (
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
)
# Demsar (2006), table 2: AUC of C4.5 and of C4.5 with the size of leaves tuned, on 14 data sets.
C45 = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957]
C45_M = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978]

TESTS = [paired_t, lambda a, b: corrected_resampled_t(a, b, test_to_train=0.5), wilcoxon]
# Thousandths, as errors are printed; pairs of 2 to 10.
PAIRS = st.integers(2, 10).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 30).map(lambda i: i / 1000), min_size=n, max_size=n)] * 2)
)


def tail_area(t, df):
    """P(|T| > t) by integrating the density of Student's distribution."""
    norm = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    middle, _ = quad(lambda x: norm * (1 + x * x / df) ** (-(df + 1) / 2), 0, abs(t), epsabs=1e-13, limit=200)
    return 1 - 2 * middle


def test_paired_t_on_students_own_data():
    found = paired_t(*SLEEP)
    assert found.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert found.p_value == pytest.approx(0.002833, abs=5e-7)
    assert found.mean_difference == pytest.approx(-1.58)
    assert (found.n, found.degenerate) == (10, False)


@pytest.mark.parametrize("n", [2, 3, 10, 100])
@pytest.mark.parametrize("ratio", [0.0, 1 / 9, 0.5, 2.0])
def test_t_tests_by_hand_and_by_integration(n, ratio):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.2, 1, n), rng.normal(size=n)
    d = [x - y for x, y in zip(a, b, strict=True)]
    mean = math.fsum(d) / n
    variance = math.fsum((x - mean) ** 2 for x in d) / (n - 1)
    t = mean / math.sqrt((1 / n + ratio) * variance)
    found = corrected_resampled_t(a, b, test_to_train=ratio)
    assert found.statistic == pytest.approx(t, rel=1e-12)
    assert found.p_value == pytest.approx(tail_area(t, n - 1), abs=1e-10)
    if ratio == 0:
        assert found == paired_t(a, b)


def test_paired_t_is_that_of_scipy():
    found, scipys = paired_t(C45, C45_M), scipy.stats.ttest_rel(C45, C45_M)
    assert found.statistic == pytest.approx(scipys.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(scipys.pvalue, rel=1e-10)


def test_corrected_t_keeps_its_level_where_the_plain_one_does_not():
    """If differences have correlation rho, the variance of their mean is (1/J + rho/(1 - rho)) E[s^2]."""
    rng = np.random.default_rng(0)
    runs, j, ratio = 4000, 20, 1 / 9
    rho = ratio / (1 + ratio)
    d = math.sqrt(rho) * rng.normal(size=(runs, 1)) + math.sqrt(1 - rho) * rng.normal(size=(runs, j))
    zero = np.zeros(j)
    plain = np.mean([paired_t(x, zero).p_value < 0.05 for x in d])
    corrected = np.mean([corrected_resampled_t(x, zero, test_to_train=ratio).p_value < 0.05 for x in d])
    assert plain > 0.15
    assert corrected == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / runs))


@given(PAIRS, st.floats(0.01, 3))
def test_correction_only_ever_weakens(pair, ratio):
    assert corrected_resampled_t(*pair, test_to_train=ratio).p_value >= paired_t(*pair).p_value - 1e-12


def mid_ranks(sizes):
    return [sum(other < s for other in sizes) + (sum(other == s for other in sizes) + 1) / 2 for s in sizes]


def enumerated(differences, zero_method):
    """Wilcoxon's T and p from all 2^n patterns of signs; differences are whole numbers."""
    if zero_method == "wilcox":
        differences = [d for d in differences if d]
    ranks = mid_ranks([abs(d) for d in differences])
    half = sum(r for r, d in zip(ranks, differences, strict=True) if d == 0) / 2
    moving = [(r, d) for r, d in zip(ranks, differences, strict=True) if d]

    def smaller(signs):
        positive = sum(r for (r, _), s in zip(moving, signs, strict=True) if s)
        return min(positive, sum(r for r, _ in moving) - positive) + half

    observed = smaller([d > 0 for _, d in moving])
    sums = [smaller(signs) for signs in itertools.product([False, True], repeat=len(moving))]
    return observed, sum(s <= observed for s in sums) / len(sums)


@pytest.mark.parametrize("zero_method", ["wilcox", "zsplit"])
@pytest.mark.parametrize("n", range(2, 11))
def test_wilcoxon_by_enumeration(n, zero_method):
    rng = np.random.default_rng(n)
    for spread in (2, 5, 1000):  # Many ties and zeros, some, next to none.
        d = rng.integers(-spread, spread + 1, n).tolist()
        found = wilcoxon(d, [0] * n, zero_method=zero_method)
        statistic, p = enumerated(d, zero_method)
        assert found.statistic == statistic
        assert found.p_value == pytest.approx(p, rel=1e-12)
        # The same differences as decimals, on other levels: rounding must not part the ties.
        level = rng.integers(0, 1000, n) / 1000
        assert wilcoxon(level + np.array(d) / 1000, level, zero_method=zero_method).statistic == statistic


def test_wilcoxon_on_published_examples():
    assert wilcoxon(*DEPRESSION).statistic == 45 - 40
    assert wilcoxon(*DEPRESSION).p_value == pytest.approx(2 * 0.01953, abs=1e-5)
    # Demsar splits the ranks of the two zero differences: "T = min(93, 12) = 12".
    assert wilcoxon(C45, C45_M, zero_method="zsplit").statistic == 12


@pytest.mark.parametrize("n", [5, 14, 50, 51, 200])
def test_wilcoxon_is_that_of_scipy(n):
    """Exact up to 50 and normal beyond, as scipy does where there are neither zeros nor ties."""
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.2, 1, n), rng.normal(size=n)
    found, scipys = wilcoxon(a, b), scipy.stats.wilcoxon(a, b)
    assert found.statistic == scipys.statistic
    assert found.p_value == pytest.approx(scipys.pvalue, rel=1e-9)


def test_wilcoxon_with_many_ties_is_that_of_scipy():
    d = np.random.default_rng(1).integers(-9, 12, 300)
    found, scipys = wilcoxon(d, 0 * d), scipy.stats.wilcoxon(d)
    assert found.statistic == scipys.statistic
    assert found.p_value == pytest.approx(scipys.pvalue, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.5])
def test_wilcoxon_is_never_too_bold(alpha):
    """Over all patterns of signs of given sizes, p <= alpha happens with probability at most alpha."""
    sizes = np.array([1, 2, 2, 3, 5, 5, 5, 8])
    patterns = np.array(list(itertools.product([-1, 1], repeat=len(sizes))))
    assert np.mean([wilcoxon(signs * sizes, 0 * sizes).p_value <= alpha for signs in patterns]) <= alpha


@pytest.mark.parametrize("test", TESTS)
@given(pair=PAIRS)
def test_swapping_the_methods(test, pair):
    ours, swapped = test(*pair), test(*pair[::-1])
    assert swapped.p_value == ours.p_value
    assert swapped.mean_difference == -ours.mean_difference
    assert abs(swapped.statistic) == abs(ours.statistic)
    assert 0 <= ours.p_value <= 1


@pytest.mark.parametrize("test", TESTS)
@given(pair=PAIRS, seed=st.integers(0, 1000), exponent=st.integers(-30, 30))
def test_neither_the_order_nor_the_unit_matters(test, pair, seed, exponent):
    order = np.random.default_rng(seed).permutation(len(pair[0]))
    moved = [np.array(side)[order] * 2.0**exponent for side in pair]
    assert test(*moved).p_value == pytest.approx(test(*pair).p_value, rel=1e-6)


@pytest.mark.parametrize("test", TESTS)
def test_a_larger_shift_is_more_significant(test):
    noise = np.random.default_rng(3).normal(size=12)
    p = [test(noise + shift, np.zeros(12)).p_value for shift in (1, 2, 3, 4, 5)]
    assert p == sorted(p, reverse=True)
    assert p[0] > p[-1]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("values", [[0.1, 0.1], [0.3, 0.1, 0.2], [1e300, -1e300], [0.0, 0.0]])
def test_no_difference_at_all(test, values):
    assert test(values, values) == PairedTest(0.0, 1.0, 0.0, len(values), degenerate=True)


def test_zeros_split_in_halves_even_if_there_is_nothing_else():
    assert wilcoxon([1, 2, 3], [1, 2, 3], zero_method="zsplit") == PairedTest(3.0, 1.0, 0.0, 3, degenerate=True)


@pytest.mark.parametrize("test", TESTS[:2])
@pytest.mark.parametrize("a", [[2, 3, 4], [0.3, 0.4, 0.7]])
def test_the_same_difference_every_time(test, a):
    """0.3 - 0.2, 0.4 - 0.3 and 0.7 - 0.6 are three doubles but one difference."""
    b = [round(x - 0.1, 1) for x in a]
    assert (test(a, b).statistic, test(a, b).p_value) == (math.inf, 0.0)
    assert (test(b, a).statistic, test(b, a).p_value) == (-math.inf, 0.0)
    assert test(a, b).degenerate
    # Ranks make no exception of it: three signs agree by chance once in four.
    assert wilcoxon(a, b).p_value == 0.25
    assert not wilcoxon(a, b).degenerate


def test_small_differences_beside_large_numbers_keep_their_ranks():
    assert wilcoxon([1e12, 1e-6, 2e-6], [1e12 + 1, 0.0, 0.0]).statistic == 3


@pytest.mark.parametrize("test", TESTS)
def test_fewer_than_two_pairs(test):
    one, none = test([0.3], [0.1]), test([], [])
    assert math.isnan(one.p_value)
    assert one.mean_difference == pytest.approx(0.2)
    assert math.isnan(none.p_value)
    assert math.isnan(none.mean_difference)
    assert one.degenerate
    assert none.degenerate


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, math.nan], [1, 2], "a holds NaN"),
        ([1, 2], [1, math.inf], "b holds NaN or infinite"),
        ([1, 2], [1, 2, 3], "a and b must have the same length, got 2 and 3"),
        ([[1, 2]], [1, 2], "a must be 1-dimensional"),
        ([1, 2], ["x", "y"], "b must be an array of numbers"),
    ],
)
def test_errors_name_the_argument(test, a, b, message):
    with pytest.raises(ValueError, match=message):
        test(a, b)


@pytest.mark.parametrize("ratio", [-0.1, math.nan, math.inf, "x"])
def test_test_to_train_is_a_ratio(ratio):
    with pytest.raises(ValueError, match="test_to_train must be a number"):
        corrected_resampled_t([1, 2], [2, 1], test_to_train=ratio)


def test_zero_method_is_one_of_two():
    with pytest.raises(ValueError, match="zero_method must be one of"):
        wilcoxon([1, 2], [2, 1], zero_method="pratt")
