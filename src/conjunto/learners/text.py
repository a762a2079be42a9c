"""A tree as text: `export_text`, one line per branch, and `export_rules`, one rule per leaf.

The conditions of a rule are those of the path to its leaf, with one condition left for each column. So the rules of
a tree cover every row exactly once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from conjunto.checks import check_optional_count
from conjunto.learners.conditions import Condition, merge
from conjunto.learners.outline import TreeOutline, TreeOutlineNode, outline
from conjunto.learners.wording import Wording


def export_text(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    decimals: int | None = 2,
    max_depth: int | None = None,
    show_shares: bool = False,
    show_missing: bool = False,
) -> str:
    """Write a tree as text, one line per branch.

    Parameters
    ----------
    tree : fitted tree
        A `CARTClassifier` or `CARTRegressor`, or a member of an ensemble, as in `model.estimators_[0]`.
    feature_names : sequence of str, default=None
        A name for each column; None takes those of the DataFrame that the tree was fitted on, or x0, x1, …
    class_names : sequence of str, default=None
        A name for each class, in the order of `classes_`; None takes the labels.
    decimals : int or None, default=2
        Decimals of numbers, more of them where two thresholds of one column would look the same. None writes
        numbers exactly.
    max_depth : int, default=None
        Nodes deeper than this are only counted.
    show_shares : bool, default=False
        Write the class shares of each leaf.
    show_missing : bool, default=False
        Say at each branch whether missing values, and categories that training never saw, go there.

    Returns
    -------
    str
        Lines without a line break at the end.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import CARTClassifier, export_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = CARTClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> print(export_text(tree, class_names=["setosa", "versicolor", "virginica"]))
    petal width (cm) <= 0.8: setosa
    petal width (cm) > 0.8
    |   petal width (cm) <= 1.75: versicolor
    |   petal width (cm) > 1.75: virginica
    """
    described = outline(tree)
    wording = Wording(
        described, feature_names=feature_names, class_names=class_names, decimals=decimals, show_missing=show_missing
    )
    most_depth = check_optional_count("max_depth", max_depth, 0)
    leaves = described.leaf_counts()
    conditions = {0: ""}
    lines = []
    for number, depth in described.walk(math.inf if most_depth is None else most_depth):
        node = described.nodes[number]
        conditions |= zip(node.children, map(wording.condition, node.branches), strict=True)
        hidden = f"... {leaves[number]} leaves" if node.children and depth == most_depth else ""
        answer = hidden if node.children else _answer(wording, node, show_shares)
        if number or answer:
            line = ": ".join(filter(None, (conditions[number], answer)))
            lines.append("|   " * (depth - 1) + line)
    if show_missing and described.divides_missing:
        lines.append("A missing value goes down all branches, in proportion to the rows of training.")
    return "\n".join(lines)


def _answer(wording: Wording, node: TreeOutlineNode, show_shares: bool) -> str:
    shares = f" ({', '.join(wording.shares(node))})" if show_shares and node.shares is not None else ""
    return wording.answer(node) + shares


@dataclass(frozen=True)
class Rule:
    """What a tree answers under certain conditions; `str` of it reads `if width <= 0.8 then setosa (1.00)`."""

    conditions: tuple[str, ...]
    """The conditions in words; all of them must hold."""
    answer: str
    """The class or value in words."""
    label: Any = None
    """The class; None in regression."""
    value: float | None = None
    """The value; None in classification."""
    shares: tuple[float, ...] | None = None
    """Class shares of the leaf, in the order of `classes_`."""
    tests: tuple[Condition, ...] = field(default=(), repr=False)
    """The conditions in a form that can be evaluated, in the same order."""
    confidence: str = field(default="", repr=False)

    def covers(self, row: Sequence[Any]) -> bool:
        """Whether a row satisfies all conditions: values in the order of the columns, None or NaN where missing."""
        values = row.tolist() if hasattr(row, "tolist") else list(row)
        return all(test.holds(values) for test in self.tests)

    def __str__(self) -> str:
        # Without parentheses "a or missing and b" could be read in two ways.
        conditions = [f"({text})" if text.endswith(" or missing") else text for text in self.conditions]
        start = f"if {' and '.join(conditions)} then" if conditions else "always"
        return f"{start} {self.answer}{f' ({self.confidence})' if self.confidence else ''}"


class Rules(list[Rule]):
    """A list of rules; `str` of it has one line for each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def export_rules(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    decimals: int | None = 2,
    show_missing: bool = False,
) -> Rules:
    """Turn a tree into rules, one for each leaf; every row is covered by exactly one of them.

    With C4.5 that holds for rows without missing or unseen values: others go down several branches.

    Conditions on one column are merged: numbers to an interval, categories to those that remain. The share of the
    class in its leaf follows the class in parentheses.

    Parameters
    ----------
    tree : fitted tree
        A `CARTClassifier` or `CARTRegressor`, or a member of an ensemble, as in `model.estimators_[0]`.
    feature_names, class_names, decimals, show_missing
        As in `export_text`.

    Returns
    -------
    list of Rule
        From the leftmost leaf to the rightmost; `print` shows one line for each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import CARTClassifier, export_rules
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = CARTClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> print(export_rules(tree, class_names=["setosa", "versicolor", "virginica"]))
    if petal width (cm) <= 0.8 then setosa (1.00)
    if 0.8 < petal width (cm) <= 1.75 then versicolor (0.91)
    if petal width (cm) > 1.75 then virginica (0.98)
    """
    described = outline(tree)
    wording = Wording(
        described, feature_names=feature_names, class_names=class_names, decimals=decimals, show_missing=show_missing
    )
    return Rules(_rule(described, wording, leaf, tests) for leaf, tests in _paths(described))


def _paths(described: TreeOutline) -> Iterator[tuple[TreeOutlineNode, tuple[Condition, ...]]]:
    """Each leaf with its merged conditions; a leaf that no row can reach is passed over."""
    tests: dict[int, tuple[Condition, ...]] = {0: ()}
    for number, _ in described.walk():
        node, path = described.nodes[number], tests.pop(number)
        tests |= {child: merge((*path, branch)) for child, branch in zip(node.children, node.branches, strict=True)}
        if not node.children and not any(test.empty and not test.missing for test in path):
            yield node, path


def _rule(described: TreeOutline, wording: Wording, leaf: TreeOutlineNode, tests: tuple[Condition, ...]) -> Rule:
    label = None if leaf.label is None or described.classes is None else described.classes[leaf.label]
    confidence = "" if leaf.label is None or leaf.shares is None else wording.share(leaf.shares[leaf.label])
    conditions = tuple(map(wording.condition, tests))
    return Rule(conditions, wording.answer(leaf), label, leaf.value, leaf.shares, tests, confidence)
