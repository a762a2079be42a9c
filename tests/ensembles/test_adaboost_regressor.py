import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import AdaBoostRegressor as SklearnRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from conjunto import AdaBoostRegressor, CARTClassifier, CARTRegressor
from conjunto.combination import weighted_median
from conjunto.datasets import make_twonorm
from conjunto.ensembles._watch import HELD_OUT
from conjunto.evaluation import error_curve
from conjunto.generation.rows import held_out_rows, weighted_bootstrap
from conjunto.streams import Stream

GRID = (np.arange(20_001) + 0.5) / 20_001


def wave(n=100, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, 1))
    return X, np.sin(12 * X[:, 0]) + 0.2 * random.normal(size=n)


def plane(seed=0):
    """Two columns: members go on improving for many rounds. Columns may tie, so trees are compared on these rows."""
    random = np.random.default_rng(seed)
    X = random.random((100, 2))
    return X, np.sin(7 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.normal(size=100)


def some_weights(n, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 3.0, n)


def medians(values, votes, share=0.5):
    """For every example, the least value that at least a share of the votes lies at or below."""
    reached = [[votes[column <= value].sum() >= share * votes.sum() for value in column] for column in values.T]
    return np.array([column[enough].min() for column, enough in zip(values.T, reached, strict=True)])


class Discrete:
    """AdaBoost.R as it is printed, with every weight function on a grid."""

    def __init__(self, y, examples):
        self.target = y[:, None]
        self.function = examples[:, None] * np.abs(GRID - self.target)

    def masses(self):
        self.function /= self.function.sum()
        return self.function.sum(axis=1)

    def error(self, answer):
        answer = answer[:, None]
        self.inside = (np.minimum(self.target, answer) <= GRID) & (np.maximum(self.target, answer) >= GRID)
        return self.function[self.inside].sum()

    def reweigh(self, beta):
        self.function[~self.inside] *= beta


class Exact:
    """AdaBoost.R by pieces: between neighbouring answers a function is linear, so its middle tells its integral."""

    def __init__(self, y, examples):
        self.target, self.examples = y, examples
        self.answers, self.betas = [], []

    def pieces(self, i, answers):
        corners = np.unique([0.0, self.target[i], 1.0, *(answer[i] for answer in answers)])
        middle = (corners[1:] + corners[:-1]) / 2
        mass = self.examples[i] * np.abs(middle - self.target[i]) * np.diff(corners)
        for answer, beta in zip(self.answers, self.betas, strict=False):
            mass[~self.between(middle, i, answer)] *= beta
        return middle, mass

    def between(self, y, i, answer):
        return (np.minimum(self.target[i], answer[i]) < y) & (y < np.maximum(self.target[i], answer[i]))

    def masses(self):
        mass = np.array([self.pieces(i, self.answers)[1].sum() for i in range(len(self.target))])
        return mass / mass.sum()

    def error(self, answer):
        self.answers.append(answer)
        inside = total = 0.0
        for i in range(len(self.target)):
            middle, mass = self.pieces(i, self.answers)
            inside += mass[self.between(middle, i, answer)].sum()
            total += mass.sum()
        return inside / total

    def reweigh(self, beta):
        self.betas.append(beta)


def boost_r(kind, learners, X, y, examples, rate):
    """Errors, votes and members of AdaBoost.R; learners that are fitted already stay as they are."""
    low, wide = y.min(), np.ptp(y)
    state = kind((y - low) / wide, np.ones(len(y)) if examples is None else examples)
    errors, votes, members = [], [], []
    for learner in learners:
        masses = state.masses()
        member = learner if hasattr(learner, "tree_") else learner.fit(X, y, sample_weight=masses)
        error = state.error(((member.predict(X) - low) / wide).clip(0, 1))
        if error >= 0.5:
            break
        errors.append(error)
        votes.append(rate * np.log((1 - error) / error))
        members.append(member)
        state.reweigh((error / (1 - error)) ** rate)
    return errors, np.array(votes), members


def deep():
    return CARTRegressor(max_depth=5)


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("weights", [None, some_weights(100)], ids=["equal", "weighted"])
def test_r_equals_a_discretised_run_with_the_same_trees(rate, weights):
    X, y = plane()
    model = AdaBoostRegressor(deep(), n_estimators=10, algorithm="r", learning_rate=rate).fit(X, y, weights)
    errors, votes, members = boost_r(Discrete, model.estimators_, X, y, weights, rate)
    assert len(model) == len(members) == 10
    np.testing.assert_allclose(model.estimator_errors_, errors, atol=1e-3)
    np.testing.assert_allclose(model.estimator_weights_, votes, atol=5e-3)
    # A vote that is off by the width of the grid may move a median that hangs on it.
    new = np.random.default_rng(5).random((200, 2))
    said, values = model.predict(new), np.stack([member.predict(new) for member in members])
    assert (medians(values, votes, 0.499) <= said).all()
    assert (said <= medians(values, votes, 0.501)).all()


@pytest.mark.parametrize("weights", [None, some_weights(100)], ids=["equal", "weighted"])
def test_r_equals_a_discretised_run_with_trees_of_its_own(weights):
    X, y = plane()
    model = AdaBoostRegressor(deep(), n_estimators=10, algorithm="r", learning_rate=0.5).fit(X, y, weights)
    errors, votes, members = boost_r(Discrete, [deep() for _ in range(10)], X, y, weights, 0.5)
    np.testing.assert_allclose(model.estimator_errors_, errors, atol=1e-3)
    np.testing.assert_allclose(model.estimator_weights_, votes, atol=5e-3)
    np.testing.assert_allclose(model.votes(X).values, [member.predict(X) for member in members], atol=1e-3)


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("weights", [None, some_weights(100)], ids=["equal", "weighted"])
@pytest.mark.parametrize("seed", range(2))
def test_r_equals_an_exact_run(seed, rate, weights):
    X, y = plane(seed)
    model = AdaBoostRegressor(deep(), n_estimators=10, algorithm="r", learning_rate=rate).fit(X, y, weights)
    errors, votes, members = boost_r(Exact, [deep() for _ in range(10)], X, y, weights, rate)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-7)
    np.testing.assert_allclose(model.estimator_weights_, votes, rtol=1e-6)
    np.testing.assert_allclose(model.votes(X).values, [member.predict(X) for member in members], atol=1e-7)


