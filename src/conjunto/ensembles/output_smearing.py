"""Output smearing: every member on all rows with Gaussian noise on the targets (Breiman 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_number
from conjunto.draw import Draw
from conjunto.ensembles._answers import ValueAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.generation.labels import smeared_targets
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class SmearingDraw(Draw):
    """All rows, noise on the targets."""

    sd: float

    def labels(self, stream: Stream, problem: Problem) -> NDArray[np.float64]:
        """Gaussian noise."""
        return smeared_targets(stream, problem.y, self.sd)


class OutputSmearingRegressor(ValueAnswers, IndependentEnsemble):
    """Output smearing, the counterpart of class-switching for regression.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of members.
    noise : float, default=1.0
        Standard deviation of the noise in units of the robust spread of the targets (their standard deviation
        without the outer 2.5 % on each side).
    estimator, warm_start, n_jobs, random_state, verbose
        As in `BaggingRegressor`.

    References
    ----------
    Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40, 229-242.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import OutputSmearingRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = OutputSmearingRegressor(random_state=0).fit(X, X[:, 0])
    >>> bool(model.score(X, X[:, 0]) > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        noise: float = 1.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.noise = noise
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _draw(self, problem: Problem) -> SmearingDraw:
        noise = check_number("noise", self.noise, 0.0, float("inf"))
        low, high = np.quantile(problem.y, [0.025, 0.975])
        inner = problem.y[(problem.y >= low) & (problem.y <= high)]
        return SmearingDraw(noise * float(inner.std() if len(inner) else problem.y.std()))
