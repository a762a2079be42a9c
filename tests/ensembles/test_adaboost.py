import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from conjunto import AdaBoostClassifier, BaggingClassifier, CARTClassifier
from conjunto.ballot import decide
from conjunto.datasets import load, make_twonorm, make_waveform
from conjunto.evaluation import error_curve, margins

ALGORITHMS = ("m1", "samme", "samme.r", "m2", "mh", "gentle", "logit")
BOUNDED = ("m1", "samme", "m2", "mh")


def problem(n_classes, n=150, seed=0):
    """Classes by slices of a direction, a tenth of them wrong; weights that rule out ties between cuts."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    direction = X.sum(axis=1)
    y = np.searchsorted(np.quantile(direction, np.arange(1, n_classes) / n_classes), direction)
    y = np.where(random.random(n) < 0.1, random.integers(0, n_classes, n), y)
    return X, y, random.uniform(0.5, 1.5, n)


def for_all(algorithm, n_classes=3, depth=1):
    """A base learner that is good enough."""
    return CARTClassifier(max_depth=3 if algorithm == "m1" and n_classes > 2 else depth)


class Contrary(ClassifierMixin, BaseEstimator):
    """A stump that says the opposite: always, or where its random state is odd."""

    def __init__(self, always=True, random_state=None):
        self.always = always
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.stump_ = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y, sample_weight)
        self.classes_ = self.stump_.classes_
        self.contrary_ = self.always or self.random_state % 2 == 1
        return self

    def predict(self, X):
        said = self.stump_.predict(X)
        return self.classes_[1 - np.searchsorted(self.classes_, said)] if self.contrary_ else said


class WitnessTree(DecisionTreeClassifier):
    """Remembers the rows that have a weight, by their first value."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X[:, 0] if sample_weight is None else X[sample_weight > 0, 0]
        return super().fit(X, y, sample_weight)


class WitnessNeighbours(KNeighborsClassifier):
    """Takes no weights; remembers its rows."""

    def fit(self, X, y):
        self.seen_ = X[:, 0].copy()
        return super().fit(X, y)


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
    with pytest.raises(ValueError, match=r"no better than chance.*needs less than 0\.500.*m2"):
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


# Stopping and restarts


@pytest.mark.parametrize("algorithm", ["m1", "samme", "m2"])
def test_a_learner_worse_than_chance(algorithm):
    X, y, _ = problem(2)
    learner = Contrary() if algorithm != "m2" else _ContraryShares()
    with pytest.raises(ValueError, match=rf"no better than chance.*first member.*'{algorithm}' needs less than 0\.500"):
        AdaBoostClassifier(learner, algorithm=algorithm).fit(X, y)


class _ContraryShares(Contrary):
    def predict_proba(self, X):
        return 1 - self.stump_.predict_proba(X)


def test_a_learner_worse_than_chance_ends_a_run_even_with_restarts():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match="no better than chance"):
        AdaBoostClassifier(Contrary(), restart="bootstrap", random_state=0).fit(X, y)


