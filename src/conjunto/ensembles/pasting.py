"""Pasting: every member on a sample without replacement, smaller than the data (Breiman 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from conjunto.checks import check_share_or_count
from conjunto.draw import Draw, Outline
from conjunto.ensembles._answers import ClassAnswers, ValueAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.generation.rows import subsample
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class PastingDraw(Draw):
    """A sample of the rows without replacement."""

    size: int

    def rows(self, stream: Stream, outline: Outline) -> NDArray[Any]:
        """1 for the rows of the sample."""
        return subsample(stream, outline.n, self.size)


class _Pasting:
    """The parameters of pasting, in classification and in regression."""

    several_outputs: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_samples: float = 0.5,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _draw(self, problem: Problem) -> PastingDraw:
        size = check_share_or_count("max_samples", self.max_samples, problem.n)
        if self.oob_score and size == problem.n:
            raise ValueError("oob_score=True needs max_samples below the number of rows: no row is out of bag")
        return PastingDraw(size)


class PastingClassifier(ClassAnswers, _Pasting, IndependentEnsemble):
    """Pasting for classification: hard votes of members on subsamples.

    Parameters
    ----------
    max_samples : float or int, default=0.5
        Rows of a sample: a share or a number.
    estimator, n_estimators, oob_score, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    References
    ----------
    Breiman (1999). Pasting small votes for classification in large databases and on-line. Machine Learning 36, 85-103.

    Examples
    --------
    >>> from conjunto import PastingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = PastingClassifier(max_samples=0.3, random_state=0).fit(X, y)
    >>> len(model.estimators_samples_[0])
    90
    """


class PastingRegressor(ValueAnswers, _Pasting, IndependentEnsemble):
    """Pasting for regression. Parameters as in `PastingClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import PastingRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = PastingRegressor(n_estimators=20, random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(model.score(X, X[:, 0] ** 2) > 0.99)
    True
    """
