"""Tests on sets of categories, written over one-hot columns.

`x in {a, b}` becomes a chain of tests on the columns "x is a" and "x is b": each yes leads to a copy of the branch, in
which x is known, and no to the next test, at last to the other branch. Missing and unknown categories are no to every
question, so the chain asks for the categories of the side on which they are not. Copies of a leaf share its weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from conjunto import _core
from conjunto.exchange.node_arrays import LEAF, NO_TEST, NodeArrays, labels_of_leaves
from conjunto.exchange.single_precision import rounded_down
from conjunto.learners.nodes import classes_by_target
from conjunto.learners.outline import CATEGORY, MISSING_LEFT
from conjunto.outputs import padded
from conjunto.problem import Columns

MOST_NODES = 1 << 20
"""Of one tree; chains of many categories below each other make more."""

Known = dict[int, Any]
"""What the way to a node tells of a categorical column: its category, or a set of those it is not."""


@dataclass(frozen=True, eq=False)
class OneHotColumns:
    """The one-hot columns of a model's categories, in front of its columns of numbers."""

    columns: Columns
    names: tuple[str, ...]
    place: dict[tuple[int, Any], int]
    """Of (column, category)."""
    number: dict[int, int]
    """The place of a column of numbers."""

    @staticmethod
    def of(fitted: Any) -> OneHotColumns:
        """Lay out the columns of a fitted model."""
        columns: Columns = fitted._columns
        if not columns.categorical:
            raise ValueError("one_hot=True is for models of categorical columns, and this one has none: leave it out")
        if not hasattr(fitted, "feature_names_in_"):
            raise ValueError(
                "one_hot=True needs a model that was fitted on a DataFrame whose columns have names of text"
            )
        pairs = [(c, name) for c, codes in enumerate(columns.codes) if codes is not None for name in codes]
        place = {pair: i for i, pair in enumerate(pairs)}
        numbers = [c for c, codes in enumerate(columns.codes) if codes is None]
        return OneHotColumns(
            columns, tuple(fitted.feature_names_in_), place, {c: len(pairs) + i for i, c in enumerate(numbers)}
        )

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.place) + len(self.number)

    def matrix(self, encoded: NDArray[np.float64]) -> NDArray[np.float64]:
        """Encoded rows as one-hot rows; of categories that share a code the first stands for all."""
        out = np.zeros((len(encoded), self.width))
        for (column, name), place in reversed(self.place.items()):
            codes = self.columns.codes[column]
            assert codes is not None
            first = next(other for other, code in codes.items() if code == codes[name])
            if first == name:
                out[:, place] = encoded[:, column] == codes[name]
        for column, place in self.number.items():
            out[:, place] = encoded[:, column]
        return out

    def pipeline(self, model: Any) -> Pipeline:
        """The model behind an encoder that makes these columns of a user's DataFrame."""
        import pandas

        kinds = [(c, list(codes)) for c, codes in enumerate(self.columns.codes) if codes is not None]
        encoder = OneHotEncoder(
            categories=[np.array(names, dtype=object) for _, names in kinds],
            handle_unknown="ignore",
            sparse_output=False,
        )
        numbers = [self.names[c] for c in self.number]
        step = ColumnTransformer(
            [("categories", encoder, [self.names[c] for c, _ in kinds]), ("numbers", "passthrough", numbers)]
        )
        row = {self.names[c]: [names[0]] for c, names in kinds} | {name: [0.0] for name in numbers}
        step.fit(pandas.DataFrame(row)[list(self.names)])
        return Pipeline([("one_hot", step), ("model", model)])

    def trees(self, forest: _core.Forest, criterion: _core.Criterion) -> list[NodeArrays]:
        """The trees of a forest over these columns."""
        arrays = forest.arrays()
        labels = labels_of_leaves(forest)
        return [_Chains(self, forest, arrays, labels, t, criterion).written() for t in range(len(forest))]