@pytest.mark.parametrize("algorithm", ["m1", "samme", "samme.r", "m2", "mh", "gentle"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_perfect_member_ends_the_run(algorithm, n_classes):
    X, y, _ = problem(n_classes)
    model = AdaBoostClassifier(CARTClassifier(), algorithm=algorithm).fit(X, y)
    assert len(model) == 1
    np.testing.assert_array_equal(model.estimator_errors_, [0.0])
    np.testing.assert_array_equal(model.predict(X), y)


def test_perfect_members_go_on_from_bootstrap_samples():
    X, y, _ = problem(3)
    model = AdaBoostClassifier(CARTClassifier(), 12, algorithm="m1", restart="bootstrap", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.estimator_errors_, np.zeros(12))
    np.testing.assert_allclose(model.estimator_weights_, np.log(1e10), rtol=1e-9)
    said = model.votes(X).labels
    np.testing.assert_array_equal(said[0], y)
    # Members of a bootstrap sample have not seen about 37 % of the rows, so they err on some.
    assert ((said[1:] != y).mean(axis=1) > 0).all()
    assert not hasattr(model, "bound_")


def test_restarted_members_see_63_percent_of_the_rows():
    X, y, _ = problem(2, n=400)
    learner = WitnessTree()
    model = AdaBoostClassifier(learner, 12, algorithm="m1", restart="bootstrap", random_state=0).fit(X, y)
    seen = np.array([len(np.unique(member.seen_)) for member in model.estimators_]) / 400
    assert seen[0] == 1
    # One sample's share has a standard deviation of about 0.31 / sqrt(400).
    assert abs(seen[1:].mean() - (1 - np.exp(-1))) < 5 * 0.31 / np.sqrt(400 * 11)


def test_members_worse_than_chance_are_dropped_and_the_run_goes_on():
    X, y, _ = problem(2)
    learner = Contrary(always=False)
    model = AdaBoostClassifier(learner, 25, algorithm="m1", restart="bootstrap", random_state=0).fit(X, y)
    assert len(model) == 25
    assert (model.estimator_errors_ < 0.5).all()
    assert not any(member.contrary_ for member in model.estimators_)


def test_members_worse_than_chance_end_a_run_without_restarts():
    X, y, _ = problem(2)
    lengths = []
    for seed in range(20):
        model = AdaBoostClassifier(Contrary(always=False), 25, algorithm="m1", random_state=seed)
        try:
            lengths.append(len(model.fit(X, y)))
            assert not any(member.contrary_ for member in model.estimators_)
        except ValueError:
            lengths.append(0)
    # Each round ends a run with probability 1/2: the mean is 1, with a standard error of sqrt(2 / 20).
    assert abs(np.mean(lengths) - 1) < 5 * np.sqrt(2 / 20)


# Resampling


@pytest.mark.parametrize("algorithm", ["m1", "samme", "samme.r", "m2", "mh"])
def test_learners_without_weights_are_resampled(algorithm):
    X, y, _ = problem(3)
    model = AdaBoostClassifier(KNeighborsClassifier(5), 20, algorithm=algorithm, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.75
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.estimator_errors_, again.estimator_errors_)


def test_samples_are_drawn_in_proportion_to_the_weights():
    X, y, _ = problem(2, n=200)
    weights = np.r_[np.zeros(50), np.full(149, 1.0), 149.0]
    model = AdaBoostClassifier(WitnessNeighbours(1), 10, algorithm="m1", random_state=0).fit(X, y, weights)
    first, later = model.estimators_[0].seen_, model.estimators_[1].seen_
    assert len(first) == len(later) == 150
    assert not np.isin(X[:50, 0], np.concatenate([member.seen_ for member in model.estimators_])).any()
    # Half of the weight: a binomial count with a standard deviation of sqrt(150) / 2.
    assert abs(np.sum(first == X[-1, 0]) - 75) < 5 * np.sqrt(150) / 2
    # The first member knows that row, so its weight falls by e / (1 - e).
    error = model.estimator_errors_[0]
    assert abs(np.sum(later == X[-1, 0]) - 150 * 0.25 / (1 - error)) < 5 * np.sqrt(150) / 2


def test_resampling_with_our_trees():
    X, y, weights = problem(2)
    plain, drawn = (
        [AdaBoostClassifier(n_estimators=30, resample=r, random_state=seed).fit(X, y, weights) for seed in (0, 1)]
        for r in (False, True)
    )
    # Without a sample nothing is random here.
    np.testing.assert_array_equal(*(model.estimator_errors_ for model in plain))
    assert not np.array_equal(*(model.estimator_errors_ for model in drawn))
    assert min(model.score(X, y) for model in drawn) > 0.8


def test_resample_false_needs_weights():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match="resample=False needs an estimator that takes sample_weight"):
        AdaBoostClassifier(KNeighborsClassifier(), resample=False).fit(X, y)


@pytest.mark.parametrize("algorithm", ["samme", "samme.r", "m2", "mh"])
def test_a_class_missing_from_a_resample(algorithm):
    X, y, _ = problem(2)
    X, y = np.r_[X, [[9.0] * 4]], np.r_[y, 2]
    missing = 0
    for seed in range(6):
        model = AdaBoostClassifier(KNeighborsClassifier(5), 8, algorithm=algorithm, random_state=seed).fit(X, y)
        missing += sum(len(member.classes_) < (2 if algorithm == "mh" else 3) for member in np.ravel(model.estimators_))
        assert model.predict_proba(X).shape == (len(y), 3)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert model.score(X, y) > 0.75
    # One row in 151 is left out of the first sample with probability 0.37.
    assert missing > 0


# Early stopping


@pytest.mark.parametrize("tol", [0.0, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_validation_errors_are_those_of_rows_that_no_member_saw(tol, seed):
    X, y, weights = problem(3, n=300)
    model = AdaBoostClassifier(
        WitnessTree(max_depth=2),
        100,
        early_stopping="validation",
        validation_fraction=0.25,
        n_iter_no_change=6,
        tol=tol,
        random_state=seed,
    ).fit(X, y, weights)
    held_out = ~np.isin(X[:, 0], np.concatenate([member.seen_ for member in model.estimators_]))
    np.testing.assert_array_equal(np.bincount(y[held_out]), np.round(0.25 * np.bincount(y)))
    said = model.staged_predict(X[held_out])
    errors = [np.average(answer != y[held_out], weights=weights[held_out]) for answer in said]
    np.testing.assert_allclose(model.validation_errors_, errors, atol=1e-12)
    # The run ends with the first round after which the last six brought nothing better than all before them.
    ends = [t for t in range(6, len(errors)) if min(errors[t - 5 : t + 1]) >= min(errors[: t - 5]) - tol]
    assert ends[0] == len(model) - 1 < 99


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_early_stopping_with_every_rule(algorithm):
    X, y, _ = problem(3)
    model = AdaBoostClassifier(
        for_all(algorithm),
        40,
        algorithm=algorithm,
        early_stopping="validation",
        n_iter_no_change=3,
        tol=1.0,
        random_state=0,
    ).fit(X, y)
    # Nothing can improve by more than 1.
    assert len(model) == len(model.validation_errors_) == 4


def test_out_of_bag_errors_are_those_of_rows_that_samples_left_out():
    X, y, _ = problem(3)
    model = AdaBoostClassifier(
        WitnessNeighbours(5), 60, early_stopping="oob", n_iter_no_change=5, algorithm="samme", random_state=0
    ).fit(X, y)
    scores, errors = np.zeros((len(y), 3)), []
    judged = np.zeros(len(y), dtype=bool)
    for member, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
        unseen = ~np.isin(X[:, 0], member.seen_)
        scores[unseen, member.predict(X)[unseen]] += vote
        judged |= unseen
        errors.append(np.mean(scores[judged].argmax(axis=1) != y[judged]))
    np.testing.assert_allclose(model.validation_errors_, errors, atol=1e-12)
    assert len(model) < 60
    assert min(errors[-5:]) >= min(errors[:-5])


def test_early_stopping_out_of_bag_needs_samples():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match=r'early_stopping="oob" needs resample=True'):
        AdaBoostClassifier(early_stopping="oob").fit(X, y)


def test_early_stopping_needs_rows():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match="validation_fraction"):
        AdaBoostClassifier(early_stopping="validation", validation_fraction=0.0).fit(X, y)


# Warm start, prefixes, threads


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("resample", [False, True])
def test_two_steps_are_one_fit(algorithm, resample):
    X, y, weights = problem(3)
    options = {"algorithm": algorithm, "resample": resample, "random_state": 0}
    whole = AdaBoostClassifier(for_all(algorithm), 24, **options).fit(X, y, weights)
    steps = AdaBoostClassifier(for_all(algorithm), 5, warm_start=True, **options).fit(X, y, weights)
    assert len(steps) == 5 < len(whole)
    steps.set_params(n_estimators=24).fit(X, y, weights)
    same_model(whole, steps, X)


def same_model(a, b, X):
    for name in ("estimator_weights_", "estimator_errors_", "bound_"):
        assert hasattr(a, name) == hasattr(b, name)
        if hasattr(a, name):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_warm_start_goes_on_after_a_restart():
    X, y, _ = problem(2)
    options = {"algorithm": "m1", "restart": "bootstrap", "random_state": 0}
    whole = AdaBoostClassifier(CARTClassifier(max_depth=8), 20, **options).fit(X, y)
    steps = AdaBoostClassifier(CARTClassifier(max_depth=8), 7, warm_start=True, **options).fit(X, y)
    same_model(whole, steps.set_params(n_estimators=20).fit(X, y), X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X + 1, y), "sample_weight must be those of the first fit"),
        (lambda X, y: (X, 1 - y), "sample_weight must be those of the first fit"),
        (lambda X, y: (X, np.array(["a", "b"])[y]), "sample_weight must be those of the first fit"),
        (lambda X, y: (X[:-1], y[:-1]), "sample_weight must be those of the first fit"),
    ],
)
def test_warm_start_refuses_other_data(change, message):
    X, y, _ = problem(2)
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(n_estimators=9).fit(*change(X, y))
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert len(model.fit(X, y)) == 9


