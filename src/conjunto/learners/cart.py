"""CART: binary trees grown to purity (Breiman, Friedman, Olshen and Stone 1984).

A node is split by the test `x <= c` (numbers) or `x in V` (categories) that decreases the impurity
`i(t) - p_L i(t_L) - p_R i(t_R)` most. Missing values go to the side that gains more. Oblique trees also test
`sum_m a_m x_m <= c`, with coefficients found one at a time (section 5.2 of the book). A grown tree can be pruned
(`pruning.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import RegressorMixin, clone
from sklearn.utils import Bunch

from conjunto import _core
from conjunto.atomic import all_or_nothing
from conjunto.learners.growing import growth_options, table_of, told_of_friedman
from conjunto.learners.pruning import given_folds, judges_errors, set_pruning
from conjunto.learners.rows import read_fitted_rows
from conjunto.learners.tree import BinaryTree, SingleClassificationTree
from conjunto.learners.views import core_views
from conjunto.outputs import class_counts
from conjunto.problem import Problem, read_answers, read_problem, read_rows, read_weights
from conjunto.streams import stream_of
from conjunto.view import View


class _CART(BinaryTree):
    """What classification and regression trees share."""

    several_outputs = True
    prune: Any
    ccp_alpha: float
    random_state: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, held_out: tuple[Any, Any, Any], classification: bool) -> None:
        shape: tuple[int, ...] = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            # Before y is refused for its shape.
            set_pruning(_core.PruneOptions(), self, shape[1])
        problem = read_problem(self, X, y, sample_weight, classification=classification)
        if problem.classes is not None:
            self.classes_ = problem.classes
            self.n_classes_ = class_counts(problem.classes)
        self.n_outputs_ = problem.n_outputs
        self._columns = problem.columns
        self.__dict__.pop("cost_complexity_path_", None)
        judges = self._read_held_out(problem, *held_out)
        options = self._grow_options(problem)
        self.max_features_ = options.max_features
        stream = stream_of(self.random_state)
        views = core_views(self, problem, [View()], [stream.member], folds=given_folds(self, problem))
        key = stream.key
        if judges is not None:
            self.forest_ = _core.grow_reduced(table_of(self, problem), options, *key, views, judges)
            return
        session = _core.GrowSession(table_of(self, problem), options, *key, lasts=False)
        session.grow(views, _core.Answer.leaves)
        self.forest_ = session.forest()
        if self.prune is not None or self.ccp_alpha > 0:
            self.cost_complexity_path_ = session.path(0)

    def _read_held_out(self, problem: Problem, X: Any, y: Any, sample_weight: Any) -> _core.HeldOut | None:
        """Rows that judge the tree, encoded; None where nothing of the kind is asked for."""
        wanted = isinstance(self.prune, str) and self.prune == "reduced-error"
        if not wanted:
            if any(given is not None for given in (X, y, sample_weight)):
                raise ValueError(
                    'X_val, y_val and sample_weight_val are for prune="reduced-error", and prune is '
                    f"{self.prune!r}: leave them out"
                )
            return None
        if X is None or y is None:
            raise ValueError(
                'prune="reduced-error" needs the rows that judge the tree: fit(X, y, X_val=..., y_val=...)'
            )
        if issparse(X):
            raise TypeError("X_val must not be sparse: give X_val.toarray()")
        rows = np.ascontiguousarray(read_rows(self, X, problem.columns))
        weights = read_weights(sample_weight, len(rows), name="sample_weight_val")
        return _core.HeldOut(rows, **read_answers(problem, y, len(rows)), weights=weights)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the nested trees of cost-complexity pruning, whatever `prune` and `ccp_alpha` are.

        Returns
        -------
        path : Bunch
            `ccp_alphas`: the alpha from which on each tree is the best one; `impurities`: the risk of each tree, which
            is its impurity, as with `ccp_alpha`, or with `prune` what `pruning_risk` says; `leaves`: its leaves.
        """
        tree = clone(self).set_params(prune=0.0, ccp_alpha=0.0)
        if self.prune is None:
            tree.set_params(pruning_risk="impurity")
        path = tree.fit(X, y, sample_weight).cost_complexity_path_
        return Bunch(ccp_alphas=path["ccp_alphas"], impurities=path["risks"], leaves=path["leaves"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        tags.target_tags.multi_output = not judges_errors(self)
        return tags

    def _grow_options(self, problem: Problem, threads: int = 1) -> _core.GrowOptions:
        """Check the parameters and translate them for the core."""
        options = growth_options(self, problem, threads)
        set_pruning(options.prune, self, problem.n_outputs)
        return options


class CARTClassifier(SingleClassificationTree, _CART):
    """A classification tree.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity. Between splits of equal misclassification, of which there are many, Gini decides.
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
    splits : {"axis", "oblique"}, default="axis"
        "oblique" also searches a linear combination of the columns tried at a node: of numbers only, and only of
        columns that no row of the node lacks. It is taken where it is better than the best test on one column.
        Goes neither with `combination_features` nor with `k_best` above 1.
    prune : None, "cv", "reduced-error" or float, default=None
        None keeps the tree as it was grown. A number is alpha of cost-complexity pruning: the smallest tree that makes
        R(T) + alpha * leaves(T) least, with R as a share of the weight. "cv" chooses alpha by cross-validation.
        "reduced-error" cuts the tree back where the rows given to `fit` as `X_val` and `y_val` say that a node is no
        better than a leaf.
    n_folds : int or array-like of shape (n,), default=10
        Folds of the cross-validation, drawn at random with equal class shares; an array tells the fold of each row.
    rule : {"0se", "1se"}, default="0se"
        The tree of least cross-validated error, or the smallest one within one standard error of it.
    pruning_risk : {"error", "impurity"}, default="error"
        R: what the leaves get wrong, as in CART and rpart, or their impurity, as in scikit-learn.
    prune_to_root : bool, default=True
        Whether cross-validation may choose the root alone. False keeps one split at least, as the sum over k in the
        thesis of Martínez Muñoz (2006, eq. 2.18) does; in an ensemble a root is a wasted member.
    copies : {"apart", "together"}, default="apart"
        Whether the copies of a row in a member's bootstrap sample may fall in different folds. Apart, trees are larger
        (a copy is predicted from its twin) and the ensembles of them better; together, the cross-validated error is
        honest. A row of any sample weight is one row.
    splitter : {"best", "random"}, default="best"
        The best cut of every column tried, or the best of one random cut each (extremely randomised trees): uniform
        between the least and the largest value in the node, of categories a random subset.
    ccp_alpha : float, default=0.0
        scikit-learn's name for cost-complexity pruning by impurity: `prune=ccp_alpha` with `pruning_risk="impurity"`.
        Goes with `prune=None` only; 0 prunes nothing.
    max_bins : int, default=None
        At most 255: cut columns of more values between so many groups of neighbouring values only, each with about the
        same number of rows. None tries every value. For tables of millions of rows, where it saves time.
    monotonic_cst : array-like of shape (m,), default=None
        1, -1 or 0 for each column: whether what is predicted (of two classes the probability of the second) may only
        rise with it, only fall, or both. Of rows that differ in one such column alone, and have values there, the
        larger never gets less (1) or more (-1).
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    random_state : int, RandomState or None, default=None
        Decides between equally good splits, and everything random above.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    tree_ : TreeNodes
        The nodes, in scikit-learn's words; read-only, made when first asked for.
    forest_ : Forest
        The native tree.
    max_features_ : int
        Columns tried at each node.
    feature_importances_ : ndarray
        Share of the impurity decrease due to each column.
    cost_complexity_path_ : dict
        Unless `prune` is None or "reduced-error": the nested trees, from the largest to the root, by `ccp_alphas`,
        `risks` and `leaves`, with "cv" also `cv_errors` and `cv_standard_errors`; `chosen` is the place of this tree.

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
    >>> CARTClassifier(prune="cv", rule="1se", random_state=0).fit(X, y).get_n_leaves()
    3
    """

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
        splits: str = "axis",
        prune: Any = None,
        n_folds: Any = 10,
        rule: str = "0se",
        pruning_risk: str = "error",
        prune_to_root: bool = True,
        copies: str = "apart",
        splitter: str = "best",
        ccp_alpha: float = 0.0,
        max_bins: int | None = None,
        monotonic_cst: Any = None,
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
        self.splits = splits
        self.prune = prune
        self.n_folds = n_folds
        self.rule = rule
        self.pruning_risk = pruning_risk
        self.prune_to_root = prune_to_root
        self.copies = copies
        self.splitter = splitter
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> CARTClassifier:
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X, y, sample_weight
            Training rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        check_input
            scikit-learn's, and ignored: X is always checked.
        X_val, y_val, sample_weight_val
            Rows that judge the tree with `prune="reduced-error"`.
        """
        with all_or_nothing(self):
            self._fit(X, y, sample_weight, (X_val, y_val, sample_weight_val), classification=True)
        return self


class CARTRegressor(RegressorMixin, _CART):
    """A regression tree. Parameters as in `CARTClassifier`, but for

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Least squares and the mean in each leaf; least absolute errors and the median; or, for counts, the least Poisson
        deviance and the mean.

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
        splits: str = "axis",
        prune: Any = None,
        n_folds: Any = 10,
        rule: str = "0se",
        pruning_risk: str = "error",
        prune_to_root: bool = True,
        copies: str = "apart",
        splitter: str = "best",
        ccp_alpha: float = 0.0,
        max_bins: int | None = None,
        monotonic_cst: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = told_of_friedman(criterion)
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.k_best = k_best
        self.combination_features = combination_features
        self.splits = splits
        self.prune = prune
        self.n_folds = n_folds
        self.rule = rule
        self.pruning_risk = pruning_risk
        self.prune_to_root = prune_to_root
        self.copies = copies
        self.splitter = splitter
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> CARTRegressor:
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X, y, sample_weight
            Training rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        check_input
            scikit-learn's, and ignored: X is always checked.
        X_val, y_val, sample_weight_val
            Rows that judge the tree with `prune="reduced-error"`.
        """
        with all_or_nothing(self):
            self._fit(X, y, sample_weight, (X_val, y_val, sample_weight_val), classification=False)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the value of the leaf, of several targets (n, targets)."""
        rows = read_fitted_rows(self, X)
        return self.forest_.value_sums(rows)
