"""A saved model predicts as it did; other tables are arranged or refused; nothing in a file is executed."""

import os
import pickle
import re
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.ensemble import RandomForestClassifier as Foreign
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    Budget,
    CARTClassifier,
    ClassSwitchingClassifier,
    PrunedClassifier,
    PrunedRegressor,
    RandomForestClassifier,
    RandomSubspaceClassifier,
    VotingClassifier,
    VotingRegressor,
    prune,
)
from conjunto.datasets import load
from conjunto.experiments import METHODS, make
from conjunto.experiments.making import with_threads
from conjunto.experiments.methods import estimator_name, library
from conjunto.model_file import (
    FORMAT,
    Model,
    ModelFileError,
    _is_value_of_ours,
    can_be_saved,
    column_kinds,
    load_model,
    save_model,
)


def colic():
    data = load("horse-colic")
    return data.X, data.y.to_numpy()


def model_of(estimator, X, y, task="classification"):
    return Model(estimator.fit(X, y), column_kinds(X), "target", task, about={"method": "m"})


@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].rival])
def test_every_registered_method_comes_back(tmp_path, name):
    X, y = colic()
    task = "classification" if METHODS[name].classifier else "regression"
    X = X.select_dtypes("number") if METHODS[name].parameters.get("splits") == "combination" else X
    y = y if task == "classification" else np.arange(len(y), dtype=float)
    few = {"n_estimators": 4} if "n_estimators" in METHODS[name].parameters else {}
    model = model_of(make(name, task, few, random_state=0), X, y, task)
    save_model(tmp_path / "m.skops", model)
    back = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(back.estimator.predict(back.arrange(X)), model.estimator.predict(X))
    assert back.columns == column_kinds(X)
    assert back.versions["conjunto"]
    assert back.created.endswith("Z")


RIVALS = [
    (name, task)
    for name, method in METHODS.items()
    for task in ("classification", "regression")
    if method.rival and estimator_name(name, task)
]
FEW = {"lightgbm": 8, "xgboost": 5, "catboost": 5}


def rival(name, task, **more):
    """A small rival, unfitted; skipped where its library is not installed."""
    if library(name):
        pytest.importorskip(library(name))
    few = {"n_estimators": FEW[name]} if name in FEW else {}
    few |= {"max_iter": 3} if name == "hist-gradient-boosting" else {}
    return with_threads(make(name, task, few | more, random_state=0), 1)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "task"), RIVALS)
def test_a_rival_comes_back_or_is_refused_with_a_reason(tmp_path, name, task):
    X, y = (part[:120] for part in colic())
    y = y if task == "classification" else np.arange(len(y), dtype=float)
    estimator = rival(name, task)
    reason = can_be_saved(estimator)
    model = model_of(estimator, X, y, task)
    assert can_be_saved(model.estimator) == reason
    if name == "hist-gradient-boosting":
        assert "no safe format: scikit-learn keeps its trees in arrays that nobody checks" in reason
        with pytest.raises(ModelFileError, match=r"HistGradientBoosting.* has no safe format"):
            save_model(tmp_path / "m.skops", model)
        return
    assert reason == ""
    save_model(tmp_path / "m.skops", model)
    back = load_model(tmp_path / "m.skops")
    # As a CSV gives them: categories as text, and one that training did not have.
    text = X.astype({column: object for column, kind in column_kinds(X).items() if kind == "category"})
    column = next(column for column, kind in column_kinds(X).items() if kind == "category")
    text.loc[0, column] = "never seen"
    for rows in (X, text):
        found, said = back.estimator.predict(back.arrange(rows)), model.estimator.predict(rows)
        if task == "regression":
            np.testing.assert_allclose(found, said, rtol=1e-12)
            continue
        np.testing.assert_array_equal(found, said)
        if hasattr(model.estimator, "predict_proba"):
            shares = back.estimator.predict_proba(back.arrange(rows))
            np.testing.assert_allclose(shares, model.estimator.predict_proba(rows), atol=1e-12)
    # What came back can be saved again, and pickled after it was asked.
    save_model(tmp_path / "again.skops", back)
    again = load_model(tmp_path / "again.skops").estimator
    np.testing.assert_array_equal(again.predict(X), back.estimator.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict(X), back.estimator.predict(X))


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost"])
@pytest.mark.parametrize("count", [2, 3])
def test_boosters_of_two_and_three_classes_come_back(tmp_path, name, count):
    data = load("iris")
    X, y = data.X[: 50 * count], data.y.to_numpy()[: 50 * count]
    for estimator in (rival(name, "classification"), rival(name, "classification")["model"]):
        model = model_of(estimator, X, y)
        save_model(tmp_path / "m.skops", model)
        back = load_model(tmp_path / "m.skops")
        np.testing.assert_array_equal(back.estimator.predict(X), y_of(model.estimator, X))
        np.testing.assert_allclose(back.estimator.predict_proba(X), model.estimator.predict_proba(X), atol=1e-12)
        assert back.classes == sorted(set(y))


