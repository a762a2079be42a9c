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
        return self._without_silent(adapter.votes(self.rows))

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

    def curve(self) -> NDArray[np.float64]:
        """(T,): the error of every prefix, over the rows that it judges; NaN if there are none."""
        return np.array([self.error(size) for size in range(1, len(self.each) + 1)])

    def error(self, size: int) -> float:
        """The error of the first `size` members."""
        return _mean(*self._known(self.each[size - 1]))

    def compare(self, size: int) -> dict[str, float]:
        """The errors of the whole and of the first `size` members, and their paired difference, with 95 % intervals."""
        whole, part = self.each[-1].astype(float), self.each[size - 1].astype(float)
        found: dict[str, float] = {}
        for name, losses in (("before", whole), ("after", part), ("difference", part - whole)):
            low, mean, high = _interval(*self._known(losses))
            found |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        return {**found, "examples": int((~np.isnan(part)).sum())}

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
    return {name: Losses(losses[name], each.weight) for name, each in judged.items()}


def _by_votes(adapter: Adapter, order: NDArray[np.intp], rows: Read, judged: Mapping[str, Judged]) -> dict[str, Losses]:
    """Where the ensemble counts votes, or averages values."""
    said = adapter.votes(rows).take(order)
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
        found[name] = Losses(losses, each.weight)
    return found


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else float("nan")


def _interval(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean and 95 % interval: Wilson's for shares, which stays open when nothing is wrong, else the normal one."""
    mean = _mean(values, weights)
    if len(values) < 2 or not weights.any():
        return np.nan, mean, np.nan
    shares = weights / weights.sum()
    count = 1 / (shares @ shares)
    if ((values == 0) | (values == 1)).all():
        z = 1.96**2 / count
        centre = (mean + z / 2) / (1 + z)
        half = np.sqrt(mean * (1 - mean) * z + z**2 / 4) / (1 + z)
        return float(centre - half), mean, float(centre + half)
    half = 1.96 * np.sqrt(shares @ (values - mean) ** 2 / (count - 1)) if count > 1 else np.nan
    return float(mean - half), mean, float(mean + half)
