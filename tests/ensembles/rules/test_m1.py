"""The truth is Freund and Schapire (1997), figure 2, in plain numpy."""

import numpy as np
import pytest

from conjunto import AdaBoostClassifier, CARTClassifier

from .oracles import SMALL_TREE, ClassTree, History, indicators, make_data, small_tree

ROUNDS = 60


def m1(data, depth=1, min_leaf=1, rate=1.0, floor=0.0):
    X, y, weights, fresh, K = data
    D = weights / weights.sum()
    history = History(data)
    for _ in range(ROUNDS):
        h = ClassTree(X, y, D, K, depth, min_leaf)
        wrong = h.predict(X) != y
        error = D[wrong].sum()
        if error >= 0.5 - 1e-12:
            break
        beta = (error / (1 - error)) ** rate
        history.add(error, np.log(1 / beta), np.log(1 / beta) * indicators(h.predict(fresh), K))
        D = np.where(wrong, D, D * beta)
        D = np.maximum(D / D.sum(), floor)
        D /= D.sum()
    return history


def fit(data, estimator=None, **options):
    model = AdaBoostClassifier(estimator, n_estimators=ROUNDS, algorithm="m1", **options)
    return model.fit(data.X, data.y, data.weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"learning_rate": 0.3}, {"weight_floor": 4e-3}])
def test_two_classes(seed, options):
    data = make_data(seed, 2)
    model = fit(data, **options)
    truth = m1(data, rate=options.get("learning_rate", 1.0), floor=options.get("weight_floor", 0.0))
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


def test_the_floor_changes_the_run():
    data = make_data(0, 2)
    assert not np.allclose(fit(data).estimator_errors_, fit(data, weight_floor=4e-3).estimator_errors_)


@pytest.mark.parametrize("seed", range(3))
def test_three_classes(seed):
    data = make_data(seed, 3, n=240, m=2, noise=0)
    truth = m1(data, SMALL_TREE["max_depth"], SMALL_TREE["min_samples_leaf"])
    model = fit(data, small_tree())
    truth.matches(model, data.fresh)
    truth.shows(model, data.fresh, 1 / np.cumsum(truth.votes))


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_a_run_ends_before_the_first_member_that_is_wrong_on_half_of_the_weight():
    """With three classes stumps soon are; where the first one is, there is no model."""
    lengths = []
    for seed in range(12):
        data = make_data(seed, 3)
        truth = m1(data)
        lengths.append(len(truth.errors))
        if not truth.errors:
            with pytest.raises(ValueError, match="no better than chance"):
                fit(data)
            continue
        model = fit(data)
        # Members of error 1/2, up to rounding, are the next test's business.
        real = model.estimator_weights_ > 1e-12
        np.testing.assert_allclose(model.estimator_errors_[real], truth.errors, atol=1e-10)
    assert min(lengths) == 0 < max(lengths) < 50


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_no_member_is_kept_that_is_wrong_on_half_of_the_weight():
    """The same stump again is wrong on exactly half of the weight, which rounding may put at 0.49999999999999994."""
    models = [fit(make_data(seed, 3)) for seed in range(12) if m1(make_data(seed, 3)).errors]
    assert min(model.estimator_weights_.min() for model in models) > 1e-12


def test_probabilities_are_shares_of_the_vote():
    data = make_data(0, 2)
    truth = m1(data)
    np.testing.assert_allclose(fit(data).predict_proba(data.fresh), truth.scores / sum(truth.votes), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_bound_is_the_product_of_2_sqrt_e_1_minus_e(seed):
    data = make_data(seed, 2)
    model = fit(data)
    e = model.estimator_errors_
    np.testing.assert_allclose(model.bound_, np.cumprod(2 * np.sqrt(e * (1 - e))), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_a_perfect_member_has_the_largest_vote_and_ends_the_run():
    data = make_data(0, 3)
    model = fit(data, CARTClassifier())
    np.testing.assert_array_equal(model.estimator_errors_, [0.0])
    np.testing.assert_allclose(model.estimator_weights_, np.log(1e10), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(data.X), data.y)
