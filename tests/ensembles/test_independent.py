"""The loop that all independent ensembles share: errors, progress, and what happens when a fit fails."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from conjunto import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    RandomizationClassifier,
)
from conjunto.datasets import make_twonorm
from conjunto.draw import Draw

from ..forests import assert_same_trees

X, Y = make_twonorm(60, random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        ({"n_estimators": 2.5}, "n_estimators must be a whole number of at least 1, got 2.5"),
        ({"n_estimators": True}, "n_estimators must be a whole number of at least 1, got True"),
        ({"max_features": 0}, r"max_features must be an int in \[1, 20\] or a float in \(0, 1\], got 0"),
        ({"max_features": 21}, r"max_features must be an int in \[1, 20\] or a float in \(0, 1\], got 21"),
        ({"max_features": 1.5}, r"max_features must be an int in \[1, 20\] or a float in \(0, 1\], got 1.5"),
        ({"max_samples": 0}, r"max_samples must be an int in \[1, 60\] or a float in \(0, 1\], got 0"),
        ({"max_samples": 61}, r"max_samples must be an int in \[1, 60\] or a float in \(0, 1\], got 61"),
        ({"max_samples": -0.5}, r"max_samples must be an int in \[1, 60\] or a float in \(0, 1\], got -0.5"),
        ({"balanced": True, "warm_start": True}, "balanced=True cannot be combined with warm_start"),
        ({"balanced": True, "bootstrap": False}, r"balanced=True needs bootstrap=True and max_samples=1\.0"),
        ({"balanced": True, "max_samples": 0.5}, r"balanced=True needs bootstrap=True and max_samples=1\.0"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": "x"}, "seed"),
    ],
    ids=repr,
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        BaggingClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            "tree",
            r"estimator must be a scikit-learn classifier \(an object with fit, predict and get_params\), got 'tree'",
        ),
        (3, r"estimator must be a scikit-learn classifier \(an object with fit"),
        (CARTRegressor(), r"estimator must be a classifier, got CARTRegressor\(\)"),
        (LinearRegression(), r"estimator must be a classifier, got LinearRegression\(\)"),
        (LogisticRegression, "estimator must be a scikit-learn classifier"),
        (CARTClassifier, "estimator must be a scikit-learn classifier"),
    ],
    ids=repr,
)
def test_unknown_base_learner(estimator, message):
    with pytest.raises(TypeError, match=message):
        BaggingClassifier(estimator).fit(X, Y)


def test_a_classifier_is_no_regressor():
    with pytest.raises(TypeError, match=r"estimator must be a regressor, got LogisticRegression\(\)"):
        BaggingRegressor(LogisticRegression()).fit(X, Y)


def hole(a, value):
    a = a.astype(float)
    a.flat[3] = value
    return a


@pytest.mark.parametrize(
    ("data", "labels", "weight", "error", "message"),
    [
        (X, hole(Y, np.nan), None, ValueError, "y contains NaN"),
        (hole(X, np.inf), Y, None, ValueError, "X contains infinity"),
        (hole(X, -np.inf), Y, None, ValueError, "X contains infinity"),
        (X, Y[:-1], None, ValueError, r"inconsistent numbers of samples: \[60, 59\]"),
        (X, Y, -np.ones(60), ValueError, "Negative values in data passed to `sample_weight`; use 0 to leave a row out"),
        (X, Y, np.zeros(60), ValueError, "sample_weight is zero for all rows: give at least one"),
        (X, Y, 0, ValueError, "sample_weight is zero for all rows: give at least one"),
        (X, Y, np.ones(59), ValueError, r"sample_weight.shape == \(59,\), expected \(60,\): one entry per row"),
        (
            X,
            Y,
            np.ones((60, 1)),
            ValueError,
            r"sample_weight.shape == \(60, 1\), expected \(60,\): one entry per row",
        ),
        (X, Y, np.full(60, np.nan), ValueError, "sample_weight contains NaN"),
        (X, Y, np.full(60, np.inf), ValueError, "sample_weight contains infinity"),
        (csr_matrix(np.full(X.shape, np.inf)), Y, None, ValueError, "Input X contains infinity"),
        (X, np.zeros((60, 2, 2)), None, ValueError, r"y must be \(n,\) or \(n, targets\), got an array of shape"),
        (X, csr_matrix(np.eye(60)), None, ValueError, "sparse multilabel-indicator for y is not supported"),
        (X, X[:, 0], None, ValueError, "Unknown label type: continuous"),
        (X[:, 0], Y, None, ValueError, "Expected 2D array, got 1D array"),
        (X[:0], Y[:0], None, ValueError, r"Found array with 0 sample\(s\)"),
        (X[:, :0], Y, None, ValueError, r"Found array with 0 feature\(s\)"),
        (X, None, None, ValueError, "requires y to be passed"),
        (X.astype(str).astype(object) + "a", Y, None, ValueError, "could not convert string to float"),
        (X + 1j, Y, None, ValueError, "Complex data not supported"),
    ],
)
@pytest.mark.parametrize(
    "model", [BaggingClassifier(), RandomForestClassifier(n_estimators=3), CARTClassifier()], ids=repr
)
def test_data(model, data, labels, weight, error, message):
    with pytest.raises(error, match=message):
        model.fit(data, labels, sample_weight=weight)


def test_missing_text_labels_are_named():
    with pytest.raises(ValueError, match=r"y .*(missing|None|NaN)"):
        BaggingClassifier().fit(X, np.array(["a", None] * 30, dtype=object))


@pytest.mark.parametrize("model", [BaggingRegressor(), CARTRegressor()], ids=repr)
def test_targets(model):
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X, hole(Y, np.nan))
    with pytest.raises(ValueError, match="y contains infinity"):
        model.fit(X, hole(Y, np.inf))


@pytest.mark.parametrize("column", [pd.date_range("2020-01-01", periods=60), pd.timedelta_range("1D", periods=60)])
def test_dates(column):
    frame = pd.DataFrame({"x": X[:, 0], "when": column})
    with pytest.raises(ValueError, match="column 'when' holds dates: replace it by numbers, such as days since"):
        BaggingClassifier().fit(frame, Y)


def test_criterion_and_k_best():
    with pytest.raises(
        ValueError, match="criterion must be one of 'gini', 'entropy', 'log_loss', 'misclassification', got 'x'"
    ):
        BaggingClassifier(CARTClassifier(criterion="x")).fit(X, Y)
    with pytest.raises(ValueError, match=r"criterion must be one of 'squared_error', .* got 'gini'"):
        BaggingRegressor(CARTRegressor(criterion="gini")).fit(X, Y)
    for k_best in (0, -1, 1.5):
        with pytest.raises(ValueError, match="k_best must be a whole number of at least 1, got"):
            RandomizationClassifier(k_best=k_best).fit(X, Y)


def test_friedmans_criterion_is_the_squared_error():
    """Both choose the same splits: of two sides, the decrease is what Friedman scores, times a constant."""
    with pytest.warns(FutureWarning, match='"friedman_mse" means "squared_error"'):
        named = CARTRegressor(criterion="friedman_mse", random_state=0).fit(X, X[:, 0])
    assert_same_trees(named.forest_, CARTRegressor(random_state=0).fit(X, X[:, 0]).forest_)


def test_max_samples_none_is_as_many_as_there_are():
    none, one = (BaggingClassifier(n_estimators=3, max_samples=size, random_state=0).fit(X, Y) for size in (None, 1.0))
    assert_same_trees(none._panel.members.forest, one._panel.members.forest)


class Nearest(BaseEstimator):
    """Neither a classifier nor a regressor by its tags: answers as the nearest row."""

    def fit(self, X, y):
        self.rows_, self.answers_ = np.asarray(X), np.asarray(y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.answers_[((np.asarray(X)[:, None] - self.rows_) ** 2).sum(axis=2).argmin(axis=1)]


def test_a_learner_without_a_kind_may_be_a_member():
    names = np.array(["no", "yes"])
    model = BaggingClassifier(Nearest(), n_estimators=5, random_state=0).fit(X, names[Y])
    for member, rows, said in zip(model.estimators_, model.estimators_samples_, model.votes(X).labels, strict=True):
        np.testing.assert_array_equal(member.predict(X), Nearest().fit(X[rows], Y[rows]).predict(X))
        np.testing.assert_array_equal(said, member.predict(X))
    values = BaggingRegressor(Nearest(), n_estimators=5, random_state=0).fit(X, X[:, 0])
    np.testing.assert_allclose(values.predict(X), np.mean([member.predict(X) for member in values.estimators_], axis=0))


def test_vote_is_checked_in_prediction():
    with pytest.raises(ValueError, match="vote must be one of 'hard', 'soft', got 'x'"):
        BaggingClassifier(vote="x").fit(X, Y).predict(X)


@pytest.mark.parametrize("model", [BaggingClassifier, RandomForestClassifier])
def test_vote_is_checked_in_fit(model):
    with pytest.raises(ValueError, match="vote must be one of 'hard', 'soft', got 'x'"):
        model(n_estimators=3, vote="x").fit(X, Y)


def test_oob_score_needs_rows_left_out():
    with pytest.raises(
        ValueError, match="Out of bag estimation only available if bootstrap=True, or with max_samples < 1"
    ):
        BaggingClassifier(bootstrap=False, oob_score=True).fit(X, Y)


def test_warm_start_cannot_shrink():
    model = BaggingClassifier(n_estimators=5, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_estimators=3 is less than the 5 members that exist \(warm_start\)"):
        model.set_params(n_estimators=3).fit(X, Y)


def test_prediction_needs_the_columns_of_the_fit():
    model = BaggingClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="X has 19 features, but BaggingClassifier is expecting 20 features"):
        model.predict(X[:, :19])
    frame = pd.DataFrame(X).add_prefix("x")
    model = BaggingClassifier().fit(frame, Y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen at fit time:\n- y"):
        model.predict(frame.rename(columns={"x3": "y"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)


def test_prediction_with_categories_needs_a_frame():
    frame = pd.DataFrame({"a": ["u", "v"] * 30, "b": X[:, 0]})
    model = BaggingClassifier().fit(frame, Y)
    with pytest.raises(ValueError, match="X must be a DataFrame with the same columns"):
        model.predict(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="column 'b' held numbers when the model was fitted, and now holds categories"):
        model.predict(frame.assign(b="text"))


def test_the_order_of_columns_is_named():
    frame = pd.DataFrame({"a": ["u", "v"] * 30, "b": X[:, 0]})
    model = BaggingClassifier().fit(frame, Y)
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "votes", "apply", "oob_votes"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(BaggingClassifier(), method)(X)
    for name in ("estimators_", "estimators_samples_", "feature_importances_"):
        assert not hasattr(BaggingClassifier(), name)


def test_properties_ask_for_a_fit():
    with pytest.raises(NotFittedError):
        BaggingClassifier().estimators_samples_  # noqa: B018


def test_a_failed_fit_is_no_fit():
    model = BaggingClassifier("tree")
    with pytest.raises(TypeError):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_failed_second_fit_changes_nothing():
    model = BaggingClassifier(random_state=0).fit(X, Y)
    said = model.predict(X)
    with pytest.raises(ValueError, match="max_samples"):
        model.set_params(max_samples=1000).fit(X, np.where(Y == 0, "b", "a"))
    np.testing.assert_array_equal(model.predict(X), said)


def test_warm_start_refuses_another_problem():
    model = BaggingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start"):
        model.set_params(n_estimators=10).fit(X, np.where(Y == 0, "b", "a"))


def test_warm_start_on_other_rows_keeps_the_samples_or_refuses():
    model = BaggingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, Y)
    first = model.estimators_samples_[0]
    try:
        model.set_params(n_estimators=10).fit(X[:40], Y[:40])
    except ValueError:
        return
    np.testing.assert_array_equal(model.estimators_samples_[0], first)


def test_verbose_reports_on_standard_error(capsys):
    BaggingClassifier(n_estimators=40, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "BaggingClassifier: 40 of 40 members"
    assert len(err.splitlines()) == 20


def test_batches_are_one_fit(monkeypatch):
    whole = BaggingClassifier(n_estimators=30, random_state=0).fit(X, Y)
    monkeypatch.setattr("conjunto.ensembles._independent.BATCH_CELLS", 7 * 60)
    parts = BaggingClassifier(n_estimators=30, random_state=0).fit(X, Y)
    assert_same_trees(parts._panel.members.forest, whole._panel.members.forest)


def test_a_method_that_draws_nothing_shows_everything():
    model = RandomizationClassifier(n_estimators=3).fit(X, Y)
    assert model._drawn.draw == Draw()
    assert [len(rows) for rows in model.estimators_samples_] == [len(X)] * 3
