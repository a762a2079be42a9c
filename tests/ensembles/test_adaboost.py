import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from conjunto import AdaBoostClassifier, BaggingClassifier, CARTClassifier
from conjunto.combination import decide
from conjunto.datasets import load, make_twonorm, make_waveform
from conjunto.evaluation import error_curve, margins

from .boosting_cases import ALGORITHMS, BOUNDED, for_all, problem, same_model

# Bounds of the training error


def data_sets():
    for name in ("breast-w", "diabetes", "glass", "ionosphere", "sonar", "vehicle", "new-thyroid", "labor", "iris"):
        data = load(name)
        yield name, data.X, np.asarray(data.y)
    for make in (make_twonorm, make_waveform):
        yield make.__name__, *make(300, random_state=0)


DATA = {name: (X, y) for name, X, y in data_sets()}
VARIANTS = {
    "plain": ({}, False),
    "floor": ({"weight_floor": 1e-4}, False),
    "half steps": ({"learning_rate": 0.5}, False),
    "weights": ({}, True),
}


# The bound of samme is for two classes.
CASES = [
    (name, algorithm)
    for name, (_, y) in DATA.items()
    for algorithm in BOUNDED
    if algorithm != "samme" or len(np.unique(y)) == 2
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_training_error_is_never_above_the_bound(name, algorithm, variant):
    X, y = DATA[name]
    options, weighted = VARIANTS[variant]
    n_classes = len(np.unique(y))
    weights = np.random.default_rng(0).exponential(size=len(y)) if weighted else np.ones(len(y))
    learner = CARTClassifier(max_depth=4) if algorithm == "m1" and n_classes > 2 else None
    model = AdaBoostClassifier(learner, 60, algorithm=algorithm, **options).fit(X, y, weights)
    errors = np.array([np.average(said != y, weights=weights) for said in model.staged_predict(X)])
    assert len(model.bound_) == len(model)
    assert (errors <= model.bound_ + 1e-12).all()
    if variant != "floor":
        # Every member is better than chance, so every round makes the bound smaller.
        assert (np.diff(model.bound_) < 0).all()


@pytest.mark.parametrize("algorithm", ["samme.r", "gentle", "logit"])
def test_no_bound_where_there_is_no_theory(algorithm):
    X, y, _ = problem(2)
    model = AdaBoostClassifier(n_estimators=3, algorithm="m1").fit(X, y)
    model.set_params(algorithm=algorithm).fit(X, y)
    assert not hasattr(model, "bound_")


# Many classes


@pytest.mark.parametrize("name", ["letter", "vowel", "audiology"])
def test_m1_gives_up_on_many_classes_where_m2_and_mh_learn(name):
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:4000]
    X, y = data.X.iloc[rows], np.asarray(data.y)[rows]
    majority = np.unique(y, return_counts=True)[1].max() / len(y)
    with pytest.raises(ValueError, match=r"worse than random, or no better.*needs less than 0\.500.*m2"):
        AdaBoostClassifier(algorithm="m1").fit(X, y)
    for algorithm in ("m2", "mh"):
        model = AdaBoostClassifier(n_estimators=30, algorithm=algorithm).fit(X, y)
        assert len(model) == 30
        # At least a third of the way from guessing to certainty.
        assert model.score(X, y) > majority + (1 - majority) / 3


# Noise


def lead_of_bagging(seed, flips):
    """By how much the vote of bagging is more often right than that of boosting, with the same trees."""
    X, y = make_twonorm(300, random_state=seed)
    X_test, y_test = make_twonorm(2000, random_state=1000 + seed)
    flipped = np.random.default_rng(seed).permutation(300)[:flips]
    y[flipped] = 1 - y[flipped]
    tree = CARTClassifier(max_depth=4)
    boost = AdaBoostClassifier(tree, 100, algorithm="m1", restart="bootstrap", random_state=seed).fit(X, y)
    bag = BaggingClassifier(tree, 100, random_state=seed).fit(X, y)
    return bag.score(X_test, y_test) - boost.score(X_test, y_test)


