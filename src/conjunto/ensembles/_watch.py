"""Early stopping: the error of the ensemble so far on rows that its members have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ballot import leaders, weighted_median
from conjunto.checks import check_choice, check_count, check_number
from conjunto.ensembles.rules._rule import Rule, add_scores
from conjunto.generation.rows import held_out_rows
from conjunto.problem import Problem
from conjunto.streams import Key, Stream

Array = NDArray[Any]

# The stream that draws held-out rows: no member has this number.
HELD_OUT = 2**62


class Watch:
    """Judges every round on a validation share, or on the rows that the members' samples left out."""

    def __init__(self, rule: type[Rule], problem: Problem, held_out: Array | None, patience: int, tol: float) -> None:
        self.held_out = held_out
        self.errors: list[float] = []
        self._comparable = 0
        self._rule = rule
        self._patience = patience
        self._tol = tol
        rows = np.arange(problem.n) if held_out is None else np.flatnonzero(held_out)
        self._rows = rows
        self._y = problem.y[rows]
        self._weights = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
        self._judged = np.zeros(len(rows), dtype=bool)
        self._scores = np.zeros((len(rows), problem.n_classes)) if problem.n_classes else None
        self._values: list[Array] = []
        self._votes: list[float] = []

    @staticmethod
    def of(estimator: Any, rule: type[Rule], problem: Problem, key: Key) -> Watch | None:
        """The watch that an estimator's parameters ask for."""
        how = check_choice("early_stopping", estimator.early_stopping, (False, "validation", "oob"))
        if not how:
            return None
        patience = check_count("n_iter_no_change", estimator.n_iter_no_change)
        tol = check_number("tol", estimator.tol, 0.0, float("inf"))
        if how == "oob":
            return Watch(rule, problem, None, patience, tol)
        share = check_number(
            "validation_fraction", estimator.validation_fraction, 0.0, 1.0, open_low=True, open_high=True
        )
        # Rows of weight 0 take no part, neither in training nor in validation.
        there = np.arange(problem.n) if problem.weights is None else np.flatnonzero(problem.weights)
        held_out = np.zeros(problem.n, dtype=bool)
        held_out[there] = held_out_rows(Stream(key, HELD_OUT), problem.y[there], problem.n_classes, share)
        return Watch(rule, problem, held_out, patience, tol)

    def hear(self, said: Array, vote: float, seen: Array | None) -> None:
        """Take in what the members of a round say, (members, n[, K]); `seen` are the rows of their samples."""
        unseen = np.ones(len(self._rows), dtype=bool) if seen is None else ~seen[self._rows]
        said = said[:, self._rows]
        self._judged |= unseen
        if self._scores is not None:
            scores = np.zeros_like(self._scores)
            add_scores(self._rule, scores, said, vote)
            self._scores[unseen] += scores[unseen]
            loss = (leaders(self._scores) != self._y).astype(float)
        else:
            self._values.append(np.where(unseen, said[0], np.nan))
            self._votes.append(vote)
            loss = (weighted_median(np.stack(self._values), np.array(self._votes)) - self._y) ** 2
        weights = self._weights * self._judged
        self.errors.append(
            float(np.average(loss[self._judged], weights=weights[self._judged])) if weights.any() else np.nan
        )

    @property
    def satisfied(self) -> bool:
        """Whether the last rounds have brought nothing better."""
        # As long as some rows were in every sample, errors of different rounds are about different rows.
        if not self._judged[self._weights > 0].all():
            self._comparable = len(self.errors)
        errors = self.errors[self._comparable :]
        if len(errors) <= self._patience:
            return False
        recent, before = errors[-self._patience :], errors[: -self._patience]
        return not min(recent) < min(before) - self._tol
