"""Round robin: one member for every pair of classes, on the rows of these two (Fürnkranz 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np

from conjunto.ensembles._recoded import RecodedClassifier
from conjunto.generation.labels import class_pairs
from conjunto.learners.members import Rows
from conjunto.problem import Problem
from conjunto.streams import Stream
from conjunto.view import View
from conjunto.votes import Votes


class RoundRobinClassifier(RecodedClassifier):
    """Round robin: K (K - 1) / 2 members, each of which votes for one of its two classes.

    A member whose classes have no row of positive weight has learned nothing and abstains. The labels of the training
    rows are kept: they say which rows each member saw.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a fully grown `CARTClassifier`, which is built natively.
    n_jobs, random_state, verbose
        As in `BaggingClassifier`; only base learners that are random depend on `random_state` (a `CARTClassifier`
        decides between equally good splits).

    Attributes
    ----------
    pairs_ : ndarray of shape (T, 2)
        The two classes of each member; a single class is paired with itself.
    estimators_, estimators_samples_ : list
        The members and the rows that each saw; made on demand.

    References
    ----------
    Fürnkranz (2002). Round robin classification. Journal of Machine Learning Research 2, 721-747.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import RoundRobinClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RoundRobinClassifier().fit(X, y).pairs_.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    _not_out_of_bag = "a row is left out by the members that cannot answer its class, and by no other"
    _not_voters = "every member is the only one that tells its two classes apart"

    def __init__(
        self, estimator: Any = None, *, n_jobs: int | None = None, random_state: Any = None, verbose: int = 0
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _n_members(self, problem: Problem) -> int:
        return len(class_pairs(problem.n_classes))

    def _prepare(self, problem: Problem) -> Any:
        pairs = class_pairs(problem.n_classes)
        self.pairs_ = self.classes_[pairs]
        return {"labels": problem.y, "pairs": pairs}

    def _view(self, problem: Problem, stream: Stream) -> View:
        pair = self._draw["pairs"][stream.member]
        return View(np.isin(self._draw["labels"], pair).astype(np.int32))

    def _votes_of(self, rows: Rows) -> Votes:
        labels = self._members.labels(rows, self._threads())
        labels[self._blind] = -1
        return Votes(labels=labels, classes=self.classes_)
