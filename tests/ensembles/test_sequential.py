"""The sequential loop, whatever the rule: stopping, restarts, samples, validation, warm starts, failures."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from conjunto import AdaBoostClassifier, AdaBoostRegressor, CARTClassifier, CARTRegressor
from conjunto.datasets import make_twonorm

from .boosting_cases import ALGORITHMS, Contrary, WitnessNeighbours, WitnessTree, for_all, problem, same_model


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


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
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
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                lengths.append(len(model.fit(X, y)))
                assert not any(member.contrary_ for member in model.estimators_)
            except ValueError:
                lengths.append(0)
        said = [str(each.message) for each in caught]
        assert all("1 of n_estimators=25 rounds: the second is no better than chance" in text for text in said)
        assert len(said) == (lengths[-1] == 1)
    # Each round ends a run with probability 1/2: the mean is 1, with a standard error of sqrt(2 / 20).
    assert abs(np.mean(lengths) - 1) < 5 * np.sqrt(2 / 20)


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


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
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


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (AdaBoostClassifier(CARTClassifier(max_depth=6), 60), "60 rounds: the first is right on all training rows"),
        (AdaBoostRegressor(CARTRegressor(), 9), "9 rounds: the first is right on all training rows"),
        (AdaBoostRegressor(DummyRegressor(strategy="constant", constant=1e3), 9), "9 rounds: the first is no better"),
    ],
    ids=["perfect", "perfect values", "no better"],
)
def test_a_run_that_keeps_one_round_says_so(model, reason):
    X = np.arange(30.0)[:, None]
    with pytest.warns(UserWarning, match=f"kept 1 of n_estimators={reason}") as caught:
        model.fit(X, X[:, 0] if isinstance(model, AdaBoostRegressor) else X[:, 0] > 20)
    assert len(model) == len(caught) == 1
    assert caught[0].filename == __file__
    # One that was asked for, or that knows all there is to know, is nothing to speak of.
    clone(model).set_params(n_estimators=1).fit(X, X[:, 0] > 20)
    AdaBoostClassifier(n_estimators=5).fit(X, np.ones(30))


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


def test_a_subclass_of_our_trees_fits_itself():
    class Counted(CARTClassifier):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            type(self).fits += 1
            return super().fit(X, y, sample_weight)

    X, y = make_twonorm(60, random_state=0)
    model = AdaBoostClassifier(Counted(max_depth=1), 4, random_state=0).fit(X, y)
    assert Counted.fits == len(model) == 4
