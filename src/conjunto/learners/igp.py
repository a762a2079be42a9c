"""IGP: iterative growing and pruning between two halves of the data (Gelfand, Ravishankar and Delp 1991).

One half grows the tree to purity, the other prunes it: a node t becomes a leaf when the errors of the leaves below it
are no fewer than its own, S(t) >= R(t). Then the halves change roles, and growth goes on from the leaves of the pruned
tree, until two pruned trees in a row have the same size. All data grow the tree, all data prune it, and no auxiliary
trees are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.atomic import all_or_nothing
from conjunto.learners.growing import growth_options
from conjunto.learners.tree import BinaryTree, SingleClassificationTree
from conjunto.learners.views import core_views
from conjunto.problem import Problem, read_problem
from conjunto.streams import stream_of
from conjunto.view import View


class IGPTreeClassifier(SingleClassificationTree, BinaryTree):
    """A classification tree grown by one half of the data and pruned by the other, in turns.

    The halves are drawn at random with equal class shares, so that other halves give another tree: that is what makes
    ensembles of IGP trees diverse though every member sees all data. A node's class is decided by the half that grew it
    (a tie by its parent's class) and stays; then each pruned tree contains the one before it, and the sequence ends.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity.
    min_samples_leaf : int or float, default=1
        Least number of rows of the growing half in a leaf; a float is a share of all rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns tried at each node; columns constant in the node do not count.
    random_state : int, RandomState or None, default=None
        Draws the halves; decides between equally good splits.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_passes_ : int
        How often the tree was grown and pruned until it came to rest.
    forest_ : Forest
        The native tree.
    feature_importances_ : ndarray
        Share of the impurity decrease due to each column.

    References
    ----------
    Gelfand, Ravishankar, Delp (1991). An iterative growing and pruning algorithm for classification tree design. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 13, 163-174.

    Examples
    --------
    >>> from conjunto import CARTClassifier, IGPTreeClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> tree = IGPTreeClassifier(random_state=0).fit(X, y)
    >>> tree.get_n_leaves() < CARTClassifier(random_state=0).fit(X, y).get_n_leaves() / 2
    True
    """

    draws_per_row = True
    """Two halves of the rows."""

    def __init__(
        self,
        *,
        criterion: str = "gini",
        min_samples_leaf: float = 1,
        max_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> IGPTreeClassifier:
        """Grow and prune until the size of the tree stays.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, m)
            Rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, in growing and in pruning.
        """
        with all_or_nothing(self):
            problem = read_problem(self, X, y, sample_weight, classification=True)
            assert problem.classes is not None
            self.classes_ = problem.classes
            self.n_classes_ = len(problem.classes)
            self._columns = problem.columns
            stream = stream_of(self.random_state)
            session = _core.GrowSession(problem.table(), self._grow_options(problem), *stream.key, lasts=False)
            session.grow(core_views(self, problem, [View()], [stream.member]), _core.Answer.leaves)
            self.forest_ = session.forest()
            self.n_passes_ = int(session.passes()[0])
        return self

    def _grow_options(self, problem: Problem, threads: int = 1) -> _core.GrowOptions:
        options = growth_options(self, problem, threads)
        options.igp = True
        return options

    def predict_proba(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the class shares of all training rows in the leaf.

        The label of a leaf is that of the half that grew it: where the halves disagree, the largest share may belong to
        another class than `predict` says.
        """
        return super().predict_proba(X)
