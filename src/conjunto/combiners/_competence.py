"""Which members decide about a row, by how they did on the rows nearest to it: one function per method, one table.

Every method gives (members, n) weights of the votes: 0 for members that have no say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ties import ROUNDING

Array = NDArray[Any]
# Giacinto and Roli: how alike the answers about a neighbour and about the row must be, and by how much the best member
# must be ahead of another for that to have no say.
ALIKE = 0.7
AHEAD = 0.1
# Soares et al.: the share of the members that are most accurate nearby, and of those the share that differ most.
ACCURATE = 0.5
DIVERSE = 0.3


@dataclass(frozen=True, eq=False)
class Nearby:
    """What is known about the neighbours of n rows."""

    right: Array
    """(members, n, neighbours): 1 right, 0 wrong."""
    weight: Array
    """(members, n, neighbours): the weight of the neighbour; 0 where the member has no answer about it."""
    said: Array
    """(members, n): the codes that members say about the rows themselves, -1 for none."""
    said_there: Array
    """(members, n, neighbours): what they say about the neighbours."""
    overall: Array
    """(members,): how often each is right on all rows that are known."""
    n_classes: int
    prior: float = 0.0
    """How many neighbours are assumed on which a member is as good as everywhere: 1 where members have no answer about
    some rows (out of bag), so that those left are few."""

    @cached_property
    def accuracy(self) -> Array:
        """(members, n): how often each is right nearby."""
        return self.accuracy_where(np.ones_like(self.right, dtype=bool))

    def accuracy_where(self, counted: Array) -> Array:
        """The same over some of the neighbours."""
        weight = self.weight * counted
        total = weight.sum(axis=2)
        right = (self.right * weight).sum(axis=2) + self.prior * self.overall[:, None]
        total = total + self.prior
        return np.divide(right, total, out=np.zeros_like(total), where=total > 0)

    @cached_property
    def streak(self) -> Array:
        """(members, n): the weight of the neighbours, from the nearest on, up to the first that a member gets wrong."""
        wrong = (self.right == 0) & (self.weight > 0)
        before = np.cumsum(wrong, axis=2) == 0
        return (before * self.weight).sum(axis=2)


def _best(competence: Array) -> Array:
    """The members of the greatest competence, all of them where there are several."""
    top = competence.max(axis=0)
    best: Array = competence >= top - ROUNDING * np.abs(top)
    return best


def overall_local_accuracy(nearby: Nearby) -> Array:
    """OLA (Woods et al. 1997): the member that is right most often nearby; several that are vote."""
    return _best(nearby.accuracy)


def local_class_accuracy(nearby: Nearby) -> Array:
    """LCA (Woods et al. 1997): the same over the neighbours that the member takes for the class it says here."""
    return _best(nearby.accuracy_where(nearby.said_there == nearby.said[:, :, None]))


def modified_rank(nearby: Nearby) -> Array:
    """Rank (Sabourin et al. 1993): the longest run of neighbours that are right; of several the best everywhere."""
    best = _best(nearby.streak)
    alone: Array = np.arange(len(best))[:, None] == np.where(best, nearby.overall[:, None], -1.0).argmax(axis=0)
    return alone


def multiple_behaviour(nearby: Nearby) -> Array:
    """MCB (Giacinto, Roli 2001): OLA over neighbours that look to the members much like the row; ties are wide."""
    known = nearby.said_there >= 0
    same = known & (nearby.said_there == nearby.said[:, :, None])
    alike = same.sum(axis=0) > ALIKE * known.sum(axis=0)
    alike |= ~alike.any(axis=1, keepdims=True)
    accuracy = nearby.accuracy_where(np.broadcast_to(alike, nearby.right.shape))
    decides: Array = accuracy >= accuracy.max(axis=0) - AHEAD
    return decides


def knora_eliminate(nearby: Nearby) -> Array:
    """KNORA-E (Ko et al. 2008): those that are right on all of as many of the nearest as any member is."""
    chosen: Array = _best(nearby.streak) & (nearby.streak.max(axis=0) > 0)
    return chosen


def knora_union(nearby: Nearby) -> Array:
    """KNORA-U (Ko et al. 2008): a vote for every neighbour that a member is right on."""
    votes: Array = (nearby.right * nearby.weight).sum(axis=2)
    return votes


def better_than_chance(nearby: Nearby) -> Array:
    """DES-P (Woloszynski et al. 2012): those that are right nearby more often than by chance."""
    chosen: Array = nearby.accuracy > 1 / nearby.n_classes
    return chosen


def accurate_and_diverse(nearby: Nearby) -> Array:
    """DES-KNN (Soares et al. 2006): of the more accurate half nearby, those that fail together least."""
    count = len(nearby.right)
    kept, diverse = max(1, round(ACCURATE * count)), max(1, round(DIVERSE * count))
    order = np.argsort(-nearby.accuracy, axis=0, kind="stable")[:kept]
    wrong = np.take_along_axis(((nearby.right == 0) * nearby.weight), order[:, :, None], axis=0)
    # The share of neighbours that both of two members get wrong, of each member over the others.
    together = np.einsum("tnk,nk->tn", wrong, wrong.sum(axis=0)) - (wrong * wrong).sum(axis=2)
    differing = np.argsort(together, axis=0, kind="stable")[: min(diverse, kept)]
    chosen = np.zeros((count, nearby.right.shape[1]), dtype=bool)
    np.put_along_axis(chosen, np.take_along_axis(order, differing, axis=0), True, axis=0)
    return chosen


METHODS: dict[str, Callable[[Nearby], Array]] = {
    "ola": overall_local_accuracy,
    "lca": local_class_accuracy,
    "rank": modified_rank,
    "mcb": multiple_behaviour,
    "knora-e": knora_eliminate,
    "knora-u": knora_union,
    "des-p": better_than_chance,
    "des-knn": accurate_and_diverse,
}


def weights_of_votes(method: str, nearby: Nearby) -> Array:
    """(members, n): the weight of each vote; where nobody is competent all decide."""
    weights = np.where(nearby.said >= 0, METHODS[method](nearby), 0.0)
    return np.where(weights.any(axis=0), weights, (nearby.said >= 0).astype(np.float64))


def dynamic_selection(errors: Array) -> Array:
    """DS (Rooney et al. 2004): the member with the least error nearby."""
    chosen: Array = np.arange(len(errors))[:, None] == errors.argmin(axis=0)
    return chosen.astype(np.float64)


def dynamic_weighting(errors: Array) -> Array:
    """DW: all members, by the inverse of their squared errors nearby."""
    largest = _largest(errors)
    # A member without errors nearby is not infinitely better than others.
    weights: Array = 1 / np.maximum(errors / np.where(largest > 0, largest, 1.0), 1e-6)
    return weights


def dynamic_weighting_with_selection(errors: Array) -> Array:
    """DWS: the same without members whose error nearby is in the upper half between the least and the largest."""
    middle = (_largest(errors) + errors.min(axis=0)) / 2
    return dynamic_weighting(errors) * (errors <= middle)


def _largest(errors: Array) -> Array:
    """(n,): the largest error of those that have one; members that say nothing have an infinite one."""
    largest: Array = np.where(np.isfinite(errors), errors, 0.0).max(axis=0)
    return largest


VALUE_METHODS: dict[str, Callable[[Array], Array]] = {
    "dw": dynamic_weighting,
    "ds": dynamic_selection,
    "dws": dynamic_weighting_with_selection,
}