def test_bagging_beats_boosting_under_noise():
    """A fifth of the labels flipped; both judged on labels without noise. Without flips boosting is ahead."""
    noisy, clean = ([lead_of_bagging(seed, flips) for seed in range(12)] for flips in (60, 0))
    assert np.mean(noisy) > 3 * np.std(noisy, ddof=1) / np.sqrt(12)
    assert np.mean(clean) < -3 * np.std(clean, ddof=1) / np.sqrt(12)


# Data of all kinds


def mixed_frame(n=200):
    random = np.random.default_rng(0)
    colour = random.choice(["red", "green", "blue"], n)
    size = random.normal(size=n)
    y = np.where((colour == "red") ^ (size > 0), "yes", "no")
    size[random.random(n) < 0.1] = np.nan
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour), "noise": random.normal(size=n)})
    frame.loc[random.random(n) < 0.1, "colour"] = None
    return frame, y


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_categories_missing_values_and_string_labels(algorithm):
    X, y = mixed_frame()
    model = AdaBoostClassifier(CARTClassifier(max_depth=2), 30, algorithm=algorithm).fit(X, y)
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])
    assert set(model.predict(X)) == {"no", "yes"}
    # Red and size decide together; one of them is missing in about a fifth of the rows.
    assert model.score(X, y) > 0.85
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_names_of_the_labels_change_nothing(algorithm):
    X, y, weights = problem(2)
    names = np.array(["no", "yes"])
    coded = AdaBoostClassifier(n_estimators=20, algorithm=algorithm).fit(X, y, weights)
    named = AdaBoostClassifier(n_estimators=20, algorithm=algorithm).fit(X, names[y], weights)
    np.testing.assert_array_equal(names[coded.predict(X)], named.predict(X))
    same_model(coded, named, X)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_weight_zero_are_rows_left_out(algorithm, n_classes):
    """Weights are continuous, so that no tie is decided by the number of rows."""
    X, y, weights = problem(n_classes, n=240)
    weights[::3] = 0
    kept = weights > 0
    options = {"algorithm": algorithm, "random_state": 0}
    learner = CARTClassifier(max_depth=2, min_samples_leaf=10)
    zero = AdaBoostClassifier(learner, 15, **options).fit(X, y, weights)
    without = AdaBoostClassifier(learner, 15, **options).fit(X[kept], y[kept], weights[kept])
    np.testing.assert_allclose(zero.estimator_errors_, without.estimator_errors_, atol=1e-10)
    fresh = problem(n_classes, seed=1)[0]
    np.testing.assert_allclose(zero.decision_function(fresh), without.decision_function(fresh), atol=1e-10)


