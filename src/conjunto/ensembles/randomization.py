"""Randomization: all data for every tree; at each node one of the 20 best splits (Dietterich 2000)."""

from __future__ import annotations

from typing import Any

from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.learners.cart import CARTClassifier


class RandomizationClassifier(ClassAnswers, IndependentEnsemble):
    """Trees that take one of the k best splits of each node, uniformly at random.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    k_best : int, default=20
        The number of splits to choose from.
    max_depth : int, default=None
        Largest depth of a tree.
    warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    References
    ----------
    Dietterich (2000). An experimental comparison of three methods for constructing ensembles of decision trees:
    bagging, boosting, and randomization. Machine Learning 40, 139-157.

    Examples
    --------
    >>> from conjunto import RandomizationClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> RandomizationClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    draws_per_row = False

    several_outputs = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        k_best: int = 20,
        max_depth: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.k_best = k_best
        self.max_depth = max_depth
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learner(self) -> CARTClassifier:
        return CARTClassifier(k_best=self.k_best, max_depth=self.max_depth)
