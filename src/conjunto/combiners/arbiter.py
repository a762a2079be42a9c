"""Arbiters: for every member a referee that learns where it is right (Ortega, Koppel and Argamon)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice
from conjunto.combiners._asking import Answer
from conjunto.combiners._combiner import ClassVotes
from conjunto.combiners._fitting import Unseen
from conjunto.combiners._named import weighed
from conjunto.learners.cart import CARTClassifier
from conjunto.problem import as_rows
from conjunto.ties import leaders
from conjunto.votes import Votes

Array = NDArray[Any]


class ArbiterClassifier(ClassVotes):
    """Classifiers with one referee each, which says from the columns of a row how probably its member is right.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Models and their names. One that is "drop" is left out.
    arbiter : classifier, default=None
        What referees are clones of: a classifier of right and wrong that gives probabilities. None is a tree with at
        least 20 rows in a leaf.
    decision : {"select", "weigh"}, default="select"
        Whether the member whose referee trusts it most decides, or all of them do, weighed by the trust.
    prefit : bool, default=False
        Whether the models are fitted already, by whichever library; X and y of `fit` are then rows that none of them
        saw.
    cv : int, splitter or iterable, default=None
        Folds in which it is found out where members are right; None is 5.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    arbiters_ : list
        Their referees; a number where a member was always right, or always wrong.
    classes_ : ndarray
        The labels.

    References
    ----------
    Ortega, Koppel, Argamon (2001). Arbitrating among competing classifiers using learned referees. Knowledge and
    Information Systems 3, 470-490.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from conjunto import ArbiterClassifier, CARTClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> models = [("tree", CARTClassifier(max_depth=4)), ("linear", LogisticRegression(max_iter=500))]
    >>> model = ArbiterClassifier(models).fit(X, y)
    >>> model.trust(X[:1]).shape
    (2, 1)
    """

    def __init__(
        self,
        estimators: Any,
        *,
        arbiter: Any = None,
        decision: str = "select",
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.arbiter = arbiter
        self.decision = decision
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def trust(self, X: Any) -> NDArray[np.float64]:
        """Return how probably each member is right, (members, n)."""
        check_is_fitted(self)
        X = as_rows(X)
        return np.stack(
            [
                np.full(X.shape[0], arbiter) if isinstance(arbiter, float) else arbiter.predict_proba(X)[:, 1]
                for arbiter in self.arbiters_
            ]
        )

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        check_choice("decision", self.decision, ("select", "weigh"))
        if self.arbiter is not None and not (hasattr(self.arbiter, "fit") and hasattr(self.arbiter, "predict_proba")):
            raise ValueError(f"arbiter must be a classifier that gives probabilities, got {self.arbiter!r}")

    def _answer(self) -> Answer:
        return "labels"

    def _learn(self, unseen: Unseen) -> None:
        self.arbiters_ = [self._referee(unseen, said == unseen.y) for said in unseen.answers]

    def _referee(self, unseen: Unseen, right: NDArray[np.bool_]) -> Any:
        if right.all() or not right.any():
            return float(right[0])
        referee = CARTClassifier(min_samples_leaf=20) if self.arbiter is None else clone(self.arbiter)
        weight = {} if unseen.weight is None else weighed("arbiter", referee, unseen.weight)
        return referee.fit(unseen.X, right.astype(np.intp), **weight)

    def _cast(self, said: Sequence[Array], X: Any) -> Votes:
        codes, trust = np.stack(said), self.trust(X)
        trust = np.where(codes < 0, np.nan, trust)
        if self.decision == "select":
            chosen = leaders(np.nan_to_num(trust.T, nan=-1.0))
            trust = np.where(np.arange(len(codes))[:, None] == chosen, trust, np.nan)
        scores = (codes[:, :, None] == np.arange(len(self.classes_))) * np.maximum(trust, 1e-12)[:, :, None]
        return Votes(scores=scores, rule="sum", classes=self.classes_)
