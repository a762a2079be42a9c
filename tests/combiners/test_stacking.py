"""Stacking against scikit-learn's with the same folds, against level-1 data made by hand, and against leaks."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import CARTClassifier, CascadeClassifier, GreedySelectionClassifier, StackingClassifier, StackingRegressor

X, Y = load_iris(return_X_y=True)
TEXT = np.array(["setosa", "versicolor", "virginica"])[Y]
DIABETES = load_diabetes(return_X_y=True)
MODELS = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("svm", LinearSVC(random_state=0, max_iter=20_000)),
    ("near", KNeighborsClassifier(5)),
]
REGRESSORS = [
    ("linear", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("near", KNeighborsRegressor(9)),
]


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_scikit_learn_does(n_classes, passthrough):
    rows = n_classes > Y
    settings = {"cv": StratifiedKFold(3, shuffle=True, random_state=0), "passthrough": passthrough}
    final = LogisticRegression(max_iter=2000)
    ours, theirs = (
        kind(MODELS, final, **settings).fit(X[rows], TEXT[rows])
        for kind in (StackingClassifier, sklearn.ensemble.StackingClassifier)
    )
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert ours.stack_method_ == theirs.stack_method_
    assert set(ours.get_params()) - set(theirs.get_params()) == {"prefit"}


def test_regression_as_scikit_learn_does():
    rows, y = DIABETES
    for passthrough in (False, True):
        ours, theirs = (
            kind(REGRESSORS, Ridge(), cv=4, passthrough=passthrough).fit(rows, y)
            for kind in (StackingRegressor, sklearn.ensemble.StackingRegressor)
        )
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-9)
    ours, theirs = (
        kind(REGRESSORS, Ridge(solver="sparse_cg"), cv=4, passthrough=True).fit(csr_array(rows), y)
        for kind in (StackingRegressor, sklearn.ensemble.StackingRegressor)
    )
    assert issparse(ours.transform(csr_array(rows)))
    np.testing.assert_allclose(ours.predict(csr_array(rows)), theirs.predict(csr_array(rows)))


def test_fitted_members_as_scikit_learn_has_them():
    fitted = [(name, clone(model).fit(X[::2], Y[::2])) for name, model in MODELS]
    theirs = sklearn.ensemble.StackingClassifier(fitted, cv="prefit").fit(X[1::2], Y[1::2])
    for how in ({"cv": "prefit"}, {"prefit": True}):
        ours = StackingClassifier(fitted, **how).fit(X[1::2], Y[1::2])
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    # Those that know text are asked for the same.
    named = [(name, clone(model).fit(X[::2], TEXT[::2])) for name, model in MODELS]
    texts = StackingClassifier(named, prefit=True).fit(X[1::2], TEXT[1::2])
    np.testing.assert_allclose(texts.predict_proba(X), theirs.predict_proba(X))


def test_rows_without_an_out_of_fold_answer_are_left_out():
    """Time series: scikit-learn refuses these splits."""
    rows, y = DIABETES
    folds = TimeSeriesSplit(4)
    with pytest.warns(UserWarning, match="90 of the 442 rows have no out-of-fold prediction under cv=TimeSeriesSplit"):
        model = StackingRegressor(REGRESSORS, Ridge(), cv=folds).fit(rows, y)
    level = np.full((len(y), 3), np.nan)
    for train, test in folds.split(rows):
        level[test] = np.stack([clone(m).fit(rows[train], y[train]).predict(rows[test]) for _, m in REGRESSORS], axis=1)
    known = ~np.isnan(level).any(axis=1)
    np.testing.assert_array_equal(model.level_one_rows_, np.flatnonzero(known))
    np.testing.assert_allclose(model.final_estimator_.coef_, Ridge().fit(level[known], y[known]).coef_)
    some = PredefinedSplit(np.where(np.arange(len(y)) < 300, -1, 0))
    with pytest.warns(UserWarning, match="300 of the 442 rows"):
        assert len(StackingRegressor(REGRESSORS, cv=some).fit(rows, y).level_one_rows_) == 142


def test_rows_in_several_folds_have_the_mean_answer():
    rows, y = DIABETES
    twice = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = StackingRegressor(REGRESSORS, Ridge(), cv=twice).fit(rows, y)
    parts = list(twice.split(rows))
    level = np.mean(
        [np.stack([cross_val_predict(m, rows, y, cv=parts[k : k + 3]) for _, m in REGRESSORS], axis=1) for k in (0, 3)],
        axis=0,
    )
    np.testing.assert_allclose(model.final_estimator_.coef_, Ridge().fit(level, y).coef_)
    labels = StackingClassifier(
        MODELS[:1],
        DecisionTreeClassifier(random_state=0),
        stack_method="predict",
        cv=RepeatedKFold(n_repeats=3, random_state=0),
    ).fit(X, Y)
    assert labels.score(X, Y) > 0.9


def test_groups_leave_one_out_and_other_splitters():
    rows, y = DIABETES
    groups = np.arange(len(y)) // 60
    model = StackingRegressor(REGRESSORS, Ridge(), cv=GroupKFold(4)).fit(rows, y, groups=groups)
    level = np.stack([cross_val_predict(m, rows, y, cv=GroupKFold(4), groups=groups) for _, m in REGRESSORS], axis=1)
    np.testing.assert_allclose(model.final_estimator_.coef_, Ridge().fit(level, y).coef_)
    alone = StackingClassifier([("normal", GaussianNB())], cv=LeaveOneOut()).fit(X[::3], Y[::3])
    shares = cross_val_predict(GaussianNB(), X[::3], Y[::3], cv=LeaveOneOut(), method="predict_proba")
    np.testing.assert_allclose(alone.final_estimator_.coef_, LogisticRegression().fit(shares, Y[::3]).coef_)


def test_labels_of_several_classes_are_columns_of_their_own():
    model = StackingClassifier(MODELS, stack_method="predict").fit(X, Y)
    assert model.transform(X).shape == (150, 9)
    np.testing.assert_array_equal(model.transform(X)[:, :3], np.eye(3)[model.named_estimators_["tree"].predict(X)])
    two = StackingClassifier(MODELS, stack_method="predict").fit(X[:100], Y[:100])
    assert two.transform(X).shape == (150, 3)


@pytest.mark.parametrize("name", ["linear", "non-negative", "ridge"])
def test_linear_models_by_name(name):
    """Breiman's stacked regressions, and one regression for every class (Ting and Witten)."""
    rows, y = DIABETES
    model = StackingRegressor(REGRESSORS, name).fit(rows, y)
    level = np.stack([cross_val_predict(m, rows, y) for _, m in REGRESSORS], axis=1)
    coef = model.final_estimator_.coef_
    if name == "linear":
        np.testing.assert_allclose(coef, np.linalg.lstsq(level, y)[0])
    if name == "non-negative":
        from scipy.optimize import nnls

        np.testing.assert_allclose(coef, nnls(level, y)[0], rtol=1e-6)
    assert model.score(rows, y) > 0.45
    classes = StackingClassifier(MODELS, name, cv=3, stack_method="auto").fit(X, TEXT)
    assert classes.score(X, TEXT) > 0.93
    shares = classes.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(classes.classes_[shares.argmax(axis=1)], classes.predict(X))
    if name == "non-negative":
        assert all((each.coef_ >= 0).all() for each in classes.final_estimator_.regressions_)
    two = StackingClassifier(MODELS[::2], name).fit(X[50:], TEXT[50:])
    assert two.score(X[50:], TEXT[50:]) > 0.93


