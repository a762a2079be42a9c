"""What every prefix of an ordered ensemble gets wrong, by the ensemble's own rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.combination import Count, begin, by_voter
from conjunto.voters import Voters
from conjunto.voters.stacking import mean_over_outputs, stacked_call, stacked_rows, stacked_truth, stacked_votes
from conjunto.votes import RollCall, Votes

# Scores of so many members, rows and classes are held at most: a gigabyte.
SCORE_CELLS = 1 << 27


class Asked:
    """Rows, read once, and what voters say about them, asked once: for the order, the cut and the curves."""

    def __init__(self, voters: Voters, X: Any) -> None:
        self.voters = voters
        self.rows = voters.read(X)
        self._votes: Votes | None = None
        self._labels: Votes | None = None

    def votes(self) -> Votes:
        """What the voters say, as they are combined; scores are asked for anew each time, and not kept."""
        if self._votes is not None:
            return self._votes
        call = self._call()
        if call.kind == "scores":
            return _held(call)
        self._votes = by_voter(stacked_votes(self.voters.votes(self.rows)))
        return self._votes

    def labels(self) -> Votes:
        """The class that each voter is for; in regression the values."""
        if self._labels is None:
            call = self._call()
            self._labels = call.as_labels() if call.kind == "scores" else self.votes()
        return self._labels

    def in_order(self, order: NDArray[np.intp]) -> RollCall:
        """What the voters say in this order, one after another."""
        call = self._call(order)
        return call if call.kind == "scores" else self.votes().take(order).roll_call()

    def _call(self, order: NDArray[np.intp] | None = None) -> RollCall:
        return stacked_call(self.voters.contributions(self.rows, order))


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with their truth, on which voters are judged; with several targets a row is an example of each."""

    asked: Asked
    truth: NDArray[Any]
    """Class codes, or targets, of the examples."""
    weight: NDArray[np.float64] | None = None
    """Of the examples."""
    abstaining: NDArray[np.bool_] | None = None
    """(T, examples): voters that have no say about a row, because they saw it; None: all have."""
    used: bool = False
    """Whether these rows were used to select members: what is measured on them is then optimistic."""
    n_outputs: int = 1
    """Number of targets."""

    @staticmethod
    def of(
        asked: Asked,
        truth: NDArray[Any],
        weight: NDArray[np.float64] | None = None,
        abstaining: NDArray[np.bool_] | None = None,
        *,
        used: bool = False,
    ) -> Examples:
        """Of rows: their truth, (n,) or (n, targets), their weights and who abstains on them."""
        count = 1 if truth.ndim == 1 else truth.shape[1]
        weight = None if weight is None else stacked_rows(weight, count)
        abstaining = None if abstaining is None else stacked_rows(abstaining, count)
        return Examples(asked, stacked_truth(truth), weight, abstaining, used, count)

    def votes(self) -> Votes:
        """What the voters say, as they are combined; those that saw a row abstain."""
        return self.asked.votes().without(self.abstaining)

    def labels(self) -> Votes:
        """The class that each voter is for, or its values; those that saw a row abstain."""
        return self.asked.labels().without(self.abstaining)


