import numpy as np
import pytest
from scipy.stats import kstest, norm

from conjunto.generation.weights import exponential_weights, gaussian_weights
from conjunto.streams import Stream


def streams(count):
    return [Stream((3, 4), t) for t in range(count)]


@pytest.mark.parametrize("sd", [0.5, 2.0, 3.0])
def test_gaussian_weights_sum_to_n_and_lose_rows(sd):
    n, members = 500, 40
    weights = np.stack([gaussian_weights(stream, n, sd) for stream in streams(members)])
    np.testing.assert_allclose(weights.sum(axis=1), n)
    assert (weights >= 0).all()
    # Normal of mean 1: a share Phi(-1 / sd) of the weights is cut to 0; within five standard errors.
    zero = norm.cdf(-1 / sd)
    assert abs((weights == 0).mean() - zero) < 5 * np.sqrt(zero * (1 - zero) / weights.size)


def test_gaussian_weights_without_spread_are_ones():
    np.testing.assert_allclose(gaussian_weights(Stream((1, 2), 0), 10, 0.0), 1)


def test_gaussian_weights_are_never_all_zero():
    np.testing.assert_allclose([gaussian_weights(stream, 1, 3.0)[0] for stream in streams(50)], 1)


def test_exponential_weights_sum_to_n_and_lose_no_row():
    n = 20_000
    weights = exponential_weights(Stream((1, 2), 0), n)
    assert weights.sum() == pytest.approx(n)
    assert (weights > 0).all()
    assert kstest(weights, "expon").pvalue > 1e-6
