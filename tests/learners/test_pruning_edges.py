"""Pruned trees at the edges: bad parameters, tiny and odd data, members of ensembles, files."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone

from conjunto import AdaBoostClassifier, BaggingClassifier, BaggingRegressor, CARTClassifier, CARTRegressor
from conjunto.datasets import load, make_waveform
from conjunto.model_file import Model, column_kinds, load_model, save_model

from ..forests import assert_same_trees

X, Y = make_waveform(60, random_state=0)

BAD = [
    ({"prune": "foo"}, ValueError, "prune must be"),
    ({"prune": -1}, ValueError, "prune must be"),
    ({"prune": float("nan")}, ValueError, "prune must be"),
    ({"prune": True}, TypeError, "prune must be None"),
    ({"prune": [0.1]}, TypeError, "prune must be None"),
    ({"prune": "cv", "n_folds": 1}, ValueError, "n_folds must be"),
    ({"prune": "cv", "n_folds": 0}, ValueError, "n_folds must be"),
    ({"prune": "cv", "n_folds": 2.5}, ValueError, "n_folds must be"),
    ({"prune": "cv", "n_folds": np.arange(59) % 5}, ValueError, r"one entry per row, \(60,\), got .* \(59,\)"),
    ({"prune": "cv", "n_folds": np.zeros((60, 2))}, ValueError, r"one entry per row, \(60,\), got .* \(60, 2\)"),
    ({"prune": "cv", "n_folds": np.zeros(60)}, ValueError, "all rows in one fold"),
    ({"prune": "cv", "n_folds": np.where(np.arange(60), 1.0, np.nan)}, ValueError, "n_folds must tell the fold"),
    ({"prune": "cv", "rule": "2se"}, ValueError, "rule must be"),
    ({"prune": "cv", "copies": "x"}, ValueError, "copies must be"),
    ({"prune": "cv", "pruning_risk": "gini"}, ValueError, "pruning_risk must be"),
]


@pytest.mark.parametrize(
    ("parameters", "error", "message"), BAD, ids=lambda p: str(p)[:40] if isinstance(p, dict) else ""
)
@pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])
def test_bad_parameters(make, parameters, error, message):
    with pytest.raises(error, match=message):
        make(**parameters).fit(X, Y)
    ensemble = BaggingClassifier if make is CARTClassifier else BaggingRegressor
    with pytest.raises(error, match=message):
        ensemble(make(**parameters), n_estimators=2).fit(X, Y)


def test_a_fit_that_fails_leaves_the_old_tree():
    model = CARTClassifier(prune="cv", random_state=0).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="rule must be"):
        model.set_params(rule="2se").fit(X[:, :2], Y)
    np.testing.assert_array_equal(model.predict(X), before)
    assert "cv_errors" in model.cost_complexity_path_
    model.set_params(rule="0se", prune=None).fit(X, Y)
    assert not hasattr(model, "cost_complexity_path_")


def test_infinite_alpha_leaves_the_root():
    model = CARTClassifier(prune=np.inf, random_state=0).fit(X, Y)
    assert model.get_n_leaves() == 1
    assert (model.predict(X) == np.bincount(Y).argmax()).all()
    for whole in (0, 0.0, np.float32(0), np.int64(0)):
        assert CARTClassifier(prune=whole, random_state=0).fit(X, Y).score(X, Y) == 1.0


@pytest.mark.parametrize("prune", ["cv", 0.0, 0.3])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])
def test_few_rows(make, n, prune):
    for labels in (np.arange(n), np.arange(n) % 2, np.ones(n, dtype=int)):
        model = make(prune=prune, random_state=0).fit(X[:n], labels)
        path = model.cost_complexity_path_
        assert model.get_n_leaves() == path["leaves"][path["chosen"]]
        assert path["leaves"][-1] == 1
        assert np.isfinite(model.predict(X)).all()


def test_cross_validation_of_two_and_three_rows():
    """Each row is told the class, or the mean, of the others."""
    model = CARTClassifier(prune="cv").fit([[0.0], [1.0]], ["a", "b"])
    np.testing.assert_allclose(model.cost_complexity_path_["cv_errors"], 1.0)
    model = CARTRegressor(prune="cv").fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0])
    # As roots: the others' mean is 1.5, 1.5 and 0.
    assert model.cost_complexity_path_["cv_errors"][-1] == pytest.approx((1.5**2 + 1.5**2 + 3**2) / 3)


def test_rows_that_no_cut_parts():
    """Constant columns, and copies with different labels: the root, or nothing, can be told apart."""
    model = CARTClassifier(prune="cv", random_state=0).fit(np.ones((20, 2)), ["a"] * 12 + ["b"] * 8)
    assert model.get_n_leaves() == 1
    assert model.cost_complexity_path_["risks"].tolist() == [0.4]
    twins = np.repeat(np.arange(10.0), 4)[:, None]
    labels = np.tile([0, 0, 0, 1], 10)
    model = CARTClassifier(prune="cv", random_state=0).fit(twins, labels)
    assert model.get_n_leaves() == 1
    assert model.cost_complexity_path_["risks"][-1] == pytest.approx(0.25)


@pytest.mark.parametrize("prune", ["cv", 0.02])
def test_frames_with_holes_and_text(prune):
    data = load("horse-colic")
    model = CARTClassifier(prune=prune, random_state=0).fit(data.X, data.y)
    path = model.cost_complexity_path_
    assert (np.diff(path["ccp_alphas"]) > 0).all()
    assert model.get_n_leaves() == path["leaves"][path["chosen"]]
    assert set(model.predict(data.X)) <= set(data.y)
    risk = np.mean(model.predict(data.X) != data.y.to_numpy())
    assert path["risks"][path["chosen"]] == pytest.approx(risk)


@pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])
def test_rows_of_weight_zero_are_no_rows(make):
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    folds = np.arange(60) // 6
    keep = weights > 0
    whole = make(prune="cv", n_folds=folds, random_state=0).fit(X, Y, weights).cost_complexity_path_
    part = make(prune="cv", n_folds=folds[keep], random_state=0).fit(X[keep], Y[keep]).cost_complexity_path_
    for name in whole:
        np.testing.assert_allclose(whole[name], part[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 9}, {"max_depth": 3}, {"max_features": 2}, {"k_best": 4}])
def test_risks_are_those_of_the_pruned_trees(limits):
    X, y = make_waveform(300, random_state=1)
    path = CARTClassifier(prune=0.0, random_state=0, **limits).cost_complexity_pruning_path(X, y)
    for alpha, risk in zip(path.ccp_alphas, path.impurities, strict=True):
        model = CARTClassifier(prune=alpha, random_state=0, **limits).fit(X, y)
        assert np.mean(model.predict(X) != y) == pytest.approx(risk, abs=1e-12)


@pytest.mark.parametrize("prune", ["cv", 0.01])
def test_pruned_members_do_not_depend_on_threads(prune):
    X, y = make_waveform(150, random_state=0)
    one, three = (
        BaggingClassifier(CARTClassifier(prune=prune), n_estimators=12, n_jobs=jobs, random_state=0).fit(X, y)
        for jobs in (1, 3)
    )
    assert_same_trees(one._panel.members.forest, three._panel.members.forest)
    full = BaggingClassifier(CARTClassifier(), n_estimators=12, random_state=0).fit(X, y)
    assert one._panel.members.forest.leaf_counts().sum() < full._panel.members.forest.leaf_counts().sum()


@pytest.mark.parametrize("prune", ["cv", 0.02])
def test_boosting_hears_what_pruned_members_say(prune):
    """Leaves are numbered anew by pruning: errors under the weights tell whether rows were sent to the right ones."""
    X, y = make_waveform(200, random_state=0)
    model = AdaBoostClassifier(CARTClassifier(prune=prune), n_estimators=8, algorithm="m1", random_state=0).fit(X, y)
    assert len(model) > 2
    weights = np.full(len(y), 1 / len(y))
    scores = np.zeros((len(y), 3))
    for member, vote, error, staged in zip(
        model.estimators_, model.estimator_weights_, model.estimator_errors_, model.staged_predict(X), strict=True
    ):
        said = member.predict(X)
        assert error == pytest.approx(weights[said != y].sum(), rel=1e-9, abs=1e-12)
        scores[np.arange(len(y)), said] += vote
        np.testing.assert_array_equal(staged, scores.argmax(axis=1))
        weights = weights * np.where(said != y, 1 / (2 * error), 1 / (2 * (1 - error))) if error else weights
        weights = np.maximum(weights / weights.sum(), model.weight_floor)
        weights /= weights.sum()


@pytest.mark.parametrize("algorithm", ["m2", "gentle", "logit", "samme.r"])
def test_rules_that_use_leaves_agree_with_prediction(algorithm):
    X, y = make_waveform(200, random_state=0)
    model = AdaBoostClassifier(CARTClassifier(prune=0.01), n_estimators=5, algorithm=algorithm, random_state=0).fit(
        X, y
    )
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("prune", ["cv", 0.02])
def test_files_keep_the_path(tmp_path, prune):
    frame, y = pd.DataFrame(X, columns=[f"x{i}" for i in range(21)]), Y
    model = CARTClassifier(prune=prune, random_state=0).fit(frame, y)
    save_model(
        tmp_path / "m.skops", Model(model, column_kinds(frame), "target", "classification", about={"method": "m"})
    )
    stored = load_model(tmp_path / "m.skops").estimator
    text = skops.io.dumps(model)
    for back in (
        pickle.loads(pickle.dumps(model)),
        stored,
        skops.io.loads(text, trusted=skops.io.get_untrusted_types(data=text)),
    ):
        np.testing.assert_array_equal(back.predict(frame), model.predict(frame))
        assert set(back.cost_complexity_path_) == set(model.cost_complexity_path_)
        for name, value in model.cost_complexity_path_.items():
            np.testing.assert_array_equal(back.cost_complexity_path_[name], value)
    assert not hasattr(clone(model), "cost_complexity_path_")


@pytest.mark.parametrize("rule", ["0se", "1se"])
def test_the_root_may_be_left_out(rule):
    """Labels that nothing explains: the root has the least error, and the choice without it is the best of the rest."""
    random = np.random.default_rng(3)
    X, y = random.normal(size=(120, 4)), random.integers(0, 2, 120)
    free = CARTClassifier(prune="cv", rule=rule, random_state=0).fit(X, y)
    kept = CARTClassifier(prune="cv", rule=rule, prune_to_root=False, random_state=0).fit(X, y)
    path = kept.cost_complexity_path_
    np.testing.assert_array_equal(path["cv_errors"], free.cost_complexity_path_["cv_errors"])
    rest = path["cv_errors"][:-1]
    limit = rest.min() + (path["cv_standard_errors"][rest.argmin()] if rule == "1se" else 0)
    assert path["chosen"] == np.flatnonzero(rest <= limit + 1e-12).max()
    assert kept.get_n_leaves() == path["leaves"][path["chosen"]] > 1
    one = CARTClassifier(prune="cv", prune_to_root=False).fit(X, np.zeros(120))
    assert one.get_n_leaves() == 1
