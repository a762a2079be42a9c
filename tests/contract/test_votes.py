"""What an ensemble says is what it decides: for every estimator, and for the ensembles of other libraries.

`decide(votes(X))` is `predict(X)`, prefixes of the votes are the stages, and the error curve ends in the error.
"""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import conjunto
from conjunto.combination import combine, decide, prefixes
from conjunto.ensembles._ensemble import Ensemble
from conjunto.ensembles.rules import CLASSIFICATION
from conjunto.evaluation import error_curve
from conjunto.voters import as_voters

ENSEMBLES = [name for name in sorted(conjunto._HOMES) if issubclass(getattr(conjunto, name), Ensemble)]


def table(kind):
    """Rows on which voters tie often: whole numbers, several classes by name, gaps, categories, more columns."""
    random = np.random.default_rng(5)
    n = 90
    X = random.integers(0, 4, size=(n, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] > 3).astype(int) + 2 * (X[:, 2] > 2) + (random.random(n) < 0.2)
    if kind == "gaps":
        X[random.random(X.shape) < 0.15] = np.nan
    if kind == "frame":
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
        X["kind"] = random.choice(["a", "b", None], n)
    return X, np.array(["ant", "bee", "cow", "dog", "eel"])[y]


def configurations(name):
    """The default configuration, with fewer members, and what changes how votes are cast or counted."""
    kind = getattr(conjunto, name)
    parameters = inspect.signature(kind).parameters
    few = {"n_estimators": 11} if "n_estimators" in parameters else {}
    if "n_committees" in parameters and "committee_size" in parameters:
        few = {"n_committees": 4, "committee_size": 3}
    seed = {"random_state": 0}
    yield "default", kind(**few, **seed)
    if "vote" in parameters:
        yield "hard", kind(**few, **seed, vote="hard")
        yield "soft", kind(**few, **seed, vote="soft")
    if name == "AdaBoostClassifier":
        for algorithm in CLASSIFICATION:
            yield algorithm, kind(conjunto.CARTClassifier(max_depth=3), **few, **seed, algorithm=algorithm)
    if name == "AdaBoostRegressor":
        yield "r", kind(**few, **seed, algorithm="r")
    if "estimator" in parameters and name.endswith("Classifier") and not name.startswith("IGP"):
        yield "c45", kind(conjunto.C45Classifier(), **few, **seed)
        if "vote" in parameters:
            yield "c45, soft", kind(conjunto.C45Classifier(), **few, **seed, vote="soft")
            yield "foreign, soft", kind(DecisionTreeClassifier(max_depth=3), **few, **seed, vote="soft")


CASES = [pytest.param(name, model, id=f"{name}, {how}") for name in ENSEMBLES for how, model in configurations(name)]


def assert_one_decision(voters, X, y, predict, staged=None):
    """All ways from votes to answers lead to the same."""
    votes = voters.votes(X)
    labels = votes.kind != "values"
    same = np.testing.assert_array_equal if labels else close
    same(decide(votes), predict)
    same(decide(voters.contributions(X)), predict)
    error = np.mean(predict != y) if labels else np.mean((predict - y) ** 2)
    curve = error_curve(votes, y)
    assert curve[-1] == pytest.approx(error, rel=1e-9, abs=1e-12)
    if votes.groups is None:
        np.testing.assert_allclose(error_curve(voters.contributions(X), y), curve, rtol=1e-9)
    counted = [count.answers().copy() for count in prefixes(votes)]
    assert len(counted) == len(votes)
    if staged is not None:
        staged = [stage.copy() for stage in staged]
        assert len(staged) == len(counted)
        for stage, answers in zip(staged, counted, strict=True):
            same(stage, votes.classes[answers] if labels else answers)


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:flipping a share:UserWarning")
@pytest.mark.parametrize("kind", ["ties", "gaps", "frame"])
@pytest.mark.parametrize(("name", "model"), CASES)
def test_what_an_ensemble_says_is_what_it_decides(name, model, kind):
    X, labels = table(kind)
    y = labels if model.task == "classification" else np.unique(labels, return_inverse=True)[1] + 0.25
    if kind != "ties" and not model.__sklearn_tags__().input_tags.allow_nan:
        pytest.skip("the base learner takes no missing values")
    if kind == "frame" and isinstance(getattr(model, "estimator", None), DecisionTreeClassifier):
        pytest.skip("the base learner takes no categories")
    model.fit(X, y)
    assert_one_decision(model, X, y, model.predict(X), model.staged_predict(X))
    # Rows that were read once serve every method.
    rows = model.read(X)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))
    np.testing.assert_array_equal(model.votes(rows).answers, model.votes(X).answers)


@pytest.mark.parametrize("name", [name for name in ENSEMBLES if name.endswith("Classifier")])
def test_sums_of_the_core_are_those_of_the_adder(name):
    """The native way to summed votes against the one adder, class by class."""
    X, y = table("ties")
    for _, model in configurations(name):
        with np.errstate(all="ignore"):
            model.fit(X, y)
        np.testing.assert_allclose(model._sums(X), combine(model.votes(X)).counts, rtol=1e-9, atol=1e-9)


def test_a_soft_forest_with_twenty_classes():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(300, 8)).astype(float)
    y = random.integers(0, 20, 300)
    forest = conjunto.RandomForestClassifier(30, max_depth=4, random_state=0).fit(X, y)
    assert forest.votes(X).kind == "scores"
    assert_one_decision(forest, X, y, forest.predict(X), forest.staged_predict(X))


OTHERS = [
    RandomForestClassifier(12, max_depth=4, random_state=0),
    RandomForestRegressor(12, random_state=0),
    ExtraTreesClassifier(12, max_depth=4, random_state=0),
    BaggingClassifier(n_estimators=12, random_state=0),
    BaggingClassifier(LogisticRegression(max_iter=1000), 6, max_features=3, random_state=0),
    BaggingRegressor(n_estimators=12, random_state=0),
    AdaBoostClassifier(n_estimators=12, random_state=0),
    AdaBoostRegressor(n_estimators=12, random_state=0),
    VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=2))], voting="soft", weights=[2, 1]),
    make_pipeline(StandardScaler(), conjunto.ECOCClassifier(n_estimators=12, random_state=0)),
    make_pipeline(StandardScaler(), RandomForestClassifier(12, max_depth=4, random_state=0)),
]


@pytest.mark.parametrize("model", OTHERS, ids=repr)
def test_ensembles_of_other_libraries(model):
    X, y = table("ties")
    y = y if hasattr(model, "predict_proba") else np.unique(y, return_inverse=True)[1] + 0.25
    fitted = model.fit(X, y)
    assert_one_decision(as_voters(fitted), X, y, fitted.predict(X))
