import numpy as np
import pytest

from conjunto.datasets import make_twonorm, make_waveform

N = 200_000


def test_twonorm():
    """Normal classes with means +-2 / sqrt(20): the Bayes rule is the sign of sum(x), wrong with chance Phi(-2)."""
    X, y = make_twonorm(N, random_state=0)
    assert X.shape == (N, 20)
    a = 2 / np.sqrt(20)
    for label, mean in ((0, a), (1, -a)):
        rows = X[y == label]
        assert abs(len(rows) / N - 0.5) < 5 * 0.5 / np.sqrt(N)
        assert np.abs(rows.mean(axis=0) - mean).max() < 5 / np.sqrt(len(rows))
        covariance = np.cov(rows.T)
        assert np.abs(covariance - np.eye(20)).max() < 6 * np.sqrt(2 / len(rows))
    error = ((X.sum(axis=1) < 0) != y).mean()
    bayes = 0.02275
    assert abs(error - bayes) < 5 * np.sqrt(bayes / N)


def test_waveform():
    """Class k is u h_a + (1 - u) h_b + noise: means are the halves' mean, h a triangle of height 6."""
    X, y = make_waveform(N, random_state=0)
    assert X.shape == (N, 21)
    place = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6 - np.abs(place - peak), 0) for peak in (11, 15, 7))
    for label, (one, other) in enumerate(((h1, h2), (h1, h3), (h2, h3))):
        rows = X[y == label]
        assert abs(len(rows) / N - 1 / 3) < 5 * np.sqrt(2 / 9 / N)
        # Variance: 1 of the noise and (h_a - h_b)^2 / 12 of the mixture, at most 1 + 36 / 12 = 4.
        assert np.abs(rows.mean(axis=0) - (one + other) / 2).max() < 5 * np.sqrt(4 / len(rows))
        spread = 1 + (one - other) ** 2 / 12
        assert np.abs(rows.var(axis=0) / spread - 1).max() < 5 * np.sqrt(2 / len(rows))


@pytest.mark.parametrize("make", [make_twonorm, make_waveform])
def test_seeds_and_sizes(make):
    for one, other in zip(make(50, random_state=4), make(50, random_state=4), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (make(50, random_state=4)[0] != make(50, random_state=5)[0]).all()
    assert len(make()[0]) == 300
    for n in (0, -1, 2.5):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
            make(n)
