"""What trees of scikit-learn must get right: the rows that they were grown on, wherever a leaf is pure.

A row that a tree saw is in one of its leaves; if that leaf is pure, its answer is the row's. With rows in another order
that holds for the rows of a sample no more than for all others. Leaves that are not pure, of shallow or pruned trees or
of equal rows with different answers, say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import BaseDecisionTree

# Some trees and rows tell; all of them would take as long as the votes.
TREES = 10
ROWS = 10_000
# Wrong answers on rows of a sample: more than data read anew, and at least this share of what other rows have. Rows in
# any other order have as many.
ENOUGH = 5
SHARE = 0.1
# A squared error that is none, as a share of the variance of y. Where targets are that close to each other, growing
# itself takes them for equal.
EQUAL = 1e-6
LEAST_VARIANCE = 1e-9


def unlearned(
    trees: list[tuple[Any, NDArray[np.intp]]], rows_of: Callable[[int], Any], truth: NDArray[Any], classes: bool
) -> bool:
    """Whether trees, each with its sample, cannot have been grown on these rows in this order.

    `rows_of` gives the rows as tree t takes them; `truth` are class codes or targets.
    """
    if not classes and not np.var(truth, axis=0).min() > LEAST_VARIANCE:
        return False
    places = np.unique(np.linspace(0, len(truth) - 1, min(len(truth), ROWS)).astype(np.intp))
    wrong, judged = np.zeros(2), np.zeros(2)
    for t, (tree, sample) in enumerate(trees[:TREES]):
        if not _tells(tree, sample):
            continue
        rows, answers = rows_of(t)[places], truth[places]
        pure = tree.tree_.impurity[tree.apply(rows)] <= np.finfo(np.float64).eps
        said = tree.predict(rows)
        differs = said != answers if classes else (said - answers) ** 2 > EQUAL * np.var(truth, axis=0)
        if differs.ndim == 2:
            differs = differs.any(axis=1)
        inside = np.isin(places, sample)
        for side, those in enumerate((inside, ~inside)):
            wrong[side] += (differs & pure & those).sum()
            judged[side] += (pure & those).sum()
    # Where nothing is out of bag, other rows may all be wrong.
    elsewhere = wrong[1] / judged[1] if judged[1] else 1.0
    return bool(wrong[0] >= ENOUGH and wrong[0] / judged[0] >= SHARE * elsewhere)


def _tells(tree: Any, sample: NDArray[np.intp]) -> bool:
    """Whether a member is a tree that learned all rows of its sample, and whose pure leaves answer as they did."""
    if not isinstance(tree, BaseDecisionTree) or tree.monotonic_cst is not None:
        return False
    # Rows of weight 0 are in the sample, and not in the tree; copies are counted once, or each.
    return int(tree.tree_.n_node_samples[0]) in (len(sample), len(np.unique(sample)))
