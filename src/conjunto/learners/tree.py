"""One packed tree: what CART, IGP and C4.5 have in common after the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.learners.readable import ReadableTree
from conjunto.learners.rows import read_fitted_rows


class SingleTree(ReadableTree):
    """Access to one packed tree."""

    tree_: _core.Forest

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf that each row falls in, numbered from 0 within the tree."""
        rows = read_fitted_rows(self, X)
        return self.tree_.leaves(rows)[:, 0]

    def get_depth(self) -> int:
        """Return the depth of the tree; a single leaf has depth 0."""
        check_is_fitted(self)
        return int(self.tree_.depths()[0])

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int(self.tree_.leaf_counts()[0])

    @property
    def nbytes_(self) -> int:
        """Bytes that the packed tree takes."""
        check_is_fitted(self)
        return self.tree_.nbytes

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the impurity decrease due to each column."""
        check_is_fitted(self)
        return self.tree_.importances()[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class SingleClassificationTree(ClassifierMixin, SingleTree):
    """A tree whose leaves answer with classes."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the leaf: its weighted majority, on a tie the parent's label."""
        rows = read_fitted_rows(self, X)
        return self.classes_[self.tree_.labels(rows)[0]]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class shares of the leaf."""
        rows = read_fitted_rows(self, X)
        return self.tree_.share_sums(rows)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the class shares."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
