"""`TreeNodes`: one tree as a table of its nodes, in scikit-learn's words.

What is fitted is packed for prediction: inner nodes apart from leaves, no totals of inner nodes. This is the same tree
as `sklearn.tree` shows it, made when it is asked for: node 0 is the root, the left child of a node has the next number,
and what a leaf does not have is -2 (-1 for children).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from conjunto import _core
from conjunto.learners.outline import CATEGORY, COMBINATION, MISSING_LEFT
from conjunto.outputs import padded
from conjunto.sparse import as_csr

NO_CHILD, NO_TEST, SEVERAL_COLUMNS = -1, -2, -3


class TreeNodes:
    """The nodes of one tree; read-only.

    Attributes
    ----------
    node_count, n_leaves, max_depth : int
        Nodes, of these leaves, and the depth of the deepest leaf.
    n_features, n_outputs, n_classes, max_n_classes
        Columns; targets; an array of the number of classes of each target (1 in regression); the largest of them.
    children_left, children_right : ndarray of shape (nodes,)
        Numbers of the children; -1 in leaves.
    feature : ndarray of shape (nodes,)
        The column that is tested; -2 in leaves, -3 where a combination of columns is.
    threshold : ndarray of shape (nodes,)
        Rows with values up to it go left; -2 in leaves, NaN where a set of categories is tested. `export_text` shows
        sets and combinations.
    missing_go_to_left : ndarray of shape (nodes,)
        1 where missing values go left.
    value : ndarray of shape (nodes, targets, K)
        Class shares, with zeros behind those of a target of fewer classes; in regression, where K is 1, the mean or
        median. With `monotonic_cst` what is kept in bounds.
    impurity, n_node_samples, weighted_n_node_samples : ndarray of shape (nodes,)
        The criterion, the number of training rows and their weight (in single precision).
    """

    def __init__(self, forest: _core.Forest, criterion: _core.Criterion) -> None:
        self._forest = forest
        nodes, arrays = forest.unfold(0, criterion), forest.arrays()
        self.node_count = len(nodes["place"])
        self.n_leaves = int(forest.leaf_counts()[0])
        self.max_depth = int(forest.depths()[0])
        self.n_features = forest.columns
        self.n_classes = np.array(classes_by_target(forest))
        self.n_outputs = len(self.n_classes)
        self.max_n_classes = int(self.n_classes.max())
        self.capacity = self.node_count

        inner = nodes["place"] >= 0
        place = nodes["place"][inner]
        test = arrays["test"][place].astype(np.int64)  # unsigned numbers have no -3
        feature = np.full(self.node_count, NO_TEST, dtype=np.int64)
        feature[inner] = np.where(test & COMBINATION, SEVERAL_COLUMNS, test & (MISSING_LEFT - 1))
        threshold = np.full(self.node_count, float(NO_TEST))
        threshold[inner] = np.where(test & CATEGORY, np.nan, arrays["threshold"][place])
        missing = np.zeros(self.node_count, dtype=np.uint8)
        missing[inner] = (test & MISSING_LEFT) > 0

        self.children_left = _fixed(nodes["left"].astype(np.int64))
        self.children_right = _fixed(nodes["right"].astype(np.int64))
        self.feature = _fixed(feature)
        self.threshold = _fixed(threshold)
        self.missing_go_to_left = _fixed(missing)
        self.value = _fixed(padded(nodes["value"], self.n_classes.tolist()))
        self.impurity = _fixed(nodes["impurity"])
        self.n_node_samples = _fixed(nodes["rows"].astype(np.int64))
        self.weighted_n_node_samples = _fixed(nodes["weight"])
        self._paths: csr_matrix | None = None

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the number of the leaf of each row of (n, m) encoded rows."""
        return leaf_nodes(self._forest, _matrix(X))[:, 0].astype(np.int64)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the (n, nodes) indicator of the nodes that each row passes."""
        return self.paths()[self._forest.leaves(_matrix(X))[:, 0]]

    def paths(self) -> csr_matrix:
        """The (leaves, nodes) indicator of the nodes on the way to each leaf; leaves as the core numbers them."""
        if self._paths is None:
            self._paths = self._make_paths()
        return self._paths

    def _make_paths(self) -> csr_matrix:
        parent = np.full(self.node_count, NO_CHILD, dtype=np.int64)
        inner = np.flatnonzero(self.children_left >= 0)
        for children in (self.children_left, self.children_right):
            parent[children[inner]] = inner
        at = self._forest.leaf_numbers().astype(np.int64)
        leaf = np.arange(len(at))
        places, leaves = [], []
        while len(at):
            places.append(at)
            leaves.append(leaf)
            up = parent[at]
            at, leaf = up[up >= 0], leaf[up >= 0]
        where = (np.concatenate(leaves), np.concatenate(places))
        return csr_matrix((np.ones(len(where[0]), dtype=np.int64), where), shape=(self.n_leaves, self.node_count))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return `value` of the leaf of each row: (n, K), in regression (n, 1); of several targets (n, targets, K)."""
        value = self.value[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the impurity decrease by column, as shares of the whole unless told otherwise."""
        importances = self._forest.importances()[0]
        if normalize:
            return importances
        weight, impurity = self.weighted_n_node_samples, self.impurity
        leaves = self.children_left < 0
        whole = weight[0] * impurity[0] - (weight[leaves] * impurity[leaves]).sum()
        return importances * (whole / weight[0])


def classes_by_target(forest: _core.Forest) -> list[int]:
    """The number of classes of each target; 1 in regression."""
    return [max(1, count) for count in forest.outputs or [forest.classes]]


def leaf_nodes(forest: _core.Forest, encoded: Any, threads: int = 1) -> NDArray[np.int32]:
    """(n, trees): the leaf of each row, by its number among all nodes of the tree."""
    counts = forest.leaf_counts()
    starts = np.cumsum(counts) - counts
    return forest.leaf_numbers()[forest.leaves(encoded, threads) + starts]


def _matrix(X: Any) -> Any:
    return as_csr(X) if issparse(X) else np.ascontiguousarray(X, dtype=np.float64)


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
