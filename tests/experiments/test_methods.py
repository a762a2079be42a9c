import re
import sys
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from threadpoolctl import threadpool_limits

import conjunto
from conjunto.experiments import METHODS, Experiment, make, panel
from conjunto.experiments import methods as table
from conjunto.experiments.defaults import suggest_methods
from conjunto.experiments.making import can_be_pruned, check_registered, parameters_of, with_threads
from conjunto.experiments.methods import Registered, estimator_name, installed, registered, rivals
from conjunto.voters import as_voters

TASKS = ("classification", "regression")
DONE = [(name, task) for name in METHODS for task in TASKS if estimator_name(name, task)]
CLAIMS = [(name, task) for name, task in DONE if not METHODS[name].rival]
# What the literature calls them; the table may not lose one unnoticed.
BOTH = {
    "cart",
    "cart-pruned",
    "bagging",
    "balanced-bagging",
    "pruned-bagging",
    "pasting",
    "random-subspace",
    "random-forest",
    "forest-rc",
    "adaboost",
}
BOOSTING = {
    "adaboost-stumps",
    "adaboost-m1",
    "adaboost-m2",
    "adaboost-mh",
    "real-adaboost",
    "gentle-adaboost",
    "logitboost",
}
BOOSTING |= {"boosting"}
CLASSIFIERS = BOTH | BOOSTING | {"randomization", "wagging", "class-switching", "flipping"}
CLASSIFIERS |= {"c45", "igp", "igp-ensemble", "igp-boosting", "igp-committees"}
CLASSIFIERS |= {"arc-x4", "multiboost", "three-boost", "double-bagging", "ecoc", "round-robin"}
COMBINED = {"voting", "stacking", "greedy-selection", "bayesian-averaging", "local-selection"}
CLASSIFIERS |= COMBINED | {"soft-voting", "naive-bayes-combination", "arbiter", "cascade"}
REGRESSORS = BOTH | COMBINED | {"output-smearing", "adaboost-r"}
RIVALS = {"knn", "svm", "mlp", "hist-gradient-boosting", "lightgbm", "xgboost", "catboost", "constant"}


def need(name):
    """Skip where the library of a rival is not installed."""
    if table.library(name):
        pytest.importorskip(table.library(name))


def fruit(task):
    """A number with a gap, a category with a gap, and answers that the number decides."""
    rng = np.random.default_rng(0)
    grams = np.where(np.arange(40) % 2, 100.0, 200.0) + rng.normal(size=40)
    X = pd.DataFrame({"grams": grams, "skin": ["rough", "smooth", "waxy", "rough"] * 10, "noise": rng.normal(size=40)})
    y = np.where(grams > 150, "melon", "apple") if task == "classification" else grams * 2
    X.loc[3, "grams"], X.loc[5, "skin"] = np.nan, None
    return X, y


def test_what_is_registered():
    assert {name for name, task in CLAIMS if task == "classification"} >= CLASSIFIERS
    assert {name for name, task in CLAIMS if task == "regression"} >= REGRESSORS


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
@pytest.mark.parametrize(("name", "task"), CLAIMS)
def test_every_method_does_what_it_claims(name, task):
    kind = getattr(conjunto, estimator_name(name, task))
    members = {"n_estimators": 30} if "n_estimators" in signature(kind).parameters else {}
    model = make(name, task, members, random_state=1)
    assert (is_classifier if task == "classification" else is_regressor)(model)
    seeds = {value for key, value in model.get_params().items() if key.split("__")[-1] == "random_state"}
    # C4.5 draws nothing, and what is combined has seeds of its own.
    assert name == "c45" or 1 in seeds
    X, y = fruit(task)
    said = model.fit(X, y).predict(X)
    if task == "classification":
        assert set(said) <= {"melon", "apple"}
        # The row without a number can be wrong, and switched labels cost a few.
        assert (said == y).mean() > 0.85
    else:
        assert np.abs(said - y).mean() < 0.5 * np.abs(y - y.mean()).mean()
    again = make(name, task, members, random_state=1).fit(X, y).predict(X)
    assert np.array_equal(said, again)


