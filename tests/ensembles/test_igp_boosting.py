"""Boosting of IGP trees by hand, from figure 3.4 of the thesis, over single trees of the same halves."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from conjunto import CARTClassifier, CARTRegressor, IGPBoostingClassifier, IGPTreeClassifier
from conjunto.datasets import make_waveform
from conjunto.learners.rounds import TreeRounds
from conjunto.problem import read_problem
from conjunto.streams import Stream
from conjunto.view import View

X, Y = make_waveform(200, random_state=0)
FRESH, FRESH_Y = make_waveform(2000, random_state=1)


def boost(key, X, y, examples, rounds, floor=1e-8, **limits):
    """Labels of the members on the training rows, their errors, and the weights that they saw."""
    problem = read_problem(IGPTreeClassifier(), X, y, None, classification=True)
    y = problem.y
    halves = Stream(key, 0).halves(y, examples > 0, problem.n_classes)
    first = examples / examples.sum()
    weights, labels, errors = first, [], []
    for t in range(rounds):
        trees = TreeRounds(IGPTreeClassifier(**limits), problem, key, "labels", 1)
        said = trees.fit([View(weights, halves=halves)], [t])[0]
        wrong = said != y
        error = weights[wrong].sum()
        if error >= 0.5 - 1e-12 and t > 0:
            break
        labels.append(said)
        errors.append(error)
        if error == 0 or error >= 0.5 - 1e-12:
            break
        weights = weights.copy()
        for k in (0, 1):
            mine = halves == k
            share = weights[mine & wrong].sum() / weights[mine].sum()
            if share == 0 or share >= 0.5 - 1e-12:
                weights[mine] = first[mine]
            else:
                weights[mine & wrong] /= 2 * share
                weights[mine & ~wrong] /= 2 * (1 - share)
        weights = np.maximum(weights / weights.sum(), np.where(examples > 0, floor, 0))
        weights /= weights.sum()
    return np.array(labels), np.array(errors)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("votes", ["plain", "weighted"])
def test_rounds_by_hand(seed, votes):
    """Random first weights and leaves of a few rows: no two cuts are equally good."""
    examples = np.random.default_rng(seed).uniform(0.5, 2, len(Y)) * (np.arange(len(Y)) % 17 > 0)
    tree = IGPTreeClassifier(min_samples_leaf=5)
    model = IGPBoostingClassifier(tree, n_estimators=10, member_votes=votes, random_state=seed).fit(X, Y, examples)
    labels, errors = boost(model._key, X, Y, examples, 10, min_samples_leaf=5)
    np.testing.assert_array_equal(model.votes(X).labels, labels)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    expected = np.ones(len(errors)) if votes == "plain" else np.log((1 - errors) / errors)
    np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-9)
    assert len(errors) > 4


def test_equal_weights_by_hand():
    model = IGPBoostingClassifier(IGPTreeClassifier(min_samples_leaf=5), n_estimators=6, random_state=0).fit(X, Y)
    labels, errors = boost(model._key, X, Y, np.ones(len(Y)), 6, min_samples_leaf=5)
    np.testing.assert_array_equal(model.votes(X).labels, labels)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)


@pytest.mark.parametrize("votes", ["plain", "weighted"])
def test_votes_are_counted(votes):
    model = IGPBoostingClassifier(n_estimators=12, member_votes=votes, random_state=0).fit(X, Y)
    said = np.stack([tree.predict(FRESH) for tree in model.estimators_])
    stages = list(model.staged_predict(FRESH))
    assert len(stages) == len(model)
    scores = np.zeros((len(FRESH), 3))
    for t, weight in enumerate(model.estimator_weights_):
        scores[np.arange(len(FRESH)), said[t]] += weight
        np.testing.assert_array_equal(stages[t], scores.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(FRESH), stages[-1])
    np.testing.assert_allclose(model.predict_proba(FRESH), scores / scores.sum(axis=1, keepdims=True))


def test_boosting_helps():
    one, many = (IGPBoostingClassifier(n_estimators=n, random_state=0).fit(X, Y) for n in (1, 60))
    assert many.score(FRESH, FRESH_Y) > one.score(FRESH, FRESH_Y) + 0.03


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_a_perfect_first_member_is_the_model():
    X = np.concatenate([np.arange(10.0), np.arange(100.0, 110.0)])[:, None]
    y = np.repeat(["a", "b"], 10)
    for votes in ("plain", "weighted"):
        model = IGPBoostingClassifier(member_votes=votes, random_state=0).fit(X, y)
        assert len(model) == 1
        assert model.stop_reason_ == "a perfect member"
        assert model.estimator_errors_.tolist() == [0]
        assert model.score(X, y) == 1


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
@pytest.mark.parametrize("votes", ["plain", "weighted"])
def test_a_first_member_no_better_than_chance_is_kept(votes):
    X, y = np.zeros((20, 1)), np.repeat(["a", "b"], 10)
    model = IGPBoostingClassifier(member_votes=votes, random_state=0).fit(X, y)
    assert len(model) == 1
    assert model.stop_reason_ == "a member no better than chance"
    assert len(set(model.predict(X))) == 1
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_runs_on_labels_by_chance_end_early():
    """A later member no better than chance is dropped. One column and random weights: no two cuts are equally good."""
    reasons = []
    for seed in range(15):
        random = np.random.default_rng(seed)
        X, y, examples = random.normal(size=(40, 1)), random.integers(0, 2, 40), random.uniform(0.5, 2, 40)
        model = IGPBoostingClassifier(n_estimators=30, random_state=seed).fit(X, y, examples)
        labels, errors = boost(model._key, X, y, examples, 30)
        np.testing.assert_array_equal(model.votes(X).labels, labels)
        np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
        reasons.append((model.stop_reason_, len(model) > 1))
    assert ("a member no better than chance", True) in reasons


def test_goes_on_where_it_stopped():
    whole = IGPBoostingClassifier(n_estimators=9, random_state=0).fit(X, Y)
    parts = IGPBoostingClassifier(n_estimators=4, warm_start=True, random_state=0).fit(X, Y)
    parts.set_params(n_estimators=9).fit(X, Y)
    np.testing.assert_array_equal(whole.votes(FRESH).labels, parts.votes(FRESH).labels)
    np.testing.assert_array_equal(whole.estimator_errors_, parts.estimator_errors_)


@pytest.mark.parametrize("other", [CARTClassifier(), DecisionTreeClassifier()])
def test_messages(other):
    with pytest.raises(TypeError, match="estimator must be an IGPTreeClassifier, which works with two halves, got"):
        IGPBoostingClassifier(other).fit(X, Y)
    with pytest.raises((TypeError, ValueError), match="classifier"):
        IGPBoostingClassifier(CARTRegressor()).fit(X, Y)
    with pytest.raises(ValueError, match="member_votes must be"):
        IGPBoostingClassifier(member_votes="all").fit(X, Y)
