"""One run of boosting: weights, rounds, votes, until there are enough members or nothing is left to learn.

The run asks a rule (`rules/`) what vote a member gets and what the next one sees, and a plan of restarts when to begin
from other weights. It knows no estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ensembles._watch import Watch
from conjunto.ensembles.rules import BoostingRule
from conjunto.generation.rows import bootstrap, weighted_bootstrap
from conjunto.learners.rounds import FittedRounds, TreeRounds
from conjunto.streams import Key, Stream
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
# So many restarts in a row without a member that is better than chance end a run.
MOST_RESTARTS = 100

ENOUGH_MEMBERS = "enough members"
ENOUGH_COMMITTEES = "enough committees"
PERFECT_MEMBER = "a perfect member"
NO_BETTER = "a member no better than chance"
NO_IMPROVEMENT = "no improvement"
OVERFLOW = "the weights of the examples overflowed"


@dataclass(frozen=True)
class Restarts:
    """A run that ends with its first member that is perfect, or no better than chance."""

    def factors(self, n: int, stream: Stream) -> Array | None:
        """What the examples' weights are multiplied by to go on; None: the run ends."""
        return None

    def begins_committee(self, run: BoostingRun) -> bool:
        """Whether a new committee, from new weights, begins with the next member."""
        return False

    def is_last(self, run: BoostingRun) -> bool:
        """Whether no committee may follow the present one."""
        return False


@dataclass(frozen=True)
class BootstrapRestarts(Restarts):
    """Go on from a bootstrap sample with equal weights (Webb 2000)."""

    def factors(self, n: int, stream: Stream) -> Array:
        """Multiplicities of a sample."""
        return bootstrap(stream, n, n)


