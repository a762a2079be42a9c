"""Schapire's original boosting: three members, the second and third trained where the first ones fail (1990)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_count, check_share_or_count
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._ensemble import Ensemble
from conjunto.ensembles._panel import Panel
from conjunto.generation.rows import half_wrong_sample, subsample
from conjunto.learners.cart import CARTClassifier
from conjunto.learners.fitting import Members, fit_members
from conjunto.learners.members import check_learner
from conjunto.problem import Problem
from conjunto.streams import Key, Stream, root_key
from conjunto.view import View

Array = NDArray[Any]


class ThreeBoostClassifier(ClassAnswers, Ensemble):
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

    indivisible = "its three members decide together, the third where the first two differ"
    size_parameter = ""
    grows = False
    on_columns = False

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

    def _fit_problem(self, problem: Problem) -> None:
        check_count("depth", self.depth)
        self._key = key = root_key(self.random_state)
        weights = np.ones(problem.n) if problem.weights is None else problem.weights
        there = np.flatnonzero(weights)
        count = check_share_or_count("first_share", self.first_share, problem.n)
        bare = replace(problem, weights=None)
        learner = self._learner()

        first = np.zeros(problem.n)
        first[there[subsample(Stream(key, 0), len(there), min(count, len(there))) > 0]] = 1
        members, said = _with_one_more(None, learner, bare, first * weights, key, 0)
        wrong = said[0] != problem.y
        errors = [_mean(wrong, weights)]
        if 0 < errors[0] < 1:
            sample = half_wrong_sample(Stream(key, 1), wrong & (weights > 0), ~wrong & (weights > 0)) * weights
            if problem.weights is not None:
                # As many wrong as right rows are not yet as much weight.
                sample[wrong] *= sample[~wrong].sum() / sample[wrong].sum()
            members, said = _with_one_more(members, learner, bare, sample, key, 1)
            halves = weights / np.where(wrong, errors[0], 1 - errors[0])
            errors.append(_mean(said[1] != problem.y, halves))
            differ = (said[0] != said[1]) & (weights > 0)
            if differ.any():
                members, said = _with_one_more(members, learner, bare, differ * weights, key, 2)
                errors.append(_mean(said[2] != problem.y, differ * weights))
        # Two that agree outvote the third, and of three that differ h3 decides.
        votes = np.array([1.25, 1.0, 1.5])[: len(members)]
        self._settle(problem, Panel(members, "labels", problem.classes, votes, errors=np.array(errors)))
        self.estimator_errors_ = np.array(errors)
        largest = max(errors)
        self.bound_ = 3 * largest**2 - 2 * largest**3

    def _learner(self) -> Any:
        learner = CARTClassifier(max_depth=1) if self.estimator is None else self.estimator
        check_learner(learner, classification=True)
        if self.depth == 1:
            return learner
        return ThreeBoostClassifier(self.estimator, depth=self.depth - 1, first_share=self.first_share)


def _with_one_more(
    members: Members | None, learner: Any, problem: Problem, weights: Array, key: Key, t: int
) -> tuple[Members, Array]:
    """Fit one more member; what all of them say about the training rows."""
    whole = np.array_equal(weights, np.rint(weights))
    view = View(weights.astype(np.int64) if whole else weights)
    added = fit_members(learner, problem, [view], [Stream(key, t)], 1)
    if members is not None:
        members.join(added)
    members = members or added
    return members, members.labels(problem.rows(), 1)


def _mean(wrong: Array, weights: Array) -> float:
    return float((wrong * weights).sum() / weights.sum())
