"""What combines models keeps scikit-learn's contract, and conjunto's own: votes, storage, labels, tables."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import conjunto
from conjunto.combination import decide
from conjunto.combiners.level_one import MultiResponseClassifier

NAMES = sorted(name for name, home in conjunto._HOMES.items() if home.startswith("conjunto.combiners."))
CLASSIFIERS = [name for name in NAMES if name.endswith("Classifier")]


def members(name):
    kind = conjunto.CARTClassifier if name.endswith("Classifier") else conjunto.CARTRegressor
    return [(f"depth {depth}", kind(max_depth=depth, random_state=0)) for depth in (1, 3)]


def make(name, **parameters):
    kind = getattr(conjunto, name)
    if "random_state" in inspect.signature(kind).parameters:
        parameters = {"random_state": 0} | parameters
    if "estimators" not in inspect.signature(kind).parameters:
        return kind(conjunto.CARTClassifier(max_depth=3, random_state=0), **parameters)
    return kind(**{"estimators": members(name)} | parameters)


def checked():
    yield from map(make, NAMES)
    for voting in ("soft", "product", "borda"):
        yield make("VotingClassifier", voting=voting, weights="log-odds")
    yield make("StackingClassifier", final_estimator="ridge")
    yield make("ArbiterClassifier", decision="weigh")
    yield make("CostSensitiveClassifier", weigh_rows=True)
    yield conjunto.LocalSelectionClassifier(
        conjunto.BaggingClassifier(conjunto.CARTClassifier(max_depth=3), 15, random_state=0)
    )
    yield conjunto.LocalSelectionRegressor(
        conjunto.BaggingRegressor(conjunto.CARTRegressor(max_depth=3), 15, random_state=0)
    )
    yield MultiResponseClassifier()


@parametrize_with_checks(list(checked()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def table(name, n=120):
    X, y = load_iris(return_X_y=True)
    chosen = np.random.default_rng(1).permutation(len(y))[:n]
    return (X[chosen], y[chosen]) if name.endswith("Classifier") else (X[chosen, :3], X[chosen, 3])


def frame(name, library=pd, n=150):
    """A number, a category, a category with gaps; classes by name, one of them rare."""
    random = np.random.default_rng(3)
    number = random.normal(size=n)
    colour = random.choice(["red", "green", "blue"], size=n).tolist()
    size = [None if i % 7 == 0 else kind for i, kind in enumerate(random.choice(["s", "m", "l"], size=n).tolist())]
    X = library.DataFrame({"number": number, "colour": colour, "size": size})
    score = number + np.where(np.array(colour) == "red", 2.0, -2.0)
    labels = np.where(score > 0, "yes", np.where(score < -3.8, "rather not", "no"))
    return X, labels if name.endswith("Classifier") else score


def says(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def by_skops(model):
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(kind.startswith("conjunto.") for kind in unknown), unknown
    return skops.io.loads(data, trusted=unknown)


@pytest.mark.filterwarnings("ignore:The least populated class in y has only 3 members:UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_tables_with_text_gaps_and_names(name):
    """DataFrames of both libraries, text labels, storage, clones and the names of columns, on one fit each."""
    X, y = frame(name)
    model = make(name).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == ["number", "colour", "size"]
    said = says(model, X)
    if name in CLASSIFIERS:
        assert model.classes_.tolist() == ["no", "rather not", "yes"]
        np.testing.assert_allclose(said.sum(axis=1), 1)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(model.predict_log_proba(X), np.log(said))
    for way in (by_pickle, by_skops):
        np.testing.assert_array_equal(says(way(model), X), said)
    polar, _ = frame(name, pl)
    np.testing.assert_allclose(says(clone(model).fit(polar, y), polar), said)
    assert np.isfinite(says(model, pd.DataFrame({"number": [np.nan], "colour": ["violet"], "size": [None]}))).all()


@pytest.mark.parametrize("name", NAMES)
def test_gaps_weights_and_jobs(name):
    X, y = table(name)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = make(name).fit(X, y)
    assert model.score(X, y) > 0.6
    weighed = make(name).fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(says(weighed, X), says(model, X), rtol=1e-6, atol=1e-9)
    some = np.where(np.arange(len(y)) % 3, 1.0, 4.0)
    assert not np.allclose(says(make(name).fit(X, y, sample_weight=some), X), says(model, X))


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if hasattr(getattr(conjunto, name), "votes")])
def test_votes_decide(name):
    X, y = table(name)
    model = make(name).fit(X, np.array([7, 3, 5])[y])
    votes = model.votes(X)
    assert len(votes) == len(model) == 2
    np.testing.assert_array_equal(decide(votes), model.predict(X))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "CostSensitiveClassifier"])
def test_fitted_members_are_used_as_they_are(name):
    """`prefit`: models of any labels; clones share them; nothing is fitted again."""
    X, y = table(name)
    y = np.array(["seven", "three", "five"])[y] if name in CLASSIFIERS else y
    fitted = [(each, model.fit(X[:60], y[:60])) for each, model in members(name)]
    model = make(name, estimators=fitted, prefit=True).fit(X[60:], y[60:])
    assert all(one is other for one, (_, other) in zip(model.estimators_, fitted, strict=True))
    assert model.score(X, y) > 0.5
    np.testing.assert_array_equal(says(clone(model).fit(X[60:], y[60:]), X), says(model, X))
