"""Weights, scores and values over the whole range of doubles: an order is a permutation, and knows no unit."""

import re
import warnings
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import Votes, _core
from conjunto.ordering import CRITERIA, complementarity, reduce_error

from .cases import class_cases, value_cases

LARGEST = float(np.finfo(float).max)
EXTREME = [0.0, 5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e308, LARGEST]
SIZES = st.sampled_from(EXTREME) | st.floats(0, LARGEST)
SIGNED = st.sampled_from([*EXTREME, *(-number for number in EXTREME), np.nan]) | st.floats(-LARGEST, LARGEST)
QUICK = {"size": 1, "population": 4, "generations": 3, "random_state": 0, "time_limit": 1.0}
# What meta_tree says where all abstain, or have no weight where they vote.
NOTHING_TO_IMITATE = "nobody votes|wherever somebody votes"


def members_of(name, votes, y, sample_weight=None):
    """What a criterion returns; orientation may warn of an unstable direction."""
    known = signature(CRITERIA[name].function).parameters
    offered = {**QUICK, "sample_weight": sample_weight}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "orientation is unreliable")
        found = CRITERIA[name].function(votes, y, **{key: offered[key] for key in offered if key in known})
    return getattr(found, "chosen", found).tolist()


@st.composite
def any_case(draw, values):
    """(votes, y, sample_weight): up to 4 members on 5 examples."""
    members, n = draw(st.integers(1, 4)), draw(st.integers(1, 5))

    def weights(count):
        found = draw(st.none() | hnp.arrays(np.float64, count, elements=SIZES))
        return None if found is None or not found.any() else found

    given_weights = {"weights": weights(members)}
    if values:
        said = draw(hnp.arrays(np.float64, (members, n), elements=SIGNED))
        y = draw(hnp.arrays(np.float64, n, elements=SIGNED.filter(np.isfinite)))
        rule = draw(st.sampled_from(["mean", "weighted-median"]))
        return Votes(values=said, rule=rule, **given_weights), y, weights(n)
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    if draw(st.booleans()):
        return (
            Votes(scores=draw(hnp.arrays(np.float64, (members, n, 3), elements=SIGNED)), **given_weights),
            y,
            weights(n),
        )
    labels = draw(hnp.arrays(np.int64, (members, n), elements=st.integers(-1, 2)))
    groups = draw(st.none() | hnp.arrays(np.int64, members, elements=st.integers(0, 1)))
    return Votes(labels=labels, groups=groups, **given_weights), y, weights(n)


@pytest.mark.parametrize("name", CRITERIA)
@settings(max_examples=40)
@given(data=st.data())
def test_members_are_returned_whatever_the_numbers_are(name, data):
    votes, y, sample_weight = data.draw(any_case(values=CRITERIA[name].values and data.draw(st.booleans())))
    try:
        members = members_of(name, votes, y, sample_weight)
    except ValueError as refusal:
        if not re.search(NOTHING_TO_IMITATE, str(refusal)):
            raise
        return
    assert len(set(members)) == len(members) > 0
    assert set(members) <= set(range(len(votes)))
    if CRITERIA[name].returns == "order":
        assert len(members) == len(votes)


@pytest.mark.parametrize("name", [name for name in CRITERIA if name not in ("random_order", "optimal")])
@settings(max_examples=20)
@given(
    labels=class_cases(weights=("whole",)), values=value_cases(), power=st.sampled_from([-1000, -500, -40, 500, 1015])
)
def test_a_unit_changes_nothing(name, labels, values, power):
    for case in (labels, values) if CRITERIA[name].values else (labels,):
        weights = None if case.weights is None else np.ldexp(case.weights, power)
        sample_weight = None if case.sample_weight is None else np.ldexp(case.sample_weight, power)
        if case is labels:
            votes, y = Votes(labels=case.labels, weights=weights), case.truth
        else:
            rule = "weighted-median" if case.median else "mean"
            votes, y = (
                Votes(values=np.ldexp(case.values, power), weights=weights, rule=rule),
                np.ldexp(case.truth, power),
            )
        try:
            expected = members_of(name, case.votes, case.y, case.sample_weight)
        except ValueError:
            continue
        assert members_of(name, votes, y, sample_weight) == expected


def test_sums_of_weights_may_be_infinite():
    # By hand: 0 is right on nothing, 1 on everything; of members that are always right the first comes first.
    assert complementarity([[1, 0], [0, 1]], [0, 1], sample_weight=[1.7e308, 1e308]).tolist() == [1, 0]
    for order in (reduce_error, complementarity):
        values = np.array([[1e200, 2.0], [2e200, 1.0]])
        assert order(values, [0.0, 1.0], sample_weight=[0.0, 1.0]).tolist() == [1, 0]


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1e300])
def test_the_core_refuses_what_it_cannot_add_up(bad):
    one, labels, truth = np.ones(2), np.zeros((1, 2), dtype=np.int32), np.zeros(2, dtype=np.int32)
    number = np.array([1.0, bad])
    with pytest.raises(ValueError, match="too large: scale them"):
        _core.order_complementarity(labels, truth, 1, None, number, None, 1)
    with pytest.raises(ValueError, match="too large: scale them"):
        _core.best_subsets(truth, 1, np.ones(1, dtype=np.uint32), labels=labels, sample_weight=number)
    with pytest.raises(ValueError, match=r"too large: scale them|missing"):
        _core.order_reduce_squared_error(one[None], number, False, None, None, 1)
