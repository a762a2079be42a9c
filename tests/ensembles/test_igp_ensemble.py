"""Members are the IGP trees of their streams' halves; the ensemble counts their votes (figure 3.3 of the thesis)."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from conjunto import CARTClassifier, CARTRegressor, IGPEnsembleClassifier, IGPTreeClassifier
from conjunto.datasets import load, make_waveform
from conjunto.learners.rounds import TreeRounds
from conjunto.problem import read_problem
from conjunto.streams import Stream
from conjunto.view import View

X, Y = make_waveform(200, random_state=0)
FRESH, FRESH_Y = make_waveform(3000, random_state=1)


def member(model, t, weights=None):
    """What member t must say about the training rows, from its halves."""
    problem = read_problem(IGPTreeClassifier(), X, Y, None, classification=True)
    weights = np.ones(len(Y), dtype=int) if weights is None else weights
    halves = Stream(model._drawn.key, t).halves(problem.y, weights > 0, 3)
    return TreeRounds(IGPTreeClassifier(), problem, model._drawn.key, "labels", 1).fit(
        [View(weights, halves=halves)], [t]
    )[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_members_are_igp_trees_of_their_own_halves(weighted):
    weights = np.random.default_rng(0).uniform(0, 2, len(Y)) if weighted else None
    model = IGPEnsembleClassifier(n_estimators=8, random_state=3).fit(X, Y, weights)
    said = model.votes(X).labels
    for t in range(8):
        np.testing.assert_array_equal(said[t], member(model, t, weights))
    assert len({row.tobytes() for row in said}) == 8


def test_the_majority_decides():
    model = IGPEnsembleClassifier(n_estimators=7, random_state=0).fit(X, Y)
    said = np.stack([tree.predict(FRESH) for tree in model.estimators_])
    counts = (said[:, :, None] == np.arange(3)).sum(axis=0)
    np.testing.assert_array_equal(model.predict(FRESH), counts.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(FRESH), counts / 7)
    for t, staged in enumerate(model.staged_predict(FRESH), 1):
        np.testing.assert_array_equal(staged, (said[:t, :, None] == np.arange(3)).sum(axis=0).argmax(axis=1))


def test_the_ensemble_is_better_than_its_members():
    """The thesis, waveform with 300 rows: one IGP tree errs by about 0.30, 99 of them by about 0.19."""
    model = IGPEnsembleClassifier(n_estimators=99, random_state=0).fit(*make_waveform(300, random_state=0))
    members = np.mean([tree.score(FRESH, FRESH_Y) for tree in model.estimators_])
    assert model.score(FRESH, FRESH_Y) > 0.79
    assert 0.66 < members < 0.76


def test_members_do_not_depend_on_threads_or_on_how_many_they_are():
    one = IGPEnsembleClassifier(n_estimators=9, n_jobs=1, random_state=0).fit(X, Y)
    three = IGPEnsembleClassifier(n_estimators=12, n_jobs=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(one.votes(FRESH).labels, three.votes(FRESH).labels[:9])
    grown = IGPEnsembleClassifier(n_estimators=4, warm_start=True, random_state=0).fit(X, Y)
    grown.set_params(n_estimators=9).fit(X, Y)
    np.testing.assert_array_equal(one.votes(FRESH).labels, grown.votes(FRESH).labels)


def test_frames_with_text_and_holes():
    data = load("horse-colic")
    model = IGPEnsembleClassifier(n_estimators=15, random_state=0).fit(data.X, data.y)
    assert model.score(data.X, data.y) > 0.8
    assert set(model.predict(data.X)) <= set(data.y)


def test_parameters_of_the_base_learner():
    model = IGPEnsembleClassifier(IGPTreeClassifier(min_samples_leaf=20), n_estimators=5, random_state=0).fit(X, Y)
    for tree in model.estimators_:
        assert np.bincount(tree.forest_.leaves(X)[:, 0]).min() >= 20


@pytest.mark.parametrize("other", [CARTClassifier(), DecisionTreeClassifier()])
def test_other_base_learners_have_no_halves(other):
    with pytest.raises(TypeError, match="estimator must be an IGPTreeClassifier, which works with two halves, got"):
        IGPEnsembleClassifier(other).fit(X, Y)
    with pytest.raises((TypeError, ValueError), match="classifier"):
        IGPEnsembleClassifier(CARTRegressor()).fit(X, Y)
