"""Bagging: every member on a bootstrap sample (Breiman 1996).

A sample of n rows with replacement is the same as integer row weights; on average 63.2 % of the rows appear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from conjunto.checks import check_share_or_count
from conjunto.draw import Draw, Outline
from conjunto.ensembles._answers import ClassAnswers, ValueAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles._routing import Routing
from conjunto.generation.columns import column_subset
from conjunto.generation.rows import balanced_bootstrap, bootstrap, subsample
from conjunto.learners.members import ForeignMembers
from conjunto.problem import Problem
from conjunto.streams import Key, Stream


@dataclass(frozen=True)
class BaggingDraw(Draw):
    """A sample of the rows, and of the columns."""

    size: int
    width: int
    bootstrap: bool = True
    bootstrap_features: bool = False
    balanced: int = 0
    """Members of balanced bagging, whose samples are drawn together; 0: each has a sample of its own."""

    def rows(self, stream: Stream, outline: Outline) -> NDArray[Any]:
        """Multiplicities."""
        if self.balanced:
            return self._together(stream.key, outline.n)[stream.member]
        return (bootstrap if self.bootstrap else subsample)(stream, outline.n, self.size)

    def columns(self, stream: Stream, outline: Outline) -> NDArray[Any] | None:
        """A subset of the columns, where there is a choice."""
        if self.width == outline.m and not self.bootstrap_features:
            return None
        return column_subset(stream, outline.m, self.width, replace=self.bootstrap_features)

    def _together(self, key: Key, n: int) -> NDArray[np.int32]:
        """The samples of balanced bagging, kept beside the draw as long as it lives."""
        kept = self.__dict__.get("_samples")
        if kept is None or kept[0] != (key, n):
            kept = ((key, n), balanced_bootstrap(key, n, self.balanced))
            self.__dict__["_samples"] = kept
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        # They are as large as the data times the members, and can be drawn again.
        return {name: value for name, value in self.__dict__.items() if name != "_samples"}


class _Bagging:
    """The parameters of bagging, in classification and in regression."""

    several_outputs: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        balanced: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.balanced = balanced
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _draw(self, problem: Problem) -> BaggingDraw:
        size = problem.n
        if self.max_samples is not None:
            size = check_share_or_count("max_samples", self.max_samples, problem.n)
        width = check_share_or_count("max_features", self.max_features, problem.m)
        if self.balanced and (not self.bootstrap or size != problem.n):
            raise ValueError(
                "balanced=True needs bootstrap=True and max_samples=1.0: every row appears n_estimators times"
            )
        if self.balanced and self.warm_start:
            raise ValueError("balanced=True cannot be combined with warm_start: all samples are drawn together")
        if self.oob_score and not self.bootstrap and size == problem.n:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, or with max_samples < 1.0: else no row is out "
                "of bag"
            )
        balanced = self.n_estimators if self.balanced else 0
        return BaggingDraw(size, width, bool(self.bootstrap), bool(self.bootstrap_features), balanced)


def _members_have_decisions(ensemble: Any) -> bool:
    """Whether members have a decision function, which our trees have not; a count of votes may decide otherwise."""
    return ensemble.vote == "soft" and hasattr(ensemble.estimator, "decision_function")


class BaggingClassifier(Routing, ClassAnswers, _Bagging, IndependentEnsemble):
    """Bagging for classification.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a fully grown `CARTClassifier`, which is built natively.
    n_estimators : int, default=10
        Number of members.
    max_samples, max_features : float or int, default=1.0
        Rows drawn, and columns seen, by each member: a share or a number; `max_samples=None` is as many as there are.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw columns with replacement.
    balanced : bool, default=False
        Balanced bagging (Christensen et al. 2003): every row appears `n_estimators` times in total.
    oob_score : bool or callable, default=False
        Keep out-of-bag votes and the accuracy that they give, or another measure (truth, prediction).
    warm_start : bool, default=False
        A second `fit` adds members up to `n_estimators`.
    n_jobs : int, default=None
        Threads (our trees) or joblib workers (other learners).
    random_state : int, RandomState or None, default=None
        Seed; the result does not depend on `n_jobs`.
    verbose : int, default=0
        Report progress on standard error.
    vote : {"hard", "soft"}, default="hard"
        Count the members' votes, or average their class shares.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    estimators_, estimators_samples_, estimators_features_ : list
        The members, the rows and the columns that each saw; made on demand.
    oob_votes_, oob_decision_function_, oob_score_
        Only with `oob_score=True`.

    References
    ----------
    Breiman (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> from conjunto import BaggingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    >>> bool(bag.oob_score_ > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        balanced: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        vote: str = "hard",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            max_samples=max_samples,
            max_features=max_features,
            bootstrap=bootstrap,
            bootstrap_features=bootstrap_features,
            balanced=balanced,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.vote = vote

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return the class with the largest vote; `params` are routed to the members."""
        return super().predict(self._asked(X, "predict", params))

    def predict_proba(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Return the share of each class in the votes, or the mean of the members' probabilities."""
        return super().predict_proba(self._asked(X, "predict_proba", params))

    def predict_log_proba(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return super().predict_log_proba(self._asked(X, "predict_log_proba", params))

    @available_if(_members_have_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Return the mean of the members' decision functions, with `vote="soft"`."""
        rows = self.read(self._asked(X, "decision_function", params))
        members = self._voting().members
        assert isinstance(members, ForeignMembers)
        return members.decisions(rows)


class BaggingRegressor(Routing, ValueAnswers, _Bagging, IndependentEnsemble):
    """Bagging for regression: the mean of the members. Parameters as in `BaggingClassifier`, without `vote`.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import BaggingRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = BaggingRegressor(n_estimators=50, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> bool(model.score(X, np.sin(6 * X[:, 0])) > 0.99)
    True
    """

    def predict(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Return the mean of the members' predictions; `params` are routed to the members."""
        return super().predict(self._asked(X, "predict", params))
