"""Every rule of combination against a few lines of numpy, on scores and values with abstentions, prefix by prefix."""

import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax
from scipy.stats import trim_mean

from conjunto import Votes
from conjunto.combination import FINISHES, RULES, combine, decide, prefixes
from conjunto.votes import RULES_OF, RollCall

SCORES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4)),
    elements=st.integers(0, 8).map(lambda eighths: eighths / 8),
)


def by_hand(rule, scores, weights):
    """(n, K) from the scores of the members that vote, (T, n, K); NaN where nobody does."""
    silent = np.isnan(scores).any(axis=2)
    out = np.full(scores.shape[1:], np.nan)
    for i in range(scores.shape[1]):
        said, weight = scores[~silent[:, i], i], weights[~silent[:, i]]
        if not len(said):
            continue
        with np.errstate(divide="ignore"):
            out[i] = {
                "sum": lambda s, w: w @ s,
                "mean": lambda s, w: w @ s / w.sum(),
                "product": lambda s, w: w @ np.maximum(np.log(s), np.log(np.finfo(float).tiny)),
                "min": lambda s, w: s.min(axis=0),
                "max": lambda s, w: s.max(axis=0),
                "median": lambda s, w: np.median(s, axis=0),
                "trimmed-mean": trimmed,
                "borda": lambda s, w: w @ np.stack([points(each) for each in s]),
            }[rule](said, weight)
    return out


def trimmed(said, weights):
    """The mean of each column without its lowest and highest entry, of twenty and more without two of each."""
    cut = 0 if len(said) < 3 else max(1, len(said) // 10)
    means = []
    for column in said.T:
        left = np.argsort(column, kind="stable")[cut : len(column) - cut]
        means.append(np.average(column[left], weights=weights[left]))
    return np.array(means)


def points(scores):
    """A point for every class that is below, half of one for every equal."""
    return [sum((other < one) + 0.5 * (other == one) for other in scores) - 0.5 for one in scores]


@pytest.mark.parametrize("rule", RULES_OF["scores"])
@given(scores=SCORES, data=st.data())
def test_scores(rule, scores, data):
    weights = data.draw(hnp.arrays(np.float64, len(scores), elements=st.integers(1, 4).map(float)))
    silent = data.draw(hnp.arrays(bool, scores.shape[:2]))
    scores = np.where(silent[:, :, None], np.nan, scores)
    votes = Votes(scores=scores, weights=weights, rule=rule)
    for t, count in enumerate(prefixes(votes), 1):
        expected = by_hand(rule, scores[:t], weights[:t])
        voted = ~np.isnan(expected).any(axis=1)
        np.testing.assert_array_equal(count.voted, voted)
        np.testing.assert_allclose(count.counts[voted], expected[voted], rtol=1e-9)
    np.testing.assert_array_equal(combine(votes.roll_call()).counts, combine(votes).counts)
    assert (decide(votes)[~voted] == -1).all()


@pytest.mark.parametrize("rule", ["median", "min", "max"])
@given(values=hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(-9, 9)))
def test_values(rule, values):
    values = np.where(values > 7, np.nan, values)
    function = {"median": np.nanmedian, "min": np.nanmin, "max": np.nanmax}[rule]
    known = ~np.isnan(values).all(axis=0)
    said = decide(Votes(values=values, rule=rule))
    np.testing.assert_array_equal(said[known], function(values[:, known], axis=0))
    assert np.isnan(said[~known]).all()


def test_a_trimmed_mean_is_scipys_where_there_are_many():
    values = np.random.default_rng(0).normal(size=(30, 7))
    np.testing.assert_allclose(decide(Votes(values=values, rule="trimmed-mean")), trim_mean(values, 0.1, axis=0))
    # A jury of three: the lowest and the highest mark do not count.
    assert decide(Votes(values=np.array([[1.0], [9.0], [4.0]]), rule="trimmed-mean")).tolist() == [4.0]


def test_borda_by_hand():
    # Two voters for the first class, but it is the last of the others: the second has more points.
    scores = np.array([[[0.5, 0.4, 0.1]], [[0.5, 0.4, 0.1]], [[0.1, 0.5, 0.4]], [[0.1, 0.5, 0.4]], [[0.2, 0.5, 0.3]]])
    assert combine(Votes(scores=scores, rule="borda")).counts.tolist() == [[4.0, 8.0, 3.0]]
    # Equal classes share their points.
    assert combine(Votes(scores=np.array([[[0.4, 0.4, 0.2]]]), rule="borda")).counts.tolist() == [[1.5, 1.5, 0.0]]


def test_a_veto_is_one_in_a_product_alone():
    scores = np.array([[[0.0, 0.4]], [[0.9, 0.1]], [[0.9, 0.1]]])
    assert decide(Votes(scores=scores, rule="sum")).tolist() == [0]
    assert decide(Votes(scores=scores, rule="product")).tolist() == [1]
    assert decide(Votes(scores=np.concatenate([scores] * 20), rule="product")).tolist() == [1]


def test_every_rule_has_its_name_and_every_name_its_rule():
    assert set(RULES) == {rule for rules in RULES_OF.values() for rule in rules}


def test_a_roll_call_is_never_held_whole():
    """While votes are added, at most the scores of two voters exist: those just added and those being cast."""
    alive, most = weakref.WeakSet(), 0

    class Scores(np.ndarray):
        """An array that can be watched."""

        __hash__ = object.__hash__

        def __eq__(self, other):
            return self is other

    def voters():
        nonlocal most
        for _ in range(50):
            scores = np.ones((30, 3)).view(Scores)
            alive.add(scores)
            most = max(most, len(alive))
            yield scores
            del scores

    call = RollCall("scores", voters(), 50, 30, 3)
    assert combine(call).counts.tolist() == [[50.0] * 3] * 30
    assert most <= 2


@pytest.mark.parametrize("name", FINISHES)
def test_finished_scores_are_probabilities(name):
    scores = np.random.default_rng(0).random((20, 3)) * 5
    scores *= 5 / scores.sum(axis=1, keepdims=True)
    shares = FINISHES[name].probabilities(scores, 5.0)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), scores.argmax(axis=1))


def test_finishes_by_hand():
    scores = np.array([[3.0, 1.0]])
    np.testing.assert_allclose(FINISHES["share"].probabilities(scores, 8.0), [[3 / 8, 1 / 8]])
    np.testing.assert_allclose(FINISHES["share-of-cast"].probabilities(scores, 8.0), [[0.75, 0.25]])
    np.testing.assert_allclose(FINISHES["share-of-cast"].probabilities(0 * scores, 8.0), [[0.5, 0.5]])
    np.testing.assert_allclose(FINISHES["logistic"].probabilities(scores, 8.0), softmax(scores, axis=1))
    # SAMME: a vote counts 1 for its class and -1 / (K - 1) for the other, and classes are as exp(score / (K - 1)).
    np.testing.assert_allclose(FINISHES["samme"].decision(scores, 4.0), [[0.5, -0.5]])
    np.testing.assert_allclose(FINISHES["samme"].probabilities(scores, 4.0), softmax([[0.5, -0.5]], axis=1))
