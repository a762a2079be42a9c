import numpy as np
import pytest
from scipy.stats import chisquare

from conjunto.generation.rows import balanced_bootstrap, bootstrap, subsample
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