def test_warm_start_refuses_other_weights():
    X, y, weights = problem(2)
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start"):
        model.set_params(n_estimators=9).fit(X, y, weights)


@pytest.mark.parametrize(
    ("options", "message"), [({"n_estimators": 3}, "n_estimators"), ({"algorithm": "m1"}, "algorithm changed")]
)
def test_warm_start_refuses_fewer_members_and_other_rules(options, message):
    X, y, _ = problem(2)
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(X, y)
    assert len(model) == 5


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("learner", ["ours", "other"])
def test_the_first_members_are_those_of_a_smaller_ensemble(algorithm, learner):
    X, y, _ = problem(2)
    if learner == "other" and algorithm in ("gentle", "logit"):
        base = LinearRegression()
    else:
        base = KNeighborsClassifier(5) if learner == "other" else for_all(algorithm, 2)
    large, small = (AdaBoostClassifier(base, n, algorithm=algorithm, random_state=3).fit(X, y) for n in (60, 20))
    assert len(large) > len(small) == 20
    np.testing.assert_array_equal(large.estimator_weights_[:20], small.estimator_weights_)
    np.testing.assert_array_equal(large.estimator_errors_[:20], small.estimator_errors_)
    staged = list(large.staged_decision_function(X))
    np.testing.assert_allclose(staged[19], small.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("resample", [False, True])
def test_threads_change_nothing(algorithm, resample):
    X, y, weights = problem(4)
    models = [
        AdaBoostClassifier(
            for_all(algorithm), 15, algorithm=algorithm, resample=resample, n_jobs=jobs, random_state=0
        ).fit(X, y, weights)
        for jobs in (1, 2)
    ]
    same_model(*models, X)
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))


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


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_fit_that_fails_leaves_the_model_as_it_was(algorithm):
    X, y, _ = problem(3)
    model = AdaBoostClassifier(for_all(algorithm), 10, algorithm=algorithm).fit(X, y)
    before, known = model.decision_function(X), set(vars(model))
    infinite = X[:, :2].copy()
    infinite[0] = np.inf
    for bad in ({"y": y[:-1]}, {"sample_weight": -np.ones(len(y))}, {"X": infinite}):
        with pytest.raises(ValueError, match=r".+"):
            model.fit(**{"X": X, "y": y, **bad})
    with pytest.raises(ValueError, match="learning_rate"):
        model.set_params(learning_rate=0).fit(X[:, :2], y)
    assert set(vars(model)) == known
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_learner_that_fails_late_leaves_the_model_as_it_was():
    X, y, _ = problem(2)
    model = AdaBoostClassifier(n_estimators=6, algorithm="m1").fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="no better than chance"):
        model.set_params(estimator=Contrary()).fit(X[:100, :2], y[:100])
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.decision_function(X), before)


