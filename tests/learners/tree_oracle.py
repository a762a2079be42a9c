"""Pruning by its definitions: a grown tree read back as nested nodes, and all trees that pruning can make of it.

Numbers are fractions: what is equal is equal, and what is less is less.
"""

from fractions import Fraction

import numpy as np

COLUMN = (1 << 29) - 1


class Node:
    """A node with its training rows; `label` is the weighted majority, on a tie the parent's class, or the mean."""

    def __init__(self, arrays, number, data, rows, parent=None):
        X, y, weights, n_classes = data
        self.w = [Fraction(float(w)) for w in weights[rows]]
        if n_classes:
            totals = [
                sum((w for w, c in zip(self.w, y[rows], strict=True) if c == k), Fraction(0)) for k in range(n_classes)
            ]
            best = [k for k in range(n_classes) if totals[k] == max(totals)]
            self.label = parent.label if parent is not None and parent.label in best else best[0]
            self.loss = sum(totals) - totals[self.label]
            self.gini = sum(totals) - sum(t * t for t in totals) / sum(totals)
        else:
            targets = [Fraction(float(t)) for t in y[rows]]
            self.label = sum(w * t for w, t in zip(self.w, targets, strict=True)) / sum(self.w)
            self.loss = sum(w * (t - self.label) ** 2 for w, t in zip(self.w, targets, strict=True))
        self.sides = ()
        if number >= 0:
            threshold, left, right, test = arrays
            self.column, self.threshold = test[number] & COLUMN, threshold[number]
            goes = X[rows, self.column] <= self.threshold
            self.sides = (
                Node(arrays, left[number], data, rows[goes], self),
                Node(arrays, right[number], data, rows[~goes], self),
            )

    def nodes(self):
        """Inner nodes, from above."""
        return [self, *self.sides[0].nodes(), *self.sides[1].nodes()] if self.sides else []

    def leaves(self, cut=()):
        """Leaves where the nodes of `cut` are leaves."""
        return [leaf for side in self.sides for leaf in side.leaves(cut)] if self.sides and self not in cut else [self]

    def say(self, X, cut=()):
        """What the tree says where the nodes of `cut` are leaves."""
        if not self.sides or self in cut:
            return np.full(len(X), float(self.label))
        left, right = (side.say(X, cut) for side in self.sides)
        return np.where(X[:, self.column] <= self.threshold, left, right)

    def prunings(self):
        """Every set of leaves that pruning can leave of the tree."""
        if not self.sides:
            return [[self]]
        left, right = (side.prunings() for side in self.sides)
        return [[self], *([*a, *b] for a in left for b in right)]


def read_tree(model, X, y, weights=None, n_classes=0):
    """The tree of a fitted model on numbers without missing values; y are codes or targets."""
    threshold, left, right, test = map(model.forest_.arrays().get, ("threshold", "left", "right", "test"))
    weights = np.ones(len(X)) if weights is None else weights
    rows = np.flatnonzero(weights > 0)
    return Node((threshold, left, right, test), 0 if len(left) else -1, (X, y, weights, n_classes), rows)


def risks(tree):
    """Every pruning with its risk, as a share of the weight."""
    total = sum(tree.w)
    return [(sum(leaf.loss for leaf in leaves) / total, leaves) for leaves in tree.prunings()]


def smallest_best(prunings, alpha):
    """Of all prunings, with their risks, that make R + alpha * leaves least, those with the fewest leaves."""
    costs = [(risk + alpha * len(leaves), len(leaves)) for risk, leaves in prunings]
    least = min(costs)
    return [leaves for cost, (_, leaves) in zip(costs, prunings, strict=True) if cost == least]


def critical_alphas(prunings):
    """Where the best pruning changes: corners of the lower envelope of the lines R + alpha * leaves, and 0."""
    least = {}
    for risk, leaves in prunings:
        least[len(leaves)] = min(risk, least.get(len(leaves), risk))
    alphas, size = [Fraction(0)], min(k for k in least if least[k] == min(least.values()))
    while size > 1:
        slopes = {k: (least[k] - least[size]) / (size - k) for k in least if k < size}
        alphas.append(min(slopes.values()))
        size = min(k for k in slopes if slopes[k] == alphas[-1])
    return alphas


def reduce_errors(node, X, y, weights, classification):
    """Reduced-error pruning in its own words: the error of the subtree, and the nodes that become leaves."""
    own = sum(
        Fraction(float(w)) * (label != node.label if classification else (Fraction(float(label)) - node.label) ** 2)
        for w, label in zip(weights, y, strict=True)
    )
    if not node.sides:
        return own, []
    goes = X[:, node.column] <= node.threshold
    below, cut = Fraction(0), []
    for side, mine in zip(node.sides, (goes, ~goes), strict=True):
        error, cuts = reduce_errors(side, X[mine], y[mine], weights[mine], classification)
        below, cut = below + error, cut + cuts
    return (own, [node]) if below >= own else (below, cut)
