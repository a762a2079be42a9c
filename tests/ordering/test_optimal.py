import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import Votes
from conjunto.combination import combine
from conjunto.ordering.optimal import optimal


def error_of(votes, y, members, sample_weight=None):
    """The error of a subset as the package counts votes everywhere else; 1 where it has no vote at all."""
    sample_weight = np.ones(len(y)) if sample_weight is None else sample_weight
    said = combine(votes.take(np.asarray(members))).winners()
    total = sample_weight[said >= 0].sum()
    return sample_weight[(said >= 0) & (said != y)].sum() / total if total else 1.0


def least_error(votes, y, size, sample_weight=None):
    subsets = itertools.combinations(range(len(votes)), size)
    return min(error_of(votes, y, subset, sample_weight) for subset in subsets)


def check_optimum(votes, y, size, sample_weight=None):
    found = optimal(votes, y, size, sample_weight=sample_weight)
    least = least_error(votes, y, size, sample_weight)
    assert len(found.chosen) == len(set(found.chosen)) == size
    assert (np.diff(found.chosen) > 0).all()
    assert found.error == pytest.approx(error_of(votes, y, found.chosen, sample_weight), abs=1e-12)
    assert found.error == pytest.approx(least, abs=1e-6 if sample_weight is not None else 1e-12)
    assert found.proven
    assert found.gap == 0.0
    assert found.bound == found.error


@st.composite
def cases(draw, low):
    """Labels from `low` on (-1 with abstentions), the truth, and a size."""
    members, examples, classes = draw(st.integers(1, 9)), draw(st.integers(1, 25)), draw(st.integers(2, 4))
    # Drawn by numpy: what is shrunk towards zero is nearly unanimous, and then greedy is best.
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = random.integers(0, classes, examples)
    noise = draw(st.sampled_from([0.3, 0.6, 0.9]))
    labels = np.where(random.random((members, examples)) < noise, random.integers(0, classes, (members, examples)), y)
    if low < 0:
        labels[random.random(labels.shape) < draw(st.sampled_from([0.1, 0.4, 0.8]))] = -1
    return labels, y, draw(st.integers(1, members))


@settings(max_examples=150)
@given(cases(0))
def test_against_enumeration(case):
    labels, y, size = case
    check_optimum(Votes(labels=labels), y, size)


@settings(max_examples=150)
@given(cases(-1))
def test_abstentions_against_enumeration(case):
    labels, y, size = case
    check_optimum(Votes(labels=labels), y, size)


@settings(max_examples=150)
@given(cases(-1) | cases(0), st.data())
def test_weights_against_enumeration(case, data):
    labels, y, size = case
    # Tenths tie in every way, but not to the last bit.
    weights = data.draw(hnp.arrays(np.float64, len(labels), elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7])))
    weights[0] = 0.3
    sample_weight = None
    if data.draw(st.booleans()):
        elements = data.draw(st.sampled_from([st.sampled_from([0.0, 1.0, 3.0]), st.floats(0.01, 10)]))
        sample_weight = data.draw(hnp.arrays(np.float64, len(y), elements=elements))
        sample_weight[0] = 1.0
    check_optimum(Votes(labels=labels, weights=weights), y, size, sample_weight)


@settings(max_examples=50)
@given(cases(-1), st.data())
def test_scores_against_enumeration(case, data):
    labels, y, size = case
    n_classes = max(labels.max(), y.max()) + 1
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    # Eighths add up exactly: sums that cancel to nothing but rounding have no scale in the count of all votes.
    scores = random.integers(-3, 4, (*labels.shape, n_classes)) / 8
    scores[labels < 0] = np.nan
    check_optimum(Votes(scores=scores), y, size)


def hard(seed):
    """Votes too even for a proof in no time, whose least error is above 0."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 60)
    return np.where(random.random((10, 60)) < 0.4, 1 - y, y), y


@pytest.mark.parametrize("seed", range(5))
def test_a_time_limit_that_runs_out_leaves_a_bound(seed):
    labels, y = hard(seed)
    least = least_error(Votes(labels=labels), y, 5)
    found = optimal(labels, y, 5, time_limit=1e-9)
    assert not found.proven
    assert found.bound <= least <= found.error
    assert found.gap == found.error - found.bound > 0
    assert found.error == error_of(Votes(labels=labels), y, found.chosen)
    # Without any time, the greedy subset.
    greedy = []
    for _ in range(5):
        rest = [t for t in range(10) if t not in greedy]
        greedy.append(min(rest, key=lambda t: error_of(Votes(labels=labels), y, [*greedy, t])))
    np.testing.assert_array_equal(found.chosen, np.sort(greedy))


def test_examples_without_a_vote_are_left_out():
    labels = np.array([[0, -1, 1], [-1, -1, 1], [1, -1, 0]])
    found = optimal(labels, [0, 1, 0], 1)
    np.testing.assert_array_equal(found.chosen, [0])
    assert found.error == 0.5
    silent = optimal(np.full((2, 3), -1), [0, 1, 0], 1)
    assert (silent.error, silent.gap) == (1.0, 0.0)


def test_a_group_comes_as_a_whole():
    labels = np.array([[0, 1], [1, 0], [1, 0], [0, 1], [1, 0]])
    votes = Votes(labels=labels, groups=np.array(["b", "a", "a", "b", "a"]))
    found = optimal(votes, [0, 1], 1)
    np.testing.assert_array_equal(found.chosen, [0, 3])
    assert found.error == 0.0


def test_the_solver_does_not_report(capfd):
    labels, y = hard(0)
    assert optimal(labels, y, 5).proven
    assert "HiGHS" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("size", "settings", "message"),
    [
        (0, {}, "size must be a whole number of at least 1"),
        (3, {}, "size must be at most the number of voters, 2"),
        (1, {"time_limit": 0}, "time_limit"),
    ],
)
def test_refusals(size, settings, message):
    with pytest.raises(ValueError, match=message):
        optimal([[0, 1], [1, 1]], [0, 1], size, **settings)


def test_values_are_refused():
    with pytest.raises(ValueError, match="optimal needs votes on classes"):
        optimal([[0.5, 1.0]], [0, 1], 1)
