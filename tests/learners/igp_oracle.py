"""Iterative growing and pruning in plain Python (Gelfand, Ravishankar and Delp 1991; the thesis' figures 3.1 and 3.2).

Trees of dictionaries, Gini by trying every midpoint of every column. A node's class is decided when the node is made,
by the rows of the half that made it (a tie by the parent's class), and stays.
"""

from itertools import pairwise

import numpy as np


class Tied(Exception):
    """Two cuts that part the rows differently are equally good: which one is taken is open."""


class IGP:
    """A tree. `halves`: 1 for the rows that grow it first; `lowest`: among equally good cuts the lowest is taken.

    `stages` and `sizes`: the pruned tree of every pass.
    """

    def __init__(self, X, y, weights, halves, n_classes, min_leaf=1, lowest=False):
        self.X, self.y, self.w, self.K = X, y, np.asarray(weights, dtype=float), n_classes
        self.min_leaf, self.lowest = min_leaf, lowest
        seen = self.w > 0
        self.parts = {1: np.flatnonzero(seen & (halves == 1)), 0: np.flatnonzero(seen & (halves == 0))}
        first = self.parts[1] if len(self.parts[1]) else self.parts[0]
        self.root = {"label": self.majority(first, None), "cut": None}
        self.stages, sizes = [], []
        for k in range(1000):
            growing = 1 - k % 2
            self.grow(self.root, self.parts[growing])
            self.prune(self.root, self.parts[1 - growing])
            self.stages.append(shape(self.root))
            sizes.append(count(self.root))
            if k > 0 and sizes[-1] == sizes[-2]:
                break
        self.passes, self.sizes = k + 1, sizes

    def totals(self, rows):
        return np.bincount(self.y[rows], self.w[rows], minlength=self.K)

    def majority(self, rows, parent):
        totals = self.totals(rows)
        best = np.flatnonzero(totals >= totals.max() * (1 - 1e-12))
        return parent if parent in best else int(best[0])

    def grow(self, node, rows):
        """Grow below the leaves that the rows reach, to purity."""
        if node["cut"] is None:
            if len(np.unique(self.y[rows])) < 2:
                return
            node["cut"] = self.best_cut(rows)
            if node["cut"] is None:
                return
            for side, mine in enumerate(self.send(node, rows)):
                node[side] = {"label": self.majority(mine, node["label"]), "cut": None}
        for side, mine in enumerate(self.send(node, rows)):
            self.grow(node[side], mine)

    def best_cut(self, rows):
        """The column and midpoint that leave the least weighted Gini impurity."""
        found = []
        for column in range(self.X.shape[1]):
            values = np.unique(self.X[rows, column])
            for low, high in pairwise(values):
                cut = (low + high) / 2
                left = self.X[rows, column] <= cut
                if min(left.sum(), (~left).sum()) < self.min_leaf:
                    continue
                score = sum((t**2).sum() / t.sum() for t in (self.totals(rows[left]), self.totals(rows[~left])))
                found.append((score, column, cut))
        if not found:
            return None
        best = max(score for score, _, _ in found)
        equal = [(column, cut) for score, column, cut in found if score >= best * (1 - 1e-10)]
        if len(equal) > 1 and not self.lowest:
            raise Tied
        return min(equal)

    def send(self, node, rows):
        column, cut = node["cut"]
        left = self.X[rows, column] <= cut
        return rows[left], rows[~left]

    def prune(self, node, rows):
        """The error below the node, after pruning; a node that is no worse as a leaf becomes one."""
        totals = self.totals(rows)
        own = totals.sum() - totals[node["label"]]
        if node["cut"] is None:
            return own
        below = sum(self.prune(node[side], mine) for side, mine in enumerate(self.send(node, rows)))
        if below >= own - 1e-12 * self.w.sum():
            node["cut"] = None
            node.pop(0)
            node.pop(1)
            return own
        return below

    def predict(self, X):
        def walk(node, rows):
            if node["cut"] is None:
                said[rows] = node["label"]
                return
            column, cut = node["cut"]
            left = X[rows, column] <= cut
            walk(node[0], rows[left])
            walk(node[1], rows[~left])

        said = np.zeros(len(X), dtype=int)
        walk(self.root, np.arange(len(X)))
        return said


def count(node):
    return 1 if node["cut"] is None else count(node[0]) + count(node[1])


def shape(node, path=()):
    """Cuts by their place in the tree."""
    if node["cut"] is None:
        return {}
    return {path: node["cut"], **shape(node[0], (*path, 0)), **shape(node[1], (*path, 1))}


def nested(stages):
    """Whether every pruned tree contains the one before it."""
    return all(set(a.items()) <= set(b.items()) for a, b in pairwise(stages))