def y_of(estimator, X):
    return np.asarray(estimator.predict(X)).ravel()


# A number in the text of each library that becomes an address, and what is made of it.
HARM = {
    "lightgbm": [
        (r"left_child=\S+", "left_child=4000000"),
        (r"left_child=\S+", "left_child=0"),
        (r"right_child=\S+", "right_child=-4000000"),
        (r"split_feature=\S+", "split_feature=4000000"),
        (r"tree_sizes=\S+", "tree_sizes=4000000"),
        (r"num_leaves=\d+", "num_leaves=4000000"),
        (r"num_leaves=\d+", "num_leaves=2"),
        (r"num_class=3", "num_class=4000000"),
        (r"num_class:3", "num_class:4000000"),
        (r"max_feature_idx=\d+", "max_feature_idx=1"),
        (r"(num_class=3)", r"\1\n\1"),
        (r"decision_type=\d+", "decision_type=1"),
        (r"num_leaves=(\d)", r"num_leaves=0_\1"),
        (r"(?<=\n)num_class=3", "other=1\x0bnum_class=3"),
    ],
    "xgboost": [
        (r'"left_children":\[1', '"left_children":[4000000'),
        (r'"left_children":\[1', '"left_children":[0'),
        (r'"right_children":\[2', '"right_children":[-1'),
        (r'"split_indices":\[\d+', '"split_indices":[4000000'),
        (r'"split_type":\[0', '"split_type":[1'),
        (r'"tree_info":\[0', '"tree_info":[4000000'),
        (r'"num_nodes":"\d+"', '"num_nodes":"4000000"'),
        (r'"num_class":"3"', '"num_class":"4000000"'),
        (r'"iteration_indptr":\[0,3', '"iteration_indptr":[0,4000000'),
        (r'"name":"gbtree"', '"name":"dart"'),
        (r'("left_children":)', r'"left_children":[4000000],\1'),
    ],
    "catboost": [
        (r'"float_feature_index":\s*\d+', '"float_feature_index":4000000'),
        (r'"split_index":\s*\d+', '"split_index":4000000'),
        (r'"split_type":\s*"FloatFeature"', '"split_type":"OneHotFeature"'),
        (r'"leaf_values":\s*\[', '"leaf_values":[1,'),
        (r'"flat_feature_index":\s*\d+', '"flat_feature_index":4000000'),
    ],
}


@pytest.mark.parametrize("name", HARM)
def test_a_booster_whose_text_points_outside_is_not_read(tmp_path, name):
    data = load("iris")
    estimator = rival(name, "classification").fit(data.X, data.y.to_numpy())
    save_model(tmp_path / "m.skops", Model(estimator, column_kinds(data.X), "class", "classification"))
    for pattern, harm in HARM[name]:
        back = load_model(tmp_path / "m.skops").estimator
        stored = getattr(back["model"], "estimator_", back["model"])
        stored.text, count = re.subn(pattern, harm, stored.text, count=1)
        assert count == 1, pattern
        with pytest.raises(ModelFileError, match=f"the model of {name} in the file is damaged"):
            back.predict(data.X)
    stored.text = "nothing of the kind"
    with pytest.raises(ModelFileError, match="is damaged"):
        back.predict(data.X)
    with pytest.raises(ValueError, match="predicts; make another one to fit it"):
        stored.fit(data.X, data.y)


