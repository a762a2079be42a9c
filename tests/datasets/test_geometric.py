import numpy as np
import pytest
from scipy.stats import chi2

from conjunto.datasets import make_chi_squared, make_circle, make_line, make_parabola
from conjunto.datasets.geometric import bayes_parabola

N = 100_000


def test_chi_squared():
    """Standard normals; the median of chi-squared(10), 9.34, splits them in halves labelled -1 and 1."""
    X, y = make_chi_squared(N, random_state=0)
    assert X.shape == (N, 10)
    assert np.abs(X.mean(axis=0)).max() < 5 / np.sqrt(N)
    assert np.abs(np.cov(X.T) - np.eye(10)).max() < 6 * np.sqrt(2 / N)
    np.testing.assert_array_equal(y, np.where((X**2).sum(axis=1) > chi2.median(10), 1, -1))
    assert chi2.median(10) == pytest.approx(9.34, abs=0.005)
    assert abs(y.mean()) < 5 / np.sqrt(N)


@pytest.mark.parametrize(
    ("make", "inside"),
    [
        (make_line, lambda x, y: x < y),
        (make_parabola, lambda x, y: y - 1 / 4 > 3 * (x - 1 / 2) ** 2),
        (make_circle, lambda x, y: np.pi * ((x - 1 / 2) ** 2 + (y - 1 / 2) ** 2) < 1 / 2),
    ],
)
def test_borders_halve_the_square(make, inside):
    """Uniform in the unit square, labels by the border, both classes of area 1/2."""
    X, y = make(N, random_state=0)
    assert X.shape == (N, 2)
    assert X.min() > 0
    assert X.max() < 1
    np.testing.assert_array_equal(y, inside(*X.T))
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(N)
    counts, _, _ = np.histogram2d(*X.T, bins=10, range=[[0, 1], [0, 1]])
    assert ((counts - N / 100) ** 2 / (N / 100)).sum() < chi2.ppf(1 - 1e-6, 99)
    # The area of class 1 on a fine grid, without chance.
    middle = (np.arange(1000) + 0.5) / 1000
    assert inside(*np.meshgrid(middle, middle)).mean() == pytest.approx(0.5, abs=1e-3)


def test_parabola_passes_through_the_upper_corners():
    """And its lowest point is (1/2, 1/4)."""
    near = [[0, 0.999], [0.001, 1], [1, 0.999], [0.999, 1], [0.5, 0.249], [0.5, 0.251]]
    np.testing.assert_array_equal(bayes_parabola(near), [0, 1, 0, 1, 0, 1])