@dataclass(frozen=True, eq=False)
class Losses:
    """(T, n): the loss of each prefix on each row, its mean over several targets; NaN where nobody in it votes."""

    each: NDArray[np.float32]
    weight: NDArray[np.float64] | None
    shares: bool
    """Whether a loss is 0 or 1, or a mean of such over targets: their mean is a share."""

    def curve(self) -> NDArray[np.float64]:
        """(T,): the error of every prefix, over the rows that it judges; NaN if there are none."""
        return np.array([self.error(size) for size in range(1, len(self.each) + 1)])

    def error(self, size: int) -> float:
        """The error of the first `size` members."""
        return _mean(*self._known(self.each[size - 1]))

    def compare(self, size: int) -> dict[str, float]:
        """The errors of the whole and of the first `size` members, and their difference, with 95 % intervals.

        All on the rows that the part judges: out of bag these may be fewer than the whole does.
        """
        part = self.each[size - 1].astype(np.float64)
        whole = np.where(np.isnan(part), np.nan, self.each[-1])
        found: dict[str, float] = {}
        for name, losses in (("before", whole), ("after", part)):
            found |= _named(name, *(_wilson if self.shares else _normal)(*self._known(losses)))
        found |= _named("difference", *(_paired if self.shares else _normal)(*self._known(part - whole)))
        return {**found, "examples": int((self._known(part)[1] > 0).sum())}

    def judged(self, size: int) -> float:
        """The weight of the rows that the first `size` members judge."""
        return float(self._known(self.each[size - 1])[1].sum())

    def _known(self, losses: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = ~np.isnan(losses)
        weight = np.ones(len(losses)) if self.weight is None else self.weight
        return losses[known].astype(np.float64), weight[known]


def judge(order: NDArray[np.intp], examples: Mapping[str, Examples]) -> dict[str, Losses]:
    """The losses of all prefixes of an order: 0 and 1 for labels, squares for values. Voters are asked only once."""
    found: dict[str, Losses] = {}
    for asked in {id(each.asked): each.asked for each in examples.values()}.values():
        same = {name: each for name, each in examples.items() if each.asked is asked}
        found |= _losses(order, asked.in_order(order), same)
    return {name: found[name] for name in examples}


def _losses(order: NDArray[np.intp], call: RollCall, examples: Mapping[str, Examples]) -> dict[str, Losses]:
    """The losses on examples that are the same rows, each with abstentions of its own."""
    running = {name: begin(call) for name in examples}
    losses = {name: np.empty((len(order), call.n_examples), dtype=np.float32) for name in examples}
    for size, (t, (weight, answer)) in enumerate(zip(order, call, strict=True)):
        for name, each in examples.items():
            said = answer
            if each.abstaining is not None:
                abstaining = each.abstaining[t] if answer.ndim == 1 else each.abstaining[t][:, None]
                said = np.where(abstaining, -1 if call.kind == "labels" else np.nan, answer)
            running[name].add(said, weight)
            losses[name][size] = _loss(running[name].count(), each.truth)
    return {
        name: Losses(
            mean_over_outputs(losses[name], each.n_outputs),
            None if each.weight is None else each.weight[: losses[name].shape[1] // each.n_outputs],
            call.kind != "values",
        )
        for name, each in examples.items()
    }


def _loss(count: Count, truth: NDArray[Any]) -> NDArray[Any]:
    """(n,): of what was counted so far; NaN where nobody voted."""
    answers = count.answers()
    if count.counts.ndim == 1:
        return (answers - truth) ** 2
    return np.where(count.voted, answers != truth, np.nan)


def _held(call: RollCall) -> Votes:
    """All scores together, unless they take too much memory."""
    cells = float(len(call)) * call.n_examples * call.n_classes
    if cells > SCORE_CELLS:
        raise ValueError(
            f"the scores of {len(call)} members on {call.n_examples} rows and {call.n_classes} classes take "
            f"{8 * cells / 1e9:.0f} GB: select on fewer rows, or with margin_distance or orientation"
        )
    return call.votes()


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else float("nan")


def _named(name: str, low: float, mean: float, high: float) -> dict[str, float]:
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def _count(weights: NDArray[np.float64]) -> float:
    """How many rows of equal weight tell as much (Kish)."""
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 0.0


def _wilson(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    """Interval, and the mean in it, of a share: open to the right when nothing is wrong.

    Losses between 0 and 1 vary less than those of a share, so that the interval is wide enough for them, too.
    """
    mean, n = _mean(values, weights), _count(weights)
    if not n:
        return np.nan, mean, np.nan
    z = 1.96**2 / n
    centre, half = (mean + z / 2) / (1 + z), np.sqrt(mean * (1 - mean) * z + z**2 / 4) / (1 + z)
    # 0 and 1 are ends that rounding would miss.
    return max(0.0, float(centre - half)), mean, min(1.0, float(centre + half))


def _paired(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    """The same of a difference of shares on the same rows (Bonett and Price 2012): not empty when no row differs."""
    mean, n = _mean(values, weights), _count(weights)
    if not n:
        return np.nan, mean, np.nan
    shares = weights / weights.sum()
    worse, better = ((n * float(shares @ np.maximum(sign * values, 0)) + 1) / (n + 2) for sign in (1, -1))
    half = 1.96 * np.sqrt((worse + better - (worse - better) ** 2) / (n + 2))
    return float(worse - better - half), mean, float(worse - better + half)


def _normal(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    mean, n = _mean(values, weights), _count(weights)
    if n <= 1:
        return np.nan, mean, np.nan
    half = 1.96 * float(np.sqrt((weights / weights.sum()) @ (values - mean) ** 2 / (n - 1)))
    return mean - half, mean, mean + half
