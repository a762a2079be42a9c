"""What every prefix of an ordered ensemble gets wrong, by the ensemble's own rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ballot import leaders, prefix_counts, prefix_values
from conjunto.pruning.adapters import Adapter
from conjunto.pruning.adapters._adapter import Read
from conjunto.votes import Votes

# Scores of so many members, rows and classes are held at most: a gigabyte.
SCORE_CELLS = 1 << 27


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with their truth, on which an ensemble is judged."""

    rows: Read
    truth: NDArray[Any]
    """Class codes, or targets."""
    weight: NDArray[np.float64] | None = None
    silent: NDArray[np.bool_] | None = None
    """(T, n): members that have no say about a row, because they saw it; None: all have."""
    used: bool = False
    """Whether these rows were used to select members: what is measured on them is then optimistic."""

    def votes(self, adapter: Adapter) -> Votes:
        """What the members say, those that are silent abstaining."""
        return self._without_silent(_said(adapter, self.rows))

    def scores(self, adapter: Adapter) -> Votes:
        """What the members add to the classes, where the ensemble adds up scores; NaN where they are silent."""
        assert adapter.classes is not None
        shape = (len(adapter), len(self.truth), len(adapter.classes))
        if np.prod(shape, dtype=float) > SCORE_CELLS:
            raise ValueError(
                f"the scores of {shape[0]} members on {shape[1]} rows and {shape[2]} classes take "
                f"{8 * np.prod(shape, dtype=float) / 1e9:.0f} GB: select on fewer rows, or with margin_distance or "
                "orientation"
            )
        scores = np.empty(shape)
        for t, shares in enumerate(adapter.each_share(np.arange(len(adapter)), self.rows)):
            scores[t] = shares
        if self.silent is not None:
            scores[self.silent] = np.nan
        return Votes(scores=scores, classes=adapter.classes)

    def _without_silent(self, votes: Votes) -> Votes:
        if self.silent is None:
            return votes
        answers = votes.answers.copy()
        answers[self.silent] = -1 if votes.values is None else np.nan
        kind = "labels" if votes.values is None else "values"
        return Votes(**{kind: answers}, weights=votes.weights, rule=votes.rule, classes=votes.classes)


@dataclass(frozen=True, eq=False)
class Losses:
    """(T, n): the loss of each prefix on each row, NaN where nobody in it votes."""

    each: NDArray[np.float32]
    weight: NDArray[np.float64] | None
    shares: bool
    """Whether a loss is 0 or 1, so that their mean is a share."""

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


def judge(adapter: Adapter, order: NDArray[np.intp], judged: Mapping[str, Judged]) -> dict[str, Losses]:
    """The losses of all prefixes of an order: 0 and 1 for labels, squares for values. Members are asked only once."""
    found = {}
    for rows in {id(each.rows): each.rows for each in judged.values()}.values():
        same = {name: each for name, each in judged.items() if each.rows is rows}
        found.update(_by_shares(adapter, order, same) if adapter.soft else _by_votes(adapter, order, rows, same))
    return {name: found[name] for name in judged}


def _by_shares(adapter: Adapter, order: NDArray[np.intp], judged: Mapping[str, Judged]) -> dict[str, Losses]:
    """Where the ensemble adds up class shares."""
    assert adapter.classes is not None
    (first, *_) = judged.values()
    n = len(first.truth)
    sums = {name: np.zeros((n, len(adapter.classes))) for name in judged}
    known = {name: np.zeros(n, dtype=bool) for name in judged}
    losses = {name: np.empty((len(order), n), dtype=np.float32) for name in judged}
    for size, (t, shares) in enumerate(zip(order, adapter.each_share(order, first.rows), strict=True)):
        for name, each in judged.items():
            votes = slice(None) if each.silent is None else ~each.silent[t]
            sums[name][votes] += shares[votes]
            known[name][votes] = True
            losses[name][size] = np.where(known[name], leaders(sums[name]) != each.truth, np.nan)
    return {name: Losses(losses[name], each.weight, True) for name, each in judged.items()}


def _by_votes(adapter: Adapter, order: NDArray[np.intp], rows: Read, judged: Mapping[str, Judged]) -> dict[str, Losses]:
    """Where the ensemble counts votes, or averages values."""
    said = _said(adapter, rows).take(order)
    found = {}
    for name, each in judged.items():
        silent = None if each.silent is None else each.silent[order]
        votes = replace(each, silent=silent)._without_silent(said)
        losses = np.empty((len(order), len(each.truth)), dtype=np.float32)
        if votes.values is not None:
            for size, values in enumerate(prefix_values(votes)):
                losses[size] = (values - each.truth) ** 2
        else:
            for size, count in enumerate(prefix_counts(votes)):
                winners = count.winners()
                losses[size] = np.where(winners >= 0, winners != each.truth, np.nan)
        found[name] = Losses(losses, each.weight, votes.values is None)
    return found


def _said(adapter: Adapter, rows: Read) -> Votes:
    """What the members say; they are asked once, for the order, the cut and the curves."""
    if rows.said is None:
        rows.said = adapter.votes(rows)
    return rows.said


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else float("nan")


def _named(name: str, low: float, mean: float, high: float) -> dict[str, float]:
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def _count(weights: NDArray[np.float64]) -> float:
    """How many rows of equal weight tell as much (Kish)."""
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 0.0


def _wilson(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    """Interval, and the mean in it, of a share: open to the right when nothing is wrong."""
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
    worse, better = ((n * float(shares @ (values == sign)) + 1) / (n + 2) for sign in (1, -1))
    half = 1.96 * np.sqrt((worse + better - (worse - better) ** 2) / (n + 2))
    return float(worse - better - half), mean, float(worse - better + half)


def _normal(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    mean, n = _mean(values, weights), _count(weights)
    if n <= 1:
        return np.nan, mean, np.nan
    half = 1.96 * float(np.sqrt((weights / weights.sum()) @ (values - mean) ** 2 / (n - 1)))
    return mean - half, mean, mean + half