def noisy_line():
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 1))
    return X, 2 * X[:, 0] + 3 * random.standard_t(2, size=80)


PROBLEMS = {
    "friedman1": lambda: make_friedman1(120, random_state=0),
    "friedman2": lambda: make_friedman2(120, random_state=0),
    "friedman3": lambda: make_friedman3(120, random_state=0),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "wave": wave,
    "noisy line": noisy_line,
    "classes": lambda: make_twonorm(100, random_state=0),
}
LEARNERS = {
    "stump": CARTRegressor(max_depth=1),
    "depth 3": CARTRegressor(max_depth=3),
    "depth 6": CARTRegressor(max_depth=6),
    "linear": LinearRegression(),
    "neighbours": KNeighborsRegressor(3, algorithm="kd_tree"),
}


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_r_never_exceeds_its_bound(name, learner):
    X, y = PROBLEMS[name]()
    y = y.astype(float)
    floor, weighted = {"weight_floor": 0.3 / len(y)}, some_weights(len(y))
    for options, weights in [
        ({}, None),
        ({"learning_rate": 0.3}, weighted),
        ({"learning_rate": 1.7}, None),
        (floor, None),
    ]:
        model = AdaBoostRegressor(LEARNERS[learner], n_estimators=20, algorithm="r", random_state=0, **options)
        model.fit(X, y, weights)
        squared = [np.average((said - y) ** 2, weights=weights) for said in model.staged_predict(X)]
        assert (np.array(squared) <= model.bound_ * (1 + 1e-9)).all()


def test_r_bound_is_the_product_of_its_normalisers():
    X, y = wave()
    model = AdaBoostRegressor(deep(), n_estimators=10, algorithm="r").fit(X, y)
    target = (y - y.min()) / np.ptp(y)
    start = np.ptp(y) ** 2 * np.mean(target**2 + (1 - target) ** 2)
    errors = model.estimator_errors_
    np.testing.assert_allclose(model.bound_, start * np.cumprod(2 * np.sqrt(errors * (1 - errors))), rtol=1e-8)


def test_r_answers_stay_within_the_targets():
    X, y = noisy_line()
    model = AdaBoostRegressor(LinearRegression(), n_estimators=5, algorithm="r").fit(X, y)
    far = np.array([[-1e3], [1e3]])
    free = [member.predict(far) for member in model.estimators_]
    assert np.min(free) < y.min() < y.max() < np.max(free)
    assert model.predict(far).tolist() == [y.min(), y.max()]
    np.testing.assert_array_equal(model.votes(X).values, np.clip(np.stack(members_say(model, X)), y.min(), y.max()))


