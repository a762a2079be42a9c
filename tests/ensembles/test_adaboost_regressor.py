import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import AdaBoostRegressor as SklearnRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from conjunto import AdaBoostRegressor, CARTClassifier, CARTRegressor
from conjunto.datasets import make_twonorm
from conjunto.evaluation import error_curve

GRID = (np.arange(20_001) + 0.5) / 20_001


def wave(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, 2))
    return X, np.sin(7 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.normal(size=n)


def steps(n=60, seed=0):
    """A target that no shallow tree can follow, with rows of many different weights."""
    X, y = wave(n, seed)
    return X, y, np.random.default_rng(seed + 1).uniform(0.2, 3.0, n)


def median(values, weights):
    """The least value that at least half of the weight lies at or below, for one example."""
    half = weights.sum() / 2
    return min(value for value in values if weights[values <= value].sum() >= half * (1 - 1e-12))


def medians(values, weights):
    return np.array([median(column, weights) for column in values.T])


class GridR:
    """AdaBoost.R (Freund and Schapire 1997) with weight functions on a grid, as the algorithm is printed."""

    def __init__(self, learner, rounds, rate=1.0):
        self.learner, self.rounds, self.rate = learner, rounds, rate

    def fit(self, X, y, sample_weight=None):
        low, wide = y.min(), np.ptp(y)
        target = ((y - low) / wide)[:, None]
        examples = np.ones(len(y)) if sample_weight is None else sample_weight
        function = examples[:, None] * np.abs(GRID - target)
        self.errors, self.votes, self.members = [], [], []
        for _ in range(self.rounds):
            function /= function.sum()
            member = self.learner().fit(X, y, sample_weight=function.sum(axis=1))
            answer = ((member.predict(X) - low) / wide).clip(0, 1)[:, None]
            inside = (np.minimum(target, answer) <= GRID) & (np.maximum(target, answer) >= GRID)
            error = function[inside].sum()
            if error >= 0.5:
                break
            self.errors.append(error)
            self.votes.append(self.rate * np.log((1 - error) / error))
            self.members.append(member)
            function[~inside] *= (error / (1 - error)) ** self.rate
        return self

    def predict(self, X):
        return medians(np.stack([member.predict(X) for member in self.members]), np.array(self.votes))


def deep():
    return CARTRegressor(max_depth=5)


@pytest.mark.parametrize(("rate", "weighted"), [(1.0, False), (0.5, False), (1.0, True), (0.5, True)])
def test_r_equals_a_discretised_run(rate, weighted):
    X, y, weights = steps()
    weights = weights if weighted else None
    model = AdaBoostRegressor(deep(), n_estimators=12, algorithm="r", learning_rate=rate).fit(X, y, weights)
    brute = GridR(deep, 12, rate).fit(X, y, weights)
    assert len(model) == len(brute.members)
    np.testing.assert_allclose(model.estimator_errors_, brute.errors, rtol=1e-3)
    np.testing.assert_allclose(model.estimator_weights_, brute.votes, rtol=2e-3)
    new = np.random.default_rng(5).random((100, 2))
    np.testing.assert_allclose(model.predict(new), brute.predict(new), atol=1e-3)


if __name__ == "__main__":
    for rate in (1, 0.5):
        for w in (False, True):
            X, y, weights = steps()
            for d in (1, 2, 3, 4, 5, 6):
                m = AdaBoostRegressor(CARTRegressor(max_depth=d), n_estimators=15, algorithm="r", learning_rate=rate).fit(X, y, weights if w else None)
                print(rate, w, d, len(m), m.estimator_errors_[-2:])
