"""Condorcet's jury against sums of binomial terms and what the sources say of it."""

from math import comb

import numpy as np
import pytest

from conjunto.combination import condorcet


def by_hand(voters, p):
    return sum(comb(voters, m) * p**m * (1 - p) ** (voters - m) for m in range(voters // 2 + 1, voters + 1))


def test_formula():
    for voters in (1, 2, 5, 10, 21):
        for p in (0.0, 0.3, 0.5, 0.7, 1.0):
            assert condorcet(voters, p) == pytest.approx(by_hand(voters, p), abs=1e-12)
    assert condorcet([1, 21], [[0.7], [0.5]]).shape == (2, 2)


def test_what_the_sources_say():
    # Cantador: 21 voters with an error of 0.3 fail together with probability 0.026.
    assert round(1 - condorcet(21, 0.7), 3) == 0.026
    odd = np.arange(1, 200, 2)
    assert (np.diff(condorcet(odd, 0.6)) > 0).all()
    assert (np.diff(condorcet(odd, 0.4)) < 0).all()
    np.testing.assert_allclose(condorcet(odd, 0.5), 0.5)
    # Half of an even number is no majority.
    assert condorcet(2, 0.5) == pytest.approx(0.25)


@pytest.mark.parametrize(("voters", "p"), [(0, 0.5), (2.5, 0.5), (3, 1.5), (3, -0.1)])
def test_messages(voters, p):
    with pytest.raises(ValueError, match="n_voters must be" if voters != 3 else "p must be a probability"):
        condorcet(voters, p)
