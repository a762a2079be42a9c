"""`NodeArrays`: the nodes of one tree as arrays in scikit-learn's order, ready to be written into a tree of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.exchange.single_precision import rounded_down
from conjunto.learners.nodes import classes_by_target
from conjunto.learners.outline import CATEGORY, COMBINATION, MISSING_LEFT
from conjunto.outputs import padded

LEAF, NO_TEST = -1, -2


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """One entry per node; what a leaf has not is -1 (children) or -2 (tests)."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    """Floats, as doubles."""
    exact: NDArray[np.float64]
    """The thresholds before they were rounded."""
    missing_left: NDArray[np.uint8]
    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    value: NDArray[np.float64]
    """(nodes, targets, K): class shares, with zeros behind those of a target of fewer classes; values as K = 1."""
    label: NDArray[np.int32] | None
    """(nodes, targets): the class that a leaf votes for; None in regression."""
    depth: int

    def __len__(self) -> int:
        return len(self.left)

    @staticmethod
    def of(forest: _core.Forest, criterion: _core.Criterion) -> list[NodeArrays]:
        """Of all trees of a forest whose tests are on one number each."""
        arrays = forest.arrays()
        labels = labels_of_leaves(forest)
        depths = forest.depths().tolist()
        counts = classes_by_target(forest)
        return [
            NodeArrays._of(forest.unfold(t, criterion), t, arrays, labels, depths[t], counts)
            for t in range(len(forest))
        ]

    @staticmethod
    def _of(
        nodes: dict[str, Any],
        tree: int,
        arrays: dict[str, Any],
        labels: NDArray[np.int32] | None,
        depth: int,
        counts: list[int],
    ) -> NodeArrays:
        inner = nodes["place"] >= 0
        place = nodes["place"][inner] + arrays["node_start"][tree].astype(np.int64)
        leaf = ~nodes["place"][~inner] + arrays["leaf_start"][tree].astype(np.int64)
        test = arrays["test"][place]
        count = len(inner)

        def of_inner(values: Any, otherwise: float, kind: Any) -> NDArray[Any]:
            out = np.full(count, otherwise, dtype=kind)
            out[inner] = values
            return out

        label = None
        if labels is not None:
            label = np.full((count, labels.shape[1]), LEAF, dtype=np.int32)
            label[~inner] = labels[leaf]
        return NodeArrays(
            nodes["left"].astype(np.int64),
            nodes["right"].astype(np.int64),
            of_inner(test & (MISSING_LEFT - 1), NO_TEST, np.int64),
            of_inner(rounded_down(arrays["threshold"][place]), NO_TEST, np.float64),
            of_inner(arrays["threshold"][place], NO_TEST, np.float64),
            of_inner((test & MISSING_LEFT) > 0, 0, np.uint8),
            nodes["rows"].astype(np.int64),
            nodes["weight"],
            nodes["impurity"],
            padded(nodes["value"], counts),
            label,
            depth,
        )

    def deciding_by_label(self) -> NodeArrays:
        """With leaves that are all for the class that they vote for: averages of shares then count votes."""
        assert self.label is not None
        value, leaves = self.value.copy(), np.flatnonzero(self.left == LEAF)
        votes = np.zeros_like(value[leaves])
        np.put_along_axis(votes, self.label[leaves][:, :, None], 1.0, axis=2)
        value[leaves] = votes
        return replace(self, value=value)

    def with_labels_leading(self) -> NodeArrays:
        """With shares in which the class of a leaf is ahead of those it is tied with, by the last bit."""
        assert self.label is not None
        value, leaves = self.value.copy(), np.flatnonzero(self.left == LEAF)
        shares, chosen = value[leaves], self.label[leaves][:, :, None]
        own = np.take_along_axis(shares, chosen, axis=2)
        if (own < shares.max(axis=2, keepdims=True)).any():
            raise ValueError(
                "a leaf votes for a class that has not the largest share in it, as leaves of IGP trees do: "
                "scikit-learn's trees cannot say that"
            )
        tied = (shares == own).sum(axis=2, keepdims=True) > 1
        np.put_along_axis(shares, chosen, np.where(tied, np.nextafter(own, 2.0), own), axis=2)
        value[leaves] = shares
        return replace(self, value=value)


def labels_of_leaves(forest: _core.Forest) -> NDArray[np.int32] | None:
    """(leaves, targets): the class that each leaf votes for; None in regression."""
    if not forest.classes:
        return None
    return (
        forest.arrays()["output_label"].reshape(-1, len(forest.outputs))
        if forest.outputs
        else forest.leaf_labels()[:, None]
    )


def check_tests(forest: _core.Forest, categories: bool) -> None:
    """Refuse tests that scikit-learn's trees do not have."""
    test = forest.arrays()["test"]
    if (test & COMBINATION).any():
        raise TypeError(
            "scikit-learn's trees test one column at a time, and these test combinations of columns (oblique splits, "
            "Forest-RC): they cannot be converted"
        )
    if not categories and (test & CATEGORY).any():
        raise TypeError(
            "scikit-learn's trees have no tests on sets of categories, and these have: convert with one_hot=True, "
            "which writes them over one-hot columns, or fit on numbers"
        )
