"""The loop of sequential ensembles: every member learns from what the members before it got wrong.

A method is its `__init__`, a rule (`rules/`) and, where it has them, a plan of restarts. The run itself is in
`_boosting.py`; stopping early, resampling, warm start and progress are the same for all.
"""

from __future__ import annotations

import copy
import sys
import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from conjunto.callbacks import fit_task, members_task
from conjunto.checks import check_choice, check_count, check_number
from conjunto.ensembles._boosting import (
    ENOUGH_MEMBERS,
    BoostingRun,
    BootstrapRestarts,
    NoBetterThanChanceError,
    Restarts,
)
from conjunto.ensembles._ensemble import Ensemble
from conjunto.ensembles._panel import Panel
from conjunto.ensembles._warm_start import FirstFit
from conjunto.ensembles._watch import Watch
from conjunto.ensembles.rules import BoostingRule
from conjunto.jobs import count_jobs
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.members import TreeMembers, check_constraints, check_learner
from conjunto.learners.rounds import start_rounds
from conjunto.problem import Problem
from conjunto.streams import Key, MemberSeed, Stream, root_key
from conjunto.voters.protocol import Seen, Unknown


class SequentialEnsemble(Ensemble):
    """An ensemble whose members are built one after another."""

    estimator: Any
    n_estimators: int
    random_state: Any
    stop_reason_: str
    _run: BoostingRun | None
    _first_fit: FirstFit
    _key: Key
    # Parameters of the loop, for methods that do not have them.
    learning_rate: float = 1.0
    restart: str = "never"
    resample: Any = "auto"
    weight_floor: float = 0.0
    early_stopping: Any = False
    warm_start: bool = False
    verbose: int = 0

    draws_per_row = False
    default_depth: ClassVar[int] = 3
    """Of the trees that are members where no estimator is given."""
    keeps_a_poor_member: ClassVar[bool] = False
    """Whether a first member no better than chance is still the best there is, or an error."""

    def _rule(self, problem: Problem) -> BoostingRule:
        """The rule, with the method's own parameters."""
        raise NotImplementedError("a sequential ensemble names its rule")

    def _restarts(self) -> Restarts:
        """What happens after a member that is perfect, or no better than chance; checks parameters of its own."""
        restart = check_choice("restart", self.restart, ("never", "bootstrap"))
        return BootstrapRestarts() if restart == "bootstrap" else Restarts()

    def _learner(self, rule: BoostingRule) -> Any:
        """The base learner: the parameter `estimator`, or a shallow tree, of the kind that the rule needs."""
        regression = rule.reading.answer == "values"
        learner = self.estimator
        if learner is None:
            return (CARTRegressor if regression else CARTClassifier)(max_depth=self.default_depth)
        if regression and self.task == "classification" and type(learner) is CARTClassifier:
            shared = set(CARTRegressor().get_params()) - {"criterion"}
            return CARTRegressor(**{name: value for name, value in learner.get_params().items() if name in shared})
        ours = " (or a CARTClassifier, which is then grown as a regression tree)"
        use = f"{ours if regression and self.task == 'classification' else ''} for {rule.name!r}"
        check_learner(learner, classification=not regression, use=use)
        if rule.needs_probabilities and not hasattr(learner, "predict_proba"):
            raise TypeError(f"{rule.name!r} needs an estimator with predict_proba, which {learner!r} has not")
        return learner

    def _finish_estimators(self, members: list[Any]) -> None:
        for t, member in enumerate(members):
            if isinstance(self._panel.members, TreeMembers) and "random_state" in member.get_params(deep=False):
                member.random_state = MemberSeed(Stream(self._key, t))

    def _fit_problem(self, problem: Problem) -> None:
        check_count("n_estimators", self.n_estimators)
        check_choice("resample", self.resample, ("auto", True, False))
        goes_on = self.warm_start and hasattr(self, "_first_fit")
        run = self._old_run(problem) if goes_on else self._new_run(problem)
        rule = run.rule
        members_problem = replace(rule.members_problem(), weights=None)
        threads = count_jobs(self.n_jobs)
        learner = self.estimator_ = self._learner(rule)
        check_constraints(learner, problem)
        if rule.reading.answer == "leaves" and getattr(learner, "monotonic_cst", None) is not None:
            raise ValueError(f"monotonic_cst does not go with {rule.name!r}, which decides itself what leaves answer")
        rounds = start_rounds(learner, members_problem, run.key, rule.reading.answer, threads, _total(problem, run))
        self._boost(run, rounds)
        members = rounds.members()
        if goes_on:
            # A copy: if anything after this fails, the members that exist must be as they were.
            whole = self._panel.members.take(np.arange(len(self._panel.members)))
            if members is not None:
                whole.join(members)
            members = whole
        assert members is not None
        panel = Panel(
            members,
            rule.reads,
            problem.classes,
            np.array(run.votes),
            leaf_scores=rule.leaf_scores(),
            limits=rule.limits,
            errors=np.array(run.errors),
        )
        self._settle(problem, self._seated(panel, run))
        self._key = run.key
        self._resamples = run.resamples
        self.stop_reason_ = run.ended or ENOUGH_MEMBERS
        # Of a single class, or value, one member knows everything.
        if self.n_estimators > 1 and np.ptp(problem.y) > 0 and (why := run.why_alone()):
            warnings.warn(
                f"{type(self).__name__} kept 1 of n_estimators={self.n_estimators} rounds: {why}", stacklevel=4
            )
        if run.bound is not None:
            self.bound_ = np.array(run.bounds)
        if run.watch is not None:
            self.validation_errors_ = np.array(run.watch.errors)
        self._run = run if self.warm_start else None

    def _seated(self, panel: Panel, run: BoostingRun) -> Panel:
        """The panel, with committees where the method has them decide before they vote."""
        return panel

    def _new_run(self, problem: Problem) -> BoostingRun:
        self._first_fit = FirstFit.of(self, problem)
        key = root_key(self.random_state)
        rule = self._rule(problem)
        watch = Watch.of(self, rule, problem, key)
        weights = np.ones(problem.n) if problem.weights is None else problem.weights.copy()
        if watch is not None and watch.held_out is not None:
            weights[watch.held_out] = 0.0
            if not weights.any():
                raise ValueError("every row of positive weight was held out: lower validation_fraction")
        return BoostingRun(
            rule,
            key,
            self._restarts(),
            weights / weights.sum(),
            watch,
            check_number("learning_rate", self.learning_rate, 0.0, np.inf, open_low=True, open_high=True),
            check_number("weight_floor", self.weight_floor, 0.0, 1.0, open_high=True),
            self._resampling(self._learner(rule)),
            self.keeps_a_poor_member,
        )

    def _old_run(self, problem: Problem) -> BoostingRun:
        run: BoostingRun | None = self.__dict__.get("_run")
        if run is None:
            raise ValueError(
                "warm_start has nothing to go on from: the model was fitted without warm_start, is a part of an "
                "ensemble, or comes from a model file, which leaves out the training data (set warm_start=False to "
                "start anew)"
            )
        self._first_fit.check(self, problem, len(run.votes), self.n_estimators)
        # A fit that fails must leave the old run as it was; the data are never changed.
        known = run.rule.problem
        return copy.deepcopy(run, {id(known): known})

    def _resampling(self, learner: Any) -> bool:
        """Whether members see a weighted bootstrap sample instead of weights."""
        resample = self.resample
        takes_weights = has_fit_parameter(learner, "sample_weight")
        if resample is False and not takes_weights:
            raise ValueError(f"resample=False needs an estimator that takes sample_weight, which {learner!r} does not")
        resamples = not takes_weights if resample == "auto" else bool(resample)
        if self.early_stopping == "oob" and not resamples:
            raise ValueError('early_stopping="oob" needs resample=True: where members see all rows, none is out of bag')
        return resamples

    def _boost(self, run: BoostingRun, rounds: Any) -> None:
        """Fit round after round, telling how far the run is."""
        step = max(1, self.n_estimators // 20)
        with fit_task(self, self.n_estimators) as context:
            while len(run.votes) < self.n_estimators and not run.ended:
                with members_task(self, context):
                    try:
                        run.round(rounds)
                    except NoBetterThanChanceError as error:
                        raise ValueError(self._no_better_than_chance(run.rule.name, error)) from None
                if self.verbose and (len(run.votes) % step == 0 or run.ended):
                    print(f"{type(self).__name__}: {len(run.votes)} of {self.n_estimators} members", file=sys.stderr)

    def _no_better_than_chance(self, name: str, error: NoBetterThanChanceError) -> str:
        others = [f'"{other}"' for other in ("samme", "m2", "mh") if other != name]
        hint = f", or algorithm {' or '.join(others)}, which may ask less of it" if hasattr(self, "algorithm") else ""
        return (
            f"the base learner is worse than random, or no better: the error of the first member is {error.error:.3f}, "
            f"and {name!r} needs less than {error.limit:.3f}. Use a stronger estimator{hint}"
        )

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The weighted error of each round."""
        check_is_fitted(self)
        assert self._panel.errors is not None
        return self._panel.errors

    def seen(self) -> Seen | Unknown:
        """Return why it is not known which rows each member learned from."""
        check_is_fitted(self)
        if self._resamples:
            return Unknown(
                f"{type(self).__name__} draws samples by weights that are not kept: what is out of bag cannot be known"
            )
        return super().seen()


def _total(problem: Problem, run: BoostingRun) -> float | None:
    """The sum of the sample weights of the rows that members learn from; None where there are none."""
    if problem.weights is None:
        return None
    held_out = None if run.watch is None else run.watch.held_out
    return float(problem.weights.sum() - (0.0 if held_out is None else problem.weights[held_out].sum()))
