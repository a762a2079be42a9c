"""Wagging: every member on all rows with random weights (Bauer and Kohavi 1999; Webb 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from conjunto.checks import check_choice, check_number
from conjunto.draw import Draw, Outline
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.generation.weights import exponential_weights, gaussian_weights
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class WaggingDraw(Draw):
    """Random weights of all rows."""

    distribution: str
    sd: float

    def rows(self, stream: Stream, outline: Outline) -> NDArray[Any]:
        """Weights that sum to n."""
        if self.distribution == "gaussian":
            return gaussian_weights(stream, outline.n, self.sd)
        return exponential_weights(stream, outline.n)


class WaggingClassifier(ClassAnswers, IndependentEnsemble):
    """Wagging: weight aggregation.

    Parameters
    ----------
    distribution : {"gaussian", "exponential"}, default="gaussian"
        Normal weights of mean 1 with negatives cut to 0, which leaves some rows out, or weights -log U, which lose
        no row; both rescaled to sum n.
    sd : float, default=2.0
        Standard deviation of the normal weights; with 2 to 3 wagging is close to bagging.
    estimator, n_estimators, oob_score, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`; out-of-bag rows exist with normal weights only.

    References
    ----------
    Bauer, Kohavi (1999). An empirical comparison of voting classification algorithms. Machine Learning 36, 105-139.
    Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning 40, 159-196.

    Examples
    --------
    >>> from conjunto import WaggingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bool(WaggingClassifier(oob_score=True, random_state=0).fit(X, y).oob_score_ > 0.9)
    True
    """

    several_outputs = True

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        distribution: str = "gaussian",
        sd: float = 2.0,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.distribution = distribution
        self.sd = sd
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _draw(self, problem: Problem) -> WaggingDraw:
        check_choice("distribution", self.distribution, ("gaussian", "exponential"))
        sd = check_number("sd", self.sd, 0.0, float("inf"))
        if self.oob_score and self.distribution == "exponential":
            raise ValueError(
                'oob_score=True needs distribution="gaussian": exponential weights leave no row out of bag'
            )
        return WaggingDraw(self.distribution, sd)
