"""The truth is a plain C4.5 with exact weights (`c45_oracle.py`): node for node the same tree, the same shares."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from conjunto import C45Classifier, _core

from .c45_oracle import C45, Settings
from .c45_problems import SWITCHES, draw_problem, draw_settings, grow, same_tree


@pytest.mark.parametrize("seed", range(60))
def test_the_tree_is_that_of_the_plain_program(seed):
    random = np.random.default_rng([7, seed])
    for _ in range(4):
        X, y, weights, categories, classes = draw_problem(random)
        settings = draw_settings(random, classes)
        oracle = C45(X.tolist(), y.tolist(), weights.tolist(), categories.tolist(), settings)
        forest = grow(X, y, weights, categories, settings)
        assert same_tree(forest, oracle.tree), settings
        if np.array_equal(weights, np.rint(weights)):
            assert same_tree(grow(X, y, weights, categories, settings, small=True), oracle.tree)
        asked = np.concatenate([X, np.where(random.random(X.shape) < 0.4, np.nan, X), np.full((1, X.shape[1]), np.nan)])
        shares = np.array([[float(share) for share in oracle.shares(x)] for x in asked.tolist()])
        np.testing.assert_allclose(forest.share_sums(asked), shares, atol=1e-9)
        labels = forest.labels(asked)[0]
        assert labels.tolist() == [oracle.predict(x) for x in asked.tolist()]
        np.testing.assert_array_equal(forest.vote_counts(asked), np.eye(classes)[labels])


@pytest.mark.parametrize("settings", list(itertools.product([False, True], repeat=6)))
def test_every_combination_of_switches(settings):
    random = np.random.default_rng(5)
    X, y, weights, categories, classes = draw_problem(random)
    while not (categories.any() and (categories == 0).any() and np.isnan(X).any() and len(X) > 30):
        X, y, weights, categories, classes = draw_problem(random)
    chosen = Settings(classes, **dict(zip(SWITCHES, settings, strict=True)), least=Fraction(1))
    oracle = C45(X.tolist(), y.tolist(), weights.tolist(), categories.tolist(), chosen)
    assert same_tree(grow(X, y, weights, categories, chosen), oracle.tree)


def test_the_textbook_tree_of_the_game():
    """Quinlan (1993), figures 1-1 and 1-2: outlook, then humidity <= 75 and windy."""
    table = """sunny 75 70 true play; sunny 80 90 true no; sunny 85 85 false no; sunny 72 95 false no;
        sunny 69 70 false play; overcast 72 90 true play; overcast 83 78 false play; overcast 64 65 true play;
        overcast 81 75 false play; rain 71 80 true no; rain 65 70 true no; rain 75 80 false play;
        rain 68 80 false play; rain 70 96 false play"""
    rows = [row.split() for row in table.split(";")]
    X = pd.DataFrame([row[:4] for row in rows], columns=["outlook", "temperature", "humidity", "windy"])
    X = X.astype({"temperature": float, "humidity": float})
    model = C45Classifier().fit(X, [row[4] for row in rows])
    assert model.score(X, [row[4] for row in rows]) == 1
    assert (model.get_n_leaves(), model.get_depth(), model.n_nodes_) == (5, 2, 8)
    f = model.forest_.arrays()
    assert f["column"].tolist() == [0, 3, 2] or f["column"].tolist() == [0, 2, 3]
    assert f["threshold"][f["column"] == 2] == [75.0]
    assert model.feature_importances_[1] == 0
    # Overcast is play; rain and sunny are divided 3 to 2 each by windy and humidity.
    asked = pd.DataFrame(
        {"outlook": ["sunny", None], "temperature": 70.0, "humidity": [np.nan, 70.0], "windy": "false"}
    )
    shares = model.predict_proba(asked)[:, list(model.classes_).index("play")]
    np.testing.assert_allclose(shares, [2 / 5, 1.0])


def test_the_known_tree_of_iris():
    """Petal width 0.6, 1.7, 1.5 and petal length 4.9: the tree that implementations of Release 8 print."""
    X, y = load_iris(return_X_y=True)
    f = C45Classifier().fit(X, y).forest_.arrays()
    assert f["column"].tolist() == [3, 3, 2, 3]
    assert f["threshold"].tolist() == [0.6, 1.7, 4.9, 1.5]


@pytest.mark.parametrize("rows", [0.3, 1, 2, 6, 9.5, 16, 168, 1e5])
@pytest.mark.parametrize("confidence", [0.001, 0.03, 0.25, 0.4, 0.7, 1.0])
def test_expected_errors_by_formula(rows, confidence):
    """Without errors the limit solves (1 - U)^N = CF; with many, it is that of the normal approximation."""
    none = _core.c45_extra_errors(rows, 0.0, confidence)
    assert (1 - none / rows) ** rows == pytest.approx(confidence, rel=1e-6)
    if rows >= 1:
        assert _core.c45_extra_errors(rows, rows, confidence) == 0
    if rows > 3:
        one = _core.c45_extra_errors(rows, 1.0, confidence)
        assert _core.c45_extra_errors(rows, 0.25, confidence) == pytest.approx(0.75 * none + 0.25 * one)
        limit = (1 + one) / rows
        z = (limit - 1.5 / rows) / math.sqrt(limit * (1 - limit) / rows)
        assert z == pytest.approx({0.001: 3.09, 0.03: 1.99, 0.25: 0.6925, 0.4: 0.25, 0.7: 0.125, 1.0: 0}[confidence])


def test_expected_errors_of_the_book():
    """Quinlan (1993), page 42: U_25%(0, 6) = 0.206, U(0, 9) = 0.143, U(0, 1) = 0.750, U(1, 16) = 0.157."""
    for rows, errors, limit in ((6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)):
        assert (errors + _core.c45_extra_errors(rows, errors, 0.25)) / rows == pytest.approx(limit, abs=2e-3)


@pytest.mark.parametrize("seed", range(12))
def test_a_row_of_weight_two_is_two_rows_and_of_weight_zero_none(seed):
    random = np.random.default_rng([11, seed])
    X, y, _, categories, classes = draw_problem(random)
    settings = draw_settings(random, classes)
    weights = random.integers(0, 3, len(X))
    weights[:2] = 1, 2
    # Branches are those of the categories of the table, so that both tables need all of them.
    for c in np.flatnonzero(categories):
        _, first = np.unique(X[:, c], return_index=True)
        weights[first] = np.maximum(weights[first], 1)
    rows = np.repeat(np.arange(len(X)), weights)
    once = grow(X, y, weights, categories, settings)
    twice = grow(X[rows], y[rows], np.ones(len(rows)), categories, settings)
    twice = twice.arrays()
    for name, array in once.arrays().items():
        np.testing.assert_allclose(array, twice[name], rtol=1e-6, atol=1e-12, err_msg=name)


def test_the_threshold_is_a_value_of_the_rows_that_exist():
    """The lower branch holds 1 and 10 in column 1; 5 is the largest value up to their middle, in the other branch."""
    X = np.array([[0.0, 1], [0, 1], [0, 10], [0, 10], [1, 5], [1, 6], [1, 5], [1, 6]])
    y = np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32)
    numbers, settings = np.zeros(2, np.uint32), Settings(3, mdl=False, prune=False, least=Fraction(1))
    f = grow(X, y, np.ones(8), numbers, settings).arrays()
    assert (f["column"].tolist(), f["threshold"].tolist()) == ([0, 1], [0.0, 5.0])
    # Without the rows of 5 the next value below is 1.
    f = grow(X, y, np.array([1.0, 1, 1, 1, 0, 1, 0, 1]), numbers, settings).arrays()
    assert (f["column"].tolist(), f["threshold"].tolist()) == ([0, 1], [0.0, 1.0])


def test_a_category_that_gains_nothing_may_still_divide():
    """XOR of two categories: neither gains anything alone, and both together tell everything (Release 8 tries)."""
    X = pd.DataFrame({"a": list("nnyy") * 5, "b": list("nyny") * 5})
    y = np.array([0, 1, 1, 0] * 5)
    tree = C45Classifier(prune=False, min_samples_branch=1).fit(X, y)
    assert tree.get_n_leaves() == 4
    assert tree.score(X, y) == 1


def test_categories_without_gain_count_in_the_average():
    """Gains .108, .082 and 0: over all three the average is .063, and the larger ratio of the second decides."""
    y = np.repeat([0, 1], 12)
    # Five values of uneven use, and two values.
    a = np.array(list("pppqqqrrrsst") + list("ppqrrssstttt"))
    b = np.array(list("n" * 8 + "y" * 4) + list("n" * 4 + "y" * 8))
    c = np.array(list("ny" * 12))
    X = pd.DataFrame({"a": a, "b": b, "c": c})

    def entropy(codes):
        return stats.entropy(np.bincount(codes), base=2)

    def gain_and_info(column):
        names, codes = np.unique(column, return_inverse=True)
        inside = sum((codes == k).mean() * entropy(y[codes == k]) for k in range(len(names)))
        return entropy(y) - inside, entropy(codes)

    gains, infos = zip(*(gain_and_info(X[name]) for name in X), strict=True)
    assert gains[2] == pytest.approx(0, abs=1e-12)
    assert gains[0] > gains[1] > np.mean(gains)
    assert gains[1] < np.mean(gains[:2])
    assert gains[1] / infos[1] > gains[0] / infos[0]
    tree = C45Classifier(prune=False, collapse=False, max_depth=1).fit(X, y)
    assert tree.feature_importances_.argmax() == 1
