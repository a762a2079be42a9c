import re
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

import conjunto
from conjunto.experiments import METHODS, Experiment, make, panel
from conjunto.experiments.defaults import suggest_methods
from conjunto.experiments.making import can_be_pruned, check_registered, parameters_of
from conjunto.experiments.methods import Registered, estimator_name
from conjunto.voters import as_voters

TASKS = ("classification", "regression")
CLAIMS = [(name, task) for name in METHODS for task in TASKS if estimator_name(name, task)]
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
CLASSIFIERS = BOTH | BOOSTING | {"randomization", "wagging", "class-switching", "flipping"}
CLASSIFIERS |= {"c45", "igp", "igp-ensemble", "igp-boosting", "igp-committees"}
CLASSIFIERS |= {"arc-x4", "multiboost", "three-boost", "double-bagging", "ecoc", "round-robin"}
COMBINED = {"voting", "stacking", "greedy-selection", "bayesian-averaging", "local-selection"}
CLASSIFIERS |= COMBINED | {"soft-voting", "naive-bayes-combination", "arbiter", "cascade"}
REGRESSORS = BOTH | COMBINED | {"output-smearing", "adaboost-r"}


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
    assert panel("classification")[0] == "cart"
    assert "class-switching" in panel("classification")
    assert "output-smearing" not in panel("classification")
    assert {"adaboost", "logitboost", "multiboost"} <= set(panel("classification"))
    regression = ["cart", "bagging", "random-subspace", "random-forest", "adaboost", "output-smearing"]
    assert panel("regression") == regression
    for task in TASKS:
        assert all(estimator_name(name, task) for name in panel(task))


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
    assert "pruned-bagging" not in panel("classification") + panel("regression")
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
