import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from conjunto import BaggingClassifier, BaggingRegressor, CARTClassifier
from conjunto.datasets import make_twonorm


def test_63_percent_of_the_rows_appear():
    n, members = 300, 200
    X, y = make_twonorm(n, random_state=0)
    samples = BaggingClassifier(n_estimators=members, random_state=0).fit(X, y).estimators_samples_
    assert all(len(rows) == n for rows in samples)
    share = np.mean([len(np.unique(rows)) / n for rows in samples])
    # The share of one sample has a standard deviation of about sqrt((e - 2) / n) / e = 0.018.
    assert abs(share - (1 - (1 - 1 / n) ** n)) < 5 * 0.018 / np.sqrt(members)


@pytest.mark.parametrize("seed", range(3))
def test_noise_cannot_be_learned(seed):
    random = np.random.default_rng(seed)
    n = 1000
    X, y = random.normal(size=(n, 5)), random.integers(0, 2, n)
    bag = BaggingClassifier(n_estimators=100, oob_score=True, random_state=seed).fit(X, y)
    assert bag.score(X, y) > 0.95
    # Labels are independent of X, so any rule is right half of the time; OOB votes of one row see the others'
    # labels only. Five standard errors.
    assert abs(bag.oob_score_ - 0.5) < 5 * np.sqrt(0.25 / n)