@dataclass
class BoostingRun:
    """Where a run stands: all that a warm start needs to go on."""

    rule: BoostingRule
    key: Key
    restarts: Restarts
    first: Array
    """The weights of the examples, before the rule makes its own of them."""
    watch: Watch | None
    rate: float = 1.0
    least_weight: float = 0.0
    resamples: bool = False
    keeps_a_poor_member: bool = False
    """Whether a first member no better than chance is still the best there is, or an error."""
    weights: Array = field(init=False)
    floor: Array = field(init=False)
    bound: float | None = field(init=False)
    """Of the training error so far; None where there is none, as after a restart."""
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    group: int = 0
    """The committee that is being built; a restart begins a new one."""
    n_restarts: int = 0
    rounds: int = 0
    """All rounds, with those whose members were dropped: numbers the random streams."""
    fruitless: int = 0
    """Rounds since the last member that was kept."""
    ended: str = ""
    """Why it goes no further."""

    def __post_init__(self) -> None:
        self.rule.resampled = self.resamples
        self.rule.draw_once(Stream(self.key, 0))
        self._begin(self.first)
        self.bound = self.rule.bound

    def _begin(self, examples: Array) -> None:
        """Start from weights of the examples."""
        weights = self.rule.start(examples)
        total = weights.sum()
        self.weights = weights / total if total > 0 else weights
        self.floor = np.where(self.weights > 0, max(self.least_weight, LEAST_WEIGHT), 0.0)
        if self.floor.sum() > 1:
            raise ValueError(
                f"weight_floor={self.least_weight:g} is more than the mean of {np.count_nonzero(self.floor)} weights: "
                "lower it"
            )

    def round(self, rounds: TreeRounds | FittedRounds) -> None:
        """Fit one more member, or one per class, and learn from its errors."""
        rule, width = self.rule, self.rule.width
        if self.restarts.begins_committee(self) and not self._restart():
            self.ended = ENOUGH_COMMITTEES
            return
        numbers = range(self.rounds * width, (self.rounds + 1) * width)
        self.rounds += 1
        views = rule.views(self.weights)
        if self.resamples:
            views = [_resampled(view, Stream(self.key, t)) for view, t in zip(views, numbers, strict=True)]
        answers = rule.read(self.weights, rounds.fit(views, numbers))
        error = rule.error(self.weights, answers)
        perfect = rule.perfect(error)
        if error >= rule.limit - SLACK and not perfect:
            self._drop(rounds, error, width)
            return
        vote = min(self.rate * rule.vote(max(error, LEAST_ERROR)), LARGEST_VOTE)
        self._keep(error, vote)
        self._reweigh(answers, vote)
        if self.watch is not None:
            self.watch.add(answers, vote, _rows_of(views) if self.resamples else None)
            if self.watch.satisfied:
                self.ended = NO_IMPROVEMENT
        if perfect and not self._restart():
            self.ended = PERFECT_MEMBER

    def why_alone(self) -> str:
        """Why a run ended with its first round, and what helps; "" if it did not, or was to end when it did."""
        if len(self.votes) > 1:
            return ""
        if self.ended == PERFECT_MEMBER:
            return (
                "the first is right on all training rows, which leaves nothing to learn from; use a weaker estimator, "
                "such as a tree with a lower max_depth"
            )
        if self.ended == NO_BETTER and self.errors[0] >= self.rule.limit - SLACK:
            return f"the first is no better than chance, its error is {self.errors[0]:.3g}; use a stronger estimator"
        if self.ended == NO_BETTER:
            return "the second is no better than chance on the rows that the first gets wrong; use a stronger estimator"
        return ""

    def _keep(self, error: float, vote: float) -> None:
        self.votes.append(vote)
        self.errors.append(error)
        self.groups.append(self.group)
        self.fruitless = 0

    def _drop(self, rounds: TreeRounds | FittedRounds, error: float, width: int) -> None:
        """The member is no better than chance: try again from other weights, or end the run without it."""
        self.fruitless += 1
        goes_on = self.fruitless < MOST_RESTARTS and self._restart()
        if not goes_on and not self.votes and self.keeps_a_poor_member:
            self._keep(error, 1.0)
            self.bound, self.ended = None, NO_BETTER
            return
        rounds.drop(width)
        self.rule.forget_last()
        if goes_on:
            return
        if not self.votes:
            raise NoBetterThanChanceError(error, self.rule.limit)
        self.ended = NO_BETTER

    def _reweigh(self, answers: Array, vote: float) -> None:
        """The rule's new weights, normalised, none below the floor."""
        weights = self.rule.reweigh(self.weights, answers, vote)
        total = float(weights.sum())
        if not 0 < total < np.inf:
            warnings.warn(
                f"the weights of the examples have become {total}, so boosting ends after {len(self.votes)} members; "
                "lower learning_rate",
                stacklevel=7,
            )
            self.bound, self.ended = None, OVERFLOW
            return
        weights /= total
        np.maximum(weights, self.floor, out=weights)
        lifted = float(weights.sum())
        weights /= lifted
        self.weights = weights
        if self.bound is not None:
            # Lifted weights only make the bound wider: it counts every example at least as much as it should.
            self.bound *= self.rule.normaliser(total) * lifted
            self.bounds.append(self.bound)

    def _restart(self) -> bool:
        """Begin a new committee from other weights, if the plan says so."""
        stream = Stream(self.key, self.rounds * self.rule.width)
        factors = None if self.restarts.is_last(self) else self.restarts.factors(len(self.first), stream)
        if factors is None:
            return False
        self.rule.draw_once(stream)
        examples = self.first * factors
        self._begin(examples / examples.sum() if examples.any() else self.first)
        if self.groups and self.groups[-1] == self.group:
            self.group += 1
        self.bound = None
        self.n_restarts += 1
        return True


class NoBetterThanChanceError(Exception):
    """The first member is no better than chance, and there is no other to begin with."""

    def __init__(self, error: float, limit: float) -> None:
        super().__init__(error, limit)
        self.error = error
        self.limit = limit


def _resampled(view: View, stream: Stream) -> View:
    """The view of a sample drawn in proportion to the weights (boosting by resampling)."""
    assert view.weights is not None
    return replace(view, weights=weighted_bootstrap(stream, view.weights))


def _rows_of(views: Sequence[View]) -> Array:
    """Rows that any of the views shows."""
    return np.any([view.weights > 0 for view in views if view.weights is not None], axis=0)