def members_say(model, X):
    return [member.predict(X) for member in model.estimators_]


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_prediction_is_the_weighted_median(algorithm):
    X, y = make_friedman1(100, random_state=1)
    model = AdaBoostRegressor(deep(), n_estimators=12, algorithm=algorithm, learning_rate=0.5).fit(X, y)
    new, _ = make_friedman1(50, random_state=2)
    values = np.stack(members_say(model, new))
    for t, said in enumerate(model.staged_predict(new), 1):
        np.testing.assert_array_equal(said, medians(values[:t], model.estimator_weights_[:t]))
    np.testing.assert_array_equal(model.predict(new), said)


LOSSES = {"linear": lambda s: s, "square": lambda s: s**2, "exponential": lambda s: 1 - np.exp(-s)}


def drucker(loss, X, y, weights, rounds, rate):
    """AdaBoost.R2 as Drucker prints it, by weights."""
    weights = weights / weights.sum()
    errors, votes, members = [], [], []
    for _ in range(rounds):
        member = CARTRegressor(max_depth=3).fit(X, y, sample_weight=weights)
        away = np.abs(member.predict(X) - y)
        losses = LOSSES[loss](away / away[weights > 0].max())
        error = (losses * weights).sum()
        if error >= 0.5:
            break
        beta = error / (1 - error)
        errors.append(error)
        votes.append(rate * np.log(1 / beta))
        members.append(member)
        weights = weights * beta ** (rate * (1 - losses))
        weights /= weights.sum()
    return errors, np.array(votes), members


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_r2_equals_druckers_algorithm(loss, rate, weighted):
    X, y = make_friedman1(150, random_state=0)
    weights = some_weights(150) if weighted else np.ones(150)
    model = AdaBoostRegressor(n_estimators=20, loss=loss, learning_rate=rate).fit(X, y, weights if weighted else None)
    errors, votes, members = drucker(loss, X, y, weights, 20, rate)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, votes, rtol=1e-8)
    values = np.stack([member.predict(X) for member in members])
    np.testing.assert_allclose(model.votes(X).values, values, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), medians(values, votes), atol=1e-9)


def test_r2_by_resampling_is_as_good_as_that_of_scikit_learn():
    X, y = make_friedman1(150, noise=1.0, random_state=0)
    new, truth = make_friedman1(400, random_state=1)
    tree = DecisionTreeRegressor(max_depth=3)
    ours = [
        AdaBoostRegressor(tree, n_estimators=20, resample=True, random_state=seed).fit(X, y).score(new, truth)
        for seed in range(20)
    ]
    theirs = [
        SklearnRegressor(tree, n_estimators=20, random_state=seed).fit(X, y).score(new, truth) for seed in range(20)
    ]
    noise = np.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / 20)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * noise


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_constant_targets_need_one_member(algorithm):
    X = np.random.default_rng(0).random((30, 2))
    for value in (0.1, 0.0, -1e6):
        model = AdaBoostRegressor(algorithm=algorithm).fit(X, np.full(30, value))
        assert len(model) == 1
        np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
