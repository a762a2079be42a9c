"""Several targets: trees that answer all of them at once, against the same rows counted target by target."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.datasets import make_multilabel_classification
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import get_tags

import conjunto
from conjunto import from_sklearn, merge, order, prune, to_sklearn
from conjunto.combination import combine, decide
from conjunto.model_file import Model, load_model, save_model
from conjunto.pruning.distil import distil

NAMES = [name for name in conjunto._HOMES if hasattr(getattr(conjunto, name), "several_outputs")]
TAKING = [name for name in NAMES if getattr(conjunto, name).several_outputs]
ENSEMBLES = [name for name in TAKING if not name.startswith("CART")]
CLASSES = (2, 3, 4)


def make_rows(n=150, seed=0):
    """Rows with missing values; labels of text, numbers and codes; values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    signal = X[:, :3] + 0.5 * rng.normal(size=(n, 3))
    codes = np.stack([np.digitize(signal[:, o], np.linspace(-0.8, 0.8, k + 1)[1:-1]) for o, k in enumerate(CLASSES)], 1)
    X[rng.random(X.shape) < 0.03] = np.nan
    names = [np.array(["no", "yes"]), np.array(["a", "b", "c"]), np.array([*"pqrs"])]
    return X, np.stack([names[o][codes[:, o]] for o in range(3)], axis=1), signal


X, LABELS, VALUES = make_rows()
NEW = make_rows(seed=1)[0]


def fitted(name, **parameters):
    kind = getattr(conjunto, name)
    target = LABELS if name.endswith("Classifier") else VALUES
    return kind(n_estimators=8, random_state=0, **parameters).fit(X, target)


def test_who_takes_them():
    families = {"CART", "Bagging", "RandomForest", "ExtraTrees", "Pasting", "RandomSubspace"}
    expected = {f"{family}{kind}" for family in families for kind in ("Classifier", "Regressor")}
    assert set(TAKING) == expected | {"WaggingClassifier", "RandomizationClassifier"}
    for name in NAMES:
        assert get_tags(getattr(conjunto, name)()).target_tags.multi_output == (name in TAKING)
    # Whether bagging does is a matter of the members.
    assert get_tags(conjunto.BaggingClassifier(KNeighborsClassifier())).target_tags.multi_output
    assert not get_tags(conjunto.BaggingClassifier(conjunto.C45Classifier())).target_tags.multi_output
    for name in set(NAMES) - set(TAKING):
        with pytest.raises(ValueError, match="y should be a 1d array"):
            getattr(conjunto, name)().fit(np.nan_to_num(X), LABELS if name.endswith("Classifier") else VALUES)