def test_members_are_trees_on_the_samples():
    """Truth: a CART on the rows of the sample (fully grown, no ties between columns on continuous data)."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 1))
    y = random.integers(0, 3, 80)
    bag = BaggingClassifier(n_estimators=15, random_state=0).fit(X, y)
    grid = np.linspace(-3, 3, 1001)[:, None]
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        np.testing.assert_array_equal(
            member.predict(grid), DecisionTreeClassifier().fit(X[rows], y[rows]).predict(grid)
        )


def test_balanced_bagging_uses_every_row_alike():
    X, y = make_twonorm(60, random_state=0)
    bag = BaggingClassifier(n_estimators=25, balanced=True, random_state=0).fit(X, y)
    counts = np.bincount(np.concatenate(bag.estimators_samples_), minlength=60)
    assert (counts == 25).all()
    assert all(len(rows) == 60 for rows in bag.estimators_samples_)


@pytest.mark.parametrize(("max_samples", "rows"), [(0.3, 36), (17, 17), (1.0, 120), (1e-9, 1)])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_sample_sizes(max_samples, rows, bootstrap):
    X, y = make_twonorm(120, random_state=0)
    bag = BaggingClassifier(n_estimators=5, max_samples=max_samples, bootstrap=bootstrap, random_state=0).fit(X, y)
    for sample in bag.estimators_samples_:
        assert len(sample) == rows
        assert bootstrap or len(np.unique(sample)) == rows


@pytest.mark.parametrize("bootstrap_features", [True, False])
def test_columns(bootstrap_features):
    X, y = make_twonorm(120, random_state=0)
    bag = BaggingClassifier(n_estimators=8, max_features=4, bootstrap_features=bootstrap_features, random_state=0).fit(
        X, y
    )
    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        assert len(columns) == 4
        assert bootstrap_features or len(np.unique(columns)) == 4
        # A member takes the columns that were drawn for it, and no others.
        assert member.n_features_in_ == len(member.feature_importances_) == 4
        assert set(np.flatnonzero(bag.feature_importances_)) <= set(np.concatenate(bag.estimators_features_))
    new, _ = make_twonorm(300, random_state=1)
    for said, member, columns in zip(bag.votes(new).labels, bag.estimators_, bag.estimators_features_, strict=True):
        np.testing.assert_array_equal(member.predict(new[:, columns]), said)


def test_soft_vote_is_the_mean_of_the_members():
    X, y = make_twonorm(120, random_state=0)
    bag = BaggingClassifier(CARTClassifier(max_depth=2), n_estimators=9, vote="soft", random_state=0).fit(X, y)
    mean = np.mean([member.predict_proba(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), mean, rtol=1e-12)
    assert len(np.unique(mean)) > 10


def test_regression_is_the_mean_of_the_members():
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(n_estimators=12, random_state=0).fit(X, y)
    np.testing.assert_allclose(bag.predict(X), np.mean([m.predict(X) for m in bag.estimators_], axis=0), rtol=1e-12)
    # sklearn's forest has an OOB R^2 near 0.43 here; chance is 0.
    assert BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y).oob_score_ > 0.35


def test_weights_of_zero_leave_rows_out():
    X, y = make_twonorm(200, random_state=0)
    poison = np.arange(200) % 2 == 0
    labels = np.where(poison, 1 - y, y)
    weight = np.where(poison, 0.0, 1.0)
    for learner in (None, LogisticRegression(), KNeighborsClassifier()):
        model = BaggingClassifier(learner, n_estimators=25, random_state=0).fit(X, labels, sample_weight=weight)
        assert model.score(X[~poison], y[~poison]) > 0.9
        # Had the poisoned labels counted, half of the neighbours of these rows would be wrong.
        assert model.score(X[poison], y[poison]) > 0.8


def test_a_single_row_with_weight():
    X, y = make_twonorm(30, random_state=0)
    weight = np.zeros(30)
    weight[3] = 2.5
    model = BaggingClassifier(n_estimators=10, random_state=0).fit(X, y, sample_weight=weight)
    assert (model.predict(X) == y[3]).all()


def test_weighted_foreign_members():
    """LogisticRegression takes weights: a member is the learner fitted with the multiplicities as weights."""
    X, y = load_iris(return_X_y=True)
    learner = LogisticRegression(max_iter=2000)
    bag = BaggingClassifier(learner, n_estimators=4, random_state=0).fit(X, y)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(X))
        seen = counts > 0
        same = clone(learner).fit(X[seen], y[seen], sample_weight=counts[seen].astype(float))
        np.testing.assert_allclose(member.coef_, same.coef_)
    mean = np.mean([member.predict_proba(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.set_params(vote="soft").predict_proba(X), mean)


def test_foreign_members_without_weights_get_repeated_rows():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    bag = BaggingClassifier(KNeighborsClassifier(3), n_estimators=4, random_state=0).fit(X, y)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        np.testing.assert_array_equal(member.predict(X), KNeighborsClassifier(3).fit(X[rows], y[rows]).predict(X))


def test_foreign_members_in_workers_are_the_same():
    X, y = load_iris(return_X_y=True)
    one, two = (
        BaggingClassifier(DecisionTreeClassifier(), n_estimators=6, random_state=0, n_jobs=jobs).fit(X, y)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.votes(X).labels, two.votes(X).labels)
    assert len({member.random_state for member in one.estimators_}) == 6


def test_foreign_warm_start():
    X, y = load_iris(return_X_y=True)
    whole = BaggingClassifier(DecisionTreeClassifier(), n_estimators=7, random_state=0).fit(X, y)
    grown = BaggingClassifier(DecisionTreeClassifier(), n_estimators=3, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=7).fit(X, y)
    np.testing.assert_array_equal(grown.votes(X).labels, whole.votes(X).labels)


def test_foreign_regressor():
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(LinearRegression(), n_estimators=20, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(bag.predict(X), np.mean([m.predict(X) for m in bag.estimators_], axis=0))
    assert bag.oob_score_ == pytest.approx(LinearRegression().fit(X, y).score(X, y), abs=0.08)


@pytest.mark.parametrize("library", [pd, pl])
def test_a_pipeline_receives_the_frame(library):
    random = np.random.default_rng(0)
    n = 200
    colour = random.choice(["red", "green", "blue"], n)
    number = random.normal(size=n)
    X = library.DataFrame({"colour": colour.tolist(), "number": number})
    y = np.where(number + 2 * (colour == "red") > 0.5, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["number"]))
    bag = BaggingClassifier(make_pipeline(columns, LogisticRegression()), n_estimators=8, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.9
    assert bag.estimators_[0].named_steps["columntransformer"].feature_names_in_.tolist() == ["colour", "number"]


def test_soft_votes_need_probabilities():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="predict_proba"):
        BaggingClassifier(LinearSVC(), n_estimators=5, vote="soft", random_state=0).fit(X, y)


def test_parameters_set_after_the_fit_do_not_change_what_members_saw():
    X, y = make_twonorm(100, random_state=0)
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    before = bag.oob_votes(X).labels
    np.testing.assert_array_equal(bag.set_params(bootstrap=False, max_samples=0.1).oob_votes(X).labels, before)
    with pytest.raises(ValueError, match="warm_start"):
        bag.set_params(warm_start=True, n_estimators=10).fit(X, y)


@pytest.mark.parametrize("vote", ["hard", "soft"])
@pytest.mark.parametrize("learner", [None, LogisticRegression(max_iter=2000), KNeighborsClassifier(1)], ids=repr)
def test_samples_may_miss_a_class(learner, vote):
    X, y = load_iris(return_X_y=True)
    kept = np.r_[0:50, 50:100, 100:101]
    names = np.array(["a", "b", "tiny"])[y[kept]]
    bag = BaggingClassifier(learner, n_estimators=30, vote=vote, random_state=0).fit(X[kept], names)
    missed = [100 not in rows for rows in bag.estimators_samples_]
    assert any(missed)
    said = bag.votes(X[kept]).as_labels().labels
    assert not (said[missed] == 2).any()
    shares = bag.predict_proba(X[kept])
    assert shares.shape == (101, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert set(bag.predict(X[kept])) <= {"a", "b", "tiny"}


def test_a_sample_of_one_class_does_not_stop_the_fit():
    X, y = make_twonorm(40, random_state=0)
    y = (np.arange(40) == 0).astype(int)
    bag = BaggingClassifier(LogisticRegression(), n_estimators=20, random_state=0).fit(X, y)
    # A member whose sample lacks the rare row can only answer the other class.
    blind = [t for t, rows in enumerate(bag.estimators_samples_) if 0 not in rows]
    assert len(blind) > 0
    assert (bag.votes(X).labels[blind] == 0).all()


def test_repeated_columns_of_a_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BaggingClassifier(KNeighborsClassifier(), bootstrap_features=True, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.8


def test_trees_have_no_attributes_of_foreign_members():
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(KNeighborsClassifier(), n_estimators=2).fit(X, y)
    assert not hasattr(bag, "feature_importances_")
    for name in ("apply", "decision_path"):
        assert not hasattr(bag, name)
        with pytest.raises(AttributeError, match=f"no attribute '{name}'") as raised:
            getattr(bag, name)
        assert f"{name} needs members that are trees of conjunto" in str(raised.value.__cause__)
