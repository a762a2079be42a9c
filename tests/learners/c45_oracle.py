"""C4.5, plain and slow, with exact weights: what the native trees are compared with.

Written from Quinlan (1993), chapters 2 to 7, and Quinlan (1996). Weights are fractions, so that sums of weights are
compared exactly; gains are floats, and two gains closer than SAME are equal.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

SAME = 1e-9
EPSILON = 1e-3


@dataclass
class Settings:
    classes: int
    gain_ratio: bool = True
    mdl: bool = True
    group_values: bool = False
    least: Fraction = Fraction(2)
    prune: bool = True
    raising: bool = True
    collapse: bool = True
    confidence: float = 0.25
    max_depth: int | None = None


@dataclass
class Tree:
    label: int
    counts: list[Fraction]
    column: int | None = None
    threshold: float | None = None
    groups: list[list[int]] | None = None
    branches: list[Tree] = field(default_factory=list)
    shares: list[Fraction] = field(default_factory=list)

    def branch_of(self, row):
        """The number of the branch of a row, or None where its value is unknown."""
        value = row[self.column]
        if math.isnan(value):
            return None
        if self.groups is None:
            return 0 if value <= self.threshold else 1
        return next((b for b, codes in enumerate(self.groups) if int(value) in codes), None)


def bits(parts):
    """Entropy of some weights, in bits."""
    total = sum(parts)
    shares = [float(part / total) for part in parts if part > 0]
    return -sum(share * math.log2(share) for share in shares)


class C45:
    """One tree for rows X (floats, NaN = missing), labels y, weights w; categories[c] is 0 for numbers."""

    def __init__(self, X, y, w, categories, settings):
        self.X, self.y, self.s = X, y, settings
        self.categories = categories
        rows = [(i, Fraction(weight)) for i, weight in enumerate(w) if weight > 0]
        self.training = [i for i, _ in rows]
        self.total = sum(weight for _, weight in rows)
        self.codes = [
            sorted({int(row[c]) for row in X if not math.isnan(row[c])}) if count else []
            for c, count in enumerate(categories)
        ]
        many = [count > 0 and len(self.codes[c]) >= Fraction(3, 10) * self.total for c, count in enumerate(categories)]
        self.many = [False] * len(categories) if all(many) or settings.group_values else many
        self.tree = self.build(rows, None, frozenset(), 0)
        if settings.prune:
            self.tree, _ = self.pruned(self.tree, rows, None)

    def count(self, rows):
        counts = [Fraction(0)] * self.s.classes
        for i, weight in rows:
            counts[self.y[i]] += weight
        return counts

    def label(self, counts, parent):
        best = [k for k, count in enumerate(counts) if count == max(counts)]
        return parent if parent in best else best[0]

    def build(self, rows, parent, tested, depth):
        s = self.s
        counts = self.count(rows)
        leaf = Tree(self.label(counts, parent), counts)
        if sum(count > 0 for count in counts) < 2 or sum(counts) < 2 * s.least or depth == s.max_depth:
            return leaf
        test = self.best_test(rows, tested)
        if test is None:
            return leaf
        column, threshold, groups = test
        tree = Tree(leaf.label, counts, column, threshold, groups)
        below = tested | {column} if self.categories[column] and not s.group_values else tested
        for part, share in self.divided(tree, rows):
            tree.shares.append(share)
            tree.branches.append(self.build(part, tree.label, below, depth + 1) if part else self.empty(tree.label))
        if s.collapse and training_errors(tree) >= training_errors(leaf) - Fraction(1, 1000):
            return leaf
        return tree

    def empty(self, label):
        return Tree(label, [Fraction(0)] * self.s.classes)

    def divided(self, tree, rows):
        """For each branch its rows, with parts of those whose branch is not known, and its share."""
        branch = [tree.branch_of(self.X[i]) for i, _ in rows]
        n = 2 if tree.groups is None else len(tree.groups)
        known = sum(row[1] for row, b in zip(rows, branch, strict=True) if b is not None)
        parts = []
        for v in range(n):
            inside = [row for row, b in zip(rows, branch, strict=True) if b == v]
            share = sum(weight for _, weight in inside) / known
            spread = [(row[0], row[1] * share) for row, b in zip(rows, branch, strict=True) if b is None]
            parts.append((inside + spread if inside else [], share))
        return parts

    def best_test(self, rows, tested):
        offers = []
        for c, categories in enumerate(self.categories):
            if not categories:
                offer = self.best_cut(rows, c)
            elif c in tested:
                offer = None
            else:
                offer = self.best_groups(rows, c)
            # A threshold must gain something; a test on a category need not.
            if offer is not None and (categories or offer[0] > SAME):
                offers.append((c, max(offer[0], 0.0), *offer[1:]))
        counted = [gain for c, gain, *_ in offers if not self.many[c]]
        average = sum(counted) / len(counted) if counted else math.inf
        best, most = None, -math.inf
        for c, gain, info, threshold, groups in offers:
            worth = gain
            if self.s.gain_ratio:
                if gain < average - EPSILON or info <= EPSILON:
                    continue
                worth = gain / info
            if worth > most + SAME:
                best, most = (c, threshold, groups), worth
        return best

    def best_cut(self, rows, c):
        s, X = self.s, self.X
        weight = sum(w for _, w in rows)
        known = [(i, w) for i, w in rows if not math.isnan(X[i][c])]
        known_weight = sum(w for _, w in known)
        if not known or known_weight < 2 * s.least:
            return None
        least = max(s.least, min(Fraction(25), known_weight / (10 * s.classes)))
        values = sorted({X[i][c] for i, _ in known})
        tried, best, best_cut = 0, -math.inf, None
        for low, high in itertools.pairwise(values):
            sides = [[r for r in known if X[r[0]][c] <= low], [r for r in known if X[r[0]][c] > low]]
            weights = [sum(w for _, w in side) for side in sides]
            if min(weights) < least:
                continue
            tried += 1
            after = sum(
                float(w / known_weight) * bits(self.count(side)) for w, side in zip(weights, sides, strict=True)
            )
            gain = float(known_weight / weight) * (bits(self.count(known)) - after)
            if gain > best + SAME:
                best, best_cut = gain, (low, high, weights)
        if best_cut is None:
            return None
        low, high, weights = best_cut
        if s.mdl:
            best -= math.log2(tried) / float(weight)
        middle = low / 2 + high / 2
        threshold = max(X[i][c] for i in self.training if X[i][c] <= middle)
        return best, bits([*weights, weight - known_weight]), threshold, None

    def best_groups(self, rows, c):
        s = self.s
        weight = sum(w for _, w in rows)
        groups = [[code] for code in self.codes[c]]
        if s.group_values:
            present = {int(self.X[i][c]) for i, _ in rows if not math.isnan(self.X[i][c])}
            groups = [[code] for code in sorted(present)]
            ratio = self.ratio(rows, c, groups)
            while len(groups) > 2:
                best = None
                for a in range(len(groups)):
                    for b in range(a + 1, len(groups)):
                        merged = [
                            sorted(groups[a] + groups[b]) if v == a else g for v, g in enumerate(groups) if v != b
                        ]
                        merged_ratio = self.ratio(rows, c, merged)
                        if merged_ratio > ratio + SAME:
                            ratio, best = merged_ratio, merged
                if best is None:
                    break
                groups = best
        parts, unknown = self.parts(rows, c, groups)
        if sum(sum(w for _, w in part) >= s.least for part in parts) < 2:
            return None
        gain, info = self.gain_and_info(parts, unknown, weight)
        return gain, info, None, groups

    def parts(self, rows, c, groups):
        X = self.X
        unknown = sum((w for i, w in rows if math.isnan(X[i][c])), Fraction(0))
        return [[r for r in rows if X[r[0]][c] in group] for group in groups], unknown

    def gain_and_info(self, parts, unknown, weight):
        weights = [sum((w for _, w in part), Fraction(0)) for part in parts]
        known = sum(weights)
        before = bits(self.count([row for part in parts for row in part]))
        after = sum(float(w / known) * bits(self.count(part)) for w, part in zip(weights, parts, strict=True) if w > 0)
        return float(known / weight) * (before - after), bits([*weights, unknown])

    def ratio(self, rows, c, groups):
        if not groups:
            return 0.0
        parts, unknown = self.parts(rows, c, groups)
        gain, info = self.gain_and_info(parts, unknown, sum(w for _, w in rows))
        return gain / info if info > 0 else 0.0

    def expected_errors(self, counts):
        rows, errors = float(sum(counts)), float(sum(counts) - max(counts))
        return errors + extra_errors(rows, errors, self.s.confidence)

    def estimate(self, tree, rows):
        """Errors to be expected of a tree if it got these rows."""
        if not tree.branches:
            return self.expected_errors(self.count(rows))
        parts = self.divided(tree, rows)
        return sum(self.estimate(branch, part) for branch, (part, _) in zip(tree.branches, parts, strict=True) if part)

    def pruned(self, tree, rows, parent):
        counts = self.count(rows)
        leaf = Tree(self.label(counts, parent), counts)
        leaf_errors = self.expected_errors(counts)
        if not tree.branches:
            return leaf, leaf_errors
        new = Tree(leaf.label, counts, tree.column, tree.threshold, tree.groups)
        tree_errors, largest = 0.0, 0
        for v, (part, share) in enumerate(self.divided(tree, rows)):
            new.shares.append(share)
            largest = v if share >= new.shares[largest] else largest
            if not part:
                new.branches.append(self.empty(leaf.label))
                continue
            branch, errors = self.pruned(tree.branches[v], part, leaf.label)
            new.branches.append(branch)
            tree_errors += errors
        raised_errors = self.estimate(new.branches[largest], rows) if self.s.raising else math.inf
        if leaf_errors <= tree_errors + 0.1 and leaf_errors <= raised_errors + 0.1:
            return leaf, leaf_errors
        if raised_errors <= tree_errors + 0.1:
            return self.pruned(new.branches[largest], rows, parent)
        return new, tree_errors

    def leaves_of(self, x):
        """Leaves that a row reaches, each with the part of the row that reaches it."""
        todo, reached = [(self.tree, Fraction(1))], []
        while todo:
            tree, part = todo.pop()
            if not tree.branches:
                reached.append((tree, part))
                continue
            branch = tree.branch_of(x)
            if branch is not None:
                todo.append((tree.branches[branch], part))
            else:
                todo += [(b, part * share) for b, share in zip(tree.branches, tree.shares, strict=True) if share > 0]
        return reached

    def shares(self, x):
        out = [Fraction(0)] * self.s.classes
        for leaf, part in self.leaves_of(x):
            weight = sum(leaf.counts)
            for k in range(self.s.classes):
                out[k] += part * (leaf.counts[k] / weight if weight else Fraction(int(k == leaf.label)))
        return out

    def predict(self, x):
        reached = self.leaves_of(x)
        if len(reached) == 1:
            return reached[0][0].label
        shares = self.shares(x)
        return shares.index(max(shares))


def training_errors(tree):
    if tree.branches:
        return sum(training_errors(branch) for branch in tree.branches)
    return sum(tree.counts) - max(tree.counts)


def extra_errors(rows, errors, confidence):
    """What is added to the errors on `rows` rows to get their upper confidence limit."""
    if rows == 0:
        return 0.0
    none = rows * (1 - confidence ** (1 / rows))
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (extra_errors(rows, 1.0, confidence) - none)
    if errors + 0.5 >= rows:
        return 0.67 * (rows - errors)
    z = normal_deviate(confidence)
    share = (errors + 0.5) / rows
    centre, spread = share + z * z / (2 * rows), z * math.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return rows * (centre + spread) / (1 + z * z / rows) - errors


DEVIATES = {0: 4.0, 0.001: 3.09, 0.005: 2.58, 0.01: 2.33, 0.05: 1.65, 0.1: 1.28, 0.2: 0.84, 0.4: 0.25, 1.0: 0.0}


def normal_deviate(confidence):
    levels = sorted(DEVIATES)
    low, high = next((a, b) for a, b in itertools.pairwise(levels) if a < confidence <= b)
    return DEVIATES[low] + (DEVIATES[high] - DEVIATES[low]) * (confidence - low) / (high - low)
