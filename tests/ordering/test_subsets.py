import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import Votes
from conjunto.combination import combine
from conjunto.ordering import _subsets
from conjunto.ordering._reading import read_classes


def error_of(votes, y, members, sample_weight):
    """The error of a subset as the package counts votes everywhere else."""
    if len(members) == 0:
        return 1.0
    said = combine(votes.take(np.asarray(members))).winners()
    covered = said >= 0
    total = sample_weight[covered].sum()
    return sample_weight[covered & (said != y)].sum() / total if total else 1.0


@st.composite
def ballots(draw):
    members, examples, classes = draw(st.integers(1, 7)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    labels = draw(hnp.arrays(np.int32, (members, examples), elements=st.integers(-1, classes - 1)))
    y = draw(hnp.arrays(np.int64, examples, elements=st.integers(0, classes - 1)))
    weights = draw(st.none() | hnp.arrays(np.float64, members, elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.7])))
    if weights is not None and not weights.any():
        weights = None
    sample_weight = draw(hnp.arrays(np.float64, examples, elements=st.sampled_from([0.0, 0.3, 1.0, 2.0])))
    sample_weight = sample_weight if sample_weight.any() else np.ones(examples)
    known = np.arange(classes)
    if draw(st.booleans()):
        scores = draw(hnp.arrays(np.float64, (members, examples, classes), elements=st.sampled_from([0.0, 0.1, 0.3])))
        scores[labels < 0] = np.nan
        return Votes(scores=scores, weights=weights, classes=known), y, sample_weight
    return Votes(labels=labels, weights=weights, classes=known), y, sample_weight


@given(ballots(), st.data(), st.sampled_from([1, 20, 1 << 22]))
def test_against_counting_subset_by_subset(case, data, cells):
    votes, y, sample_weight = case
    chosen = data.draw(hnp.arrays(bool, (5, len(votes))))
    ballot = read_classes(votes, y, sample_weight, "this test")
    kept, _subsets.CELLS = _subsets.CELLS, cells
    try:
        errors = _subsets.SubsetErrors(ballot, 5)
    finally:
        _subsets.CELLS = kept
    brute = [error_of(votes, y, np.flatnonzero(row), sample_weight) for row in chosen]
    np.testing.assert_allclose(errors(chosen), brute, rtol=1e-12, atol=0)

    subset = chosen[0]
    found = errors.after_adding(subset)
    for t in np.flatnonzero(~subset):
        members = np.sort([*np.flatnonzero(subset), t])
        np.testing.assert_allclose(found[t], error_of(votes, y, members, sample_weight), rtol=1e-12, atol=0)


def test_a_voter_of_weight_zero_votes_for_nobody_but_votes():
    votes = Votes(labels=np.array([[1, 1], [0, -1]]), weights=np.array([0.0, 1.0]))
    errors = _subsets.SubsetErrors(read_classes(votes, [1, 0], None, "this test"))
    np.testing.assert_array_equal(errors(np.array([[True, False], [False, True], [False, False]])), [0.5, 1.0, 1.0])