@pytest.mark.parametrize("algorithm", BOUNDED)
def test_the_bound_counts_no_row_of_weight_zero(algorithm):
    X, y, weights = problem(2)
    weights[::2] = 0
    y[::2] = 1 - y[::2]
    model = AdaBoostClassifier(n_estimators=60, algorithm=algorithm).fit(X, y, weights)
    errors = np.array([np.average(said != y, weights=weights) for said in model.staged_predict(X)])
    assert (errors <= model.bound_ + 1e-12).all()
    assert model.bound_[-1] < 1 - model.score(X, y)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_class(algorithm):
    X, _, _ = problem(2)
    model = AdaBoostClassifier(n_estimators=3, algorithm=algorithm).fit(X, ["only"] * len(X))
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("learner", ["ours", "other"])
def test_pickled_models_say_the_same(algorithm, learner):
    X, y, _ = problem(3)
    other = LinearRegression() if algorithm in ("gentle", "logit") else GaussianNB()
    base = for_all(algorithm) if learner == "ours" else other
    model = AdaBoostClassifier(base, 8, algorithm=algorithm, warm_start=True, random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    same_model(model, copy, X)
    for each in (model, copy):
        each.set_params(n_estimators=12).fit(X, y)
    same_model(model, copy, X)


# Votes


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", ["ours", "other"])
def test_votes_tell_all(algorithm, n_classes, learner):
    X, y, weights = problem(n_classes)
    labels = np.array(["a", "b", "c"])[y]
    other = LinearRegression() if algorithm in ("gentle", "logit") else GaussianNB()
    base = for_all(algorithm, n_classes) if learner == "ours" else other
    model = AdaBoostClassifier(base, 25, algorithm=algorithm, random_state=0).fit(X, labels, weights)
    votes = model.votes(X)
    assert len(votes) == len(model)
    np.testing.assert_array_equal(decide(votes), model.predict(X))
    curve = error_curve(votes, labels)
    np.testing.assert_allclose(curve, [1 - score for score in model.staged_score(X, labels)], atol=1e-12)
    assert curve[-1] == pytest.approx(np.mean(model.predict(X) != labels))
    margin = margins(votes, labels)
    assert (np.abs(margin) <= 1 + 1e-12).all()
    np.testing.assert_array_equal(model.predict(X)[margin > 1e-12], labels[margin > 1e-12])
    assert (labels[margin < -1e-12] != model.predict(X)[margin < -1e-12]).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_last_stage_is_the_whole(algorithm, n_classes):
    X, y, _ = problem(n_classes)
    model = AdaBoostClassifier(for_all(algorithm, n_classes), 25, algorithm=algorithm).fit(X, y)
    for staged, whole in (
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_decision_function, model.decision_function),
    ):
        stages = list(staged(X))
        assert len(stages) == len(model)
        np.testing.assert_allclose(stages[-1], whole(X), atol=1e-12)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities, atol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_columns_without_a_say_have_no_importance(algorithm):
    X, y, _ = problem(2)
    X = np.c_[X, np.zeros(len(X))]
    importances = AdaBoostClassifier(n_estimators=20, algorithm=algorithm).fit(X, y).feature_importances_
    assert importances[-1] == 0
    assert (importances[:4] > 0).all()
    assert importances.sum() == pytest.approx(1)


# Errors


@pytest.mark.parametrize(
    "options",
    [
        {"n_estimators": 0},
        {"n_estimators": 2.5},
        {"learning_rate": 0},
        {"learning_rate": -1.0},
        {"learning_rate": float("nan")},
        {"learning_rate": "fast"},
        {"learning_rate": float("inf")},
        {"algorithm": "r2"},
        {"algorithm": None},
        {"restart": "always"},
        {"resample": "yes"},
        {"weight_floor": -1e-8},
        {"weight_floor": 1.0},
        {"early_stopping": True},
        {"early_stopping": "test"},
        {"n_iter_no_change": 0, "early_stopping": "validation"},
        {"validation_fraction": 1.0, "early_stopping": "validation"},
        {"tol": -1.0, "early_stopping": "validation"},
        {"estimator": "tree"},
        {"estimator": CARTClassifier},
        {"estimator": LinearRegression()},
        {"n_jobs": 0},
    ],
)
def test_errors_name_the_argument(options):
    X, y, _ = problem(2)
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        AdaBoostClassifier(**options).fit(X, y)


@pytest.mark.parametrize("algorithm", ["mh", "gentle"])
def test_members_that_have_a_length_are_members(algorithm):
    X, y, _ = problem(3)
    last = LogisticRegression() if algorithm == "mh" else LinearRegression()
    learner = make_pipeline(StandardScaler(), last)
    # A learner without weights sees samples: without a seed the error of a round may reach one half.
    model = AdaBoostClassifier(learner, 3, algorithm=algorithm, random_state=0).fit(X, y)
    assert model.estimators_.shape == (3, 3)
    assert all(isinstance(member, Pipeline) for member in model.estimators_.ravel())


def test_capitals_do_not_matter_in_names_of_algorithms():
    X, y, _ = problem(2)
    np.testing.assert_array_equal(
        AdaBoostClassifier(algorithm="SAMME").fit(X, y).decision_function(X),
        AdaBoostClassifier(algorithm="samme").fit(X, y).decision_function(X),
    )
