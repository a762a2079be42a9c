"""Greedy selection against a few lines that do the same, with any scorer."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, log_loss, make_scorer, mean_squared_error
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from conjunto import CARTRegressor, GreedySelectionClassifier, GreedySelectionRegressor
from conjunto.combiners.greedy_selection import QUICK_OF_CLASSES, QUICK_OF_VALUES, GivenClasses
from conjunto.datasets import make_waveform

X, Y = make_waveform(300, random_state=0)
MODELS = [(f"tree {t}", DecisionTreeClassifier(max_depth=4, max_features=4, random_state=t)) for t in range(6)] + [
    ("normal", GaussianNB())
]
SHARES = np.stack([cross_val_predict(model, X, Y, method="predict_proba") for _, model in MODELS])


def by_hand(loss, size, replace=True):
    """Members added one after another, and the loss after each."""
    path, losses = [], []
    for _ in range(size):
        tried = [t for t in range(len(SHARES)) if replace or t not in path]
        each = [loss(np.mean(SHARES[[*path, t]], axis=0)) for t in tried]
        path.append(tried[int(np.argmin(np.round(each, 12)))])
        losses.append(min(each))
    return path, losses


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc_ovr", "neg_brier_score"])
def test_the_path_is_the_greedy_one(scoring, replace):
    scorer = get_scorer(scoring)
    classes = np.unique(Y)
    path, losses = by_hand(lambda shares: -scorer(GivenClasses(shares, classes).fit(), X, Y), 5, replace)
    model = GreedySelectionClassifier(
        MODELS, scoring=scoring, max_size=5, with_replacement=replace, n_iter_no_change=None
    ).fit(X, Y)
    (found, scores), best = model.paths_[0], int(np.argmin(np.round(losses, 12))) + 1
    assert found.tolist() == path
    np.testing.assert_allclose(scores, -np.array(losses))
    np.testing.assert_allclose(model.weights_, np.bincount(path[:best], minlength=7) / best)
    mean = sum(w * m.predict_proba(X) for w, m in zip(model.weights_, model.estimators_, strict=True))
    np.testing.assert_allclose(model.predict_proba(X), mean)


def test_quick_scores_are_scikit_learns():
    classes, weights = np.unique(Y), np.where(Y == 1, 3.0, 1.0)
    for scoring in ("neg_log_loss", "accuracy"):
        scorer = get_scorer(scoring)
        expected = [scorer(GivenClasses(s, classes).fit(), X, Y, sample_weight=weights) for s in SHARES]
        np.testing.assert_allclose(QUICK_OF_CLASSES[scoring](SHARES, Y, weights), expected)
    values, y = np.random.default_rng(0).normal(size=(3, 20)), np.arange(20.0)
    for scoring in ("neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"):
        metric = get_scorer(scoring)._score_func
        np.testing.assert_allclose(
            QUICK_OF_VALUES[scoring](values, y, np.ones(20)), [-metric(y, each) for each in values]
        )


def test_it_ends_early_and_does_no_harm_where_it_is_judged():
    model = GreedySelectionClassifier(MODELS, n_iter_no_change=3).fit(X, Y)
    _, scores = model.paths_[0]
    assert len(scores) < 50
    assert scores.argmax() == len(scores) - 4
    assert model.score_ >= max(-log_loss(Y, shares) for shares in SHARES)


def test_bags_and_seeds():
    def bagged(seed):
        return GreedySelectionClassifier(MODELS, n_bags=8, max_size=6, random_state=seed).fit(X, Y)

    one = bagged(0)
    np.testing.assert_array_equal(one.weights_, bagged(0).weights_)
    assert not np.array_equal(one.weights_, bagged(1).weights_)
    assert one.weights_.sum() == pytest.approx(1)
    assert len(one.paths_) == 8
    assert all(len(set(path)) <= 4 for path, _ in one.paths_)


def test_regression_and_scorers_of_ones_own():
    rows, y = load_diabetes(return_X_y=True)
    models = [
        ("ridge", Ridge(0.1)),
        ("tree", CARTRegressor(max_depth=4, random_state=0)),
        ("near", KNeighborsRegressor()),
    ]
    plain = GreedySelectionRegressor(models).fit(rows, y)
    own = make_scorer(mean_squared_error, greater_is_better=False)
    np.testing.assert_allclose(GreedySelectionRegressor(models, scoring=own).fit(rows, y).weights_, plain.weights_)
    said = np.stack([cross_val_predict(model, rows, y) for _, model in models])
    assert plain.score_ == pytest.approx(-mean_squared_error(y, plain.weights_ @ said))
    assert plain.score_ > max(-mean_squared_error(y, each) for each in said)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_size": 0}, "max_size must be a whole number of at least 1"),
        ({"bag_share": 0}, r"bag_share must be a number in \(0, 1\]"),
        ({"scoring": "beauty"}, "beauty"),
        ({"scoring": lambda y, p: 0.0}, "or a scorer f.estimator, X, y., got .*make_scorer makes one"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
    ],
)
def test_messages(change, message):
    with pytest.raises(ValueError, match=message):
        GreedySelectionClassifier(MODELS, **change).fit(X, Y)
