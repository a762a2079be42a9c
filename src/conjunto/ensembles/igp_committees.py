"""IGP committees (Martinez-Munoz and Suarez 2002): boosted IGP trees decide in committees, and the committees vote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice, check_count
from conjunto.ensembles._boosting import BoostingRun, Restarts
from conjunto.ensembles._panel import Panel
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles._staged import BoostedClasses
from conjunto.ensembles.igp_ensemble import igp_learner
from conjunto.ensembles.rules import BoostingRule
from conjunto.ensembles.rules.igp import IGP
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class Committees(Restarts):
    """So many committees of so many members, each on halves of its own."""

    count: int
    size: int

    def factors(self, n: int, stream: Stream) -> NDArray[np.float64]:
        """The weights that the run began with."""
        return np.ones(n)

    def begins_committee(self, run: BoostingRun) -> bool:
        """When the present one is complete."""
        return run.groups[-self.size :].count(run.group) == self.size

    def is_last(self, run: BoostingRun) -> bool:
        """When all others are complete, and this one has begun."""
        return bool(run.groups) and run.groups[-1] == run.group == self.count - 1


class IGPCommitteesClassifier(BoostedClasses, SequentialEnsemble):
    """Committees of boosted IGP trees.

    Each committee is a run of `IGPBoostingClassifier` on halves of its own. A committee decides by the vote of its
    members, and the ensemble by the vote of its committees: boosting's accuracy with the steadiness of voting. One
    committee is boosting of IGP trees; committees of one member are the IGP ensemble.

    Parameters
    ----------
    estimator : IGPTreeClassifier, default=None
        The base learner, for parameters of its own.
    n_committees : int, default=11
        Number of committees.
    committee_size : int, default=9
        Members of a committee; one that ends early has fewer.
    member_votes : {"plain", "weighted"}, default="plain"
        How the members of a committee vote, as in `IGPBoostingClassifier`; committees have one vote each.
    weight_floor, n_jobs, random_state, verbose
        As in `IGPBoostingClassifier`.

    Attributes
    ----------
    committees_ : ndarray of shape (members,)
        The committee of each member.
    classes_, estimators_, estimator_weights_, estimator_errors_, feature_importances_, stop_reason_
        As in `IGPBoostingClassifier`.

    References
    ----------
    Martinez-Munoz, Suarez (2004). Using all data to generate decision tree ensembles. IEEE Transactions on Systems, Man
    and Cybernetics C 34, 393-397.
    Martinez-Munoz (2006). Clasificacion mediante conjuntos, figure 3.5. Universidad Autonoma de Madrid.

    Examples
    --------
    >>> from conjunto import IGPCommitteesClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> model = IGPCommitteesClassifier(n_committees=5, committee_size=3, random_state=0).fit(X, y)
    >>> model.committees_
    array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    """

    size_parameter = "n_committees"
    draws_per_row = True
    grows = False
    keeps_a_poor_member = True

    def __init__(
        self,
        estimator: Any = None,
        n_committees: int = 11,
        committee_size: int = 9,
        *,
        member_votes: str = "plain",
        weight_floor: float = 1e-8,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_committees = n_committees
        self.committee_size = committee_size
        self.member_votes = member_votes
        self.weight_floor = weight_floor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def n_estimators(self) -> int:  # type: ignore[override]  # not a parameter here: it follows from two others
        """Members of all committees, if none ends early."""
        return self.n_committees * self.committee_size

    @property
    def committees_(self) -> NDArray[np.intp]:
        """The committee of each member."""
        check_is_fitted(self)
        assert self._panel.groups is not None
        return self._panel.groups

    def _rule(self, problem: Problem) -> IGP:
        return IGP(problem, check_choice("member_votes", self.member_votes, ("plain", "weighted")) == "weighted")

    def _learner(self, rule: BoostingRule) -> Any:
        return igp_learner(self.estimator)

    def _restarts(self) -> Committees:
        return Committees(
            check_count("n_committees", self.n_committees), check_count("committee_size", self.committee_size)
        )

    def _fit_problem(self, problem: Problem) -> None:
        self._restarts()
        super()._fit_problem(problem)

    def _seated(self, panel: Panel, run: BoostingRun) -> Panel:
        return replace(panel, groups=np.array(run.groups))
