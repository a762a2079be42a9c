import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import Votes
from conjunto.combination import Count, combine, decide, prefixes, weighted_median
from conjunto.evaluation import error_curve
from conjunto.votes import as_votes

LABELS = hnp.arrays(np.int32, st.tuples(st.integers(1, 7), st.integers(1, 9)), elements=st.integers(-1, 3))


@given(LABELS)
def test_counts_against_brute_force(labels):
    votes = Votes(labels=labels, classes=np.arange(4))
    brute = np.array([[(labels[:, i] == k).sum() for k in range(4)] for i in range(labels.shape[1])])
    np.testing.assert_array_equal(combine(votes).counts, brute)
    counted = [count.counts.copy() for count in prefixes(votes)]
    for t, counts in enumerate(counted, 1):
        np.testing.assert_array_equal(counts, combine(Votes(labels=labels[:t], classes=np.arange(4))).counts)


@given(LABELS, st.data())
def test_weighted_counts(labels, data):
    weights = data.draw(hnp.arrays(np.float64, len(labels), elements=st.floats(0.1, 10)))
    votes = Votes(labels=labels, classes=np.arange(4), weights=weights)
    brute = np.array([[weights[labels[:, i] == k].sum() for k in range(4)] for i in range(labels.shape[1])])
    np.testing.assert_allclose(combine(votes).counts, brute)


def test_ties_go_to_the_lowest_class():
    assert decide(np.array([[2, 1, 0], [1, 2, 2], [0, 0, 1]])).tolist() == [0, 0, 0]
    assert decide(np.array([[2, 1], [1, 2]])).tolist() == [1, 1]
    count = Count(np.array([[1, 1, 0], [0, 2, 2], [0, 0, 0]]), np.array([True, True, False]))
    assert count.winners().tolist() == [0, 1, -1]


def test_decide_gives_labels_back():
    votes = Votes(labels=np.array([[0, 1], [0, 1]]), classes=np.array(["no", "yes"]))
    assert decide(votes).tolist() == ["no", "yes"]


def test_scores_add_up_and_nan_abstains():
    scores = np.array([[[0.4, 0.6]], [[np.nan, np.nan]], [[0.9, 0.1]]])
    np.testing.assert_allclose(combine(Votes(scores=scores)).counts, [[1.3, 0.7]])
    assert decide(Votes(scores=scores)).tolist() == [0]


VALUES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 7), st.integers(1, 9)), elements=st.floats(-100, 100) | st.just(np.nan)
)


@given(VALUES)
def test_means_against_brute_force(values):
    def mean(column):
        said = column[~np.isnan(column)]
        return said.mean() if len(said) else np.nan

    brute = [mean(values[:, i]) for i in range(values.shape[1])]
    votes = Votes(values=values)
    np.testing.assert_allclose(combine(votes).answers(), brute, rtol=1e-9, atol=1e-9)
    for t, count in enumerate(prefixes(votes), 1):
        np.testing.assert_allclose(count.answers(), combine(Votes(values=values[:t])).answers(), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(decide(values), combine(votes).answers())


@given(LABELS, st.data())
def test_correctness(labels, data):
    y = data.draw(hnp.arrays(np.int64, labels.shape[1], elements=st.integers(0, 3)))
    right = as_votes(labels).correctness(y)
    for t in range(len(labels)):
        for i in range(len(y)):
            assert right[t, i] == (0 if labels[t, i] < 0 else 1 if labels[t, i] == y[i] else -1)


def test_as_votes():
    assert as_votes([[0, 1]]).labels is not None
    assert as_votes([[0.5, 1]]).values is not None
    votes = Votes(labels=np.array([[0]]))
    assert as_votes(votes) is votes
    with pytest.raises(ValueError, match=r"votes must be a Votes or a \(members, rows\) array, got shape \(2,\)"):
        as_votes([0, 1])


def test_as_codes():
    votes = Votes(labels=np.array([[0, 1, 2]]), classes=np.array(["a", "b", "c"]))
    assert votes.encode(["c", "a", "b"]).tolist() == [2, 0, 1]
    for unknown in ("z", "aa", ""):
        with pytest.raises(ValueError, match="which the ensemble does not know"):
            votes.encode(["a", "b", unknown])
    with pytest.raises(ValueError, match="y has 2 examples, votes have 3"):
        votes.encode(["a", "b"])


def test_classes_in_any_order():
    votes = Votes(labels=np.array([[0, 1]]), classes=np.array(["yes", "no"]))
    assert votes.encode(["yes", "no"]).tolist() == [0, 1]


def test_a_regression_has_no_classes():
    with pytest.raises(ValueError, match="votes of a regression have no classes"):
        as_votes(np.zeros((1, 1))).correctness([0])
    with pytest.raises(ValueError, match="rule='plurality' does not combine values: use one of 'mean', 'median'"):
        Votes(values=np.zeros((1, 1)), rule="plurality")
    with pytest.raises(ValueError, match="unknown rule 'majority': use one of 'plurality'"):
        Votes(labels=np.zeros((1, 1), dtype=int), rule="majority")


# Few different values, and weights whose sums are exact: ties at one half are frequent and real.
TIED = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(1, 6)),
    elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0, np.nan]) | st.floats(-100, 100),
)


