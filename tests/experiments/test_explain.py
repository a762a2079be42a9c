"""Importances and partial dependence, against models whose answers are known."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from conjunto import BaggingClassifier, BaggingRegressor
from conjunto.experiments import explain as module
from conjunto.experiments.explain import explain


@pytest.fixture(scope="module")
def table():
    """`decides` says everything, `kind` nothing, `same` does not vary; with gaps."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": pd.Categorical(rng.choice(["a", "b", None], 300, p=[0.6, 0.3, 0.1]))})
    X["same"] = 1
    X["decides"] = rng.normal(size=300)
    y = np.where(X["decides"] > 0.5, "yes", "no")
    X.loc[::50, "decides"] = np.nan
    return X, y


def by_column(facts):
    return {line["column"]: line for line in facts["importances"]}


def test_the_column_that_decides_is_first_and_others_cover_zero(table):
    X, y = table
    model = BaggingClassifier(n_estimators=20, random_state=0).fit(X[:150], y[:150])
    facts = explain(model, X[150:], y[150:], "classification", "error", seed=0, classes=np.unique(y), positive=1)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    lines = by_column(facts)
    assert facts["importances"][0]["column"] == "decides"
    assert lines["decides"]["low"] > 0.2
    assert lines["same"] == {"column": "same", "mean": 0, "low": 0, "high": 0}
    assert lines["kind"]["low"] <= 0 <= lines["kind"]["high"]
    assert facts["answers"] == "probability"
    assert facts["notes"] == []
    part = facts["partial"][0]
    assert (part["column"], part["kind"]) == ("decides", "number")
    assert np.isfinite(part["grid"]).all()
    assert len(part["grid"]) == 12
    (curve,) = part["curves"]
    assert curve["label"] == "yes"
    assert curve["values"][0] < 0.15 < 0.85 < curve["values"][-1]
    kind = next(part for part in facts["partial"] if part["column"] == "kind")
    assert (kind["kind"], kind["grid"]) == ("category", ["a", "b"])


def test_the_same_seed_gives_the_same_facts(table):
    X, y = table
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    settings = {"classes": np.unique(y), "positive": 1}
    first, again, other = (explain(model, X, y, "classification", "auc", seed=seed, **settings) for seed in (1, 1, 2))
    assert first == again != other


def test_numbers_are_close_to_those_of_sklearn():
    """Other shuffles of the same model: means agree within their intervals. Curves do exactly."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = (X @ [3, 1, 0, 0] + rng.normal(size=400) > 0).astype(int)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:200], y[:200])
    facts = explain(model, X[200:], y[200:], "classification", "accuracy", seed=0, classes=[0, 1], positive=1)
    theirs = permutation_importance(
        model, X[200:], y[200:], scoring=lambda m, X, y: accuracy_score(y, m.predict(X)), n_repeats=50, random_state=0
    )
    for place, mean in enumerate(theirs.importances_mean):
        line = by_column(facts)[f"column {place + 1}"]
        assert line["low"] - 0.01 < mean < line["high"] + 0.01
    part = facts["partial"][0]
    assert part["column"] == "column 1"
    expected = partial_dependence(model, X[200:], [0], custom_values={0: np.array(part["grid"])}, kind="average")
    np.testing.assert_allclose(part["curves"][0]["values"], expected["average"][0], atol=1e-9)


class Guess(ClassifierMixin, BaseEstimator):
    """A model that gives labels alone and looks at one column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X["b"] > 0, "yes", "no")


def test_a_model_without_probabilities_has_shares_and_an_error():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=100), "b": rng.integers(-2, 3, 100)})
    y = np.where(X["b"] > 0, "yes", "no")
    facts = explain(Guess().fit(X, y), X, y, "classification", "log-loss", seed=0, classes=["no", "yes"], positive=1)
    assert facts["measure"] == "error"
    assert "log loss cannot be taken" in facts["notes"][0]
    assert facts["answers"] == "share"
    assert facts["partial"][0]["grid"] == [-2, -1, 0, 1, 2]
    assert facts["partial"][0]["curves"] == [{"label": "yes", "values": [0, 0, 0, 1, 1]}]
    # A measure that asks the model itself is replaced, too.
    facts = explain(LinearSVC().fit(X, y), X, y, "classification", "mean-leaves", seed=0, classes=["no", "yes"])
    assert facts["measure"] == "error"


def test_of_many_classes_the_four_with_the_most_rows_are_asked_for():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c", "d", "e", "f"], [5, 30, 20, 50, 10, 40])
    X = pd.DataFrame({"x": rng.normal(size=155)})
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    facts = explain(model, X, y, "classification", "error", seed=0, classes=np.unique(y))
    assert [curve["label"] for curve in facts["partial"][0]["curves"]] == ["b", "c", "d", "f"]


def test_regression_is_in_the_units_of_the_target():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    y = 100 * X[:, 1]
    model = BaggingRegressor(n_estimators=5, random_state=0).fit(X[:500], y[:500])
    facts = explain(model, X[500:], y[500:], "regression", "r2", seed=0)
    assert facts["rows"] == 2000
    assert facts["answers"] == "value"
    assert facts["importances"][0]["mean"] == pytest.approx(2, abs=0.2)  # R² of shuffled answers is about -1
    values = facts["partial"][0]["curves"][0]["values"]
    assert values[0] < -150
    assert values[-1] > 150


def test_of_many_columns_those_that_matter_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 90))
    y = (X[:, 83] > 0).astype(int)
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    facts = explain(model, X, y, "classification", "error", seed=0, classes=[0, 1])
    assert len(facts["importances"]) == 60
    assert facts["importances"][0]["column"] == "column 84"
    assert "of 90 columns the 60 that mattered most" in facts["notes"][0]


def test_time_that_is_up_is_said(table, monkeypatch):
    X, y = table
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    ticks = iter(range(1000))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(ticks))
    facts = explain(model, X, y, "classification", "error", seed=0, classes=np.unique(y), budget=6)
    assert facts["notes"][0] == "time was up in shuffle 2 of 5, after 1 of 3 columns"
    assert len(facts["importances"]) == 3
    assert [line["low"] is None for line in facts["importances"]].count(False) == 1
    assert len(facts["partial"]) == 1
    assert facts["notes"][1] == "time was up for the partial dependence on 2 columns"
    facts = explain(model, X, y, "classification", "error", seed=0, classes=np.unique(y), budget=0)
    assert facts["importances"] == facts["partial"] == []


def test_sparse_rows_are_skipped_with_a_word():
    facts = explain(None, csr_array(np.eye(3)), [0, 1, 0], "classification", "error", seed=0, classes=[0, 1])
    assert "sparse" in facts["skipped"]
