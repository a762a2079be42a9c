"""Error-correcting output codes: every member on a random two-way partition of the classes (Dietterich, Bakiri 1995).

A member tells the classes of side 0 from those of side 1; each class of the side that it answers gets a vote. The class
with most votes is the one whose column of the code is nearest, in Hamming distance, to the answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.ensembles._recoded import RecodedClassifier
from conjunto.generation.labels import class_partitions
from conjunto.learners.members import Rows
from conjunto.problem import Problem
from conjunto.streams import Stream
from conjunto.view import View
from conjunto.votes import Votes

SIDES = np.array([0, 1])


class ECOCClassifier(RecodedClassifier):
    """Error-correcting output codes for problems of several classes.

    Partitions repeat only after all 2^(K - 1) - 1 have come (three for three classes, one for two); members of equal
    partitions differ only as far as the base learner is random.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner, which sees classes 0 and 1; None is a fully grown `CARTClassifier`.
    n_estimators : int, default=100
        Number of partitions.
    warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    Attributes
    ----------
    code_ : ndarray of shape (T, K)
        The side, 0 or 1, of each class for each member.
    estimators_ : list
        The members, which answer 0 or 1.

    References
    ----------
    Dietterich, Bakiri (1995). Solving multiclass learning problems via error-correcting output codes. Journal of
    Artificial Intelligence Research 2, 263-286.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from conjunto import CARTClassifier, ECOCClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = CARTClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> code = ECOCClassifier(n_estimators=60, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(code.score(X[1000:], y[1000:]) > tree.score(X[1000:], y[1000:]) + 0.1)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _prepare(self, problem: Problem) -> Any:
        self.code_ = class_partitions(self._key, problem.n_classes, self.n_estimators)

    def _members_problem(self, problem: Problem) -> Problem:
        return replace(problem, classes=SIDES)

    def _view(self, problem: Problem, stream: Stream) -> View:
        return View(labels=self.code_[stream.member][problem.y])

    def _views_again(self) -> Iterator[View]:
        # A part of an ensemble keeps the code of its own members alone; what they see does not depend on it.
        check_is_fitted(self)
        return (View() for _ in range(len(self._members)))

    _labels_tell = False

    def _adds_scores(self) -> bool:
        return True

    def _with_members(self, members: Any) -> Any:
        part = super()._with_members(members)
        part.code_ = self.code_[np.asarray(members, dtype=np.intp)]
        return part

    def _votes_of(self, rows: Rows) -> Votes:
        said = self._members.labels(rows, self._threads())
        scores = (said[:, :, None] == self.code_[:, None, :]).astype(np.float32)
        return Votes(scores=scores, classes=self.classes_)

    def _counts(self, rows: Rows) -> NDArray[np.float64]:
        # The same votes added up, without a number for every member, row and class.
        said = self._members.labels(rows, self._threads()).astype(np.float64)
        return said.T @ (2.0 * self.code_ - 1) + (1 - self.code_).sum(axis=0)

    @property
    def estimators_(self) -> list[Any]:
        """The members as a list of fitted estimators, which answer 0 or 1; made on demand."""
        check_is_fitted(self)
        return self._members.estimators(self._like(SIDES))
