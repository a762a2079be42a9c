"""Boosting of IGP trees (Martinez-Munoz and Suarez 2002): one pair of halves, each reweighted by its own error."""

from __future__ import annotations

from typing import Any

from conjunto.checks import check_choice
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles._staged import BoostedClasses
from conjunto.ensembles.igp_ensemble import igp_learner
from conjunto.ensembles.rules import BoostingRule
from conjunto.ensembles.rules.igp import IGP
from conjunto.problem import Problem


class IGPBoostingClassifier(BoostedClasses, SequentialEnsemble):
    """Boosting of IGP trees.

    One random pair of halves serves the whole run. Every member is an IGP tree with weights in both halves; then inside
    each half wrong examples are weighted up and right ones down. A run ends with a member that is perfect, which is
    kept, or no better than chance, which is kept only if it is the first.

    Parameters
    ----------
    estimator : IGPTreeClassifier, default=None
        The base learner, for parameters of its own.
    n_estimators : int, default=100
        Number of members; there may be fewer (`stop_reason_`).
    member_votes : {"plain", "weighted"}, default="plain"
        Whether each member has one vote, as in the published figure, or log((1 - e) / e) of them.
    weight_floor : float, default=1e-8
        Least weight of an example, against underflow (Bauer and Kohavi 1999).
    warm_start, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, estimators_, estimator_weights_, estimator_errors_, feature_importances_, stop_reason_
        As in `AdaBoostClassifier`.

    References
    ----------
    Martinez-Munoz, Suarez (2004). Using all data to generate decision tree ensembles. IEEE Transactions on Systems, Man
    and Cybernetics C 34, 393-397.
    Martinez-Munoz (2006). Clasificacion mediante conjuntos, figure 3.4. Universidad Autonoma de Madrid.

    Examples
    --------
    >>> from conjunto import IGPBoostingClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> bool(IGPBoostingClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.78)
    True
    """

    draws_per_row = True
    keeps_a_poor_member = True

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        member_votes: str = "plain",
        weight_floor: float = 1e-8,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.member_votes = member_votes
        self.weight_floor = weight_floor
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, problem: Problem) -> IGP:
        return IGP(problem, check_choice("member_votes", self.member_votes, ("plain", "weighted")) == "weighted")

    def _learner(self, rule: BoostingRule) -> Any:
        return igp_learner(self.estimator)