@pytest.mark.parametrize(("name", "task"), CLAIMS)
def test_parameters_of_the_table_exist_and_can_be_overridden(name, task):
    kind = getattr(conjunto, estimator_name(name, task))
    stated = METHODS[name].parameters
    found = parameters_of(make(name, task))
    assert {key for key in stated if "__" not in key} <= set(signature(kind).parameters)
    assert {key: found[key] for key in stated if key != "estimators"} == {
        key: value for key, value in stated.items() if key != "estimators"
    }
    if "estimators" in stated:
        assert found["estimators"].split("+") == [each for each in stated["estimators"] if estimator_name(each, task)]
    if "n_estimators" in stated:
        assert parameters_of(make(name, task, {"n_estimators": 7}))["n_estimators"] == 7
        assert found["n_estimators"] == stated["n_estimators"]


def test_panels_are_of_their_task():
    both = {"cart", "bagging", "random-forest", "pruned-bagging", "hist-gradient-boosting", "constant"}
    assert panel("classification")[0] == panel("regression")[0] == "cart"
    assert set(panel("classification")) == both | {"class-switching", "boosting", "logistic-regression"}
    assert set(panel("regression")) == both | {"adaboost", "output-smearing", "ridge"}
    for task in TASKS:
        assert all(estimator_name(name, task) and not METHODS[name].extra for name in panel(task))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: make("flipping", "regression"), "flipping does not do regression"),
        (lambda: make("output-smearing", "classification"), "output-smearing does not do classification"),
        (lambda: make("baging", "classification"), "unknown method 'baging'; did you mean 'bagging'"),
        (lambda: make("cart", "clustering"), "task must be"),
        (lambda: panel("clustering"), "task must be"),
        (lambda: make("bagging", "regression", {"n_estimator": 3}), "'n_estimator'; did you mean 'n_estimators'"),
        (lambda: check_registered("bagging", {"zzz": 3}), "bagging has no parameter 'zzz'; known are .*n_estimators"),
        (lambda: check_registered("bagging", {"random_state": 3}), "random_state follows from the seed"),
        (lambda: check_registered("zzzzzz", {}), "unknown method 'zzzzzz'; known are cart"),
    ],
)
def test_errors_suggest(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize("name", METHODS)
def test_known_parameters_pass(name):
    need(name)
    check_registered(name, {})
    check_registered(name, dict(METHODS[name].parameters))


def test_parameters_of_the_base_tree_are_nested():
    model = make("adaboost", "classification", {"estimator__max_depth": 2, "estimator__min_samples_leaf": 3})
    assert isinstance(model.estimator, conjunto.CARTClassifier)
    assert (model.estimator.max_depth, model.estimator.min_samples_leaf) == (2, 3)
    assert isinstance(make("bagging", "regression", {"estimator__max_depth": 2}).estimator, conjunto.CARTRegressor)
    assert make("adaboost-m1", "classification").estimator.max_depth == 3
    with pytest.raises(ValueError, match="did you mean 'estimator__max_depth'"):
        make("adaboost", "classification", {"estimator__max_dept": 2})
    with pytest.raises(ValueError, match="has no parameter 'estimator__max_depth'"):
        make("random-forest", "classification", {"estimator__max_depth": 2})


def test_the_base_tree_has_a_name():
    model = make("bagging", "classification", {"estimator": "c45", "estimator__confidence": 0.1})
    assert isinstance(model.estimator, conjunto.C45Classifier)
    assert model.estimator.confidence == 0.1
    # The depth that the table gives its own tree does not hold for another one.
    assert make("adaboost", "classification", {"estimator": "c45"}).estimator.max_depth is None
    assert isinstance(make("bagging", "regression", {"estimator": "cart"}).estimator, conjunto.CARTRegressor)
    with pytest.raises(ValueError, match=r"estimator must be one of cart, c45, igp, got .c4\.5."):
        make("adaboost", "classification", {"estimator": "c4.5"})
    igp = make("igp-committees", "classification", {"estimator__max_features": 2}).estimator
    assert isinstance(igp, conjunto.IGPTreeClassifier)
    with pytest.raises(ValueError, match="igp-ensemble: estimator must be one of igp, got 'cart'"):
        make("igp-ensemble", "classification", {"estimator": "cart"})
    with pytest.raises(ValueError, match="c45 does not do regression"):
        make("bagging", "regression", {"estimator": "c45"})
    with pytest.raises(ValueError, match="has no parameter 'estimator__max_features'"):
        make("bagging", "classification", {"estimator": "c45", "estimator__max_features": 1})


@pytest.mark.parametrize("task", TASKS)
def test_a_method_is_pruned_after_its_fit(task):
    X, y = fruit(task)
    whole = make("bagging", task, {"n_estimators": 20}, random_state=3).fit(X, y)
    small = conjunto.prune(whole, X, y, method="reduce_error", keep=5)
    asked = {"pruning__method": "reduce_error", "pruning__keep": 5}
    made = make("bagging", task, {"n_estimators": 20, **asked}, random_state=3)
    assert type(made) is (conjunto.PrunedClassifier if task == "classification" else conjunto.PrunedRegressor)
    assert (made.random_state, made.estimator.random_state) == (3, 3)
    made.fit(X, y)
    assert list(made.order_) == list(small.order_)
    assert np.array_equal(made.predict(X), small.predict(X))


def test_pruned_bagging_keeps_a_fifth_of_pruned_trees():
    model = make("pruned-bagging", "classification", random_state=0)
    assert model.estimator.estimator.prune == "cv"
    assert len(model.fit(*fruit("classification"))) == 40
    # One word of the three is enough, and what the table says of the others stays.
    assert (
        parameters_of(make("pruned-bagging", "regression", {"pruning__keep": 7}))["pruning__method"]
        == "margin_distance"
    )


@pytest.mark.parametrize(
    ("name", "parameters", "match"),
    [
        ("bagging", {"pruning__kept": 3}, "no parameter 'pruning__kept'; did you mean 'pruning__keep'"),
        ("bagging", {"pruning__random_state": 3}, "no parameter 'pruning__random_state'"),
        (
            "bagging",
            {"pruning__method": "orientatoin"},
            "bagging, parameters pruning__.*'orientatoin'; did you mean 'orientation'",
        ),
        ("bagging", {"pruning__selection": "test"}, "bagging, parameters pruning__.* selection must be"),
        ("bagging", {"pruning__keep": 3.5}, "bagging, parameters pruning__.* keep must be"),
        ("cart", {"pruning__keep": 0.2}, "cart cannot be pruned by pruning__keep: it is a single tree"),
        ("igp", {"pruning__method": "kappa"}, "igp cannot be pruned by pruning__method: it is a single tree"),
        ("round-robin", {"pruning__keep": 0.2}, "round-robin cannot be pruned .* the only one that tells"),
        ("three-boost", {"pruning__keep": 0.2}, "three-boost cannot be pruned .* decide together"),
    ],
)
def test_pruning_that_makes_no_sense_is_refused_before_a_fit(name, parameters, match):
    with pytest.raises(ValueError, match=match):
        check_registered(name, parameters)


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
@pytest.mark.parametrize("name", METHODS)
def test_what_can_be_pruned_is_what_the_adapters_take_apart(name):
    if METHODS[name].rival:
        assert not can_be_pruned(name)
        return
    task = "classification" if METHODS[name].classifier else "regression"
    few = {"n_estimators": 8} if "n_estimators" in METHODS[name].parameters else {}
    model = make(name, task, few, random_state=0).fit(*fruit(task))
    try:
        as_voters(model)
    except TypeError:
        assert not can_be_pruned(name)
    else:
        assert can_be_pruned(name)
        assert not can_be_pruned(name, {"pruning__keep": 3})


def test_a_method_joins_by_a_line_in_the_table(monkeypatch):
    line = Registered("ten of them", "BaggingClassifier", parameters={"n_estimators": 10}, panel=True)
    monkeypatch.setitem(METHODS, "ten", line)
    assert "ten" in panel("classification")
    assert "ten" not in panel("regression")
    assert len(make("ten", "classification", {"estimator__max_depth": 1}).fit([[0], [1]], [0, 1])) == 10
    assert can_be_pruned("ten")
    assert "ten" in [method.name for method in suggest_methods("classification", 100)]
    assert Experiment(("wine",), ("ten",)).cells()


def test_what_is_combined_can_be_named():
    model = make("stacking", "classification", {"estimators": "cart+bagging+adaboost-r"}, random_state=3)
    assert [name for name, _ in model.estimators] == ["cart", "bagging"]
    assert model.estimators[1][1].random_state == 3
    assert parameters_of(model)["estimators"] == "cart+bagging"
    for given, message in (
        ("cart+bging", "stacking: estimators holds 'bging'; did you mean 'bagging'?"),
        ("cart+cart", "stacking: estimators names a method twice"),
        ("voting+cart", "stacking: estimators holds 'voting', which combines others itself"),
        (3, "stacking: estimators must be names of methods"),
        ("adaboost-r", "stacking: none of the estimators does classification"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            check_registered("stacking", {"estimators": given}, "classification")
    with pytest.raises(ValueError, match="stacking cannot be pruned by pruning__keep: how its members are combined"):
        check_registered("stacking", {"pruning__keep": 0.5})


def orchard(task):
    """Three classes, or values, that a number and a category decide; gaps, a constant and an empty column."""
    rng = np.random.default_rng(1)
    grams = np.repeat([100.0, 200.0, 300.0], 30) + rng.normal(size=90)
    X = pd.DataFrame({"grams, [g]": grams, "skin: kind": ["rough", "smooth", "waxy"] * 30, "ripe": [True, False] * 45})
    y = np.repeat(["apple", "melon", "pear"], 30) if task == "classification" else grams * 2
    X = X.assign(same=1.0, empty=np.nan, noise=rng.normal(size=90))
    X.loc[3, "grams, [g]"], X.loc[5, "skin: kind"] = np.nan, None
    return X, y


FEW = {"lightgbm": 20, "xgboost": 10, "catboost": 20}


def small(name, task, **more):
    """A rival of few members."""
    few = {"n_estimators": FEW[name]} if name in FEW else {}
    few |= {"max_iter": 10} if name == "hist-gradient-boosting" else {}
    return with_threads(make(name, task, few | more, random_state=1), 1)


@pytest.fixture
def one_thread():
    """Where tests run side by side, threads of native libraries wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize(("name", "task"), [(name, task) for name, task in DONE if METHODS[name].rival])
def test_every_rival_takes_text_gaps_and_labels(name, task, one_thread):
    need(name)
    X, y = orchard(task)
    said = small(name, task).fit(X, y).predict(X)
    assert said.shape == (90,)
    if name == "constant":
        assert len(set(said)) == 1
    elif task == "classification":
        assert (said == y).mean() > 0.9
    else:
        assert np.abs(said - y).mean() < 0.5 * np.abs(y - y.mean()).mean()
    model = small(name, task).fit(X, y)
    assert np.array_equal(model.predict(X), said)
    assert (is_classifier if task == "classification" else is_regressor)(model)
    # The same rows as text, and a category that training did not have.
    text = X.assign(**{"skin: kind": X["skin: kind"].astype("category")})
    assert np.array_equal(model.predict(text), said)
    model.predict(X.head(3).assign(**{"skin: kind": "unheard of"}))


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].rival and METHODS[name].classifier])
def test_a_rival_names_the_classes_that_it_has_seen(name, one_thread):
    need(name)
    X, y = orchard("classification")
    model = small(name, "classification").fit(X[:60], y[:60])
    assert list(model.classes_) == ["apple", "melon"]
    if name != "svm":
        assert model.predict_proba(X).shape == (90, 2)


@pytest.mark.parametrize("name", ["xgboost", "catboost"])
def test_one_class_is_always_predicted(name):
    need(name)
    X, _ = orchard("classification")
    model = small(name, "classification").fit(X, ["apple"] * 90)
    assert set(model.predict(X)) == {"apple"}
    assert np.array_equal(model.predict_proba(X), np.ones((90, 1)))


def test_what_the_rivals_are():
    for task in TASKS:
        found = {name for name, does in DONE if does == task and METHODS[name].rival}
        only = {"logistic-regression", "lda", "naive-bayes"} if task == "classification" else {"ridge"}
        assert found == RIVALS | only
        assert rivals(task) == [name for name in METHODS if name in found and installed(name)]


def test_parameters_go_to_the_rival():
    model = make("logistic-regression", "classification", {"C": 0.1}, random_state=3)
    assert (model["model"].C, model["model"].random_state, model["model"].max_iter) == (0.1, 3, 1000)
    assert parameters_of(model)["C"] == 0.1
    assert "random_state" not in make("ridge", "regression")["prepare"].get_params()
    with pytest.raises(ValueError, match="logistic-regression has no parameter 'max_itr'; did you mean 'max_iter'"):
        make("logistic-regression", "classification", {"max_itr": 10})
    with pytest.raises(
        ValueError, match="knn cannot be pruned by pruning__keep: it is an estimator of another library"
    ):
        make("knn", "classification", {"pruning__keep": 0.1})
    with pytest.raises(ValueError, match="random_state follows from the seed"):
        make("mlp", "classification", {"random_state": 3})


def test_parameters_that_a_library_takes_without_listing_them():
    pytest.importorskip("lightgbm")
    assert make("lightgbm", "classification", {"max_bin": 15})["model"].get_params()["max_bin"] == 15
    with pytest.raises(ValueError, match="lightgbm has no parameter 'num_leavs'; did you mean 'num_leaves'"):
        make("lightgbm", "classification", {"num_leavs": 15})


def test_a_library_that_is_not_installed_is_refused_before_anything_is_run(monkeypatch):
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    assert not installed("lightgbm")
    assert installed("random-forest")
    assert "lightgbm" not in rivals("classification")
    message = re.escape("lightgbm is not installed: pip install 'conjunto[rivals]'")
    for call in (
        lambda: check_registered("lightgbm", {}),
        lambda: make("lightgbm", "regression"),
        lambda: make("voting", "regression", {"estimators": "cart+lightgbm"}),
        lambda: Experiment(("wine",), ("cart", "lightgbm")),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_rivals_can_be_combined():
    X, y = orchard("classification")
    model = make("voting", "classification", {"estimators": "cart+logistic-regression"}, random_state=0).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    assert parameters_of(model)["estimators"] == "cart+logistic-regression"


def test_threads_are_set_where_they_are_open():
    model = with_threads(make("stacking", "classification", {"estimators": "random-forest+knn"}), 2)
    found = model.get_params()
    assert found["n_jobs"] == found["random-forest__n_jobs"] == found["knn__model__n_jobs"] == 2
    assert with_threads(make("random-forest", "classification", {"n_jobs": 1}), 2).n_jobs == 1
    assert with_threads(make("naive-bayes", "classification"), 2)["model"].get_params()["priors"] is None
    # It has one that does nothing, and warns.
    assert with_threads(make("logistic-regression", "classification"), 2)["model"].get_params()["n_jobs"] is None
    pytest.importorskip("lightgbm")
    assert with_threads(make("lightgbm", "regression"), 2)["model"].n_jobs == 2
    pytest.importorskip("catboost")
    for task in TASKS:
        model = with_threads(make("catboost", task), 2)
        assert parameters_of(model)["thread_count"] == 2
        assert parameters_of(with_threads(make("catboost", task, {"thread_count": 1}), 2))["thread_count"] == 1


MINE = """
from sklearn.base import BaseEstimator, ClassifierMixin
class Mine(ClassifierMixin, BaseEstimator):
    def __init__(self, alpha=1, random_state=None):
        self.alpha = alpha
        self.random_state = random_state
    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        self.columns_ = list(X.columns)
        return self
    def predict(self, X):
        return [self.classes_[0]] * len(X)
class Neither:
    pass
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user in the current folder, which is not on the path."""
    (tmp_path / "my_models.py").write_text(MINE)
    (tmp_path / "my_broken.py").write_text("import my_missing_library")
    (tmp_path / "my_failing.py").write_text("1 / 0")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.chdir(tmp_path)


def test_an_estimator_of_the_user(mine):
    model = make("my_models:Mine", "classification", {"alpha": 3}, random_state=5)
    assert (type(model).__name__, model.alpha, model.random_state) == ("Mine", 3, 5)
    X, y = orchard("classification")
    assert model.fit(X, y).columns_ == list(X.columns)
    assert (registered("my_models:Mine").regressor, can_be_pruned("my_models:Mine")) == (None, False)
    Experiment(("wine",), ("my_models:Mine",)).check_task("classification")
    assert make("sklearn.svm:LinearSVR", "regression", {"C": 2}).C == 2
    nested = make("sklearn.multiclass:OneVsRestClassifier", "classification", {"n_jobs": 2, "estimator": model})
    assert nested.n_jobs == 2


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("my_models:Mien", "module my_models has no class 'Mien'; did you mean 'Mine'"),
        ("my_models:Neither", "my_models:Neither is no estimator: a class with fit, predict"),
        ("my_modles:Mine", "there is no module 'my_modles'; install it, or start where its file is"),
        ("my_broken:Mine", "my_broken needs 'my_missing_library', which is not installed"),
        ("my_failing:Mine", "importing my_failing failed: ZeroDivisionError"),
        ("my_models:", "'my_models:' is no method: an estimator of your own is named module:Class"),
        ("sklearn.base:clone", "sklearn.base:clone is no estimator"),
    ],
)
def test_what_is_no_estimator_of_the_user(mine, name, match):
    with pytest.raises(ValueError, match=match):
        check_registered(name, {})
    with pytest.raises(ValueError, match=match):
        Experiment(("wine",), (name,))


def test_an_estimator_of_the_user_is_checked_like_others(mine):
    with pytest.raises(ValueError, match="my_models:Mine does not do regression"):
        make("my_models:Mine", "regression")
    with pytest.raises(ValueError, match="my_models:Mine has no parameter 'alhpa'; did you mean 'alpha'"):
        check_registered("my_models:Mine", {"alhpa": 3})