class _Chains:
    """One tree while it is written."""

    def __init__(
        self,
        columns: OneHotColumns,
        forest: _core.Forest,
        arrays: dict[str, Any],
        labels: NDArray[np.int32] | None,
        tree: int,
        criterion: _core.Criterion,
    ) -> None:
        self.columns = columns
        self.nodes = forest.unfold(tree, criterion)
        self.values = padded(self.nodes["value"], classes_by_target(forest))
        self.criterion = criterion
        self.first, self.first_leaf = int(arrays["node_start"][tree]), int(arrays["leaf_start"][tree])
        self.arrays = arrays
        self.labels = labels
        self.left: list[int] = []
        self.right: list[int] = []
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.missing: list[int] = []
        self.origin: list[int] = []
        """The node that each leaf is a copy of; -1 for inner nodes."""

    def written(self) -> NodeArrays:
        """Write a node before its children, the left one first."""
        stack: list[tuple[int, Known, list[Any] | None, int, bool]] = [(0, {}, None, -1, False)]
        while stack:
            node, known, names, parent, is_left = stack.pop()
            node, known, names = self._settled(node, known, names)
            number = len(self.left)
            if number > MOST_NODES:
                raise ValueError(
                    f"over one-hot columns a tree would have more than {MOST_NODES} nodes: fit smaller trees "
                    "(max_depth, min_samples_leaf), or on fewer categories"
                )
            if parent >= 0:
                (self.left if is_left else self.right)[parent] = number
            place = int(self.nodes["place"][node])
            if place < 0:
                self._add(NO_TEST, float(NO_TEST), False, node)
                continue
            column, missing_left, is_category = self._test(place)
            left, right = int(self.nodes["left"][node]), int(self.nodes["right"][node])
            if not is_category:
                threshold = float(self.arrays["threshold"][self.first + place])
                self._add(self.columns.number[column], threshold, missing_left, -1)
                stack += [(right, known, None, number, False), (left, known, None, number, True)]
                continue
            assert names
            self._add(self.columns.place[column, names[0]], 0.5, False, -1)
            told = right if missing_left else left
            stack += [
                (told, {**known, column: names[0]}, None, number, False),
                (node, known, names[1:], number, True),
            ]
        return self._finished()

    def _add(self, feature: int, threshold: float, missing: bool, origin: int) -> None:
        self.left.append(LEAF)
        self.right.append(LEAF)
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.missing.append(int(missing))
        self.origin.append(origin)

    def _test(self, place: int) -> tuple[int, bool, bool]:
        test = int(self.arrays["test"][self.first + place])
        return test & (MISSING_LEFT - 1), bool(test & MISSING_LEFT), bool(test & CATEGORY)

    def _settled(self, node: int, known: Known, names: list[Any] | None) -> tuple[int, Known, list[Any] | None]:
        """Walk on as long as what is known answers the test; the categories that are still to be asked for."""
        while (place := int(self.nodes["place"][node])) >= 0:
            column, missing_left, is_category = self._test(place)
            if not is_category:
                return node, known, None
            left, right = int(self.nodes["left"][node]), int(self.nodes["right"][node])
            chosen = self._chosen(column, place)
            told = known.get(column, frozenset())
            if not isinstance(told, frozenset):
                node, names = (left if told in chosen else right), None
                continue
            if names is None:
                asked = [name for name in self._names(column) if (name in chosen) != missing_left]
                names = [name for name in asked if name not in told]
            if names:
                return node, known, names
            gone = [name for name in self._names(column) if (name in chosen) != missing_left]
            known = {**known, column: told | frozenset(gone)}
            node, names = (left if missing_left else right), None
        return node, known, None

    def _names(self, column: int) -> list[Any]:
        codes = self.columns.columns.codes[column]
        assert codes is not None
        return list(codes)

    def _chosen(self, column: int, place: int) -> frozenset[Any]:
        """The categories that go left."""
        codes = self.columns.columns.codes[column]
        assert codes is not None
        offset, words = int(self.arrays["threshold"][self.first + place]), self.arrays["sets"]
        return frozenset(name for name, code in codes.items() if int(words[offset + code // 32]) >> code % 32 & 1)

    def _finished(self) -> NodeArrays:
        left, right, origin = (np.array(values, dtype=np.int64) for values in (self.left, self.right, self.origin))
        source, count = self.nodes, len(left)
        leaves = np.flatnonzero(origin >= 0)
        copies = np.bincount(origin[leaves], minlength=len(source["place"]))
        weight, value = np.zeros(count), np.zeros((count, *self.values.shape[1:]))
        impurity, depth = np.zeros(count), np.zeros(count, dtype=np.int64)
        weight[leaves] = source["weight"][origin[leaves]] / copies[origin[leaves]]
        value[leaves] = self.values[origin[leaves]]
        impurity[leaves] = source["impurity"][origin[leaves]]
        for node in reversed(range(count)):
            if origin[node] < 0:
                children = [left[node], right[node]]
                share = weight[children] / weight[children].sum()
                weight[node] = weight[children].sum()
                value[node] = np.tensordot(share, value[children], axes=1)
                impurity[node] = self._impurity(value[node], share, value[children], impurity[children])
        for node in range(count):
            if origin[node] < 0:
                depth[[left[node], right[node]]] = depth[node] + 1
        label = None
        if self.labels is not None:
            label = np.full((count, self.labels.shape[1]), LEAF, dtype=np.int32)
            label[leaves] = self.labels[self.first_leaf + ~source["place"][origin[leaves]]]
        threshold = np.array(self.threshold)
        return NodeArrays(
            left,
            right,
            np.array(self.feature, dtype=np.int64),
            rounded_down(threshold),
            threshold,
            np.array(self.missing, dtype=np.uint8),
            np.maximum(1, np.rint(weight)).astype(np.int64),
            weight,
            impurity,
            value,
            label,
            int(depth.max()),
        )

    def _impurity(self, value: Any, share: Any, values: Any, impurities: Any) -> float:
        """Of a node with these children, mean over the targets; medians and counts do not tell it: nothing is added."""
        if self.criterion == _core.Criterion.variance:
            return float(share @ (impurities + ((values - value) ** 2).mean(axis=(1, 2))))
        if self.criterion == _core.Criterion.gini:
            return float((1 - (value**2).sum(axis=1)).mean())
        if self.criterion == _core.Criterion.misclassification:
            return float((1 - value.max(axis=1)).mean())
        if self.criterion != _core.Criterion.entropy:
            return float(share @ impurities)
        positive = value[value > 0]
        return float(-(positive * np.log2(positive)).sum() / len(value))
