"""One packed tree: what CART, IGP and C4.5 have in common after the fit."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.learners.growing import criterion_of
from conjunto.learners.nodes import TreeNodes, leaf_nodes
from conjunto.learners.readable import ReadableTree
from conjunto.learners.rows import read_fitted_rows
from conjunto.outputs import by_output, decided, logarithm, several


class SingleTree(ReadableTree):
    """Access to one packed tree."""

    takes_sparse: ClassVar[bool] = True
    """Whether X may be sparse."""
    several_outputs: ClassVar[bool] = False
    """Whether y may have several columns."""
    forest_: Any

    def get_depth(self) -> int:
        """Return the depth of the tree; a single leaf has depth 0."""
        check_is_fitted(self)
        return int(self.forest_.depths()[0])

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int(self.forest_.leaf_counts()[0])

    @property
    def nbytes_(self) -> int:
        """Bytes that the packed tree takes."""
        check_is_fitted(self)
        return self.forest_.nbytes

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the impurity decrease due to each column."""
        check_is_fitted(self)
        return self.forest_.importances()[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.takes_sparse
        tags.target_tags.multi_output = self.several_outputs
        return tags


class BinaryTree(SingleTree):
    """A tree in which every row has one leaf."""

    criterion: str
    forest_: _core.Forest
    n_outputs_: int = 1

    @property
    def tree_(self) -> TreeNodes:
        """The tree as a table of its nodes, in scikit-learn's words; made when first asked for."""
        forest: _core.Forest | None = self.__dict__.get("forest_")
        if forest is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet: call fit before tree_")
        kept = self.__dict__.get("_nodes")
        if kept is None or kept[0] is not forest:
            criterion = criterion_of(self, forest)
            kept = self.__dict__["_nodes"] = (forest, TreeNodes(forest, criterion))
        nodes: TreeNodes = kept[1]
        return nodes

    def __getstate__(self) -> dict[str, Any]:
        # The table of nodes follows from the tree.
        return {name: value for name, value in super().__getstate__().items() if name != "_nodes"}

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the leaf of each row, by its number in `tree_`; `check_input` is ignored, X is always checked."""
        rows = read_fitted_rows(self, X)
        return leaf_nodes(self.forest_, rows)[:, 0].astype(np.int64)

    def decision_path(self, X: Any, check_input: bool = True) -> csr_matrix:
        """Return the (n, nodes) indicator of the nodes of `tree_` that each row passes."""
        rows = read_fitted_rows(self, X)
        return self.tree_.decision_path(rows)


class SingleClassificationTree(ClassifierMixin, SingleTree):
    """A tree whose leaves answer with classes."""

    classes_: Any

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of the leaf: its weighted majority, on a tie the parent's label.

        `check_input` is scikit-learn's and ignored: X is always checked.
        """
        rows = read_fitted_rows(self, X)
        if several(self.classes_):
            return decided(self.forest_.vote_counts(rows), self.classes_)
        return self.classes_[self.forest_.labels(rows)[0]]

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the class shares of the leaf, (n, K), of several targets a list of them."""
        rows = read_fitted_rows(self, X)
        shares = self.forest_.share_sums(rows)
        return by_output(shares, self.classes_) if several(self.classes_) else shares

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the class shares."""
        return logarithm(self.predict_proba(X))
