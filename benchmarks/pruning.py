"""Cost-complexity pruning of scikit-learn's trees by cross-validation (Breiman et al. 1984, chapter 3).

R_alpha(T) = R(T) + alpha * leaves(T), where R is the share of training weight that a tree gets wrong. scikit-learn's
own pruning path has impurity in place of errors. This is the plain method in numpy, not a fast one: it tells what the
trees that scikit-learn was timed on are worth, and is not timed itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

# Costs per leaf that differ by less than this differ by rounding alone.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Member:
    """The tree of a sample, the trees without one fold each, and the sample: its rows, with copies, and their folds."""

    tree: DecisionTreeClassifier
    fold_trees: list[DecisionTreeClassifier]
    rows: NDArray[np.int64]
    fold: NDArray[np.int64]


class Links:
    """For every node of a tree the least alpha at which it is a leaf or below one; -1 for the leaves of the tree."""

    def __init__(self, fitted: DecisionTreeClassifier) -> None:
        tree = fitted.tree_
        shares = tree.value[:, 0, :]
        self.label = shares.argmax(axis=1)
        # Nodes are numbered depth first, so that a child follows its parent.
        self.below = np.eye(tree.node_count, dtype=bool)
        for node in reversed(range(tree.node_count)):
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    self.below[node] |= self.below[child]
        weight = tree.weighted_n_node_samples
        self.ends_at = self._cut(weight / weight[0] * (1 - shares.max(axis=1)), tree.children_left >= 0)

    def _cut(self, risk: NDArray[np.float64], inner: NDArray[np.bool_]) -> NDArray[np.float64]:
        ends_at = np.full(len(risk), -1.0)
        leaf, alpha = ~inner, 0.0
        while inner.any():
            saved = risk - self.below @ (risk * leaf)
            leaves = self.below @ leaf.astype(float)
            cost = np.divide(saved, leaves - 1, out=np.full(len(risk), np.inf), where=inner)
            if cost.min() > alpha + ROUNDING:
                alpha = cost.min()
            weakest = np.flatnonzero(cost <= alpha + ROUNDING)
            covered = self.below[weakest]
            ends_at[covered.any(axis=0) & inner] = alpha
            # Of links that are cut together the uppermost become leaves: those that only they themselves cover.
            tops = weakest[covered.sum(axis=0)[weakest] == 1]
            leaf = leaf & ~covered.any(axis=0)
            leaf[tops] = True
            inner = inner & ~covered.any(axis=0)
        return ends_at

    def path(self) -> NDArray[np.float64]:
        """The values of alpha where the best tree changes, from 0 for the whole tree."""
        return np.unique(np.append(self.ends_at[self.ends_at >= 0], 0.0))

    def labels(self, alpha: float) -> NDArray[Any]:
        """The class of every leaf, by its number, after pruning with alpha."""
        # The first node on the way to a leaf that is not split any more has the lowest number of them.
        return self.label[(self.below & (self.ends_at <= alpha)[:, None]).argmax(axis=0)]


def pruned_labels(member: Member, X: NDArray[np.float32], y: NDArray[np.int64]) -> NDArray[Any]:
    """The class of every leaf of the member's tree, pruned with the alpha of least cross-validated error."""
    links = Links(member.tree)
    path = links.path()
    # An alpha stands for the trees up to the next one, in the middle by ratio.
    candidates = np.append(np.sqrt(path[:-1] * path[1:]), np.inf)
    wrong = np.zeros(len(candidates))
    for number, tree in enumerate(member.fold_trees):
        held_out = member.rows[member.fold == number]
        leaves, of_fold = tree.apply(X[held_out]), Links(tree)
        wrong += [np.sum(of_fold.labels(alpha)[leaves] != y[held_out]) for alpha in candidates]
    # Of equally good trees the smallest.
    best = len(wrong) - 1 - int(wrong[::-1].argmin())
    return links.labels(path[best])
