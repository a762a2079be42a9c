"""AdaBoost for regression: R2 and the original R."""

from __future__ import annotations

from typing import Any

from conjunto.checks import check_choice
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles._staged import BoostedValues
from conjunto.ensembles.rules import REGRESSION, BoostingRule
from conjunto.ensembles.rules.r import R
from conjunto.ensembles.rules.r2 import LOSSES, R2
from conjunto.problem import Problem


class AdaBoostRegressor(BoostedValues, SequentialEnsemble):
    """AdaBoost for regression: the weighted median of members, each trained on what those before it missed.

    Parameters
    ----------
    estimator : regressor, default=None
        The base learner; None is a `CARTRegressor` of depth 3.
    n_estimators : int, default=50
        Rounds; fewer where a member is perfect or its error reaches one half.
    learning_rate : float, default=1.0
        Multiplies the votes, in the median and in the reweighting.
    algorithm : {"r2", "r"}, default="r2"
        "r2" weighs examples by their share of the largest error (Drucker 1997); "r" keeps, for every example, a weight
        function of the answer, and bounds the squared error (Freund and Schapire 1997).
    loss : {"linear", "square", "exponential"}, default="linear"
        What "r2" makes of that share; "r" has no choice of loss.
    resample, weight_floor, early_stopping, validation_fraction, n_iter_no_change, tol, warm_start, n_jobs, \
random_state, verbose
        As in `AdaBoostClassifier`. Early stopping watches the squared error. With "r" the floor only changes what
        members see.

    Attributes
    ----------
    estimators_ : list
        The members, made on demand.
    estimator_weights_, estimator_errors_ : ndarray of shape (rounds,)
        Vote and weighted loss of each member.
    bound_ : ndarray of shape (rounds,)
        With "r", a bound of the mean squared error on the training data after each round.
    validation_errors_, feature_importances_, stop_reason_
        As in `AdaBoostClassifier`.

    References
    ----------
    Freund, Schapire (1997). A decision-theoretic generalization of on-line learning and an application to boosting.
    Journal of Computer and System Sciences 55, 119-139.
    Drucker (1997). Improving regressors using boosting techniques. ICML, 107-115.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import AdaBoostRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> model = AdaBoostRegressor(algorithm="r").fit(X, y)
    >>> bool(np.mean((model.predict(X) - y) ** 2) <= model.bound_[-1])
    True
    """

    keeps_a_poor_member = True

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        algorithm: str = "r2",
        loss: str = "linear",
        resample: Any = "auto",
        weight_floor: float = 0.0,
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
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.loss = loss
        self.resample = resample
        self.weight_floor = weight_floor
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, problem: Problem) -> BoostingRule:
        loss = check_choice("loss", self.loss, tuple(LOSSES))
        name = check_choice("algorithm", self.algorithm, REGRESSION)
        return R(problem) if name == "r" else R2(problem, loss)