def test_a_booster_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    data = load("iris")
    estimator = rival("lightgbm", "classification").fit(data.X, data.y.to_numpy())
    save_model(tmp_path / "m.skops", Model(estimator, column_kinds(data.X), "class", "classification"))
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    back = load_model(tmp_path / "m.skops")
    assert back.classes == ["setosa", "versicolor", "virginica"]
    with pytest.raises(ImportError, match=r"needs lightgbm, which is not installed: pip install 'conjunto\[rivals\]'"):
        back.estimator.predict(data.X)


def test_what_cannot_be_saved_is_known_before_the_fit():
    assert can_be_saved(make("stacking", "classification", {"estimators": "cart+logistic-regression"})) == ""
    assert "HistGradientBoosting" in can_be_saved(
        make("voting", "classification", {"estimators": "cart+hist-gradient-boosting"})
    )
    assert "algorithm='brute'" in can_be_saved(make("knn", "classification", {"algorithm": "kd_tree"}))
    assert "test_model_file" in can_be_saved(Unknown())


def test_foreign_members_come_back(tmp_path):
    from sklearn.linear_model import LogisticRegression

    data = load("iris")
    estimator = RandomSubspaceClassifier(LogisticRegression(max_iter=500), n_estimators=3, random_state=0)
    model = model_of(estimator, data.X, data.y.to_numpy())
    save_model(tmp_path / "m.skops", model)
    X = data.X
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").estimator.predict(X), model.estimator.predict(X))
    assert load_model(tmp_path / "m.skops").classes == ["setosa", "versicolor", "virginica"]


def test_a_pruned_ensemble_comes_back_with_its_report(tmp_path):
    X, y = colic()
    model = model_of(RandomForestClassifier(100, random_state=0), X, y)
    pruned = prune(model.estimator, X, y, selection="oob", evaluate=(X.head(50), y[:50]))
    save_model(tmp_path / "m.skops", Model(pruned, model.columns, "target", "classification"))
    back = load_model(tmp_path / "m.skops").estimator
    np.testing.assert_array_equal(back.predict(X), pruned.predict(X))
    np.testing.assert_array_equal(back.order_, pruned.order_)
    assert list(back.curve_) == ["members", "train", "oob", "test"]
    for name, curve in pruned.curve_.items():
        np.testing.assert_array_equal(back.curve_[name], curve)
    assert back.pruning_report_ == pruned.pruning_report_
    save_model(tmp_path / "whole.skops", model)
    assert (tmp_path / "m.skops").stat().st_size < (tmp_path / "whole.skops").stat().st_size


@pytest.mark.parametrize("keep", [3, 0.5, "auto", Budget(bytes=10_000_000)])
def test_estimators_that_prune_come_back(tmp_path, keep):
    X, y = colic()
    forest = RandomForestClassifier(6, random_state=0)
    kinds = {
        "classification": (PrunedClassifier(forest, keep=keep, report=True), y),
        "regression": (PrunedRegressor(BaggingRegressor(n_estimators=6), keep=keep), np.arange(len(y), dtype=float)),
    }
    for task, (estimator, answers) in kinds.items():
        model = model_of(estimator, X, answers, task)
        save_model(tmp_path / "m.skops", model)
        back = load_model(tmp_path / "m.skops").estimator
        np.testing.assert_array_equal(back.predict(X), model.estimator.predict(X))
        np.testing.assert_array_equal(back.order_, model.estimator.order_)
        assert back.keep == keep


