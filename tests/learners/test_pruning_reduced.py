"""Reduced-error pruning against its definition: bottom-up, a node whose own error is no larger becomes a leaf."""

import numpy as np
import pandas as pd
import pytest

from conjunto import AdaBoostClassifier, BaggingClassifier, BaggingRegressor, CARTClassifier, CARTRegressor
from conjunto.datasets import make_waveform

from .tree_oracle import read_tree, reduce_errors


def problem(seed, classes, weighted):
    random = np.random.default_rng([seed, classes])
    n, held_out = random.integers(5, 80), random.integers(1, 60)
    X = np.round(random.normal(size=(n + held_out, 3)), int(random.integers(0, 3)))
    # Eighths: errors are exact.
    noisy = np.round(8 * (X[:, 0] + np.abs(X[:, 1]) + random.normal(size=len(X)))) / 8
    y = np.digitize(noisy, [0.3, 1.0, 1.7][: classes - 1]) if classes else noisy
    weights = random.integers(1, 9, len(X)) / 4 if weighted else None
    return X, y, weights, slice(0, n), slice(n, None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 3, 4])
def test_brute_force(classes, weighted):
    make = CARTClassifier if classes else CARTRegressor
    pruned = 0
    for seed in range(40):
        X, y, weights, train, judge = problem(seed, classes, weighted)
        w = np.ones(len(X)) if weights is None else weights
        labels, codes = np.unique(y[train], return_inverse=True)
        # Labels that training did not have are wrong in every node.
        known = {label: code for code, label in enumerate(labels)}
        truth = np.array([known.get(label, -1) for label in y[judge]]) if classes else y[judge]
        grown = make(random_state=0).fit(X[train], y[train], w[train])
        tree = read_tree(grown, X[train], codes if classes else y[train], w[train], len(labels) if classes else 0)
        _, cut = reduce_errors(tree, X[judge], truth, w[judge], classes > 0)
        given = {"X_val": X[judge], "y_val": y[judge], "sample_weight_val": None if weights is None else w[judge]}
        model = make(prune="reduced-error", random_state=0)
        model.fit(X[train], y[train], None if weights is None else w[train], **given)
        fresh = np.random.default_rng(seed).normal(size=(60, 3))
        said = tree.say(fresh, cut)
        if classes:
            np.testing.assert_array_equal(model.predict(fresh), labels[said.astype(int)])
        else:
            np.testing.assert_allclose(model.predict(fresh), said, rtol=1e-9, atol=1e-12)
        assert model.get_n_leaves() == len(tree.leaves(cut))
        assert not hasattr(model, "cost_complexity_path_")
        pruned += 1 < model.get_n_leaves() < grown.get_n_leaves()
    assert pruned > 10


def test_labels_that_training_does_not_know():
    X, y = make_waveform(300, random_state=0)
    train, judge = slice(0, 200), slice(200, 300)
    names = np.array(["a", "b", "c", "zz", "0"])
    plain = CARTClassifier(prune="reduced-error", random_state=0)
    plain.fit(X[train], names[y[train]], X_val=X[judge], y_val=names[y[judge]])
    strange = X[:40] + 1
    for name in ("zz", "0", "bb"):
        # Rows that are wrong everywhere add the same to a node and to its leaves.
        more = np.concatenate([names[y[judge]], np.full(40, name)])
        model = CARTClassifier(prune="reduced-error", random_state=0)
        model.fit(X[train], names[y[train]], X_val=np.concatenate([X[judge], strange]), y_val=more)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert 1 < plain.get_n_leaves() < CARTClassifier(random_state=0).fit(X[train], y[train]).get_n_leaves()


def test_the_training_rows_prune_nothing_that_lowers_their_error():
    X, y = make_waveform(200, random_state=0)
    model = CARTClassifier(prune="reduced-error", random_state=0).fit(X, y, X_val=X, y_val=y)
    assert model.score(X, y) == 1.0
    model.fit(X, y, X_val=X, y_val=(y + 1) % 3)
    assert model.get_n_leaves() < 20


