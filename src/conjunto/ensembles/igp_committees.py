"""IGP committees (Martinez-Munoz and Suarez 2002): boosted IGP trees decide in committees, and the committees vote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.ballot import leaders, prefix_counts
from conjunto.checks import check_count
from conjunto.ensembles._sequential import Run
from conjunto.ensembles.igp_boosting import IGPBoostingClassifier
from conjunto.learners.members import Rows
from conjunto.streams import Stream
from conjunto.votes import Votes


class IGPCommitteesClassifier(IGPBoostingClassifier):
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
        return self._groups

    def _check(self) -> None:
        check_count("n_committees", self.n_committees)
        check_count("committee_size", self.committee_size)
        super()._check()

    def _begins_group(self, run: Run) -> bool:
        return run.groups[-self.committee_size :].count(run.group) == self.committee_size

    def _restart_factors(self, n: int, stream: Stream) -> NDArray[Any] | None:
        return np.ones(n)

    def _restart(self, run: Run) -> bool:
        last = bool(run.groups) and run.groups[-1] == run.group == self.n_committees - 1
        return not last and super()._restart(run)

    def _n_voters(self) -> int:
        return int(self.committees_[-1]) + 1

    def _with_members(self, members: Any) -> Any:
        # The voters are the committees, which stay whole.
        inside = [np.flatnonzero(self.committees_ == committee) for committee in members]
        part = super()._with_members(np.concatenate(inside))
        part._groups = np.repeat(np.arange(len(inside)), [len(each) for each in inside])
        part.n_committees = len(inside)
        return part

    def votes(self, X: Any) -> Votes:
        """Return what each member says about each row, and the committee it belongs to."""
        return replace(super().votes(X), groups=self.committees_)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """(n, K): committees that decide for each class."""
        rows, forest, k = self._read(X), self._binary("committees"), self.n_classes_
        counts = forest.leaf_counts()
        votes = np.repeat(self.estimator_weights_, counts)
        column = np.repeat(self._groups * k, counts) + forest.leaf_labels()
        n_committees = int(self._groups[-1]) + 1
        said = forest.leaf_sums(rows.encoded, votes, column.astype(np.int32), n_committees * k, self._threads())
        decided = leaders(said.reshape(-1, k)).reshape(len(rows.encoded), n_committees)
        return (decided[:, :, None] == np.arange(k)).sum(axis=1).astype(np.float64)

    def _staged_scores(self, rows: Rows) -> Iterator[NDArray[Any]]:
        votes = Votes(
            labels=self._members.labels(rows, self._threads()),
            weights=self.estimator_weights_,
            groups=self._groups,
            classes=self.classes_,
        )
        for count in prefix_counts(votes):
            yield count.counts
