"""MultiBoost: wagging of boosted committees (Webb 2000)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_optional_count
from conjunto.ensembles._sequential import Run
from conjunto.ensembles._sequential_predict import SequentialClassifier
from conjunto.generation.weights import exponential_weights
from conjunto.streams import Stream


class MultiBoostClassifier(SequentialClassifier):
    """MultiBoost: several runs of AdaBoost.M1, each from random weights, and the weighted vote of all members.

    Boosting inside a committee lowers bias, wagging between committees lowers variance. A member that is perfect or no
    better than chance ends its committee early; the next one then has the members that are left of both.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a `CARTClassifier` of depth 3.
    n_estimators : int, default=100
        Members of all committees.
    n_committees : int, default=None
        Committees of about equal size; None is the square root of `n_estimators`.
    learning_rate, weight_floor, resample, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`; the floor is Webb's 1e-8.

    Attributes
    ----------
    committees_ : ndarray of shape (members,)
        The committee of each member.
    classes_, estimators_, estimator_weights_, estimator_errors_, feature_importances_, stop_reason_
        As in `AdaBoostClassifier`.

    References
    ----------
    Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning 40, 159-196. His first
    committee starts from equal weights; here all start from random ones.

    Examples
    --------
    >>> from conjunto import MultiBoostClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = MultiBoostClassifier(n_estimators=100, random_state=0).fit(X, y)
    >>> int(model.committees_.max()) + 1
    10
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        n_committees: int | None = None,
        learning_rate: float = 1.0,
        weight_floor: float = 1e-8,
        resample: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_committees = n_committees
        self.learning_rate = learning_rate
        self.weight_floor = weight_floor
        self.resample = resample
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def committees_(self) -> NDArray[np.intp]:
        """The committee of each member."""
        check_is_fitted(self)
        return self._groups

    def _rule_name(self) -> str:
        return "m1"

    def _check(self) -> None:
        super()._check()
        wanted = check_optional_count("n_committees", self.n_committees)
        if wanted is not None and wanted > self.n_estimators:
            raise ValueError(f"n_committees={wanted} is more than n_estimators={self.n_estimators}")
        self._size = self.n_estimators / (wanted or math.isqrt(self.n_estimators))

    def _begins_group(self, run: Run) -> bool:
        # The committee after one that ended early has that one's members too (Webb counts restarts of both kinds).
        return len(run.votes) == math.ceil(run.restarts * self._size)

    def _restart_factors(self, n: int, stream: Stream) -> NDArray[np.float64]:
        return exponential_weights(stream, n)
