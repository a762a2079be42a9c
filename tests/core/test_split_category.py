"""Cuts of many categories and classes: the best prefix of the orders of the classes, by brute force."""

import numpy as np
import pandas as pd
import pytest

from conjunto import CARTClassifier

# The core's: moves of a category's class to the left, for all orders of a column in a node; and those of sorting.
MOST_MOVES, MOVES_OF_SORTING = 2**21, 8


def score(left, counts):
    """Of cuts (…, K): what Gini compares, the larger the better."""
    right = counts.sum(axis=0) - left
    return (left**2).sum(axis=-1) / left.sum(axis=-1) + (right**2).sum(axis=-1) / right.sum(axis=-1)


def best_prefix(counts, classes):
    """The best score of a prefix of the categories in the order of their share of one of these classes."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return max(
        score(counts[np.argsort(shares[:, k], kind="stable")].cumsum(axis=0)[:-1], counts).max() for k in classes
    )


def grown(counts):
    """The score of the cut at the root of a tree on a table with these counts (C, K)."""
    category, label = np.nonzero(counts)
    X = pd.DataFrame({"x": pd.Categorical.from_codes(category, [f"v{code}" for code in range(len(counts))])})
    tree = CARTClassifier(max_depth=1, random_state=0).fit(X, label, sample_weight=counts[category, label])
    leaf = tree.apply(X)
    on_left = np.unique(category[leaf == leaf[0]])
    assert not np.isin(category[leaf != leaf[0]], on_left).any()
    return score(counts[on_left].sum(axis=0), counts)


@pytest.mark.parametrize(("categories", "classes"), [(11, 3), (40, 12), (256, 26), (256, 64)])
def test_moderate_numbers_of_classes_all_have_their_order(categories, classes):
    random = np.random.default_rng(classes)
    for kind in ("dense", "sparse"):
        counts = random.integers(1, 10, (categories, classes)).astype(float)
        if kind == "sparse":
            counts *= random.random(counts.shape) < 0.2
            counts[np.arange(categories), random.integers(0, classes, categories)] += 1
        np.testing.assert_allclose(grown(counts), best_prefix(counts, np.flatnonzero(counts.any(axis=0))), rtol=1e-12)


def test_of_too_many_classes_the_heaviest_have_one():
    random = np.random.default_rng(0)
    counts = random.integers(1, 4, (256, 300)).astype(float)
    counts[:, ::7] += 20
    # A light class, in whose order the best prefix of all is found.
    counts[:90, 1] += 12
    heaviest = np.argsort(-counts.sum(axis=0), kind="stable")
    orders = MOST_MOVES // (counts.size + MOVES_OF_SORTING * len(counts))
    assert 1 not in heaviest[:orders]
    assert best_prefix(counts, range(300)) > best_prefix(counts, heaviest[:orders]) * (1 + 1e-6)
    np.testing.assert_allclose(grown(counts), best_prefix(counts, heaviest[:orders]), rtol=1e-12)
