"""CART: binary trees grown to purity (Breiman, Friedman, Olshen and Stone 1984).

A node is split by the test `x <= c` (numbers) or `x in V` (categories) that decreases the impurity
`i(t) - p_L i(t_L) - p_R i(t_R)` most. Missing values go to the side that gains more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.atomic import all_or_nothing
from conjunto.checks import (
    NO_LIMIT,
    check_choice,
    check_count,
    check_number,
    check_optional_count,
    check_row_limit,
    resolve_max_features,
)
from conjunto.learners.rows import read_fitted_rows
from conjunto.problem import Problem, read_problem
from conjunto.streams import Key, root_key


class _CART(BaseEstimator):
    """What classification and regression trees share."""

    tree_: _core.Forest

    def _grow(self, problem: Problem, key: Key) -> None:
        self._columns = problem.columns
        self.tree_ = grow_trees(
            self, problem, key, np.zeros(1, dtype=np.uint64), weights=None, labels=None, columns=None
        )

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


class CARTClassifier(ClassifierMixin, _CART):
    """A classification tree.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity.
    max_depth : int, default=None
        Largest depth; None grows until leaves are pure.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Least number of rows of a node to be split, and of a leaf; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns tried at each node; columns constant in the node do not count.
    max_leaf_nodes : int, default=None
        Grow best-first up to this many leaves.
    min_impurity_decrease : float, default=0.0
        Least weighted impurity decrease of a split.
    k_best : int, default=1
        Take one of the k best splits at random (Dietterich 2000) instead of the best.
    combination_features : int, default=None
        Test random linear combinations of this many columns (Forest-RC, Breiman 2001); `max_features` is then
        the number of combinations tried.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    random_state : int, RandomState or None, default=None
        Decides between equally good splits, and everything random above.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    tree_ : Forest
        The native tree.
    feature_importances_ : ndarray
        Share of the impurity decrease due to each column.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees. Wadsworth.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CARTClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        k_best: int = 1,
        combination_features: int | None = None,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.k_best = k_best
        self.combination_features = combination_features
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CARTClassifier:
        """Grow the tree."""
        with all_or_nothing(self):
            problem = read_problem(self, X, y, sample_weight, classification=True)
            assert problem.classes is not None
            self.classes_ = problem.classes
            self.n_classes_ = len(problem.classes)
            self._grow(problem, root_key(self.random_state))
        return self

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


class CARTRegressor(RegressorMixin, _CART):
    """A regression tree: least squares, the mean in each leaf. Parameters as in `CARTClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import CARTRegressor
    >>> X = np.arange(6.0)[:, None]
    >>> CARTRegressor(max_depth=1).fit(X, [0, 0, 0, 1, 1, 1]).predict([[1.2], [4.9]])
    array([0., 1.])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        k_best: int = 1,
        combination_features: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.k_best = k_best
        self.combination_features = combination_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CARTRegressor:
        """Grow the tree."""
        with all_or_nothing(self):
            problem = read_problem(self, X, y, sample_weight, classification=False)
            self._grow(problem, root_key(self.random_state))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean target of the leaf."""
        rows = read_fitted_rows(self, X)
        return self.tree_.value_sums(rows)


_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy", "squared_error": "variance"}


def grow_options(learner: CARTClassifier | CARTRegressor, problem: Problem, threads: int = 1) -> _core.GrowOptions:
    """Check the parameters of a tree and translate them for the core."""
    classification = problem.classes is not None
    check_choice(
        "criterion", learner.criterion, ("gini", "entropy", "log_loss") if classification else ("squared_error",)
    )
    options = _core.GrowOptions()
    options.criterion = _CRITERIA[learner.criterion]
    options.classes = problem.n_classes
    options.combination = min(check_optional_count("combination_features", learner.combination_features) or 0, NO_LIMIT)
    options.max_features = resolve_max_features(learner.max_features, problem.m, combinations=options.combination > 0)
    options.k_best = min(check_count("k_best", learner.k_best), NO_LIMIT)
    depth = check_optional_count("max_depth", learner.max_depth)
    if depth is not None:
        options.max_depth = min(depth, NO_LIMIT)
    options.max_leaves = min(check_optional_count("max_leaf_nodes", learner.max_leaf_nodes, 2) or 0, NO_LIMIT)
    options.min_rows_split = min(
        check_row_limit("min_samples_split", learner.min_samples_split, problem.n, 2), NO_LIMIT
    )
    options.min_rows_leaf = min(check_row_limit("min_samples_leaf", learner.min_samples_leaf, problem.n, 1), NO_LIMIT)
    options.min_weight_share_leaf = check_number("min_weight_fraction_leaf", learner.min_weight_fraction_leaf, 0.0, 0.5)
    options.min_decrease = check_number("min_impurity_decrease", learner.min_impurity_decrease, 0.0, math.inf)
    options.threads = threads
    return options


def grow_trees(
    learner: CARTClassifier | CARTRegressor,
    problem: Problem,
    key: Key,
    members: NDArray[np.uint64],
    *,
    weights: NDArray[Any] | None,
    labels: NDArray[Any] | None,
    columns: NDArray[np.uint32] | None,
    threads: int = 1,
) -> _core.Forest:
    """Grow one tree per member in one native call.

    `weights` are (T, n) multiplicities or weights on top of the problem's, `labels` (T, n) or None for the
    problem's own, `columns` (T, c) or None for all.
    """
    options = grow_options(learner, problem, threads)
    labels = np.ascontiguousarray(problem.y[None] if labels is None else labels)
    weights = all_weights(learner, problem, weights, labels, len(members))
    small = weights is not None and weights.dtype == np.uint8
    return _core.grow(
        problem.table(threads),
        options,
        *key,
        members,
        labels=labels if problem.n_classes else None,
        targets=None if problem.n_classes else labels,
        small_weights=weights if small else None,
        weights=None if small else weights,
        columns=columns,
    )


def all_weights(
    learner: BaseEstimator,
    problem: Problem,
    weights: NDArray[Any] | None,
    labels: NDArray[Any],
    n_members: int,
) -> NDArray[Any] | None:
    """(T, n) product of multiplicities, sample weights and class weights: bytes where it is small whole numbers."""
    class_weight = getattr(learner, "class_weight", None)
    factors = [] if problem.weights is None else [problem.weights[None]]
    if class_weight is not None:
        assert problem.classes is not None
        factors.append(np.stack([compute_sample_weight(class_weight, problem.classes[row]) for row in labels]))
    if not factors and weights is None:
        return None
    if not factors and weights is not None and weights.dtype == np.uint8:
        return np.ascontiguousarray(weights)
    fixed = np.ones((1, problem.n))
    for factor in factors:
        fixed = fixed * factor
    product = fixed if weights is None else weights * fixed
    # A sample of rows that all have weight 0 would leave nothing to learn from: such a member sees all rows.
    product = np.where(product.any(axis=1, keepdims=True), product, fixed)
    product = np.broadcast_to(product, (n_members, problem.n))
    if product.max() <= 255 and np.array_equal(product, np.rint(product)):
        return np.ascontiguousarray(product, dtype=np.uint8)
    return np.ascontiguousarray(product)