def test_several_levels_and_columns_passed_through():
    upper = StackingClassifier([("a", GaussianNB()), ("b", CARTClassifier(max_depth=2))], LogisticRegression())
    model = StackingClassifier(MODELS, upper).fit(X, TEXT)
    assert model.final_estimator_.final_estimator_.n_features_in_ == 6
    assert model.score(X, TEXT) > 0.93
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(Y == 0, "small", None))
    members = [("one", CARTClassifier(max_depth=1, random_state=0)), ("two", CARTClassifier(random_state=0))]
    passed = StackingClassifier(members, CARTClassifier(random_state=0), passthrough=True).fit(frame, TEXT)
    assert list(passed.final_estimator_.feature_names_in_[-5:]) == [*"abcd", "kind"]
    assert list(passed.get_feature_names_out()[-5:]) == [*"abcd", "kind"]
    assert passed.score(frame, TEXT) > 0.93


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails where it sees a row that the others have not."""

    def fit(self, X, y):
        if (X[:, 0] == X[:, 0].max()).any() and X[:, 0].max() < 7.9:
            raise ZeroDivisionError("division by zero")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


def test_messages():
    with pytest.raises(RuntimeError, match="the member 'fragile' failed in fold 5 of 5: division by zero"):
        StackingClassifier([("good", GaussianNB()), ("fragile", Fragile())], cv=KFold(5)).fit(X, Y)
    with pytest.raises(ValueError, match="leaves no row with an out-of-fold prediction"):
        StackingClassifier(MODELS, cv=[(np.arange(150), np.array([], dtype=int))]).fit(X, Y)
    with pytest.raises(ValueError, match=r"'final_estimator' parameter should be a classifier\. Got Ridge"):
        StackingClassifier(MODELS, Ridge()).fit(X, Y)
    with pytest.raises(ValueError, match="final_estimator must be one of 'linear', 'non-negative', 'ridge'"):
        StackingRegressor(REGRESSORS, "lasso").fit(*DIABETES)
    with pytest.raises(ValueError, match="Underlying estimator svm does not implement the method predict_proba"):
        StackingClassifier(MODELS, stack_method="predict_proba").fit(X, Y)
    # A fold in which a member has not seen a class has other columns.
    with pytest.raises(ValueError, match="the member 'svm' saw 2 of the 3 classes, so that its decision_function has"):
        StackingClassifier(MODELS[1:2], cv=KFold(3)).fit(X, Y)
    with pytest.raises(NotImplementedError, match="Multilabel"):
        StackingClassifier(MODELS).fit(X, np.stack([Y == 0, Y == 1], axis=1).astype(int))


def test_a_rare_class_that_a_fold_lacks_is_no_hindrance():
    labels = np.where(np.arange(150) == 149, "rare", TEXT)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        model = StackingClassifier([("tree", CARTClassifier(random_state=0)), ("normal", GaussianNB())])
        model.fit(X, labels)
    assert model.predict_proba(X).shape == (150, 4)
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize("kind", [StackingClassifier, GreedySelectionClassifier, CascadeClassifier])
def test_random_labels_give_chance(kind):
    """Nothing of the truth leaks from level 0 to level 1: members know the training rows by heart."""
    members = [("near", KNeighborsClassifier(1)), ("tree", CARTClassifier(random_state=0)), ("normal", GaussianNB())]
    scores = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        rows, labels = random.normal(size=(300, 5)), random.integers(0, 2, 300)
        scores.append(cross_val_score(kind(members, cv=3), rows, labels, cv=4).mean())
    # Three standard errors of 1500 tosses of a coin.
    assert abs(np.mean(scores) - 0.5) < 0.04
    model = kind(members).fit(rows, labels)
    if kind is StackingClassifier:
        # In-sample level-1 data would have made a member that knows the rows by heart all that counts.
        assert abs(model.final_estimator_.coef_[0, :2]).max() < 1
    elif kind is CascadeClassifier:
        assert model.accuracy_of_last_ < 0.6
    else:
        assert model.score_ < -0.6


def test_stacking_is_better_than_its_members_where_they_complete_each_other():
    rows, labels = make_classification(1200, 20, n_informative=8, n_classes=3, class_sep=0.8, random_state=3)
    members = [
        ("linear", LogisticRegression()),
        ("near", KNeighborsClassifier(9)),
        ("tree", CARTClassifier(max_depth=6)),
    ]
    model = StackingClassifier(members).fit(rows[:800], labels[:800])
    best = max(member.score(rows[800:], labels[800:]) for member in model.estimators_)
    assert model.score(rows[800:], labels[800:]) >= best
