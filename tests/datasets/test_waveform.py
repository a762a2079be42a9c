import numpy as np
import pytest
from scipy.integrate import quad

from conjunto.datasets import make_waveform
from conjunto.datasets.generators import GENERATORS
from conjunto.datasets.waveform import _log_likelihoods, bayes_waveform

N = 200_000
PLACE = np.arange(1, 22)
H1, H2, H3 = (np.maximum(6 - np.abs(PLACE - peak), 0) for peak in (11, 15, 7))
CLASSES = ((H1, H2), (H1, H3), (H2, H3))


def test_waveform():
    """Class k is u h_a + (1 - u) h_b + noise: means are the halves' mean, h a triangle of height 6."""
    X, y = make_waveform(N, random_state=0)
    assert X.shape == (N, 21)
    for label, (one, other) in enumerate(CLASSES):
        rows = X[y == label]
        assert abs(len(rows) / N - 1 / 3) < 5 * np.sqrt(2 / 9 / N)
        # Variance: 1 of the noise and (h_a - h_b)^2 / 12 of the mixture, at most 1 + 36 / 12 = 4.
        assert np.abs(rows.mean(axis=0) - (one + other) / 2).max() < 5 * np.sqrt(4 / len(rows))
        spread = 1 + (one - other) ** 2 / 12
        assert np.abs(rows.var(axis=0) / spread - 1).max() < 5 * np.sqrt(2 / len(rows))


@pytest.mark.parametrize("scale", [1, 5])
def test_likelihoods_against_quadrature(scale):
    """The closed form is the integral over the mixing share u, also far from the classes, where exp is 0."""
    X = scale * make_waveform(20, random_state=3)[0]
    found = _log_likelihoods(X)
    grid = np.linspace(0, 1, 1001)
    for row, logs in zip(X, found, strict=True):
        for (one, other), log in zip(CLASSES, logs, strict=True):

            def exponent(u, row=row, one=one, other=other):
                return -((row - other - u * (one - other)) ** 2).sum() / 2

            # The highest value is taken out, so that quad sees numbers near 1.
            best = max(grid, key=exponent)
            top = exponent(best)
            integral = quad(lambda u: np.exp(exponent(u) - top), 0, 1, points=[best], epsabs=1e-12)[0]  # noqa: B023
            assert log == pytest.approx(np.log(integral) + top, abs=1e-8)
    np.testing.assert_array_equal(bayes_waveform(X), found.argmax(axis=1))
    assert np.isfinite(_log_likelihoods(1000 * X)).all()


def test_bayes_error():
    """1 - the integral of the highest class density / 3, by the midpoint rule on the plane through the three waves."""
    plane, _ = np.linalg.qr(np.stack([H2 - H1, H3 - H1], axis=1).astype(float))
    corners = np.stack([H1, H2, H3]) @ plane
    step = 0.1
    low, high = corners.min(axis=0) - 8, corners.max(axis=0) + 8
    grid = np.stack(np.meshgrid(*(np.arange(a, b, step) for a, b in zip(low, high, strict=True))), axis=-1)
    # Points of the plane: the part of h_1 outside of the plane's directions is common to all of it.
    rows = grid.reshape(-1, 2) @ plane.T + (H1 - plane @ (plane.T @ H1))
    densities = np.exp(_log_likelihoods(rows)) / (2 * np.pi) * step**2
    np.testing.assert_allclose(densities.sum(axis=0), 1, rtol=1e-9)
    error = 1 - densities.max(axis=1).sum() / 3
    assert GENERATORS["waveform"].bayes_error == pytest.approx(error, rel=1e-5)
    # Breiman's estimate, as the thesis cites it.
    assert error == pytest.approx(0.132, abs=0.001)


def test_draws_stay():
    """The order of the draws is part of the interface: the README shows results for given seeds."""
    X, y = make_waveform(300, random_state=0)
    random = np.random.RandomState(0)
    np.testing.assert_array_equal(y, random.randint(0, 3, size=300))
    share = random.uniform(size=(300, 1))
    pairs = np.array(CLASSES, dtype=float)[y]
    np.testing.assert_array_equal(X, share * pairs[:, 0] + (1 - share) * pairs[:, 1] + random.normal(size=(300, 21)))