@pytest.mark.parametrize("algorithm", ["r", "r2"])
@pytest.mark.parametrize("shift", [0.0, -30.0, 1e8])
def test_perfect_members_end_the_run(algorithm, shift):
    X, y = wave()
    y = y + shift
    model = AdaBoostRegressor(CARTRegressor(), algorithm=algorithm).fit(X, y)
    assert len(model) == 1
    np.testing.assert_allclose(model.predict(X), y)
    assert model.estimator_weights_[0] == pytest.approx(np.log(1e10))


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_rows_of_weight_zero_inside_the_range_are_as_if_left_out(algorithm):
    X, y = wave()
    weights = some_weights(100)
    middle = (y > y.min()) & (y < y.max())
    weights[middle & (np.arange(100) % 3 == 0)] = 0
    whole = AdaBoostRegressor(deep(), n_estimators=8, algorithm=algorithm).fit(X, y, weights)
    part = AdaBoostRegressor(deep(), n_estimators=8, algorithm=algorithm).fit(
        X[weights > 0], y[weights > 0], weights[weights > 0]
    )
    np.testing.assert_allclose(whole.estimator_errors_, part.estimator_errors_, rtol=1e-7)
    np.testing.assert_allclose(whole.predict(X), part.predict(X), atol=1e-7)


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_rows_of_weight_zero_outside_the_range_are_as_if_left_out(algorithm):
    X, y = wave()
    far, weights = np.append(y, 50.0), np.append(np.ones(100), 0.0)
    whole = AdaBoostRegressor(deep(), n_estimators=8, algorithm=algorithm).fit(np.vstack([X, X[:1]]), far, weights)
    part = AdaBoostRegressor(deep(), n_estimators=8, algorithm=algorithm).fit(X, y)
    np.testing.assert_allclose(whole.estimator_errors_, part.estimator_errors_, rtol=1e-7)
    np.testing.assert_allclose(whole.predict(X), part.predict(X), atol=1e-7)


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_scale_of_the_targets_does_not_matter(algorithm):
    X, y = wave()
    plain = AdaBoostRegressor(n_estimators=8, algorithm=algorithm, learning_rate=0.5).fit(X, y)
    scaled = AdaBoostRegressor(n_estimators=8, algorithm=algorithm, learning_rate=0.5).fit(X, 1024 * y)
    np.testing.assert_allclose(scaled.predict(X), 1024 * plain.predict(X), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_a_worthless_first_member_is_kept_alone_and_without_a_bound(algorithm):
    y = np.tile([0.0, 1.0], 10)
    model = AdaBoostRegressor(Contrary(), algorithm=algorithm).fit(y[:, None], y)
    np.testing.assert_allclose(model.estimator_errors_, [1.0])
    assert model.estimator_weights_.tolist() == [1.0]
    assert not hasattr(model, "bound_")
    assert model.predict([[0.0], [1.0]]).tolist() == [1.0, 0.0]


class Contrary(RegressorMixin, BaseEstimator):
    """Answers 1 for 0 and 0 for 1."""

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return 1.0 - X[:, 0]


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_a_learning_rate_far_too_large_does_not_overflow(algorithm):
    X, y = wave()
    model = AdaBoostRegressor(deep(), n_estimators=30, algorithm=algorithm, learning_rate=20.0).fit(X, y)
    assert np.isfinite(model.estimator_errors_).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("algorithm", ["r", "r2"])
def test_targets_of_any_size(algorithm):
    X, y = wave()
    model = AdaBoostRegressor(n_estimators=5, algorithm=algorithm).fit(X, 2.0**1000 * y)
    plain = AdaBoostRegressor(n_estimators=5, algorithm=algorithm).fit(X, y)
    np.testing.assert_allclose(model.predict(X) / 2.0**1000, plain.predict(X))


def test_validation_errors_are_squared_errors_of_held_out_rows():
    X, y = make_friedman1(200, random_state=0)
    model = AdaBoostRegressor(
        n_estimators=40, early_stopping="validation", validation_fraction=0.25, n_iter_no_change=4, random_state=0
    )
    model.fit(X, y)
    out = held_out_rows(Stream(model._key, HELD_OUT), y, 0, 0.25)
    assert out.sum() == 50
    staged = [np.mean((said[out] - y[out]) ** 2) for said in model.staged_predict(X)]
    np.testing.assert_allclose(model.validation_errors_, staged)
    np.testing.assert_allclose(error_curve(model.votes(X[out]), y[out]), staged)
    again = AdaBoostRegressor(n_estimators=len(model)).fit(X, y, sample_weight=1.0 - out)
    np.testing.assert_allclose(again.estimator_errors_, model.estimator_errors_)


def test_oob_errors_are_squared_errors_of_rows_outside_the_samples():
    X, y = make_friedman1(120, random_state=0)
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=3), n_estimators=8, resample=True, early_stopping="oob", random_state=0
    ).fit(X, y)
    weights, values, errors = np.full(120, 1 / 120), [], []
    for t, member in enumerate(model.estimators_):
        seen = weighted_bootstrap(Stream(model._key, t), weights) > 0
        away = np.abs(member.predict(X) - y)
        values.append(np.where(seen, np.nan, member.predict(X)))
        losses = away / away.max()
        weights = weights * np.exp(-model.estimator_weights_[t] * (1 - losses))
        weights /= weights.sum()
        judged = ~np.isnan(values).all(axis=0)
        said = weighted_median(np.stack(values), model.estimator_weights_[: t + 1])
        errors.append(np.mean((said[judged] - y[judged]) ** 2))
    np.testing.assert_allclose(model.validation_errors_, errors)


def test_a_classifier_cannot_be_a_member():
    with pytest.raises(TypeError, match="estimator must be a regressor for 'r2'"):
        AdaBoostRegressor(CARTClassifier(max_depth=2)).fit(*wave())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "m1"}, "algorithm must be one of 'r2', 'r', got 'm1'"),
        ({"loss": "cubic"}, "loss must be one of 'linear', 'square', 'exponential', got 'cubic'"),
        ({"learning_rate": 0}, r"learning_rate must be a number in \(0, inf\), got 0"),
        ({"early_stopping": "oob"}, 'early_stopping="oob" needs resample=True'),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostRegressor(**parameters).fit(*wave())
