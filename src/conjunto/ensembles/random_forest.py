"""Random forests: bootstrap samples, and few random attributes at every node (Breiman 2001).

Forest-RI takes the best split among F random attributes, Forest-RC among F random linear combinations of L
attributes with coefficients uniform in [-1, 1] (on standardised attributes).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.class_weight import compute_sample_weight

from conjunto.checks import check_choice, check_count, check_sample_size
from conjunto.draw import Draw, Outline
from conjunto.ensembles._answers import ClassAnswers, ValueAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.generation.rows import bootstrap
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.growing import told_of_friedman
from conjunto.learners.rows import read_fitted_rows
from conjunto.problem import Problem
from conjunto.streams import Stream

# Parameters of the forest that are the tree's own.
TREE_PARAMETERS = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "max_bins",
    "monotonic_cst",
)


@dataclass(frozen=True)
class ForestDraw(Draw):
    """A bootstrap sample, or all rows."""

    size: int | None
    """Rows of a sample; None: no sample is drawn."""
    balanced: bool = False
    """Whether classes weigh the same in every sample."""

    def rows(self, stream: Stream, outline: Outline) -> NDArray[np.int32] | None:
        """Multiplicities."""
        return None if self.size is None else bootstrap(stream, outline.n, self.size)

    def weights(self, stream: Stream, problem: Problem, rows: NDArray[Any] | None) -> NDArray[Any] | None:
        """The rows of a class together weigh as much as those of any other."""
        if not self.balanced or rows is None:
            return rows
        if problem.n_outputs > 1:
            sample = np.repeat(np.arange(problem.n), rows)
            return rows * compute_sample_weight("balanced", problem.labels(), indices=sample)
        seen = np.bincount(problem.y, weights=rows, minlength=problem.n_classes)
        with np.errstate(divide="ignore"):
            factor = np.where(seen > 0, seen.sum() / ((seen > 0).sum() * seen), 0.0)
        return rows * factor[problem.y]


class _Forest:
    """What forests of classification and of regression trees share."""

    several_outputs: ClassVar[bool] = True
    splitter: ClassVar[str] = "best"
    """The cuts that trees try: the best of each column, or random ones (extremely randomised trees)."""

    task: str
    splits: str
    combination_features: int
    bootstrap: bool
    max_samples: float | None
    oob_score: Any
    _threads: Any
    _binary_trees: Any

    def _learner(self) -> CARTClassifier | CARTRegressor:
        parameters = {name: getattr(self, name) for name in TREE_PARAMETERS} | {"splitter": self.splitter}
        if parameters["criterion"] == "friedman_mse":
            parameters["criterion"] = "squared_error"
        if check_choice("splits", self.splits, ("axis", "combination")) == "combination":
            parameters["combination_features"] = check_count("combination_features", self.combination_features)
        return (CARTClassifier if self.task == "classification" else CARTRegressor)(**parameters)

    def _draw(self, problem: Problem) -> ForestDraw:
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`. (Without a bootstrap every tree sees all rows)"
            )
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True: else no row is out of bag")
        size = problem.n
        if self.max_samples is not None:
            size = check_sample_size("max_samples", self.max_samples, problem.n)
        scheme = getattr(self, "class_weight", None)
        balanced = isinstance(scheme, str) and scheme == "balanced_subsample"
        return ForestDraw(size, balanced) if self.bootstrap else ForestDraw(None)

    def proximity(self, X: Any, Y: Any = None) -> NDArray[np.float64]:
        """Return the share of trees in which row i of X and row j of Y (default: X) fall in the same leaf."""
        forest = self._binary_trees("proximity")
        ends = np.cumsum(forest.leaf_counts())
        starts = ends - forest.leaf_counts()

        def indicator(rows: NDArray[np.float64]) -> csr_matrix:
            leaves = forest.leaves(rows, self._threads()) + starts
            n, trees = leaves.shape
            return csr_matrix(
                (np.ones(leaves.size), leaves.ravel(), np.arange(0, leaves.size + 1, trees)), shape=(n, ends[-1])
            )

        left = indicator(read_fitted_rows(self, X))
        right = left if Y is None else indicator(read_fitted_rows(self, Y))
        shared: NDArray[np.float64] = (left @ right.T).toarray()
        return shared / len(forest)


class RandomForestClassifier(ClassAnswers, _Forest, IndependentEnsemble):
    """Random forest for classification.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    splits : {"axis", "combination"}, default="axis"
        Tests on one attribute (Forest-RI), or on random linear combinations of several (Forest-RC).
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Attributes, or combinations, tried at each node.
    combination_features : int, default=3
        Attributes in a combination (Forest-RC).
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, ccp_alpha, max_bins, monotonic_cst
        As in `CARTClassifier`.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree; else all rows.
    max_samples : int, float or None, default=None
        Rows of a bootstrap sample, as a number or a share, which may exceed the rows there are; None is as many.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes.
    vote : {"soft", "hard"}, default="soft"
        Average the class shares of the leaves, or count votes.
    oob_score, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    References
    ----------
    Breiman (2001). Random forests. Machine Learning 45, 5-32.

    Examples
    --------
    >>> from conjunto import RandomForestClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.8)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        splits: str = "axis",
        max_features: Any = "sqrt",
        combination_features: int = 3,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: float | None = None,
        ccp_alpha: float = 0.0,
        max_bins: int | None = None,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        vote: str = "soft",
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.splits = splits
        self.max_features = max_features
        self.combination_features = combination_features
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.vote = vote
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _reweighted(self, problem: Problem) -> Problem:
        scheme = self.class_weight
        if isinstance(scheme, str) and self.warm_start:
            warnings.warn(
                'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the '
                "data of one fit are not all there are: give a dict of weights",
                stacklevel=6,
            )
        if isinstance(scheme, str) and scheme == "balanced_subsample":
            # Without a bootstrap the subsample is everything.
            scheme = None if self.bootstrap else "balanced"
        if scheme is None:
            return problem
        weights = compute_sample_weight(scheme, problem.labels())
        return replace(problem, weights=weights if problem.weights is None else weights * problem.weights)


class RandomForestRegressor(ValueAnswers, _Forest, IndependentEnsemble):
    """Random forest for regression. Parameters as in `RandomForestClassifier`, without `class_weight` and `vote`.

    `max_features` is 1.0 by default: all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import RandomForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> forest = RandomForestRegressor(random_state=0).fit(X, X[:, 0])
    >>> bool(forest.score(X, X[:, 0]) > 0.95)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        splits: str = "axis",
        max_features: Any = 1.0,
        combination_features: int = 3,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: float | None = None,
        ccp_alpha: float = 0.0,
        max_bins: int | None = None,
        monotonic_cst: Any = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.splits = splits
        self.max_features = max_features
        self.combination_features = combination_features
        self.criterion = told_of_friedman(criterion)
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
