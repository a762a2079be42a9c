import numpy as np
import pytest
from scipy.stats import chisquare

from conjunto.generation.rows import (
    balanced_bootstrap,
    bootstrap,
    half_wrong_sample,
    held_out_rows,
    subsample,
    weighted_bootstrap,
)
from conjunto.streams import Stream

KEY = (123, 456)


def draws(draw, n, size, members=400):
    return np.stack([draw(Stream(KEY, t), n, size) for t in range(members)])


@pytest.mark.parametrize(("n", "size"), [(1, 1), (7, 7), (50, 20), (20, 50)])
def test_bootstrap_has_the_right_size(n, size):
    counts = draws(bootstrap, n, size, 20)
    assert counts.shape == (20, n)
    assert (counts.sum(axis=1) == size).all()
    assert (counts >= 0).all()


def test_bootstrap_draws_every_row_alike():
    counts = draws(bootstrap, 50, 50).sum(axis=0)
    # 20,000 draws over 50 rows: a p value below 1e-6 is a biased draw, not bad luck.
    assert chisquare(counts).pvalue > 1e-6


def test_bootstrap_covers_the_share_of_theory():
    n, members = 200, 400
    seen = (draws(bootstrap, n, n, members) > 0).mean(axis=1)
    expected = 1 - (1 - 1 / n) ** n
    # Variance of the number of distinct rows, exactly: n q (1 - q) + n (n - 1) (r - q^2), q, r = P(1 or 2 rows missed).
    q, r = (1 - 1 / n) ** n, (1 - 2 / n) ** n
    sd = np.sqrt(n * q * (1 - q) + n * (n - 1) * (r - q**2)) / n
    assert abs(seen.mean() - expected) < 5 * sd / np.sqrt(members)


@pytest.mark.parametrize(("n", "size"), [(1, 1), (7, 7), (50, 20), (50, 1)])
def test_subsample_takes_different_rows(n, size):
    counts = draws(subsample, n, size, 20)
    assert set(np.unique(counts)) <= {0, 1}
    assert (counts.sum(axis=1) == size).all()


def test_subsample_draws_every_row_alike():
    counts = draws(subsample, 50, 10).sum(axis=0)
    # Sampling without replacement spreads less than chisquare expects, so the bound holds all the more.
    assert chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize(("n", "members"), [(1, 1), (10, 3), (37, 20)])
def test_balanced_bootstrap_uses_every_row_equally(n, members):
    counts = balanced_bootstrap(KEY, n, members)
    assert counts.shape == (members, n)
    assert (counts.sum(axis=0) == members).all()
    assert (counts.sum(axis=1) == n).all()


def test_balanced_bootstrap_is_a_bootstrap():
    # A row appears in a sample with the hypergeometric frequencies, near Poisson(1): about 63 % of rows appear.
    counts = balanced_bootstrap(KEY, 200, 400)
    assert (counts > 0).mean() == pytest.approx(1 - np.exp(-1), abs=0.01)
    assert not (counts == 1).all()


def test_members_draw_different_samples():
    counts = draws(bootstrap, 30, 30, 50)
    assert len(np.unique(counts, axis=0)) == 50


def test_weighted_bootstrap_is_as_large_as_there_are_rows_of_weight():
    weights = np.array([0.0, 1.0, 2.0, 0.0, 5.0])
    for t in range(50):
        counts = weighted_bootstrap(Stream(KEY, t), weights)
        assert counts.sum() == 3
        assert (counts[weights == 0] == 0).all()


def test_weighted_bootstrap_draws_in_proportion_to_weights():
    weights = np.arange(1.0, 21.0)
    counts = np.sum([weighted_bootstrap(Stream(KEY, t), weights) for t in range(1000)], axis=0)
    assert chisquare(counts, 20_000 * weights / weights.sum()).pvalue > 1e-6


def test_weighted_bootstrap_takes_weights_of_any_scale():
    weights = np.random.default_rng(0).random(30)
    for scale in (2.0**-60, 2.0**60):
        np.testing.assert_array_equal(
            weighted_bootstrap(Stream(KEY, 0), scale * weights), weighted_bootstrap(Stream(KEY, 0), weights)
        )


@pytest.mark.parametrize(("share", "counts"), [(0.1, [5, 3, 1]), (0.5, [25, 15, 5]), (0.99, [49, 29, 9])])
def test_held_out_rows_keep_the_shares_of_the_classes(share, counts):
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [50, 30, 10]))
    held_out = held_out_rows(Stream(KEY, 0), y, 3, share)
    assert [int((held_out & (y == code)).sum()) for code in range(3)] == counts


def test_held_out_rows_leave_a_row_of_every_class():
    y = np.repeat([0, 1], [1, 9])
    assert not held_out_rows(Stream(KEY, 0), y, 2, 0.999)[0]


def test_held_out_rows_of_a_regression_are_a_share_of_all():
    y = np.random.default_rng(0).random(40)
    drawn = np.stack([held_out_rows(Stream(KEY, t), y, 0, 0.25) for t in range(400)])
    assert (drawn.sum(axis=1) == 10).all()
    # Sampling without replacement spreads less than chisquare expects, so the bound holds all the more.
    assert chisquare(drawn.sum(axis=0)).pvalue > 1e-6


def test_too_small_a_share_to_hold_out_is_an_error():
    with pytest.raises(ValueError, match=r"validation_fraction=0\.01 of 10 rows leaves none to validate on"):
        held_out_rows(Stream(KEY, 0), np.zeros(10), 0, 0.01)
    with pytest.raises(ValueError, match="leaves none to validate on"):
        held_out_rows(Stream(KEY, 0), np.arange(5), 5, 0.9)


@pytest.mark.parametrize(("wrong", "right"), [(10, 30), (30, 10), (5, 5), (0, 12), (12, 0)])
def test_half_wrong_sample_is_half_wrong_and_as_large_as_it_can_be(wrong, right):
    # Ten more rows belong to neither side.
    misses = np.arange(wrong + right + 10) < wrong
    hits = ~misses & (np.arange(wrong + right + 10) < wrong + right)
    sample = half_wrong_sample(Stream(KEY, 0), misses, hits)
    assert set(np.unique(sample)) <= {0.0, 1.0}
    assert sample[misses].sum() == sample[hits].sum() == min(wrong, right)
    assert sample.sum() == 2 * min(wrong, right)


def test_half_wrong_sample_draws_every_row_alike():
    wrong = np.arange(50) < 10
    counts = np.sum([half_wrong_sample(Stream(KEY, t), wrong, ~wrong) for t in range(400)], axis=0)
    assert (counts[wrong] == 400).all()
    # Sampling without replacement spreads less than chisquare expects, so the bound holds all the more.
    assert chisquare(counts[~wrong]).pvalue > 1e-6