def test_weights_of_zero_and_whole_weights():
    X, y = make_waveform(260, random_state=0)
    train, judge = slice(0, 160), slice(160, 260)
    weights = np.random.default_rng(0).integers(0, 4, 100)
    repeat = np.repeat(np.arange(160, 260), weights)
    model, other = (CARTClassifier(prune="reduced-error", random_state=0) for _ in range(2))
    model.fit(X[train], y[train], X_val=X[judge], y_val=y[judge], sample_weight_val=weights)
    other.fit(X[train], y[train], X_val=X[repeat], y_val=y[repeat])
    np.testing.assert_array_equal(model.apply(X), other.apply(X))


def test_frames_with_categories_and_missing_values():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.choice(list("uvwxyz"), 300), "b": random.normal(size=300)})
    y = np.where(X["a"].isin(["u", "v"]) ^ (random.random(300) < 0.2), "yes", "no")
    X.loc[::7, "a"] = None
    X.loc[::5, "b"] = np.nan
    train, judge = X[:150], X[150:].replace({"a": {"z": "new"}})
    model = CARTClassifier(prune="reduced-error", random_state=0).fit(train, y[:150], X_val=judge, y_val=y[150:])
    grown = CARTClassifier(random_state=0).fit(train, y[:150])
    assert model.get_n_leaves() < grown.get_n_leaves()
    assert model.score(judge, y[150:]) >= grown.score(judge, y[150:])


X, Y = make_waveform(60, random_state=0)


def test_messages():
    model = CARTClassifier(prune="reduced-error")
    for given in ({}, {"X_val": X}, {"y_val": Y}):
        with pytest.raises(
            ValueError, match=r'prune="reduced-error" needs the rows that judge the tree: fit\(X, y, X_val'
        ):
            model.fit(X, Y, **given)
    for prune in (None, "cv", 0.1):
        for given in ({"X_val": X, "y_val": Y}, {"y_val": Y}):
            with pytest.raises(ValueError, match=r'X_val, y_val and sample_weight_val are for prune="reduced-error"'):
                CARTClassifier(prune=prune).fit(X, Y, **given)
    with pytest.raises(ValueError, match=r"y_val must have one entry per row"):
        model.fit(X, Y, X_val=X, y_val=Y[:-1])
    with pytest.raises(ValueError, match=r"sample_weight"):
        model.fit(X, Y, X_val=X, y_val=Y, sample_weight_val=np.ones(3))
    with pytest.raises(ValueError, match="features"):
        model.fit(X, Y, X_val=X[:, :3], y_val=Y)
    with pytest.raises(ValueError, match=r"(?i)nan|missing|finite"):
        CARTRegressor(prune="reduced-error").fit(X, Y, X_val=X, y_val=np.full(60, np.nan))


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(CARTClassifier(prune="reduced-error"), n_estimators=2),
        BaggingRegressor(CARTRegressor(prune="reduced-error"), n_estimators=2),
        AdaBoostClassifier(CARTClassifier(prune="reduced-error"), n_estimators=2, algorithm="m1"),
    ],
    ids=["bagging", "regression", "boosting"],
)
def test_members_of_ensembles_have_nobody_to_judge_them(ensemble):
    with pytest.raises(ValueError, match=r'prune="reduced-error" needs rows that judge the tree, which a member'):
        ensemble.fit(X, Y)


def test_answers_that_cannot_judge_are_refused():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    tree = CARTClassifier(prune="reduced-error", random_state=0)
    with pytest.raises(ValueError, match=r"y_val must have one entry per row, \(20,\), got 3"):
        tree.fit(X, y, X_val=X, y_val=y[:3])
    with pytest.raises(ValueError, match="y_val holds labels of another kind than y"):
        tree.fit(X, y, X_val=X, y_val=y.astype(str))
    with pytest.raises(ValueError, match="y_val contains a missing value"):
        tree.fit(X, y, X_val=X, y_val=np.where(y, 1.0, np.nan))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight_val`"):
        tree.fit(X, y, X_val=X, y_val=y, sample_weight_val=-np.ones(20))
    with pytest.raises(ValueError, match="sample_weight_val are for"):
        CARTClassifier().fit(X, y, sample_weight_val=np.ones(20))
    with pytest.raises(ValueError, match="y_val contains a missing value"):
        CARTRegressor(prune="reduced-error").fit(X, y, X_val=X, y_val=np.where(y, 1.0, np.nan))
