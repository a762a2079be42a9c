import math

import numpy as np
import pytest

from conjunto.evaluation import switching_error, switching_margin


@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.45, 1.0])
@pytest.mark.parametrize("members", [1, 3, 11, 101])
def test_error_is_the_binomial_sum(p, members):
    """eq. 4.8: sum over t > T/2 of C(T, t) p^t (1 - p)^(T - t)."""
    direct = sum(math.comb(members, t) * p**t * (1 - p) ** (members - t) for t in range(members + 1) if t > members / 2)
    assert float(switching_error(p, members)) == pytest.approx(direct, rel=1e-9, abs=1e-300)


def test_error_of_many_sizes_at_once():
    sizes = np.array([1, 5, 51])
    np.testing.assert_allclose(switching_error(0.2, sizes), [float(switching_error(0.2, int(t))) for t in sizes])


@pytest.mark.parametrize("p", [0.1, 0.3, 0.45])
@pytest.mark.parametrize("members", [1, 3, 11, 101])
def test_margin_is_the_binomial_distribution(p, members):
    """eq. 4.9: a margin m = (2 t - T) / T has t right votes, and t is binomial with 1 - p."""
    right = np.arange(members + 1)
    chance = [math.comb(members, t) * (1 - p) ** t * p ** (members - t) for t in right]
    margins = (2 * right - members) / members
    np.testing.assert_allclose(switching_margin(p, members, margins), np.cumsum(chance), rtol=1e-9)
    # Between two margins the distribution is flat.
    np.testing.assert_allclose(switching_margin(p, members, margins + 0.5 / members), np.cumsum(chance), rtol=1e-9)


def test_margin_below_zero_is_the_error():
    assert float(switching_margin(0.3, 11, -1e-6)) == pytest.approx(float(switching_error(0.3, 11)))


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan, "x"])
def test_p_is_a_probability(p):
    with pytest.raises(ValueError, match=r"p must be a number in \[0, 1\]"):
        switching_error(p, 3)
    with pytest.raises(ValueError, match=r"p must be a number in \[0, 1\]"):
        switching_margin(p, 3, 0.0)
