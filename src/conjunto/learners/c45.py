"""C4.5, Release 8 (Quinlan 1993, 1996): trees by gain ratio, with multiway tests and error-based pruning.

The information gain of a test among the rows whose value is known, times their share, is divided by the entropy of the
branch sizes; among tests of at least average gain the largest ratio wins. A row whose value is missing goes down every
branch with part of its weight. A node is pruned where N * U_CF(e, N), the upper confidence limit of its errors, is no
larger than that of its subtree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.atomic import all_or_nothing
from conjunto.checks import NO_LIMIT, check_choice, check_number, check_optional_count
from conjunto.learners.c45_outline import c45_outline
from conjunto.learners.outline import TreeOutline
from conjunto.learners.tree import SingleClassificationTree
from conjunto.learners.views import core_views
from conjunto.problem import Problem, read_problem
from conjunto.streams import Key
from conjunto.view import View


class C45Classifier(SingleClassificationTree):
    """A C4.5 tree, as Release 8 grows and prunes it. It is deterministic: nothing is random.

    Sample weights count as they are: a row of weight 2 is two rows, and `min_samples_branch` is a sum of weights, so
    that weights that sum to 1 give a single leaf: bring them to a mean of 1.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}, default="gain_ratio"
        What the best test has most of: the gain ratio, among tests of at least average gain, or the gain.
    min_samples_branch : float, default=2
        Least weight of two branches of a test. A test on a number needs on both sides a tenth of the average
        class size too (at most 25).
    penalize_thresholds : bool, default=True
        Whether the gain of a threshold is reduced by the cost of choosing it among all cuts tried,
        `log2(cuts) / N` bits (Quinlan 1996).
    group_values : bool, default=False
        Whether a test on a category may have groups of categories as branches: those that are merged greedily
        while the gain ratio rises. Without it there is a branch for each category.
    prune : bool, default=True
        Error-based pruning.
    confidence : float in (0, 1], default=0.25
        Confidence level of the limit of errors; a smaller one prunes more.
    subtree_raising : bool, default=True
        Whether pruning may replace a node by its largest branch.
    collapse : bool, default=True
        Whether subtrees that make no fewer training errors than a leaf become one, pruned or not.
    max_depth : int, default=None
        Largest depth; None means no limit.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    forest_ : C45Forest
        The native tree.
    feature_importances_ : ndarray
        Share of the information gain due to each column.

    References
    ----------
    Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
    Quinlan (1996). Improved use of continuous attributes in C4.5. JAIR 4, 77-90.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import C45Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = C45Classifier().fit(X, y)
    >>> tree.get_n_leaves(), round(tree.score(X, y), 2)
    (5, 0.98)
    """

    forest_: _core.C45Forest

    takes_sparse = False

    def __init__(
        self,
        *,
        criterion: str = "gain_ratio",
        min_samples_branch: float = 2,
        penalize_thresholds: bool = True,
        group_values: bool = False,
        prune: bool = True,
        confidence: float = 0.25,
        subtree_raising: bool = True,
        collapse: bool = True,
        max_depth: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.min_samples_branch = min_samples_branch
        self.penalize_thresholds = penalize_thresholds
        self.group_values = group_values
        self.prune = prune
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.collapse = collapse
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45Classifier:
        """Grow and prune the tree."""
        with all_or_nothing(self):
            problem = read_problem(self, X, y, sample_weight, classification=True)
            assert problem.classes is not None
            self.classes_ = problem.classes
            self.n_classes_ = len(problem.classes)
            self._columns = problem.columns
            only = np.zeros(1, dtype=np.uint64)
            self.forest_ = grow_c45_trees(self, problem, None, only, [View()])
        return self

    def _outline(self) -> TreeOutline:
        return c45_outline(self)

    @property
    def n_nodes_(self) -> int:
        """Number of inner nodes and leaves."""
        check_is_fitted(self)
        return self.forest_.n_nodes


def c45_options(learner: C45Classifier, problem: Problem, threads: int = 1) -> _core.C45Options:
    """Check the parameters of a tree and translate them for the core."""
    options = _core.C45Options()
    options.classes = problem.n_classes
    options.gain_ratio = check_choice("criterion", learner.criterion, ("gain_ratio", "gain")) == "gain_ratio"
    options.min_objects = check_number(
        "min_samples_branch", learner.min_samples_branch, 0.0, math.inf, open_low=True, open_high=True
    )
    options.confidence = check_number("confidence", learner.confidence, 0.0, 1.0, open_low=True)
    for name, switch in (
        ("penalize_thresholds", "mdl"),
        ("group_values", "group_values"),
        ("prune", "prune"),
        ("subtree_raising", "raise_branches"),
        ("collapse", "collapse"),
    ):
        setattr(options, switch, bool(check_choice(name, getattr(learner, name), (True, False))))
    depth = check_optional_count("max_depth", learner.max_depth)
    if depth is not None:
        options.max_depth = min(depth, NO_LIMIT)
    options.threads = threads
    return options


def grow_c45_trees(
    learner: C45Classifier,
    problem: Problem,
    key: Key | None,
    members: NDArray[np.uint64],
    views: Iterable[View],
    threads: int = 1,
) -> _core.C45Forest:
    """Grow one tree per member in one native call; arguments as in `grow_trees`.

    The key, from which the streams of other learners come, is not used: C4.5 draws nothing.
    """
    options = c45_options(learner, problem, threads)
    return _core.grow_c45(problem.table(threads), options, core_views(learner, problem, views, members))
