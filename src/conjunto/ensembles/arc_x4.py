"""Arc-x4: boosting without votes that differ (Breiman 1998)."""

from __future__ import annotations

from typing import Any

from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles._staged import BoostedClasses
from conjunto.ensembles.rules.arc_x4 import ArcX4
from conjunto.problem import Problem


class ArcX4Classifier(BoostedClasses, SequentialEnsemble):
    """Arc-x4: examples weigh 1 + m^4, where m is how many members so far got them wrong; one vote each.

    Fully grown trees are never wrong on what they were trained on: use shallow ones, or `resample=True` as Breiman did.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a `CARTClassifier` of depth 3.
    n_estimators : int, default=50
        Rounds; one is enough for a learner that is right everywhere, unless it sees samples.
    resample, early_stopping, validation_fraction, n_iter_no_change, tol, warm_start, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, estimators_, estimator_weights_, estimator_errors_, validation_errors_, feature_importances_, stop_reason_
        As in `AdaBoostClassifier`; all weights are 1.

    References
    ----------
    Breiman (1998). Arcing classifiers. Annals of Statistics 26, 801-849.

    Examples
    --------
    >>> from conjunto import ArcX4Classifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> ArcX4Classifier(n_estimators=100).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        resample: Any = "auto",
        early_stopping: Any = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.resample = resample
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, problem: Problem) -> ArcX4:
        return ArcX4(problem)
