"""Members one round after another: boosting hears what they say about the training rows before it goes on.

A round fits one member, or one per class. Our trees are grown by one native session, which tells from growing where
every row ends; any other learner, C4.5 included, is fitted and asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.learners.fitting import Members, fit_members, tells_leaves
from conjunto.learners.growing import check_member, table_of
from conjunto.learners.members import TreeMembers
from conjunto.learners.pruning import given_folds
from conjunto.learners.views import core_views
from conjunto.problem import Problem, Rows
from conjunto.streams import Key, Stream
from conjunto.view import View

Answer = Literal["labels", "shares", "values", "leaves"]


class TreeRounds:
    """Our trees."""

    def __init__(self, learner: Any, problem: Problem, key: Key, answer: Answer, threads: int) -> None:
        check_member(learner)
        self._learner = learner
        self._problem = problem
        self._answer = _core.Answer[answer]
        self._folds = given_folds(learner, problem)
        options = learner._grow_options(problem, threads)
        # Whole-number weights are multiplicities of a drawn sample.
        options.prune.copies = getattr(learner, "class_weight", None) is None
        self._session = _core.GrowSession(table_of(learner, problem, threads), options, *key)

    def fit(self, views: Sequence[View], numbers: Sequence[int]) -> NDArray[Any]:
        """Fit one member per view; what they say about all rows: (members, n) or, as shares, (members, n, K).

        "leaves" are numbered within their tree.
        """
        seen = core_views(self._learner, self._problem, views, numbers, folds=self._folds, in_rounds=True)
        return self._session.grow(seen, self._answer)

    def drop(self, count: int) -> None:
        """Forget the last members."""
        self._session.drop(count)

    def members(self) -> TreeMembers:
        """All members so far."""
        return TreeMembers(self._session.forest(), self._learner)


class FittedRounds:
    """Any other learner: members are fitted, then asked."""

    def __init__(
        self, learner: Any, problem: Problem, key: Key, answer: Answer, threads: int, total: float | None = None
    ) -> None:
        self._learner = learner
        self._problem = problem
        self._total = total
        self._key = key
        self._answer = answer
        self._threads = threads
        self._rows = problem.rows()
        self._members: Members | None = None

    def fit(self, views: Sequence[View], numbers: Sequence[int]) -> NDArray[Any]:
        """Fit one member per view; what they say about all rows."""
        streams = [Stream(self._key, number) for number in numbers]
        views = [replace(view, weights=self._scaled(view.weights)) for view in views]
        added = fit_members(self._learner, self._problem, views, streams, self._threads)
        members = added.take(np.arange(0)) if self._members is None else self._members
        members.join(added)
        self._members = members
        return answers(added, self._rows, self._answer, self._threads)

    def _scaled(self, weights: Any) -> NDArray[Any]:
        """Weights whose sum is that of the sample weights, or a mean of 1: learners that regularise expect that.

        A row of weight 2 is then two rows. Multiplicities stay as they are.
        """
        if weights.dtype.kind in "iu":
            return np.asarray(weights)
        return np.asarray(weights) * (
            (np.count_nonzero(weights) if self._total is None else self._total) / weights.sum()
        )

    def drop(self, count: int) -> None:
        """Forget the last members."""
        assert self._members is not None
        self._members = self._members.take(np.arange(len(self._members) - count))

    def members(self) -> Members | None:
        """All members so far; None where nothing was fitted."""
        return self._members


def start_rounds(
    learner: Any, problem: Problem, key: Key, answer: Answer, threads: int, total: float | None = None
) -> TreeRounds | FittedRounds:
    """Rounds for any learner; `total` is the sum of the sample weights, where there are any."""
    if tells_leaves(learner):
        return TreeRounds(learner, problem, key, answer, threads)
    return FittedRounds(learner, problem, key, answer, threads, total)


def answers(members: Members, rows: Rows, answer: Answer, threads: int) -> NDArray[Any]:
    """What members say about rows: (members, n), or (members, n, K) as shares, also where "leaves" cannot be told."""
    if answer == "labels":
        return members.labels(rows, threads)
    if answer == "values":
        return members.values(rows, threads)
    return np.stack([members.shares(t, rows) for t in range(len(members))])


__all__ = ["Answer", "FittedRounds", "TreeRounds", "answers", "start_rounds"]
