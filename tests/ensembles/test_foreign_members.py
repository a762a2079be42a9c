"""Members of other libraries: what they are told, and what they need not have."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from conjunto import AdaBoostClassifier, BaggingClassifier, BaggingRegressor

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


class WithoutGaps(LogisticRegression):
    """A learner that wants class codes 0 .. k - 1, as XGBoost does."""

    def fit(self, X, y, sample_weight=None):
        classes = np.unique(y)
        if not np.array_equal(classes, np.arange(len(classes))):
            raise ValueError(f"Invalid classes inferred from unique values of `y`: {classes}")
        return super().fit(X, y, sample_weight)


class Plain(BaseEstimator):
    """No mixin, no weights, and `fit` returns nothing."""

    def fit(self, X, y):
        self.mean_ = y.mean() if y.dtype.kind == "f" else int(np.bincount(y).argmax())

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize("labels", [NAMES, Y + 1, Y * 2.0], ids=["text", "from one", "doubles"])
@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_members_are_told_codes_without_gaps(labels, vote):
    # One row of a class: most samples miss it.
    rows = np.r_[0:50, 50, 100:150]
    model = BaggingClassifier(WithoutGaps(max_iter=1000), 12, vote=vote, random_state=0).fit(X[rows], labels[rows])
    twin = BaggingClassifier(LogisticRegression(max_iter=1000), 12, vote=vote, random_state=0).fit(
        X[rows], labels[rows]
    )
    assert any(len(member.classes_) == 2 for member in model.estimators_)
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))


def test_xgboost_with_any_labels():
    xgboost = pytest.importorskip("xgboost")
    rows = np.r_[0:50, 50, 100:150]
    learner = xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)
    for labels in (NAMES, Y + 1):
        model = BaggingClassifier(learner, 6, random_state=0).fit(X[rows], labels[rows])
        assert model.score(X[rows], labels[rows]) > 0.9


def test_members_of_boosting_know_labels():
    model = AdaBoostClassifier(LogisticRegression(max_iter=1000), n_estimators=3).fit(X, NAMES)
    assert set(model.estimators_[0].predict(X)) <= set(NAMES)


def test_members_may_be_plain_estimators():
    regression = BaggingRegressor(Plain(), 5, random_state=0).fit(X, X[:, 0])
    expected = np.mean([X[rows, 0].mean() for rows in regression.estimators_samples_])
    np.testing.assert_allclose(regression.predict(X), expected)
    assert BaggingClassifier(Plain(), 5, random_state=0).fit(X, NAMES).predict(X[:1])[0] in NAMES
    with pytest.raises(TypeError, match="estimator must be a classifier"):
        BaggingClassifier(LinearRegression()).fit(X, Y)


def test_decision_functions_are_averaged():
    learner = LogisticRegression(max_iter=1000)
    model = BaggingClassifier(learner, 4, max_features=2, vote="soft", random_state=0).fit(X, NAMES)
    members = zip(model.estimators_, model.estimators_features_, strict=True)
    expected = np.mean([member.decision_function(X[:, columns]) for member, columns in members], axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected)
    # Votes that are counted may decide otherwise than the mean of decision functions.
    assert not hasattr(BaggingClassifier(learner, 4), "decision_function")
    assert not hasattr(BaggingClassifier(vote="soft").fit(X, Y), "decision_function")
    assert not hasattr(BaggingClassifier(LinearSVC(), 2).fit(X, Y), "apply")
    assert hasattr(BaggingClassifier().fit(X, Y), "apply")


class Shifted(BaseEstimator):
    """Predicts what it is given as `shift`."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X, shift=0.0):
        return np.full(len(X), shift)


def test_metadata_is_routed_to_members():
    model = BaggingRegressor(Shifted(), 3, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        model.predict(X, shift=2.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = BaggingRegressor(Shifted().set_predict_request(shift=True), 3, random_state=0).fit(X, X[:, 0])
        np.testing.assert_array_equal(model.predict(X, shift=2.0), 2.0)
        assert model.predict(X)[0] == 0
