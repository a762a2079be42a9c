"""Committees are runs of IGP boosting on halves of their own; each decides, then they vote (thesis, figure 3.5)."""

import numpy as np
import pytest

from conjunto import (
    CARTClassifier,
    IGPBoostingClassifier,
    IGPCommitteesClassifier,
    IGPEnsembleClassifier,
    IGPTreeClassifier,
    Votes,
)
from conjunto.combination import decide
from conjunto.datasets import make_waveform
from conjunto.learners.rounds import TreeRounds
from conjunto.problem import read_problem
from conjunto.streams import Stream
from conjunto.view import View

X, Y = make_waveform(200, random_state=0)
FRESH, FRESH_Y = make_waveform(2000, random_state=1)


def decision(labels, weights, committees, K=3):
    """(n,) codes: plurality of the committees, each by the plurality of its members; ties to the lowest."""
    n = labels.shape[1]
    votes = np.zeros((n, K))
    for committee in np.unique(committees):
        inside = np.zeros((n, K))
        for said, weight in zip(labels[committees == committee], weights[committees == committee], strict=True):
            inside[np.arange(n), said] += weight
        votes[np.arange(n), (inside > inside.max(axis=1, keepdims=True) * (1 - 1e-10)).argmax(axis=1)] += 1
    return votes.argmax(axis=1), votes


@pytest.mark.parametrize("votes", ["plain", "weighted"])
@pytest.mark.parametrize("shape", [(5, 4), (4, 5), (3, 1), (1, 6)])
def test_the_decision_by_hand(votes, shape):
    model = IGPCommitteesClassifier(None, *shape, member_votes=votes, random_state=0).fit(X, Y)
    said = model.votes(FRESH)
    np.testing.assert_array_equal(said.groups, np.repeat(np.arange(shape[0]), shape[1]))
    labels, counts = decision(said.labels, model.estimator_weights_, said.groups)
    np.testing.assert_array_equal(model.predict(FRESH), labels)
    np.testing.assert_allclose(model.predict_proba(FRESH), counts / shape[0])
    np.testing.assert_array_equal(decide(said), labels)
    stages = list(model.staged_predict(FRESH))
    assert len(stages) == len(model.estimators_) == shape[0] * shape[1]
    for t, staged in enumerate(stages, 1):
        part, _ = decision(said.labels[:t], model.estimator_weights_[:t], said.groups[:t])
        np.testing.assert_array_equal(staged, part)


def test_two_stages_are_not_one():
    """Members 0 0 1 | 0 0 1 | 1 1 1: five of nine say 1, two of three committees say 0."""
    votes = Votes(labels=np.array([0, 0, 1, 0, 0, 1, 1, 1, 1])[:, None], groups=np.repeat([0, 1, 2], 3))
    assert decide(votes).tolist() == [0]
    assert decide(Votes(labels=votes.labels)).tolist() == [1]


def test_one_committee_is_igp_boosting():
    for seed in range(3):
        one = IGPCommitteesClassifier(n_committees=1, committee_size=8, random_state=seed).fit(X, Y)
        boosting = IGPBoostingClassifier(n_estimators=8, random_state=seed).fit(X, Y)
        np.testing.assert_array_equal(one.votes(FRESH).labels, boosting.votes(FRESH).labels)
        np.testing.assert_array_equal(one.estimator_errors_, boosting.estimator_errors_)
        np.testing.assert_array_equal(one.predict(FRESH), boosting.predict(FRESH))


def test_committees_of_one_member_are_the_igp_ensemble():
    """With the same seed even the halves are the same: members differ only where equally good cuts fall otherwise."""
    tree = IGPTreeClassifier(min_samples_leaf=5)
    single = IGPCommitteesClassifier(tree, n_committees=30, committee_size=1, random_state=0).fit(X, Y)
    ensemble = IGPEnsembleClassifier(tree, n_estimators=30, random_state=0).fit(X, Y)
    agreement = (single.votes(FRESH).labels == ensemble.votes(FRESH).labels).mean()
    # Trees of other halves agree on about three quarters.
    assert agreement > 0.95
    assert (single.predict(FRESH) == ensemble.predict(FRESH)).mean() > 0.95