def test_lists_of_models_come_back(tmp_path):
    from sklearn.linear_model import LinearRegression, LogisticRegression

    data = load("iris")
    X, y = data.X, data.y.to_numpy()
    classifiers = [LogisticRegression(max_iter=500), CARTClassifier(max_depth=1), CARTClassifier()]
    regressors = [LinearRegression(), BaggingRegressor(n_estimators=2, random_state=0)]
    for kind, models, answers in (
        (VotingClassifier, classifiers, y),
        (VotingRegressor, regressors, X.iloc[:, 0].to_numpy()),
    ):
        task = "classification" if kind is VotingClassifier else "regression"
        whole = kind([(f"m{t}", model.fit(X, answers)) for t, model in enumerate(models)], prefit=True).fit()
        for estimator in (whole, prune(models, X, answers, keep=2)):
            save_model(tmp_path / "m.skops", Model(estimator, column_kinds(X), "target", task))
            back = load_model(tmp_path / "m.skops").estimator
            np.testing.assert_array_equal(back.predict(X), estimator.predict(X))
            assert type(back) is kind


def test_truth_values_stay_what_they_are_in_combined_models(tmp_path):
    X = pd.DataFrame({"flag": [True, False] * 20, "number": np.arange(40.0)})
    y = np.where(X["flag"], "yes", "no")
    vote = VotingClassifier([("a", CARTClassifier()), ("b", RandomForestClassifier(3, random_state=0))]).fit(X, y)
    save_model(tmp_path / "m.skops", Model(vote, column_kinds(X), "target", "classification"))
    back = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(back.estimator.predict(back.arrange(X)), y)


def test_trees_of_other_libraries_are_saved_as_ours_and_not_trusted_otherwise(tmp_path):
    # scikit-learn does not check the indices in the arrays of its trees: a hostile file could crash the process.
    data = load("iris")
    model = model_of(Foreign(n_estimators=3), data.X, data.y.to_numpy())
    for estimator in (model.estimator, make_pipeline(StandardScaler(), Foreign(4)).fit(data.X, data.y.to_numpy())):
        save_model(tmp_path / "f.skops", replace(model, estimator=estimator))
        back = load_model(tmp_path / "f.skops").estimator
        np.testing.assert_allclose(back.predict_proba(data.X), estimator.predict_proba(data.X), atol=1e-12)
    with pytest.raises(ModelFileError, match="would not be read again"):
        save_model(
            tmp_path / "v.skops", model_of(GradientBoostingClassifier(n_estimators=2), data.X, data.y.to_numpy())
        )
    skops.io.dump({"format": 1, "estimator": model.estimator}, tmp_path / "f.skops")
    with pytest.raises(ModelFileError, match=r"not trusted .* sklearn\.tree\._tree\.Tree"):
        load_model(tmp_path / "f.skops")


def test_other_tables_are_arranged_or_refused():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["u", "v", "u", "v"], "c": [0, 1, 0, 1]})
    model = model_of(RandomForestClassifier(5, random_state=0), X, np.array(["p", "q", "p", "q"]))
    shuffled = X.assign(extra=1)[["extra", "c", "a", "b"]]
    np.testing.assert_array_equal(model.estimator.predict(model.arrange(shuffled)), ["p", "q", "p", "q"])
    with pytest.raises(ModelFileError, match="lack 2 columns of the model: a, b"):
        model.arrange(X[["c"]])
    with pytest.raises(ModelFileError, match=r"column 'a' held numbers .* holds 'x' in row 2"):
        model.arrange(X.assign(a=["1", "x", "3", None]))
    assert model.arrange(X.assign(a=["1", "2", None, "4"]))["a"].tolist()[:2] == [1.0, 2.0]
    assert model.arrange(X.assign(b=[1, 2, 1, 2]))["b"].tolist() == ["1", "2", "1", "2"]


def test_a_file_that_is_cut_or_changed_is_refused(tmp_path):
    X, y = colic()
    path = tmp_path / "m.skops"
    save_model(path, model_of(ClassSwitchingClassifier(n_estimators=3, random_state=0), X, y))
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for length in random.integers(0, len(whole), 20):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load_model(path)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), 20):
            damaged[place] ^= int(random.integers(1, 256))
        path.write_bytes(damaged)
        try:
            load_model(path).estimator.predict(X)
        except (ModelFileError, ValueError):
            refused += 1
    assert refused > 0


