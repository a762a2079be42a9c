"""MultiBoost: wagging of boosted committees (Webb 2000)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_optional_count
from conjunto.ensembles._boosting import BoostingRun, Restarts
from conjunto.ensembles._panel import Panel
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles._staged import BoostedClasses
from conjunto.ensembles.rules.m1 import M1
from conjunto.generation.weights import exponential_weights
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class WaggedCommittees(Restarts):
    """Committees of about equal size, each from exponential weights."""

    size: float

    def factors(self, n: int, stream: Stream) -> NDArray[np.float64]:
        """Weights that lose no example."""
        return exponential_weights(stream, n)

    def begins_committee(self, run: BoostingRun) -> bool:
        """The committee after one that ended early has that one's members too (Webb counts restarts of both kinds)."""
        return len(run.votes) == math.ceil(run.n_restarts * self.size)


class MultiBoostClassifier(BoostedClasses, SequentialEnsemble):
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

    draws_per_row = True
    grows = False

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
        assert self._panel.committees is not None
        return self._panel.committees

    def take(self, voters: Sequence[int] | NDArray[Any]) -> Self:
        """Return a fitted copy with some of the members, in this order."""
        part = super().take(voters)
        if part.n_committees is not None:
            # A clone of the part must be an ensemble that can be fitted.
            part.n_committees = min(part.n_committees, part.n_estimators)
        return part

    def _seated(self, panel: Panel, run: BoostingRun) -> Panel:
        return replace(panel, committees=np.array(run.groups))

    def _rule(self, problem: Problem) -> M1:
        return M1(problem)

    def _restarts(self) -> WaggedCommittees:
        wanted = check_optional_count("n_committees", self.n_committees)
        if wanted is not None and wanted > self.n_estimators:
            raise ValueError(f"n_committees={wanted} is more than n_estimators={self.n_estimators}")
        return WaggedCommittees(self.n_estimators / (wanted or math.isqrt(self.n_estimators)))