def test_each_committee_starts_anew_on_halves_of_its_own():
    """128 rows: their weights, and sums of them, are exact."""
    X, Y = make_waveform(128, random_state=0)
    model = IGPCommitteesClassifier(n_committees=4, committee_size=3, random_state=0).fit(X, Y)
    problem = read_problem(IGPTreeClassifier(), X, Y, None, classification=True)
    said = model.votes(X).labels
    seen = set()
    for first in range(0, 12, 3):
        halves = Stream(model._key, first).halves(problem.y, np.ones(len(Y), dtype=bool), 3)
        rounds = TreeRounds(IGPTreeClassifier(), problem, model._key, "labels", 1)
        expected = rounds.fit([View(np.full(len(Y), 1 / len(Y)), halves=halves)], [first])[0]
        np.testing.assert_array_equal(said[first], expected)
        seen.add(halves.tobytes())
        assert model.estimator_errors_[first] == pytest.approx((said[first] != problem.y).mean())
    assert len(seen) == 4


def test_a_perfect_member_ends_its_committee_only():
    X = np.concatenate([np.arange(10.0), np.arange(100.0, 110.0)])[:, None]
    y = np.repeat(["a", "b"], 10)
    model = IGPCommitteesClassifier(n_committees=3, committee_size=4, random_state=0).fit(X, y)
    assert model.committees_.tolist() == [0, 1, 2]
    assert model.stop_reason_ == "a perfect member"
    assert model.score(X, y) == 1


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_a_first_member_no_better_than_chance_is_kept():
    X, y = np.zeros((20, 1)), np.repeat([0, 1], 10)
    model = IGPCommitteesClassifier(n_committees=3, committee_size=4, random_state=0).fit(X, y)
    assert model.committees_.tolist() == [0]
    assert len(set(model.predict(X))) == 1


def test_committees_that_end_early_are_smaller():
    short = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(40, 2)), random.integers(0, 2, 40)
        model = IGPCommitteesClassifier(n_committees=4, committee_size=9, random_state=seed).fit(X, y)
        groups = model.committees_
        assert (np.diff(groups) >= 0).all()
        sizes = np.bincount(groups)
        assert sizes.min() > 0
        assert sizes.max() <= 9
        assert len(sizes) == 4
        assert (model.estimator_errors_ < 0.5).all()
        labels, _ = decision(model.votes(X).labels, model.estimator_weights_, groups, K=2)
        np.testing.assert_array_equal(model.predict(X), labels)
        short += sizes.min() < 9
        if sizes.min() < 9 and sizes[-1] == 9:
            assert model.stop_reason_ == "enough committees"
    assert short > 0


def test_committees_are_as_good_as_they_should_be():
    """The thesis, waveform with 300 rows: 11 committees of 9 err by about 0.18, one boosted committee more."""
    X, y = make_waveform(300, random_state=0)
    model = IGPCommitteesClassifier(random_state=0).fit(X, y)
    assert len(model.estimators_) == 99
    assert model.score(FRESH, FRESH_Y) > 0.79


def test_messages():
    for name in ("n_committees", "committee_size"):
        with pytest.raises(ValueError, match=f"{name} must be"):
            IGPCommitteesClassifier(**{name: 0}).fit(X, Y)
    with pytest.raises(TypeError, match="estimator must be an IGPTreeClassifier, which works with two halves, got"):
        IGPCommitteesClassifier(CARTClassifier()).fit(X, Y)
    with pytest.raises(ValueError, match="member_votes must be"):
        IGPCommitteesClassifier(member_votes="all").fit(X, Y)
