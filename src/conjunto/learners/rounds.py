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
from sklearn.utils.class_weight import compute_sample_weight

from conjunto import _core
from conjunto.learners.fitting import Members, fit_members, tells_leaves
from conjunto.learners.growing import check_member
from conjunto.learners.members import ForeignMembers, Rows, TreeMembers
from conjunto.learners.pruning import given_folds
from conjunto.problem import Problem
from conjunto.streams import Key, Stream
from conjunto.view import View

Answer = Literal["labels", "shares", "values", "leaves"]


class TreeRounds:
    """Our trees."""

    def __init__(self, learner: Any, problem: Problem, key: Key, answer: Answer, threads: int) -> None:
        check_member(learner)
        self._learner = learner
        self._problem = problem
        self._answer = answer
        self._class_weight = getattr(learner, "class_weight", None)
        self._folds = given_folds(learner, problem)
        options = learner._grow_options(problem, threads)
        # Whole-number weights are multiplicities of a drawn sample.
        options.copies = self._class_weight is None
        self._session = _core.GrowSession(problem.table(threads), options, *key)

    def fit(self, views: Sequence[View], numbers: Sequence[int]) -> NDArray[Any]:
        """Fit one member per view; what they say about all rows: (members, n) or, as shares, (members, n, K).

        "leaves" are numbered within their tree.
        """
        first = views[0]
        labels = self._problem.y[None] if first.labels is None else _stack([view.labels for view in views])
        weights = _stack([view.weights for view in views])
        if self._class_weight is not None:
            assert self._problem.classes is not None
            factors = [compute_sample_weight(self._class_weight, self._problem.classes[row]) for row in labels]
            weights = weights * np.stack(factors)
        # Multiplicities fit bytes unless a row is drawn more often than that.
        small = weights.dtype.kind in "iu" and weights.max() <= 255
        weights = weights.astype(np.uint8 if small else np.float64, copy=False)
        parts = {"labels" if self._problem.n_classes else "targets": labels}
        parts["small_weights" if small else "weights"] = weights
        if first.halves is not None:
            parts["halves"] = _stack([view.halves for view in views])
        return self._session.grow(np.array(numbers, dtype=np.uint64), self._answer, **parts, folds=self._folds)

    def drop(self, count: int) -> None:
        """Forget the last members."""
        self._session.drop(count)

    def members(self) -> TreeMembers:
        """All members so far."""
        return TreeMembers(self._session.forest(), self._learner)


class FittedRounds:
    """Any other learner: members are fitted, then asked."""

    def __init__(self, learner: Any, problem: Problem, key: Key, answer: Answer, threads: int) -> None:
        self._learner = learner
        self._problem = problem
        self._key = key
        self._answer = answer
        self._threads = threads
        self._rows = Rows(problem.X, problem.source)
        self._members: Members | None = None

    def fit(self, views: Sequence[View], numbers: Sequence[int]) -> NDArray[Any]:
        """Fit one member per view; what they say about all rows."""
        streams = [Stream(self._key, number) for number in numbers]
        views = [replace(view, weights=_scaled(view.weights)) for view in views]
        added = fit_members(self._learner, self._problem, views, streams, self._threads)
        members = added.take(np.arange(0)) if self._members is None else self._members
        members.join(added)
        self._members = members
        return answers(added, self._rows, self._answer, self._threads)

    def drop(self, count: int) -> None:
        """Forget the last members."""
        assert self._members is not None
        self._members = self._members.take(np.arange(len(self._members) - count))

    def members(self) -> Members:
        """All members so far."""
        return ForeignMembers([], [], self._problem.classes) if self._members is None else self._members


def start_rounds(learner: Any, problem: Problem, key: Key, answer: Answer, threads: int) -> TreeRounds | FittedRounds:
    """Rounds for any learner."""
    kind = TreeRounds if tells_leaves(learner) else FittedRounds
    return kind(learner, problem, key, answer, threads)


def answers(members: Members, rows: Rows, answer: Answer, threads: int) -> NDArray[Any]:
    """What members say about rows: (members, n), or (members, n, K) as shares, also where "leaves" cannot be told."""
    if answer == "labels":
        return members.labels(rows, threads)
    if answer == "values":
        return members.values(rows, threads)
    return np.stack([members.shares(t, rows) for t in range(len(members))])


def _scaled(weights: Any) -> NDArray[Any]:
    """Weights of mean 1, which is what learners that regularise expect; multiplicities as they are."""
    return weights if weights.dtype.kind in "iu" else weights * (np.count_nonzero(weights) / weights.sum())


def _stack(parts: Sequence[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(parts[0][None] if len(parts) == 1 else np.stack(parts))


__all__ = ["Answer", "FittedRounds", "TreeRounds", "answers", "start_rounds"]
