"""Double-bagging: bootstrap samples, and a linear discriminant from the rows left out (Hothorn, Lausen 2003).

A member sees the attributes and the discriminant variables. These come from other rows than those that it learns from,
so that it can trust them: where classes are linearly separable it does as well as the discriminant, elsewhere as
bagging.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_share_or_count
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles.bagging import BaggingDraw
from conjunto.learners.discriminant import Discriminant, fit_discriminant
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class DoubleBaggingDraw(BaggingDraw):
    """A sample of the rows, and the discriminant variables of the others."""

    def features(self, stream: Stream, problem: Problem, rows: NDArray[Any] | None) -> Discriminant:
        """Fitted on the rows left out."""
        assert rows is not None
        weights = np.ones(problem.n) if problem.weights is None else problem.weights
        left_out = np.where(rows == 0, weights, 0.0)
        return fit_discriminant(problem.X, problem.y, left_out, problem.columns.counts, problem.n_classes)


class DoubleBaggingClassifier(ClassAnswers, IndependentEnsemble):
    """Double-bagging.

    There are no out-of-bag votes: a member's discriminant has seen the rows that its sample leaves out.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of members.
    max_samples : float or int, default=1.0
        Rows drawn for each member: a share or a number. The others fit its discriminant.
    bootstrap : bool, default=True
        Draw rows with replacement; without, `max_samples` must leave some out.
    estimator, warm_start, n_jobs, random_state, verbose, vote
        As in `BaggingClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    estimators_, estimators_samples_ : list
        The members, which take X and compute their discriminants, and the rows that each saw; made on demand.

    Notes
    -----
    There are K - 1 discriminant variables, or as many as there are attributes if these are fewer. They use sample
    weights; a missing number counts as the mean of the rows left out, a category is an indicator. Where the rows left
    out hold one class alone, or nothing that discriminates, the variables are 0.

    References
    ----------
    Hothorn, Lausen (2003). Double-bagging: combining classifiers by bootstrap aggregation. Pattern Recognition 36,
    1303-1309.

    Examples
    --------
    >>> from conjunto import BaggingClassifier, DoubleBaggingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> double = DoubleBaggingClassifier(random_state=0).fit(X, y).score(X_test, y_test)
    >>> bool(double > BaggingClassifier(n_estimators=100, random_state=0).fit(X, y).score(X_test, y_test))
    True
    """

    no_out_of_bag = "the discriminant of a member has seen the labels of the rows that its sample leaves out"
    on_columns = False
    takes_sparse = False

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_samples: float = 1.0,
        bootstrap: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        vote: str = "hard",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.vote = vote

    def _draw(self, problem: Problem) -> DoubleBaggingDraw:
        size = check_share_or_count("max_samples", self.max_samples, problem.n)
        if not self.bootstrap and size == problem.n:
            raise ValueError("bootstrap=False needs max_samples < 1.0: no row is left out to fit a discriminant")
        return DoubleBaggingDraw(size, problem.m, bool(self.bootstrap))
