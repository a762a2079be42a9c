"""Error-correcting output codes: every member on a random two-way partition of the classes (Dietterich, Bakiri 1995).

A member tells the classes of side 0 from those of side 1; each class of the side that it answers gets a vote. The class
with most votes is the one whose column of the code is nearest, in Hamming distance, to the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.draw import Draw
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles._panel import Panel
from conjunto.generation.labels import class_partitions
from conjunto.learners.fitting import Members
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class CodeDraw(Draw):
    """All rows, told which side of a partition of the classes each is on."""

    count: int = field(compare=False)
    """Partitions that are drawn together; the first do not depend on how many follow."""

    def labels(self, stream: Stream, problem: Problem) -> NDArray[np.int32]:
        """0 and 1."""
        return class_partitions(stream.key, problem.n_classes, self.count)[stream.member][problem.y]

    def posed(self, problem: Problem) -> Problem:
        """Two sides."""
        return replace(problem, classes=np.array([0, 1]))


class ECOCClassifier(ClassAnswers, IndependentEnsemble):
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

    draws_per_row = False

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

    def _draw(self, problem: Problem) -> CodeDraw:
        return CodeDraw(self.n_estimators)

    def _reading(self) -> str:
        return "code"

    def _seated(self, members: Members, problem: Problem) -> Panel:
        code = class_partitions(self._drawn.key, problem.n_classes, self.n_estimators)
        return Panel(members, self._reading(), problem.classes, code=code)

    @property
    def code_(self) -> NDArray[np.int32]:
        """The side, 0 or 1, of each class for each member."""
        check_is_fitted(self)
        assert self._panel.code is not None
        return self._panel.code
