"""Flipping: labels drawn anew so that the class shares stay as they are (Breiman 2000).

`P(j <- i) = w P_j` for j != i, `w = p / (1 - sum_j P_j^2)`: a share p of the labels changes on average.
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
from conjunto.generation.labels import flipped_labels, flipping_matrix
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class FlippingDraw(Draw):
    """All rows, every label drawn anew."""

    matrix: tuple[tuple[float, ...], ...]
    """(K, K): the probability that class i becomes class j."""

    def labels(self, stream: Stream, problem: Problem) -> NDArray[np.int32]:
        """Each label from its row of the matrix."""
        return flipped_labels(stream, problem.y, np.array(self.matrix))


class FlippingClassifier(ClassAnswers, IndependentEnsemble):
    """Flipping ensemble.

    Works for `p < (1 - sum P_j^2) / (1 - P_min + P_max)`, which is the share of the smallest class where there are
    two; beyond that a warning is given. Class-switching has no such limit.

    Parameters
    ----------
    n_estimators : int, default=1000
        Number of members.
    p_hat : float, default=0.6
        Share of labels changed on average, in units of (K - 1) / K; in [0, 1).
    estimator, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    Attributes
    ----------
    p_ : float
        The share of labels that is changed on average.

    References
    ----------
    Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40, 229-242.

    Examples
    --------
    >>> from conjunto import FlippingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bool(FlippingClassifier(p_hat=0.4, random_state=0).fit(X, y).score(X, y) > 0.99)
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

    def _draw(self, problem: Problem) -> FlippingDraw:
        p_hat = check_number("p_hat", self.p_hat, 0.0, 1.0, open_high=True)
        self.p_ = p_hat * (problem.n_classes - 1) / problem.n_classes
        matrix = flipping_matrix(problem.y, problem.n_classes, self.p_)
        return FlippingDraw(tuple(map(tuple, matrix.tolist())))
