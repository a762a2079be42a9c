"""`TreeOutline`: a plain description of one tree, which text, rules, notebooks and pictures are made from.

The packed arrays of the core are made for prediction. An outline says the same in words that fit any tree: a node
asks by the conditions of its branches, two or more, and a leaf answers with a class or a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.learners.conditions import Combination, Condition, Interval, Subset, Term
from conjunto.problem import Columns

# The flags of `Node::test` in cpp/core/forest.hpp.
CATEGORY, COMBINATION, MISSING_LEFT = 1 << 31, 1 << 30, 1 << 29


@dataclass(frozen=True)
class TreeOutlineNode:
    """A node: where its branches lead, or, without branches, what the leaf answers.

    Inner nodes may have an answer too, as trees that were grown with pruning in mind do.
    """

    branches: tuple[Condition, ...] = ()
    """What a row must satisfy to go to the child of the same place."""
    children: tuple[int, ...] = ()
    label: int | None = None
    """The class, as a place in `TreeOutline.classes`; None in regression, and where an inner node keeps none."""
    shares: tuple[float, ...] | None = None
    """Class shares, in the order of `TreeOutline.classes`."""
    value: float | None = None
    """The answer in regression."""
    answers: tuple[Any, ...] | None = None
    """The labels or values of several targets, in place of the label and the value."""
    weight: float | None = None
    """Share of the training weight that came here, where the tree knows it."""


@dataclass(frozen=True)
class TreeOutline:
    """One tree. Node 0 is the root, and children have higher numbers than their parent."""

    nodes: tuple[TreeOutlineNode, ...]
    features: tuple[str, ...]
    classes: tuple[Any, ...] | None = None
    """The labels; None in regression, and where there are several targets."""
    divides_missing: bool = False
    """Whether a row with a missing value goes down all branches in proportion, as in C4.5."""

    def walk(self, most_depth: float = math.inf) -> Iterator[tuple[int, int]]:
        """Nodes with their depths, a node before its children and a subtree before the next; no deeper than given."""
        stack = [(0, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            if depth < most_depth:
                stack += [(child, depth + 1) for child in reversed(self.nodes[node].children)]

    def leaf_counts(self) -> list[int]:
        """The number of leaves below each node; 1 for a leaf."""
        counts = [1] * len(self.nodes)
        for number in reversed(range(len(self.nodes))):
            if children := self.nodes[number].children:
                counts[number] = sum(counts[child] for child in children)
        return counts


def outline(tree: Any) -> TreeOutline:
    """Describe a fitted tree.

    A tree that is not kept in the core's arrays defines a method `_outline`, which is asked then.

    Examples
    --------
    >>> from conjunto import CARTClassifier
    >>> from conjunto.learners.outline import outline
    >>> outline(CARTClassifier().fit([[1.0], [2.0]], ["no", "yes"])).nodes[0].branches
    (Interval(column=0, low=-inf, high=1.5, missing=False), Interval(column=0, low=1.5, high=inf, missing=True))
    """
    if isinstance(tree, TreeOutline):
        return tree
    if isinstance(tree, type):
        raise TypeError(f"a fitted tree is needed, got the class {tree.__name__}: make one and call fit")
    if callable(getattr(tree, "_outline", None)):
        return tree._outline()
    if isinstance(getattr(tree, "forest_", None), _core.Forest):
        return forest_outline(tree)
    raise TypeError(f"a fitted tree of conjunto, such as CARTClassifier, is needed, got {_what_instead(tree)}")


def _what_instead(model: Any) -> str:
    """What was given in place of a tree, and how to come from there to a tree."""
    name = type(model).__name__
    # Looked up in the class: members of an ensemble of ours are made when they are asked for.
    if hasattr(type(model), "estimators_") or "estimators_" in getattr(model, "__dict__", {}):
        return f"{name}, an ensemble: take one of its trees, as in model.estimators_[0]"
    if hasattr(model, "steps"):
        return f"{name}: take its last step, as in model[-1]"
    if hasattr(model, "best_estimator_"):
        return f"{name}: take model.best_estimator_"
    if type(model).__module__.startswith("sklearn.tree"):
        return f"{name}, a tree of scikit-learn: use the functions of the same name in sklearn.tree"
    return f"{name}" if isinstance(model, BaseEstimator) else repr(model)


def forest_outline(tree: Any) -> TreeOutline:
    """Describe an estimator that keeps one tree in `forest_`, a `Forest`, and its columns in `_columns`."""
    check_is_fitted(tree, "forest_")
    forest: _core.Forest = tree.forest_
    if len(forest) != 1:
        raise ValueError(f"one tree is needed, got a forest of {len(forest)}")
    several_classes = tree.classes_ if forest.classes and forest.outputs else None
    reader = _Reader(forest, tree._columns, several_classes)
    names = getattr(tree, "feature_names_in_", None)
    features = tuple(f"x{i}" for i in range(forest.columns)) if names is None else tuple(map(str, names))
    classes = tuple(np.asarray(tree.classes_).tolist()) if forest.classes and not forest.outputs else None
    return TreeOutline(reader.nodes(), features, classes)


class _Reader:
    """The arrays of a forest of one tree, by name, turned into nodes: inner ones first, then the leaves."""

    def __init__(self, forest: _core.Forest, columns: Columns, several_classes: Any = None) -> None:
        self.forest = forest
        self.several_classes = several_classes
        self.arrays = forest.arrays()
        self.inner = len(self.arrays["left"])
        self.codes = columns.codes
        self.reachable: dict[int, dict[int, Subset]] = {0: {}}
        self.known = [None if codes is None else tuple(codes) for codes in columns.codes]

    def nodes(self) -> tuple[TreeOutlineNode, ...]:
        inner = [TreeOutlineNode(*self._inner(node)) for node in range(self.inner)]
        if self.forest.outputs:
            return (*inner, *(TreeOutlineNode(answers=tuple(answers)) for answers in self._of_several()))
        if not self.forest.classes:
            return (*inner, *(TreeOutlineNode(value=value) for value in self.forest.leaf_values().tolist()))
        answers = zip(self.forest.leaf_labels().tolist(), self.forest.leaf_shares().tolist(), strict=True)
        return (*inner, *(TreeOutlineNode(label=label, shares=tuple(shares)) for label, shares in answers))

    def _of_several(self) -> list[list[Any]]:
        """What each leaf answers to each of several targets."""
        if self.several_classes is None:
            values: list[list[Any]] = self.forest.leaf_values().tolist()
            return values
        labels = self.arrays["output_label"].reshape(-1, len(self.several_classes))
        return np.stack([of[labels[:, o]] for o, of in enumerate(self.several_classes)], axis=1).tolist()

    def _inner(self, node: int) -> tuple[tuple[Condition, Condition], tuple[int, int]]:
        """The branches and children of an inner node. A child is the number of a node, or ~ that of a leaf."""
        branches, reachable = self._branches(node), self.reachable.pop(node)
        left, right = int(self.arrays["left"][node]), int(self.arrays["right"][node])
        children = (left if left >= 0 else self.inner + ~left, right if right >= 0 else self.inner + ~right)
        for child, branch in zip(children, branches, strict=True):
            narrowed = reachable | {branch.column: branch} if isinstance(branch, Subset) else reachable
            self.reachable[child] = narrowed
        return branches, children

    def _branches(self, node: int) -> tuple[Condition, Condition]:
        test, threshold = int(self.arrays["test"][node]), float(self.arrays["threshold"][node])
        index, missing = test & (MISSING_LEFT - 1), bool(test & MISSING_LEFT)
        if test & CATEGORY:
            return self._sides(self._subset(index, int(threshold), missing), self.reachable[node].get(index))
        if test & COMBINATION:
            terms = self._terms(index)
            below = Combination(terms, high=threshold, missing=missing)
            return below, Combination(terms, low=threshold, missing=not missing)
        return Interval(index, high=threshold, missing=missing), Interval(index, low=threshold, missing=not missing)

    @staticmethod
    def _sides(left: Subset, reachable: Subset | None) -> tuple[Subset, Subset]:
        """Both sides of a set, without the categories that took another way further up."""
        chosen = set(left.categories)
        here = left.known if reachable is None else reachable.categories
        sides = (tuple(name for name in here if (name in chosen) == side) for side in (True, False))
        return (
            Subset(left.column, next(sides), left.known, left.missing),
            Subset(left.column, next(sides), left.known, not left.missing),
        )

    def _subset(self, column: int, offset: int, missing: bool) -> Subset:
        """The categories whose bit is set; several may share one code."""
        codes, known, words = self.codes[column], self.known[column], self.arrays["sets"]
        assert codes is not None
        assert known is not None
        chosen = [name for name, code in codes.items() if int(words[offset + code // 32]) >> code % 32 & 1]
        return Subset(column, tuple(chosen), known, missing)

    def _terms(self, combination: int) -> tuple[Term, ...]:
        start, end = (int(self.arrays["term_start"][combination + i]) for i in (0, 1))
        return tuple(self._term(place) for place in range(start, end))

    def _term(self, place: int) -> Term:
        coefficient, column, offset = (
            self.arrays[name][place].item() for name in ("term_coefficient", "term_column", "term_set")
        )
        return Term(coefficient, column, None if offset < 0 else self._subset(column, offset, False))
