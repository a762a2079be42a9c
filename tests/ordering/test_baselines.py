"""Random order: nothing but a permutation, and any as likely as any other."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunto import Votes, ordering

from .cases import class_cases


@given(class_cases(), st.integers(0, 2**32 - 1))
def test_random_order_is_a_permutation_that_its_seed_fixes(case, seed):
    order = ordering.random_order(case.votes, case.y, random_state=seed)
    assert order.dtype == np.intp
    assert sorted(order.tolist()) == list(range(len(case)))
    np.testing.assert_array_equal(order, ordering.random_order(case.votes, random_state=seed))


@given(class_cases(groups=True), st.integers(0, 2**32 - 1))
def test_random_order_keeps_groups_together(case, seed):
    order = ordering.random_order(case.votes, random_state=seed)
    assert sorted(order.tolist()) == list(range(len(case)))
    groups = case.groups[order]
    assert 1 + (groups[1:] != groups[:-1]).sum() == len(set(groups))
    for group in set(groups):
        np.testing.assert_array_equal(order[groups == group], np.flatnonzero(case.groups == group))


def test_random_orders_are_equally_likely():
    votes = np.zeros((3, 2), dtype=int)
    counts = Counter(tuple(ordering.random_order(votes, random_state=seed).tolist()) for seed in range(3000))
    # 500 of each are expected, with a standard deviation of 20.4.
    assert len(counts) == 6
    assert all(abs(count - 500) < 6 * 20.4 for count in counts.values())


def test_random_orders_without_a_seed_differ():
    votes = np.zeros((100, 2), dtype=int)
    assert ordering.random_order(votes).tolist() != ordering.random_order(votes).tolist()


def test_kappa_needs_no_truth():
    # Of 0 and 2, opposites, kappa is -1, as of 2 and 3; the others are as alike as chance makes them.
    labels = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    assert ordering.kappa(labels).tolist() == [0, 2, 3, 1]
    assert ordering.kappa(Votes(labels=labels, classes=np.array(["a", "b"]))).tolist() == [0, 2, 3, 1]


@given(class_cases())
def test_kappa_does_not_read_the_truth(case):
    np.testing.assert_array_equal(ordering.kappa(case.votes), ordering.kappa(case.votes, case.y))


def test_random_order_refuses_an_array_that_is_no_votes():
    with pytest.raises(ValueError, match="votes"):
        ordering.random_order(np.zeros((2, 3, 4), dtype=int))
