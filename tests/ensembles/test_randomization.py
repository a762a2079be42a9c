import numpy as np
import pytest

from conjunto import CARTClassifier, RandomizationClassifier
from conjunto.datasets import make_twonorm
from conjunto.learners.growing import grow_trees
from conjunto.problem import read_problem
from conjunto.view import View

from ..forests import assert_same_trees


def root_splits(X, y):
    """All splits of the root, best first: (Gini gain, column, threshold)."""
    splits = []
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for c in (values[1:] + values[:-1]) / 2:
            left = X[:, column] <= c
            impurity = sum(
                side.mean() * 2 * y[side].mean() * (1 - y[side].mean()) for side in (left, ~left) if side.any()
            )
            splits.append((-impurity, column, c))
    return sorted(splits, reverse=True)


@pytest.mark.parametrize("k_best", [1, 3, 20])
def test_the_root_is_one_of_the_k_best_splits(k_best):
    X, y = make_twonorm(60, random_state=3)
    X = X[:, :3]
    model = RandomizationClassifier(n_estimators=300, k_best=k_best, random_state=0).fit(X, y)
    ranked = root_splits(X, y)
    gain = ranked[k_best - 1][0]
    best = [(column, threshold) for found, column, threshold in ranked if found >= gain - 1e-12]
    taken = []
    for member in model.estimators_:
        arrays = member.forest_.arrays()
        root = (int(arrays["test"][0] & ((1 << 29) - 1)), arrays["threshold"][0])
        (place,) = [i for i, (column, c) in enumerate(best) if column == root[0] and np.isclose(c, root[1])]
        taken.append(place)
    # Each of k splits misses 300 uniform draws with a chance of (1 - 1 / 20)^300 = 2e-7; equally good splits at the
    # end of the list compete for the last places, so only those strictly better must all be seen.
    certain = sum(found > gain + 1e-12 for found, *_ in ranked)
    assert set(range(certain)) <= set(taken)
    assert len(set(taken)) <= max(k_best, len(best))


def test_one_best_split_is_a_plain_tree():
    X, y = make_twonorm(150, random_state=0)
    model = RandomizationClassifier(n_estimators=6, k_best=1, random_state=0).fit(X, y)
    plain = CARTClassifier()
    problem = read_problem(plain, X, y, None, classification=True)
    trees = grow_trees(plain, problem, model._drawn.key, np.arange(6, dtype=np.uint64), [View()] * 6)
    assert_same_trees(model._panel.members.forest, trees)


def test_trees_differ_and_have_no_training_error():
    X, y = make_twonorm(150, random_state=0)
    model = RandomizationClassifier(n_estimators=20, random_state=0).fit(X, y)
    assert (model.votes(X).labels == y).all()
    new, truth = make_twonorm(2000, random_state=1)
    votes = model.votes(new).labels
    assert len(np.unique(votes, axis=0)) == 20
    assert model.score(new, truth) > (votes == truth).mean() + 0.03


def test_max_depth():
    X, y = make_twonorm(150, random_state=0)
    model = RandomizationClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y)
    assert all(tree.get_depth() <= 2 for tree in model.estimators_)