# Ends, and what a warm start refuses


@pytest.mark.parametrize(
    ("estimator", "options", "reason"),
    [
        (None, {}, "enough members"),
        (CARTClassifier(), {}, "a perfect member"),
        (CARTClassifier(max_depth=2), {"early_stopping": "validation", "n_iter_no_change": 3}, "no improvement"),
    ],
    ids=["enough", "perfect", "no improvement"],
)
def test_a_run_says_why_it_ended(estimator, options, reason):
    X, y, _ = problem(2)
    model = AdaBoostClassifier(estimator, 60, random_state=0, **options).fit(X, y)
    assert model.stop_reason_ == reason
    assert (len(model) == 60) == (reason == "enough members")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rate", [500.0, 1e4])
def test_learning_rates_that_are_far_too_large_overflow_nowhere(algorithm, rate):
    X, y, _ = problem(3)
    model = AdaBoostClassifier(for_all(algorithm), 10, algorithm=algorithm, learning_rate=rate).fit(X, y)
    assert np.isfinite(model.estimator_weights_).all()
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize(
    "change",
    [
        {"weight_floor": 1e-6},
        {"learning_rate": 0.5},
        {"early_stopping": "validation"},
        {"restart": "bootstrap"},
        {"resample": True},
        {"estimator": GaussianNB()},
        {"estimator__max_depth": 3},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_warm_start_refuses_other_parameters(change):
    X, y, _ = problem(2)
    model = AdaBoostClassifier(CARTClassifier(max_depth=1), 5, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=f"{next(iter(change))}.* changed"):
        model.set_params(n_estimators=9, **change).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_warm_start_needs_a_first_one():
    X, y, _ = problem(2)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="warm_start has nothing to go on from"):
        model.set_params(warm_start=True).fit(X, y)


@pytest.mark.parametrize("algorithm", ["mh", "gentle"])
def test_members_that_have_a_length_are_members(algorithm):
    X, y, _ = problem(3)
    last = LogisticRegression() if algorithm == "mh" else LinearRegression()
    model = AdaBoostClassifier(make_pipeline(StandardScaler(), last), 3, algorithm=algorithm).fit(X, y)
    assert model.estimators_.shape == (3, 3)
    assert all(isinstance(member, Pipeline) for member in model.estimators_.ravel())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_of_weight_zero_are_not_validated_on(algorithm):
    X, y, _ = problem(2)
    some = np.arange(len(y)) < 60
    options = {"algorithm": algorithm, "early_stopping": "validation", "random_state": 0}
    whole = AdaBoostClassifier(n_estimators=20, **options).fit(X, y, some.astype(float))
    part = AdaBoostClassifier(n_estimators=20, **options).fit(X[some], y[some])
    np.testing.assert_allclose(whole.validation_errors_, part.validation_errors_)
    np.testing.assert_allclose(whole.predict_proba(X), part.predict_proba(X), atol=1e-9)


def test_a_floor_above_the_mean_weight_is_refused():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match=r"weight_floor=0\.5 is more than the mean"):
        AdaBoostClassifier(weight_floor=0.5).fit(X, y)


def test_capitals_do_not_matter_in_names_of_algorithms():
    X, y, _ = problem(2)
    np.testing.assert_array_equal(
        AdaBoostClassifier(algorithm="SAMME").fit(X, y).decision_function(X),
        AdaBoostClassifier(algorithm="samme").fit(X, y).decision_function(X),
    )


def test_a_subclass_of_our_trees_fits_itself():
    class Counted(CARTClassifier):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            type(self).fits += 1
            return super().fit(X, y, sample_weight)

    X, y = make_twonorm(60, random_state=0)
    model = AdaBoostClassifier(Counted(max_depth=1), 4, random_state=0).fit(X, y)
    assert Counted.fits == len(model) == 4