def test_types_that_are_not_trusted_are_named_and_not_built(tmp_path):
    path = tmp_path / "evil.skops"
    skops.io.dump({"format": 1, "estimator": os.system}, path)
    with pytest.raises(ModelFileError, match="not trusted and was not read"):
        load_model(path)
    skops.io.dump({"format": FORMAT, "estimator": 3, "columns": {}, "target": "y", "task": "regression"}, path)
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)
    skops.io.dump([1], path)
    with pytest.raises(ModelFileError, match="not a conjunto model"):
        load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)


class Unknown(BaseEstimator):
    def fit(self, X, y):
        return self


class Explosive:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_a_pickle_is_not_executed_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(Explosive()))
    with pytest.raises(ModelFileError, match="one of your own needs allow-pickle"):
        load_model(tmp_path / "m.pkl")
    assert not (tmp_path / "exploded").exists()
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    model = model_of(BaggingRegressor(n_estimators=2, random_state=0), X, np.array([1.0, 2.0, 3.0]), "regression")
    with pytest.raises(ModelFileError, match="executes code"):
        save_model(tmp_path / "r.pkl", model)
    save_model(tmp_path / "r.pkl", model, allow_pickle=True)
    back = load_model(tmp_path / "r.pkl", allow_pickle=True)
    np.testing.assert_array_equal(back.estimator.predict(X), model.estimator.predict(X))


def test_nothing_is_half_written(tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("disk full")

    X = pd.DataFrame({"a": [1.0, 2.0]})
    model = model_of(RandomForestClassifier(2, random_state=0), X, np.array([0, 1]))
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(path, model)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["m.skops"]


def test_the_training_data_of_a_warm_start_are_left_out(tmp_path):
    X, y = colic()
    model = model_of(AdaBoostClassifier(n_estimators=4, warm_start=True), X, y)
    save_model(tmp_path / "m.skops", model)
    back = load_model(tmp_path / "m.skops").estimator
    np.testing.assert_array_equal(back.predict(X), model.estimator.predict(X))
    assert len(model.estimator.set_params(n_estimators=6).fit(X, y)) == 6
    with pytest.raises(ValueError, match="nothing to go on from"):
        back.set_params(n_estimators=6).fit(X, y)


def test_a_column_of_truth_values_comes_back(tmp_path):
    """skops loses a key that is False in a dictionary."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"flag": random.random(80) < 0.5, "x": random.normal(size=80)})
    y = np.where(X["flag"], "on", "off")
    model = model_of(BaggingClassifier(n_estimators=5, random_state=0), X, y)
    save_model(tmp_path / "m.skops", model)
    loaded = load_model(tmp_path / "m.skops")
    assert loaded.estimator._columns.codes[0] == {False: 0, True: 1}
    np.testing.assert_array_equal(loaded.estimator.predict(X), y)
    np.testing.assert_array_equal(loaded.estimator.predict(loaded.arrange(X)), y)


def test_categories_that_are_numbers_come_back(tmp_path):
    X = pd.DataFrame({"kind": pd.Categorical([3, 1, 2, 1] * 15), "x": np.arange(60.0) % 7})
    y = np.where(X["kind"] == 1, "one", "other")
    model = model_of(BaggingClassifier(n_estimators=5, random_state=0), X, y)
    save_model(tmp_path / "m.skops", model)
    loaded = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.estimator.predict(loaded.arrange(X)), y)


def test_only_draws_and_maps_of_our_own_rooms_are_trusted_by_their_kind():
    assert _is_value_of_ours("conjunto.ensembles.bagging.BaggingDraw")
    assert _is_value_of_ours("conjunto.learners.discriminant.Discriminant")
    for name in (
        "conjunto.ensembles.bagging.BaggingClassifier",  # no value: estimators are known by the table of names
        "conjunto.ensembles.bagging.column_subset",
        "conjunto.model_file.load_model",
        "conjunto.cli.app.run",
        "conjunto.experiments.helper.main",
        "conjunto.ensembles.bagging.Draw",  # lives elsewhere
        "os.system",
        "conjunto.ensembles..os.system",
        "conjunto.learners.nothing.Here",
    ):
        assert not _is_value_of_ours(name), name
