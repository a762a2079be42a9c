"""Class-switching: every member on all rows with a fixed share of the labels changed (Martinez-Munoz and Suarez 2005).

Exactly a share p of the examples, chosen regardless of class, gets another class, uniformly among the other K - 1.
The ensemble learns as long as p < p_max = (K - 1) / K; the parameter is p_hat = p / p_max.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_number
from conjunto.draw import Draw
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.generation.labels import switched_labels
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class SwitchingDraw(Draw):
    """All rows, a share p of the labels switched."""

    p: float

    def labels(self, stream: Stream, problem: Problem) -> NDArray[np.int32] | None:
        """With one class there is nothing to switch to."""
        return switched_labels(stream, problem.y, problem.n_classes, self.p) if problem.n_classes > 1 else None


class ClassSwitchingClassifier(ClassAnswers, IndependentEnsemble):
    """Class-switching ensemble.

    Members must reach (near) zero error on the altered labels: fully grown trees do. Their errors on the training
    rows are then independent by construction, and many members are needed: about 1000.

    Parameters
    ----------
    n_estimators : int, default=1000
        Number of members.
    p_hat : float, default=0.6
        Share of labels switched, in units of (K - 1) / K; in [0, 1).
    estimator, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    Attributes
    ----------
    p_ : float
        The share of labels that is switched.

    References
    ----------
    Martinez-Munoz, Suarez (2005). Switching class labels to generate classification ensembles. Pattern Recognition
    38, 1483-1494.

    Examples
    --------
    >>> from conjunto import ClassSwitchingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> bool(ClassSwitchingClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 1000,
        *,
        p_hat: float = 0.6,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.p_hat = p_hat
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _draw(self, problem: Problem) -> SwitchingDraw:
        p_hat = check_number("p_hat", self.p_hat, 0.0, 1.0, open_high=True)
        self.p_ = p_hat * (problem.n_classes - 1) / problem.n_classes
        return SwitchingDraw(self.p_)