def median(values, weights):
    """The least value that at least half of the weight lies at or below; NaN where everybody abstains."""
    said = ~np.isnan(values)
    values, weights = values[said], weights[said]
    enough = [value for value in values if 2 * weights[values <= value].sum() >= weights.sum()]
    return min(enough, default=np.nan)


def dyadic(data, members, least=0):
    return data.draw(hnp.arrays(np.float64, members, elements=st.integers(least, 8).map(lambda eighths: eighths / 8)))


@given(TIED, st.data())
def test_medians_against_brute_force(values, data):
    weights = dyadic(data, len(values))
    brute = [median(column, weights) for column in values.T]
    np.testing.assert_array_equal(weighted_median(values, weights), brute)
    votes = Votes(values=values, weights=weights, rule="weighted-median")
    np.testing.assert_array_equal(decide(votes), brute)
    for t, count in enumerate(prefixes(votes), 1):
        np.testing.assert_array_equal(count.answers(), [median(column, weights[:t]) for column in values[:t].T])
    assert t == len(values)


@given(TIED, st.data())
def test_error_curve_of_medians(values, data):
    weights = dyadic(data, len(values), least=1)
    truth = data.draw(hnp.arrays(np.float64, values.shape[1], elements=st.floats(-100, 100)))
    order = data.draw(st.permutations(range(len(values))))
    curve = error_curve(Votes(values=values, weights=weights, rule="weighted-median"), truth, order)
    for t, error in enumerate(curve, 1):
        first = np.array(order[:t])
        said = np.array([median(column, weights[first]) for column in values[first].T])
        known = ~np.isnan(said)
        brute = np.mean((said - truth)[known] ** 2) if known.any() else np.nan
        np.testing.assert_allclose(error, brute, rtol=1e-12)


def test_half_of_the_weight_is_enough_for_the_lower_median():
    values = np.array([[3.0], [1.0], [2.0], [4.0]])
    assert weighted_median(values, np.ones(4)).tolist() == [2.0]
    assert weighted_median(values, np.array([1.0, 0.0, 0.0, 1.0])).tolist() == [3.0]
    assert weighted_median(values, np.array([1.0, 0.0, 0.0, 1.5])).tolist() == [4.0]


def test_medians_of_many_examples_are_taken_in_blocks(monkeypatch):
    values = np.random.default_rng(0).normal(size=(5, 23))
    weights = np.random.default_rng(1).random(5)
    whole = weighted_median(values, weights)
    monkeypatch.setattr("conjunto.combination.rules.MEDIAN_CELLS", 20)
    np.testing.assert_array_equal(weighted_median(values, weights), whole)


def plurality(codes, weights, classes):
    """The class with most weight behind it, ties to the lowest; -1 where everybody abstains."""
    said = codes >= 0
    if not said.any():
        return -1
    return int(np.argmax([weights[said & (codes == k)].sum() for k in range(classes)]))


@given(LABELS, st.data())
def test_groups_decide_before_they_vote(labels, data):
    groups = data.draw(hnp.arrays(np.int64, len(labels), elements=st.integers(-1, 2)))
    weights = dyadic(data, len(labels), least=1)
    votes = Votes(labels=labels, classes=np.arange(4), weights=weights, groups=groups)
    for t, count in enumerate(prefixes(votes), 1):
        for i, column in enumerate(labels[:t].T):
            decided = [plurality(column[groups[:t] == g], weights[:t][groups[:t] == g], 4) for g in set(groups[:t])]
            brute = [sum(code == k for code in decided) for k in range(4)]
            np.testing.assert_array_equal(count.counts[i], brute)
            assert count.voted[i] == (sum(brute) > 0)
            assert count.winners()[i] == (np.argmax(brute) if sum(brute) else -1)
    assert t == len(labels)


@given(LABELS)
def test_groups_of_one_member_and_one_group_of_all(labels):
    plain = Votes(labels=labels, classes=np.arange(4))
    apart = Votes(labels=labels, classes=np.arange(4), groups=np.arange(len(labels)))
    np.testing.assert_array_equal(combine(apart).counts, combine(plain).counts)
    together = Votes(labels=labels, classes=np.arange(4), groups=np.zeros(len(labels), dtype=int))
    counts = Count(combine(plain).counts, (labels >= 0).any(axis=0))
    *_, last = prefixes(together)
    np.testing.assert_array_equal(last.winners(), counts.winners())


def test_groups_stay_with_their_members():
    votes = Votes(labels=np.array([[0], [1], [1]]), groups=np.array([5, 5, 7]))
    assert votes.take(np.array([2, 0])).groups.tolist() == [7, 5]
    with pytest.raises(ValueError, match=r"groups must have one entry per member, \(3,\), got \(2,\)"):
        Votes(labels=np.array([[0], [1], [1]]), groups=np.array([5, 7]))
