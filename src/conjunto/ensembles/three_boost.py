"""Schapire's original boosting: three members, the second and third trained where the first ones fail (1990)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from conjunto.atomic import all_or_nothing
from conjunto.ballot import decide, prefix_counts, vote_counts
from conjunto.checks import check_count, check_share_or_count
from conjunto.ensembles._fitted import FittedMembers, log_probabilities
from conjunto.generation.rows import half_wrong_sample, subsample
from conjunto.learners.cart import CARTClassifier
from conjunto.learners.fitting import Members, fit_members
from conjunto.learners.members import Rows, check_learner
from conjunto.problem import Problem, read_problem
from conjunto.streams import Stream, root_key
from conjunto.view import View
from conjunto.votes import Votes

Array = NDArray[Any]


class ThreeBoostClassifier(ClassifierMixin, FittedMembers):
    """Boosting by three: the proof that weak learners can be made strong.

    h1 is trained on a part of the rows; h2 on a sample half of which h1 gets wrong; h3 on all rows where h1 and h2
    differ. Where h1 and h2 agree, they decide, else h3 does: with two classes that is the majority of the three. If
    each has an error of at most e on what it was to learn, all three together have at most 3 e^2 - 2 e^3. With `depth`
    each of the three is itself three members, and so on.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a stump, `CARTClassifier(max_depth=1)`.
    depth : int, default=1
        Levels of recursion: up to 3^depth members.
    first_share : float or int, default=0.5
        Rows that h1 is trained on: a share or a number.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int, default=None
        Threads for prediction.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    estimators_ : list
        h1, h2 and h3: base learners, or `ThreeBoostClassifier` of one level less. One where h1 is never, or always,
        wrong; two where h2 always agrees with it.
    estimator_errors_ : ndarray
        Error of each on the whole training data as it was to learn it: all rows; rows reweighted so that h1 is wrong on
        half of the weight; rows where h1 and h2 differ.
    bound_ : float
        3 e^2 - 2 e^3 for the largest of these errors, a bound of the training error where e < 1/2.

    References
    ----------
    Schapire (1990). The strength of weak learnability. Machine Learning 5, 197-227.

    Examples
    --------
    >>> from conjunto import ThreeBoostClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = ThreeBoostClassifier(depth=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > model.estimators_[0].score(X, y))
    True
    """

    _not_voters = "its three members decide together, the third where the first two differ"

    def __init__(
        self,
        estimator: Any = None,
        *,
        depth: int = 1,
        first_share: float = 0.5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.depth = depth
        self.first_share = first_share
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ThreeBoostClassifier:
        """Fit the three members.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, m)
            Rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; rows of weight 0 are left out.
        """
        with all_or_nothing(self):
            self._fit(read_problem(self, X, y, sample_weight, classification=True))
        return self

    def _fit(self, problem: Problem) -> None:
        check_count("depth", self.depth)
        assert problem.classes is not None
        self._columns = problem.columns
        self.classes_ = problem.classes
        self.n_classes_ = len(problem.classes)
        self._key = root_key(self.random_state)
        weights = np.ones(problem.n) if problem.weights is None else problem.weights
        there = np.flatnonzero(weights)
        count = check_share_or_count("first_share", self.first_share, problem.n)
        bare = replace(problem, weights=None)
        learner = self._learner()

        first = np.zeros(problem.n)
        first[there[subsample(Stream(self._key, 0), len(there), min(count, len(there))) > 0]] = 1
        self._members, said = self._add(None, learner, bare, first * weights, 0)
        wrong = said[0] != problem.y
        errors = [_mean(wrong, weights)]
        if 0 < errors[0] < 1:
            sample = half_wrong_sample(Stream(self._key, 1), wrong & (weights > 0), ~wrong & (weights > 0)) * weights
            if problem.weights is not None:
                # As many wrong as right rows are not yet as much weight.
                sample[wrong] *= sample[~wrong].sum() / sample[wrong].sum()
            self._members, said = self._add(self._members, learner, bare, sample, 1)
            halves = weights / np.where(wrong, errors[0], 1 - errors[0])
            errors.append(_mean(said[1] != problem.y, halves))
            differ = (said[0] != said[1]) & (weights > 0)
            if differ.any():
                self._members, said = self._add(self._members, learner, bare, differ * weights, 2)
                errors.append(_mean(said[2] != problem.y, differ * weights))
        self.estimator_errors_ = np.array(errors)
        largest = max(errors)
        self.bound_ = 3 * largest**2 - 2 * largest**3

    def _learner(self) -> Any:
        learner = CARTClassifier(max_depth=1) if self.estimator is None else self.estimator
        check_learner(learner, classification=True)
        if self.depth == 1:
            return learner
        return ThreeBoostClassifier(self.estimator, depth=self.depth - 1, first_share=self.first_share)

    def _add(
        self, members: Members | None, learner: Any, problem: Problem, weights: Array, t: int
    ) -> tuple[Members, Array]:
        """Fit one more member; what all of them say about the training rows."""
        whole = np.array_equal(weights, np.rint(weights))
        view = View(weights.astype(np.int64) if whole else weights)
        added = fit_members(learner, problem, [view], [Stream(self._key, t)], 1)
        if members is not None:
            members.join(added)
        members = members or added
        return members, members.labels(Rows(problem.X, problem.source), 1)

    def votes(self, X: Any) -> Votes:
        """Return what h1, h2 and h3 say."""
        rows = self._read(X)
        labels = self._members.labels(rows, self._threads())
        return Votes(labels=labels, weights=self.estimator_weights_, classes=self.classes_)

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """1.25, 1 and 1.5: two that agree outvote the third, and of three that differ h3 decides."""
        check_is_fitted(self)
        return np.array([1.25, 1.0, 1.5])[: len(self._members)]

    @property
    def estimators_(self) -> list[Any]:
        """The members, made on demand."""
        check_is_fitted(self)
        return self._members.estimators(self)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label that h1 and h2 agree on, or else h3's."""
        return decide(self.votes(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the members' votes, weighed by `estimator_weights_`: a rank, not a probability."""
        votes = self.votes(X)
        return vote_counts(votes) / votes.member_weights().sum()

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return log_probabilities(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction of h1, of h1 and h2 (which is h1's), and of all three."""
        for count in prefix_counts(self.votes(X)):
            yield self.classes_[count.winners()]


def _mean(wrong: Array, weights: Array) -> float:
    return float((wrong * weights).sum() / weights.sum())
