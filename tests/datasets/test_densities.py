import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from conjunto.datasets import DENSITIES, Density, make_density

LIMITS = {"exponential": (0, 40)}
# (mean, variance): of a mixture, the mean of the means, and the mean variance plus the variance of the means.
MOMENTS = {
    "normal": (0, 1),
    "exponential": (1, 1),
    "two-normals": (0, 4 / 9 + 1),
    "three-normals": (0, 9 / 10 * (9 / 25 + 36 / 25) + 1 / 10 / 16),
    "claw": (0, 1 / 2 + 5 / 10 / 100 + (1 + 1 / 4 + 0 + 1 / 4 + 1) / 10),
}
# The modes are near the means of the narrow parts.
MODES = {"normal": [0], "two-normals": [-1, 1], "three-normals": [-1.2, 0, 1.2], "claw": [-1, -0.5, 0, 0.5, 1]}


@pytest.mark.parametrize("name", DENSITIES)
def test_pdf_and_cdf(name):
    """The pdf integrates to 1 and to the moments, and is the slope of the cdf."""
    density = DENSITIES[name]
    low, high = LIMITS.get(name, (-12, 12))

    def integral(function):
        return quad(lambda x: function(x) * density.pdf(x), low, high, points=[-1, -0.5, 0, 0.5, 1], limit=500)[0]

    mean, variance = MOMENTS[name]
    assert integral(lambda x: 1) == pytest.approx(1, abs=1e-7)
    assert integral(lambda x: x) == pytest.approx(mean, abs=1e-7)
    assert integral(lambda x: (x - mean) ** 2) == pytest.approx(variance, abs=1e-6)
    x = np.linspace(-3.05, 3.05, 62)
    slope = (density.cdf(x + 1e-5) - density.cdf(x - 1e-5)) / 2e-5
    np.testing.assert_allclose(density.pdf(x), slope, atol=1e-6)
    np.testing.assert_allclose(density.cdf([-50, 50]), [0, 1])


@pytest.mark.parametrize("name", MODES)
def test_modes(name):
    x = np.linspace(-3, 3, 6001)
    values = DENSITIES[name].pdf(x)
    peaks = x[1:-1][(values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])]
    np.testing.assert_allclose(peaks, MODES[name], atol=0.06)


@pytest.mark.parametrize("name", DENSITIES)
def test_samples_follow_the_cdf(name):
    values = make_density(name, 20_000, random_state=0)
    assert values.shape == (20_000, 1)
    # Would fail by chance once in 10,000 seeds.
    assert kstest(values[:, 0], DENSITIES[name].cdf).pvalue > 1e-4
    np.testing.assert_array_equal(values[:, 0], DENSITIES[name].sample(20_000, random_state=0))
    assert (values != make_density(name, 20_000, random_state=1)).all()
    # Rows come in random order, not part by part.
    assert kstest(values[:5000, 0], DENSITIES[name].cdf).pvalue > 1e-4


def test_index():
    for name, density in DENSITIES.items():
        assert isinstance(density, Density)
        assert density.name == name
        assert sum(weight for weight, _ in density.parts) == pytest.approx(1)
        assert density.pdf(0.3).shape == ()
        assert density.pdf(np.zeros((2, 3))).shape == density.cdf(np.zeros((2, 3))).shape == (2, 3)
    assert len(make_density("normal")) == 500


def test_bad_arguments():
    with pytest.raises(ValueError, match="name must be one of 'normal', 'exponential'"):
        make_density("cauchy", 10)
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1, got 0"):
        make_density("normal", 0)