@pytest.mark.parametrize("vote", ["hard", "soft"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_votes_decide_as_predict_does(name, vote):
    classifier = name.endswith("Classifier")
    if vote == "soft" and (not classifier or "vote" not in getattr(conjunto, name)().get_params()):
        pytest.skip("it has no soft votes")
    model = fitted(name, **({"vote": vote} if "vote" in getattr(conjunto, name)().get_params() else {}))
    votes = model.votes(NEW)
    assert isinstance(votes, list)
    assert len(votes) == model.n_outputs_ == 3
    np.testing.assert_array_equal(np.stack([decide(each) for each in votes], axis=1), model.predict(NEW))
    by_member = [np.stack([member.predict(_seen(model, t))[:, o] for t, member in enumerate(model)]) for o in range(3)]
    for o, each in enumerate(votes):
        said = each.values if not classifier else each.as_labels().labels
        np.testing.assert_array_equal(said, by_member[o])
    stages = list(model.staged_predict(NEW))
    np.testing.assert_array_equal(stages[-1], model.predict(NEW))
    np.testing.assert_array_equal(stages[2], model.take([0, 1, 2]).predict(NEW))
    if classifier:
        for each, shares, log in zip(votes, model.predict_proba(NEW), model.predict_log_proba(NEW), strict=True):
            counts = combine(each).counts
            np.testing.assert_allclose(shares, counts / counts.sum(axis=1, keepdims=True))
            np.testing.assert_array_equal(np.exp(log) > 0, shares > 0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.apply(NEW).shape == (len(NEW), 8)


def _seen(model, t):
    return NEW[:, model.estimators_features_[t]]


@pytest.mark.parametrize("name", ["RandomForestClassifier", "BaggingClassifier", "RandomForestRegressor"])
def test_out_of_bag_is_that_of_each_target(name):
    """By hand: every row is judged by the trees that did not see it."""
    kind = getattr(conjunto, name)
    classifier = name.endswith("Classifier")
    model = kind(n_estimators=40, oob_score=True, random_state=0).fit(X, LABELS if classifier else VALUES)
    seen = np.zeros((40, len(X)), dtype=bool)
    for t, rows in enumerate(model.estimators_samples_):
        seen[t, rows] = True
    shared = model.oob_decision_function_ if classifier else model.oob_prediction_
    assert shared.shape == ((len(X), 4, 3) if classifier else (len(X), 3))
    for row in range(10):
        unseen = model.take(np.flatnonzero(~seen[:, row]))
        said = unseen.predict_proba(X[row : row + 1]) if classifier else unseen.predict(X[row : row + 1])
        for o in range(3):
            if classifier:
                np.testing.assert_allclose(shared[row, : CLASSES[o], o], said[o][0])
                assert (shared[row, CLASSES[o] :, o] == 0).all()
            else:
                np.testing.assert_allclose(shared[row, o], said[0, o])
    assert len(model.oob_votes_) == len(model.oob_votes(X)) == 3
    if classifier:
        right = [decide(votes) == LABELS[:, o] for o, votes in enumerate(model.oob_votes_)]
        assert model.oob_score_ == pytest.approx(np.mean(right))


def test_multilabel_scores_are_scikit_learns():
    rows, labels = make_multilabel_classification(300, random_state=0)
    ours = conjunto.RandomForestClassifier(100, oob_score=True, random_state=0).fit(rows, labels)
    theirs = sklearn.ensemble.RandomForestClassifier(100, oob_score=True, random_state=0).fit(rows, labels)
    assert ours.oob_decision_function_.shape == theirs.oob_decision_function_.shape
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.08)
    assert [p.shape for p in ours.predict_proba(rows)] == [p.shape for p in theirs.predict_proba(rows)]


@pytest.mark.parametrize("scheme", ["balanced", "balanced_subsample", [{"no": 1, "yes": 3}, None, None]])
def test_class_weights_of_each_target(scheme):
    if isinstance(scheme, list):
        scheme = [scheme[0], dict.fromkeys("abc", 1.0), dict.fromkeys("pqrs", 1.0)]
    model = conjunto.RandomForestClassifier(10, class_weight=scheme, random_state=0).fit(X, LABELS)
    theirs = sklearn.ensemble.RandomForestClassifier(10, class_weight=scheme, random_state=0)
    theirs.fit(np.nan_to_num(X), LABELS)
    ours_say, theirs_say = (np.mean(m.predict_proba(np.nan_to_num(X))[0][:, 1]) for m in (model, theirs))
    assert ours_say == pytest.approx(theirs_say, abs=0.1)


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_threads_and_warm_starts_change_nothing(n_jobs):
    whole = conjunto.RandomForestClassifier(9, random_state=0, n_jobs=n_jobs).fit(X, LABELS)
    grown = conjunto.RandomForestClassifier(4, random_state=0, warm_start=True).fit(X, LABELS)
    grown.set_params(n_estimators=9).fit(X, LABELS)
    for name, values in whole._panel.forest.arrays().items():
        np.testing.assert_array_equal(values, grown._panel.forest.arrays()[name], err_msg=name)
    with pytest.raises(ValueError, match="must be those of the first fit"):
        grown.set_params(n_estimators=10).fit(X, LABELS[:, [1, 0, 2]])


def _greedy(answers, truth, loss):
    """Reduce-error by its definition: the mean over rows and targets of what the first members say together."""
    chosen, left = [], list(range(len(answers)))
    while left:
        errors = [loss(answers[[*chosen, t]], truth) for t in left]
        chosen.append(left.pop(int(np.argmin(np.round(errors, 12)))))
    return chosen


def test_orders_are_by_the_mean_over_targets():
    def wrong(answers, truth):
        total = 0.0
        for o in range(3):
            counts = np.stack([(answers[:, :, o] == k).sum(axis=0) for k in range(4)], axis=1)
            total += (counts.argmax(axis=1) != truth[:, o]).mean()
        return total

    bag = conjunto.BaggingClassifier(n_estimators=12, random_state=0).fit(X, LABELS)
    codes = np.stack([np.searchsorted(names, LABELS[:, o]) for o, names in enumerate(bag.classes_)], axis=1)
    answers = np.stack([votes.labels for votes in bag.votes(X)], axis=2)
    assert list(order(bag, X, LABELS, method="reduce_error")) == _greedy(answers, codes, wrong)

    forest = conjunto.RandomForestRegressor(n_estimators=12, random_state=0).fit(X, VALUES)
    values = np.stack([votes.values for votes in forest.votes(X)], axis=2)
    squares = _greedy(values, VALUES, lambda said, y: ((said.mean(axis=0) - y) ** 2).mean())
    assert list(order(forest, X, VALUES, method="reduce_error")) == squares


@pytest.mark.parametrize("selection", ["train", "oob", 0.4, (X, LABELS)])
@pytest.mark.parametrize("method", ["margin_distance", "orientation", "complementarity", "boosting_based", "kappa"])
def test_every_criterion_and_selection(method, selection):
    forest = conjunto.RandomForestClassifier(20, random_state=0).fit(X, LABELS)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    small = prune(forest, X, LABELS, method=method, selection=selection, keep=5, sample_weight=weight, random_state=0)
    assert len(small) == 5
    np.testing.assert_array_equal(small.predict(NEW), forest.take(small.order_[:5]).predict(NEW))
    if selection == "train":
        errors = small.pruning_report_["error"]["train"]
        right = (small.predict(X) == LABELS).mean(axis=1)
        assert errors["after"] == pytest.approx(np.average(1 - right, weights=weight), abs=1e-6)
        assert errors["after_low"] < errors["after"] < errors["after_high"]


def test_forests_of_scikit_learn_are_pruned_too():
    rows = np.nan_to_num(X)
    for kind, target in (("RandomForestClassifier", LABELS), ("RandomForestRegressor", VALUES)):
        theirs = getattr(sklearn.ensemble, kind)(15, random_state=0).fit(rows, target)
        ours = from_sklearn(theirs)
        small = prune(theirs, rows, target, keep=4, selection="oob")
        assert type(small) is type(theirs)
        # Ours does not know which rows its trees saw; on all rows both are ordered alike.
        np.testing.assert_array_equal(order(theirs, rows, target), order(ours, rows, target))
        assert small.predict(rows).shape == target.shape
    bag = sklearn.ensemble.BaggingRegressor(n_estimators=6, random_state=0).fit(rows, VALUES)
    assert prune(bag, rows, VALUES, keep=2).predict(rows).shape == VALUES.shape


@pytest.mark.parametrize(
    "name", ["RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "BaggingRegressor"]
)
def test_there_and_back(name):
    model = fitted(name)
    theirs = to_sklearn(model, X)
    np.testing.assert_array_equal(theirs.predict(NEW.astype(np.float32)), model.predict(NEW.astype(np.float32)))
    back = from_sklearn(theirs)
    np.testing.assert_array_equal(back.predict(NEW.astype(np.float32)), theirs.predict(NEW.astype(np.float32)))
    assert back.n_outputs_ == 3
    tree = model.estimators_[0]
    single = to_sklearn(tree)
    np.testing.assert_allclose(single.tree_.value, tree.tree_.value)
    np.testing.assert_array_equal(single.predict(NEW.astype(np.float32)), tree.predict(NEW.astype(np.float32)))


def test_bagging_of_classifiers_has_no_counterpart():
    with pytest.raises(TypeError, match="one target"):
        to_sklearn(fitted("BaggingClassifier"))


def test_categories_over_one_hot_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice([*"abcd"], 90), "x": rng.integers(0, 5, 90) * 1.0})
    target = np.stack([frame["c"].isin(["a", "d"]), frame["x"] > 2], axis=1).astype(int)
    forest = conjunto.RandomForestClassifier(5, random_state=0).fit(frame, target)
    model = to_sklearn(forest, frame, one_hot=True)
    for ours, theirs in zip(forest.predict_proba(frame), model.predict_proba(frame), strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_members_of_other_libraries(vote):
    rows = np.nan_to_num(X)
    model = conjunto.BaggingClassifier(KNeighborsClassifier(), 5, vote=vote, random_state=0).fit(rows, LABELS)
    assert (model.predict(rows) == LABELS).mean() > 0.7
    assert [p.shape[1] for p in model.predict_proba(rows)] == list(CLASSES)
    votes = model.votes(rows)
    np.testing.assert_array_equal(np.stack([decide(each) for each in votes], axis=1), model.predict(rows))
    values = conjunto.BaggingRegressor(KNeighborsRegressor(), 5, random_state=0).fit(rows, VALUES)
    by_hand = np.mean([m.predict(rows) for m in values.estimators_], axis=0)
    np.testing.assert_allclose(values.predict(rows), by_hand)
    chain = conjunto.BaggingClassifier(ClassifierChain(conjunto.CARTClassifier()), 3, random_state=0)
    labels = (VALUES > 0).astype(int)
    assert (chain.fit(rows, labels).predict(rows) == labels).mean() > 0.8


def test_files_merging_and_pruning_estimators(tmp_path):
    model = fitted("RandomForestClassifier")
    save_model(tmp_path / "m.skops", Model(model, {}, "y", "classification"))
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").estimator.predict(NEW), model.predict(NEW))
    both = merge(model, fitted("RandomForestClassifier"))
    assert len(both) == 16
    np.testing.assert_array_equal(both.predict(NEW), model.predict(NEW))
    other = conjunto.RandomForestClassifier(3, random_state=0).fit(X[:, :5], np.char.add(LABELS, "!"))
    with pytest.raises(ValueError, match="other classes"):
        merge(model, other)
    pruned = conjunto.PrunedClassifier(conjunto.RandomForestClassifier(20, random_state=0), keep=4).fit(X, LABELS)
    assert pruned.predict(NEW).shape == (len(NEW), 3)
    assert [p.shape[1] for p in pruned.predict_proba(NEW)] == list(CLASSES)
    values = conjunto.PrunedRegressor(conjunto.BaggingRegressor(n_estimators=20, random_state=0), keep=4).fit(X, VALUES)
    assert values.predict(NEW).shape == (len(NEW), 3)
    with pytest.raises(ValueError, match="several targets"):
        distil(model, X, LABELS)


def test_refusals():
    model = fitted("RandomForestClassifier")
    with pytest.raises(ValueError, match="y must have 3 columns"):
        prune(model, X, LABELS[:, 0])
    with pytest.raises(ValueError, match="y must have 3 columns"):
        order(model, X, LABELS[:, :2])
