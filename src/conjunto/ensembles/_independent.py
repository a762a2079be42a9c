"""The loop of independent ensembles: every member from its own view, in any order.

A method is its `__init__` and a `Draw`: what does member t see? Building members in batches and in parallel, out-of-bag
bookkeeping and warm start live here, once.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.callbacks import fit_task, has_callbacks, members_task
from conjunto.checks import check_choice, check_count
from conjunto.draw import Draw, Drawn
from conjunto.ensembles._ensemble import Ensemble
from conjunto.ensembles._members import on_columns
from conjunto.ensembles._out_of_bag import keep_out_of_bag
from conjunto.ensembles._panel import Panel
from conjunto.ensembles._warm_start import FirstFit
from conjunto.jobs import count_jobs
from conjunto.learners.batch import fit_batch
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.fitting import Members
from conjunto.learners.members import TreeMembers, check_constraints, check_learner, check_missing
from conjunto.outputs import class_counts, several
from conjunto.problem import Problem
from conjunto.streams import MemberSeed, root_key
from conjunto.voters.protocol import Seen, Unknown, votes_out_of_bag

# Weights and labels of a batch of members are held together: at most about so many cells.
BATCH_CELLS = 1 << 22


class IndependentEnsemble(Ensemble):
    """An ensemble whose members know nothing of each other."""

    n_estimators: int
    random_state: Any
    _drawn: Drawn
    _first_fit: FirstFit

    def _draw(self, problem: Problem) -> Draw:
        """Check the method's own parameters against the problem; return what its members see."""
        return Draw()

    def _learner(self) -> Any:
        """The base learner: the parameter `estimator`, or a fully grown tree."""
        learner = getattr(self, "estimator", None)
        if learner is None:
            return CARTClassifier() if self.task == "classification" else CARTRegressor()
        check_learner(learner, classification=self.task == "classification")
        return learner

    def _count(self, problem: Problem) -> int:
        """How many members there are to be."""
        return check_count("n_estimators", self.n_estimators)

    def _reweighted(self, problem: Problem) -> Problem:
        """The problem with weights of the method's own, such as class weights."""
        return problem

    def _reading(self) -> str:
        """How the answers of members become votes."""
        if self.task == "regression":
            return "values"
        vote = check_choice("vote", getattr(self, "vote", "hard"), ("hard", "soft"))
        return "shares" if vote == "soft" else "labels"

    def _seated(self, members: Members, problem: Problem) -> Panel:
        """The members as a panel."""
        return Panel(members, self._reading(), problem.classes, n_outputs=problem.n_outputs)

    def _voting(self) -> Panel:
        state = self.__dict__
        panel: Panel = state["_panel"] if "_panel" in state else super()._voting()
        vote = state.get("vote")
        if vote is None or vote == ("soft" if panel.reading == "shares" else "hard"):
            return panel
        # The parameter was set anew: the same members are counted otherwise.
        return panel.read_as(self._reading())

    def _finish_estimators(self, members: list[Any]) -> None:
        drawn: Drawn | None = self.__dict__.get("_drawn")
        if drawn is None:
            return
        native = isinstance(self._panel.members, TreeMembers)
        for member, stream, columns in zip(members, drawn.streams(), drawn.columns(), strict=True):
            if native and "random_state" in member.get_params(deep=False):
                member.random_state = MemberSeed(stream)
            if native and columns is not None:
                on_columns(member, columns)

    def _check_replaceable(self) -> None:
        super()._check_replaceable()
        drawn: Drawn | None = self.__dict__.get("_drawn")
        if drawn is not None and any(columns is not None for columns in drawn.columns()):
            # Nothing in a tree tells which columns of X its columns are.
            raise TypeError(
                f"the members of {type(self).__name__} cannot be replaced: they see columns of their own. `take` makes "
                "an ensemble of some of them"
            )

    def _like(self, panel: Panel) -> SimpleNamespace:
        like = super()._like(panel)
        if panel.how.member_classes == "own":
            # As in scikit-learn, members know the codes of the classes.
            codes = [np.arange(part) for part in np.atleast_1d(class_counts(panel.classes))]
            like.classes_ = codes if several(panel.classes) else codes[0]
        return like

    def _fit_problem(self, problem: Problem) -> None:
        learner, reading = self._learner(), self._reading()
        check_missing(learner, problem.X)
        check_constraints(learner, problem)
        self.estimator_ = learner
        if reading == "shares" and not hasattr(learner, "predict_proba"):
            raise ValueError(f'vote="soft" needs a base learner with predict_proba, which {learner!r} has not')
        total = self._count(problem)
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_drawn")
        if goes_on and self._drawn.is_part:
            raise ValueError(
                "warm_start cannot add members to a part of an ensemble: set warm_start=False to start anew, or go on "
                "with the whole ensemble"
            )
        done = len(self._drawn) if goes_on else 0
        if goes_on:
            self._first_fit.check(self, problem, done, total)
            if total == done:
                warnings.warn(
                    "Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=5
                )
        else:
            self._first_fit = FirstFit.of(self, problem)
        draw = self._draw(problem)
        if not goes_on:
            nobody = np.zeros(0, dtype=np.int64)
            self._drawn = Drawn(draw, root_key(self.random_state), draw.outline(problem), nobody, nobody)
        elif draw != self._drawn.draw:
            raise ValueError(
                f"warm_start goes on drawing members as before, by {self._drawn.draw}, and not by {draw}: set "
                "warm_start=False to start anew"
            )
        else:
            # Equal in what decides, but drawn up for more members.
            self._drawn = replace(self._drawn, draw=draw)
        problem = self._reweighted(problem)
        members = self._build(learner, problem, done, total)
        if goes_on:
            # A copy: if anything after this fails, the members that exist must be as they were.
            whole = self._panel.members.take(np.arange(done))
            if members is not None:
                whole.join(members)
            members = whole
        assert members is not None
        self._settle(problem, self._seated(members, problem))
        if getattr(self, "oob_score", False):
            keep_out_of_bag(self, problem)

    def _build(self, learner: Any, problem: Problem, done: int, total: int) -> Members | None:
        """Fit members `done` .. `total`, batch by batch."""
        threads = count_jobs(self.n_jobs)
        verbose = getattr(self, "verbose", 0)
        size = max(2 * threads, BATCH_CELLS // problem.n)
        if verbose or has_callbacks(self):
            size = min(size, max(2 * threads, total // 20))
        batches = [range(first, min(first + size, total)) for first in range(done, total, size)]
        built: Members | None = None
        without_rows: list[int] = []
        with fit_task(self, len(batches)) as context:
            for numbers in batches:
                with members_task(self, context):
                    batch = fit_batch(learner, problem, self._drawn.draw, self._drawn.key, numbers, threads)
                    without_rows += batch.without_rows
                    if built is None:
                        built = batch.members
                        built.reserve((total - done) / len(numbers))
                    else:
                        built.join(batch.members)
                if verbose:
                    print(f"{type(self).__name__}: {numbers.stop} of {total} members", file=sys.stderr)
        self._drawn = self._drawn.and_more(total, without_rows)
        return built

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """For each member the rows it saw, repeated as often as it saw them; drawn again, not stored."""
        drawn = self._known_draws("estimators_samples_")
        everything = np.arange(drawn.outline.n, dtype=np.int32)
        samples = []
        for rows in drawn.rows():
            if rows is None:
                samples.append(everything)
            elif rows.dtype.kind in "iu":
                samples.append(np.repeat(everything, rows))
            else:
                samples.append(everything[rows > 0])
        return samples

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """For each member the columns that it may use."""
        drawn = self._known_draws("estimators_features_")
        everything = np.arange(drawn.outline.m)
        return [everything if columns is None else columns for columns in drawn.columns()]

    def seen(self) -> Seen | Unknown:
        """Return which training rows each voter learned from, or the reason why that is not known."""
        check_is_fitted(self)
        if "_drawn" not in self.__dict__ and not self.no_out_of_bag:
            return Unknown(
                f"the members of this {type(self).__name__} were assigned, merged or converted: which rows they saw is "
                "not known"
            )
        return super().seen()

    def _known_draws(self, what: str) -> Drawn:
        check_is_fitted(self)
        drawn: Drawn | None = self.__dict__.get("_drawn")
        if drawn is None:
            raise AttributeError(f"{what} is not known: the members of this ensemble were not drawn by its fit")
        return drawn

    def oob_votes(self, X: Any) -> Any:
        """Return the votes on the training rows X in which each member abstains on the rows that it saw: as `votes`.

        X must be the training data, row for row: only their number can be checked.
        """
        return votes_out_of_bag(self, X)

    @property
    def oob_votes_(self) -> Any:
        """The out-of-bag votes on the training rows, with `oob_score=True`; see `oob_votes` where they are too many."""
        kept = self.__dict__.get("_oob_votes")
        if kept is None:
            raise AttributeError(
                "oob_votes_ is kept with oob_score=True, and not where scores of all members, rows and classes would "
                "take too much memory: use oob_votes(X)"
            )
        return kept
