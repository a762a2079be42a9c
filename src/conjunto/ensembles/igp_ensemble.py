"""IGP ensemble: IGP trees from different halves of the same data (Martinez-Munoz and Suarez 2002)."""

from __future__ import annotations

from typing import Any

from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.learners.igp import IGPTreeClassifier
from conjunto.learners.members import check_learner


class IGPEnsembleClassifier(ClassAnswers, IndependentEnsemble):
    """An ensemble of IGP trees.

    Every member sees all rows; it differs from the others by the random halves between which it is grown and pruned. No
    auxiliary trees are grown, so that building is several times faster than bagging of trees pruned by
    cross-validation.

    Parameters
    ----------
    estimator : IGPTreeClassifier, default=None
        The base learner, for parameters of its own; None is `IGPTreeClassifier()`.
    n_estimators : int, default=100
        Number of members.
    vote, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    References
    ----------
    Martinez-Munoz, Suarez (2004). Using all data to generate decision tree ensembles. IEEE Transactions on Systems, Man
    and Cybernetics C 34, 393-397.

    Examples
    --------
    >>> from conjunto import IGPEnsembleClassifier, IGPTreeClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> tree = IGPTreeClassifier(random_state=0).fit(X, y)
    >>> bool(IGPEnsembleClassifier(random_state=0).fit(X, y).score(X_test, y_test) > tree.score(X_test, y_test))
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        vote: str = "hard",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.vote = vote
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learner(self) -> Any:
        return igp_learner(self.estimator)


def igp_learner(estimator: Any) -> IGPTreeClassifier:
    """The base learner of an ensemble of IGP trees; no other learner has two halves."""
    if estimator is None:
        return IGPTreeClassifier()
    check_learner(estimator, classification=True)
    if type(estimator) is not IGPTreeClassifier:
        raise TypeError(f"estimator must be an IGPTreeClassifier, which works with two halves, got {estimator!r}")
    return estimator
