import numpy as np
import pytest

from conjunto.ensembles.rules.r2 import LOSSES, R2
from conjunto.problem import Columns, Problem

Y = np.array([0.0, 1.0, 2.0, 3.0])
SAID = np.array([[0.0, 2.0, 4.0, 7.0]])
SHARES = np.array([0.0, 0.25, 0.5, 1.0])
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])


def rule(loss="linear"):
    return R2(Problem(np.zeros((4, 1)), Y, Columns((None,))), loss)


LOSS_OF_SHARES = {"linear": SHARES, "square": SHARES**2, "exponential": 1 - np.exp(-SHARES)}


def test_losses_are_known():
    assert set(LOSSES) == set(LOSS_OF_SHARES)


@pytest.mark.parametrize("loss", LOSS_OF_SHARES)
def test_error_is_the_weighted_loss(loss):
    assert rule(loss).error(WEIGHTS, SAID) == pytest.approx(WEIGHTS @ LOSS_OF_SHARES[loss])


@pytest.mark.parametrize("loss", LOSS_OF_SHARES)
def test_weights_shrink_by_beta_to_one_less_the_loss(loss):
    one = rule(loss)
    error = one.error(WEIGHTS, SAID)
    beta = error / (1 - error)
    new = one.reweigh(WEIGHTS, SAID, one.vote(error))
    np.testing.assert_allclose(new, WEIGHTS * beta ** (1 - LOSS_OF_SHARES[loss]))


def test_the_largest_error_is_looked_for_where_there_is_weight():
    weights = np.array([0.5, 0.3, 0.2, 0.0])
    one = rule()
    assert one.error(weights, SAID) == pytest.approx(0.3 * 0.5 + 0.2 * 1.0)
    assert np.isfinite(one.reweigh(weights, SAID, 1.0)).all()


def test_no_error_at_all_is_perfect():
    one = rule()
    error = one.error(WEIGHTS, Y[None])
    assert error == 0.0
    assert one.perfect(error)
