"""The loop of sequential ensembles: every member learns from what the members before it got wrong.

A method is its `__init__` and a rule (`rules/`): what vote does a member get, what does the next one see? Weights and
their floor, stopping, restarts, resampling, early stopping, warm start and progress live here, once.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from conjunto.atomic import all_or_nothing
from conjunto.callbacks import CallbackSupportMixin, fit_task, members_task, with_callbacks
from conjunto.checks import check_choice, check_count, check_number
from conjunto.ensembles._fitted import OF_A_PRUNING, FittedMembers
from conjunto.ensembles._watch import Watch
from conjunto.ensembles.rules import RULES, Rule
from conjunto.generation.rows import bootstrap, weighted_bootstrap
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.members import check_learner
from conjunto.learners.rounds import FittedRounds, TreeRounds, start_rounds
from conjunto.problem import Problem, read_problem
from conjunto.streams import Key, Stream, root_key
from conjunto.view import View

Array = NDArray[Any]

# An error of 0 would give an infinite vote; ln 1e10 is the largest (Webb 2000, Martínez Muñoz 2006).
LEAST_ERROR = 1e-10
# A member that is fitted again has an error of one half, up to rounding.
SLACK = 1e-12
# With a larger vote, which takes a learning rate above 26, exp could overflow.
LARGEST_VOTE = 600.0
# Weights below this would soon be 0, and such an example would never come back.
LEAST_WEIGHT = 1e-290
NO_BETTER = "a member no better than chance"
# So many restarts in a row without a member that is better than chance end a run.
MOST_RESTARTS = 100


@dataclass
class Run:
    """Where a run stands: all that a warm start needs to go on."""

    rule: Rule
    first: Array
    """The weights of the examples, before the rule makes its own of them."""
    weights: Array
    floor: Array
    bound: float | None
    """Of the training error so far; None where there is none, as after a restart."""
    watch: Watch | None
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    group: int = 0
    """The committee that is being built; a restart begins a new one."""
    restarts: int = 0
    """How often it began from other weights."""
    rounds: int = 0
    """All rounds, with those whose members were dropped: numbers the random streams."""
    wasted: int = 0
    """Rounds since the last member that was kept."""
    ended: str = ""
    """Why it goes no further."""


class SequentialEnsemble(CallbackSupportMixin, FittedMembers):
    """An ensemble whose members are built one after another."""

    estimator: Any
    n_estimators: int
    random_state: Any
    estimator_weights_: NDArray[np.float64]
    estimator_errors_: NDArray[np.float64]
    _key: Key
    _run: Run | None
    # Parameters of the loop, for methods that do not have them.
    learning_rate: float = 1.0
    restart: str = "never"
    resample: Any = "auto"
    weight_floor: float = 0.0
    early_stopping: Any = False
    warm_start: bool = False
    verbose: int = 0
    _classification: ClassVar[bool]
    _default_depth: ClassVar[int] = 3
    _keeps_a_poor_member: ClassVar[bool] = False
    """Whether a first member no better than chance is still the best there is, or an error."""

    def _rule_name(self) -> str:
        """The rule, by its name in `RULES`."""
        raise NotImplementedError("a sequential ensemble names its rule")

    def _make_rule(self, problem: Problem) -> Rule:
        """The rule, with the method's own parameters."""
        return RULES[self._rule_name()](problem)

    def _restart_factors(self, n: int, stream: Stream) -> Array | None:
        """What the examples' weights are multiplied by to go on after a member that ends a run; None: the run ends."""
        return bootstrap(stream, n, n) if self.restart == "bootstrap" else None

    def _begins_group(self, run: Run) -> bool:
        """Whether a new committee, from new weights, begins with the next member."""
        return False

    def _check(self) -> None:
        """Check parameters that need no data."""
        check_count("n_estimators", self.n_estimators)
        check_choice("restart", self.restart, ("never", "bootstrap"))
        check_choice("resample", self.resample, ("auto", True, False))
        self._floor = check_number("weight_floor", self.weight_floor, 0.0, 1.0, open_high=True)
        self._rate = check_number("learning_rate", self.learning_rate, 0.0, np.inf, open_low=True, open_high=True)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit members one after another.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, m)
            Rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        y : array-like of shape (n,)
            Labels or targets.
        sample_weight : array-like of shape (n,), default=None
            Weights that the rows start with, in place of equal ones.
        """
        with all_or_nothing(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check()
        for name in OF_A_PRUNING:
            self.__dict__.pop(name, None)
        problem = read_problem(self, X, y, sample_weight, classification=self._classification)
        goes_on = self.warm_start and hasattr(self, "_run")
        run = self._old_run(problem) if goes_on else self._new_run(problem)
        learner = self._learner(run.rule)
        self._resamples = run.rule.resampled = self._resampling(learner)
        members_problem = replace(run.rule.members_problem(), weights=None)
        threads = effective_n_jobs(self.n_jobs)
        rounds = start_rounds(learner, members_problem, self._key, run.rule.answer, threads)
        self._boost(run, rounds)
        self._columns = problem.columns
        self._fitted_rule = self._rule_name()
        if problem.classes is not None:
            self.classes_ = problem.classes
            self.n_classes_ = len(problem.classes)
        if goes_on:
            self._members.join(rounds.members())
        else:
            self._members = rounds.members()
        self.estimator_weights_ = np.array(run.votes)
        self.estimator_errors_ = np.array(run.errors)
        self._groups = np.array(run.groups)
        self.stop_reason_ = run.ended or "enough members"
        self._leaf_scores = run.rule.leaf_scores()
        self._limits = run.rule.limits
        for name in ("bound_", "validation_errors_"):
            self.__dict__.pop(name, None)
        if run.bound is not None:
            self.bound_ = np.array(run.bounds)
        if run.watch is not None:
            self.validation_errors_ = np.array(run.watch.errors)
        self._run = run if self.warm_start else None
        self._decided = self._deciding()

    def _learner(self, rule: Rule) -> Any:
        """The base learner: the parameter `estimator`, or a shallow tree, of the kind that the rule needs."""
        regression = rule.answer == "values"
        learner = self.estimator
        if learner is None:
            return (CARTRegressor if regression else CARTClassifier)(max_depth=self._default_depth)
        if regression and self._classification and type(learner) is CARTClassifier:
            shared = set(CARTRegressor().get_params()) - {"criterion"}
            return CARTRegressor(**{name: value for name, value in learner.get_params().items() if name in shared})
        ours = " (or a CARTClassifier, which is then grown as a regression tree)"
        use = f"{ours if regression and self._classification else ''} for {self._rule_name()!r}"
        check_learner(learner, classification=not regression, use=use)
        if rule.needs_probabilities and not hasattr(learner, "predict_proba"):
            raise TypeError(f"{self._rule_name()!r} needs an estimator with predict_proba, which {learner!r} has not")
        return learner

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

    def _new_run(self, problem: Problem) -> Run:
        self._key = root_key(self.random_state)
        rule = self._make_rule(problem)
        watch = Watch.of(self, type(rule), problem, self._key)
        weights = np.ones(problem.n) if problem.weights is None else problem.weights.copy()
        if watch is not None and watch.held_out is not None:
            weights[watch.held_out] = 0.0
            if not weights.any():
                raise ValueError("every row of positive weight was held out: lower validation_fraction")
        first = weights / weights.sum()
        run = Run(rule, first, first, first, None, watch)
        rule.deal(Stream(self._key, 0))
        self._begin(run, first)
        run.bound = rule.bound
        return run

    def _old_run(self, problem: Problem) -> Run:
        old, decided = self._run, self._deciding()
        if old is None:
            raise ValueError(
                "warm_start has nothing to go on from: the model was fitted without warm_start, is a part of an "
                "ensemble, or comes from a model file, which leaves out the training data (set warm_start=False to "
                "start anew)"
            )
        known = old.rule.problem
        if self.n_estimators < len(old.votes):
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {len(old.votes)} members that exist (warm_start)"
            )
        changed = [name for name in decided if decided[name] != self._decided.get(name)]
        if changed:
            raise ValueError(
                f"warm_start goes on as the run began, and {', '.join(changed)} changed: set warm_start=False to start "
                "anew"
            )
        same = np.array_equal(known.X, problem.X, equal_nan=True) and np.array_equal(known.y, problem.y)
        same = same and np.array_equal(np.asarray(known.weights), np.asarray(problem.weights))
        if problem.classes is not None:
            same = same and np.array_equal(self.classes_, problem.classes)
        if not same:
            raise ValueError(
                "warm_start goes on from what the members got wrong, so X, y and sample_weight must be those of the "
                "first fit (set warm_start=False to start anew)"
            )
        # A fit that fails must leave the old run as it was; the data are never changed.
        return copy.deepcopy(old, {id(known): known})

    def _deciding(self) -> dict[str, str]:
        """The parameters that decide how a run goes on, as text."""
        free = ("n_estimators", "n_jobs", "random_state", "verbose", "warm_start")
        return {name: repr(value) for name, value in self.get_params().items() if name not in free}

    def _begin(self, run: Run, examples: Array) -> None:
        """Start from weights of the examples."""
        weights = run.rule.start(examples)
        total = weights.sum()
        run.weights = weights / total if total > 0 else weights
        run.floor = np.where(run.weights > 0, max(self._floor, LEAST_WEIGHT), 0.0)
        if run.floor.sum() > 1:
            raise ValueError(
                f"weight_floor={self._floor:g} is more than the mean of {np.count_nonzero(run.floor)} weights: lower it"
            )

    def _boost(self, run: Run, rounds: TreeRounds | FittedRounds) -> None:
        """Fit round after round until there are enough members or nothing is left to learn."""
        with fit_task(self, self.n_estimators) as context:
            while len(run.votes) < self.n_estimators and not run.ended:
                with members_task(self, context):
                    self._round(run, rounds)
                self._report(run)

    def _round(self, run: Run, rounds: TreeRounds | FittedRounds) -> None:
        rule = run.rule
        width = rule.width(rule.n_classes)
        if self._begins_group(run) and not self._restart(run):
            run.ended = "enough committees"
            return
        numbers = range(run.rounds * width, (run.rounds + 1) * width)
        run.rounds += 1
        views = rule.views(run.weights)
        if self._resamples:
            views = [_resampled(view, Stream(self._key, t)) for view, t in zip(views, numbers, strict=True)]
        said = rule.heard(run.weights, rounds.fit(views, numbers))
        error = rule.error(run.weights, said)
        perfect = rule.perfect(error)
        if error >= rule.limit - SLACK and not perfect:
            self._drop(run, rounds, error, width)
            return
        vote = min(self._rate * rule.vote(max(error, LEAST_ERROR)), LARGEST_VOTE)
        self._keep(run, error, vote)
        self._reweigh(run, said, vote)
        if run.watch is not None:
            run.watch.hear(said, vote, _rows_of(views) if self._resamples else None)
            if run.watch.satisfied:
                run.ended = "no improvement"
        if perfect and not self._restart(run):
            run.ended = "a perfect member"

    def _keep(self, run: Run, error: float, vote: float) -> None:
        run.votes.append(vote)
        run.errors.append(error)
        run.groups.append(run.group)
        run.wasted = 0

    def _drop(self, run: Run, rounds: TreeRounds | FittedRounds, error: float, width: int) -> None:
        """The member is no better than chance: try again from other weights, or end the run without it."""
        run.wasted += 1
        goes_on = run.wasted < MOST_RESTARTS and self._restart(run)
        if not goes_on and not run.votes and self._keeps_a_poor_member:
            self._keep(run, error, 1.0)
            run.bound, run.ended = None, NO_BETTER
            return
        rounds.drop(width)
        run.rule.dropped()
        if goes_on:
            return
        if not run.votes:
            others = [f'"{name}"' for name in ("samme", "m2", "mh") if name != self._rule_name()]
            raise ValueError(
                f"the base learner is no better than chance: the error of the first member is {error:.3f}, and "
                f"{self._rule_name()!r} needs less than {run.rule.limit:.3f}. Use a stronger estimator"
                + (
                    f", or algorithm {' or '.join(others)}, which may ask less of it"
                    if hasattr(self, "algorithm")
                    else ""
                )
            )
        run.ended = NO_BETTER

    def _reweigh(self, run: Run, said: Array, vote: float) -> None:
        """The rule's new weights, normalised, none below the floor."""
        weights = run.rule.reweigh(run.weights, said, vote)
        total = float(weights.sum())
        if not 0 < total < np.inf:
            warnings.warn(
                f"the weights of the examples have become {total}, so boosting ends after {len(run.votes)} members; "
                "lower learning_rate",
                stacklevel=6,
            )
            run.bound, run.ended = None, "weights without end"
            return
        weights /= total
        np.maximum(weights, run.floor, out=weights)
        lifted = float(weights.sum())
        weights /= lifted
        run.weights = weights
        if run.bound is not None:
            # Lifted weights only make the bound wider: it counts every example at least as much as it should.
            run.bound *= run.rule.normaliser(total) * lifted
            run.bounds.append(run.bound)

    def _restart(self, run: Run) -> bool:
        """Begin a new committee from other weights, if the method does that."""
        stream = Stream(self._key, run.rounds * run.rule.width(run.rule.n_classes))
        factors = self._restart_factors(len(run.first), stream)
        if factors is None:
            return False
        run.rule.deal(stream)
        examples = run.first * factors
        self._begin(run, examples / examples.sum() if examples.any() else run.first)
        if run.groups and run.groups[-1] == run.group:
            run.group += 1
        run.bound = None
        run.restarts += 1
        return True

    def _report(self, run: Run) -> None:
        done, step = len(run.votes), max(1, self.n_estimators // 20)
        if self.verbose and (done % step == 0 or run.ended):
            print(f"{type(self).__name__}: {done} of {self.n_estimators} members", file=sys.stderr)


def _resampled(view: View, stream: Stream) -> View:
    """The view of a sample drawn in proportion to the weights (boosting by resampling)."""
    assert view.weights is not None
    return replace(view, weights=weighted_bootstrap(stream, view.weights))


def _rows_of(views: Sequence[View]) -> Array:
    """Rows that any of the views shows."""
    return np.any([view.weights > 0 for view in views if view.weights is not None], axis=0)
