"""Early stopping: the error of the ensemble so far on rows that its members have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_choice, check_count, check_number
from conjunto.combination import RULES
from conjunto.ensembles._readings import scores_of
from conjunto.ensembles.rules import BoostingRule
from conjunto.generation.rows import held_out_rows
from conjunto.problem import Problem
from conjunto.streams import Key, Stream

Array = NDArray[Any]

# The stream that draws held-out rows: no member has this number.
HELD_OUT = 2**62


class Watch:
    """Judges every round on a validation share, or on the rows that the members' samples left out."""

    def __init__(self, rule: BoostingRule, problem: Problem, held_out: Array | None, patience: int, tol: float) -> None:
        self.held_out = held_out
        self.errors: list[float] = []
        self._comparable = 0
        self._patience = patience
        self._tol = tol
        rows = np.arange(problem.n) if held_out is None else np.flatnonzero(held_out)
        self._rows = rows
        self._y = problem.y[rows]
        self._weights = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
        reading = rule.reading
        kind = "sum" if reading.kind == "scores" else reading.rule or "plurality"
        self._count = RULES[kind](len(rows), problem.n_classes)
        self._reading = reading
        self._n_classes = problem.n_classes

    @staticmethod
    def of(estimator: Any, rule: BoostingRule, problem: Problem, key: Key) -> Watch | None:
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

    def add(self, answers: Array, vote: float, seen: Array | None) -> None:
        """Take in what the members of a round say, (members, n[, K]); `seen` are the rows of their samples."""
        own = answers[:, self._rows]
        abstaining = None if seen is None else seen[self._rows]
        if self._reading.kind == "scores":
            said = scores_of(self._reading, own, self._n_classes)
            said = said if abstaining is None else np.where(abstaining[:, None], np.nan, said)
        else:
            said = own[0] if abstaining is None else np.where(abstaining, -1 if self._n_classes else np.nan, own[0])
        self._count.add(said, vote)
        count = self._count.count()
        loss = count.winners() != self._y if self._n_classes else (count.answers() - self._y) ** 2
        self._judged = count.voted
        weights = self._weights[self._judged]
        self.errors.append(float(np.average(loss[self._judged], weights=weights)) if weights.any() else np.nan)

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
