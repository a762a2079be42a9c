"""Bagging: every member on a bootstrap sample (Breiman 1996).

A sample of n rows with replacement is the same as integer row weights; on average 63.2 % of the rows appear.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_share_or_count
from conjunto.ensembles._independent import IndependentClassifier, IndependentEnsemble, IndependentRegressor
from conjunto.generation.columns import column_subset
from conjunto.generation.rows import balanced_bootstrap, bootstrap, subsample
from conjunto.problem import Problem
from conjunto.streams import Stream
from conjunto.view import View


class _Bagging(IndependentEnsemble):
    _plan: NDArray[np.int32] | None

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

    def _prepare(self, problem: Problem) -> Any:
        rows = check_share_or_count("max_samples", self.max_samples, problem.n)
        width = check_share_or_count("max_features", self.max_features, problem.m)
        if self.balanced and (not self.bootstrap or rows != problem.n):
            raise ValueError(
                "balanced=True needs bootstrap=True and max_samples=1.0: every row appears n_estimators times"
            )
        if self.balanced and self.warm_start:
            raise ValueError("balanced=True cannot be combined with warm_start: all samples are drawn together")
        if self.oob_score and not self.bootstrap and rows == problem.n:
            raise ValueError("oob_score=True needs bootstrap=True or max_samples < 1.0: no row is out of bag")
        self._plan = None
        return {
            "rows": rows,
            "columns": width,
            "bootstrap": self.bootstrap,
            "bootstrap_features": self.bootstrap_features,
            "balanced": self.n_estimators if self.balanced else 0,
        }

    def _view(self, problem: Problem, stream: Stream) -> View:
        draw = self._draw
        columns = None
        if draw["columns"] < problem.m or draw["bootstrap_features"]:
            columns = column_subset(stream, problem.m, draw["columns"], replace=draw["bootstrap_features"])
        if draw["balanced"]:
            if self._plan is None:
                self._plan = balanced_bootstrap(self._key, problem.n, draw["balanced"])
            return View(self._plan[stream.member], columns=columns)
        sample = bootstrap if draw["bootstrap"] else subsample
        return View(sample(stream, problem.n, draw["rows"]), columns=columns)

    def __getstate__(self) -> dict[str, Any]:
        # The plan of balanced bagging is as large as the data times the members, and can be drawn again.
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_plan": None} if "_plan" in state else state


class BaggingClassifier(IndependentClassifier, _Bagging):
    """Bagging for classification.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a fully grown `CARTClassifier`, which is built natively.
    n_estimators : int, default=10
        Number of members.
    max_samples, max_features : float or int, default=1.0
        Rows drawn, and columns seen, by each member: a share or a number.
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


class BaggingRegressor(IndependentRegressor, _Bagging):
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
