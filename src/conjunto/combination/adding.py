"""The one adder: votes of all voters, or of every prefix of them, by the rule that the votes name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.combination.count import Count
from conjunto.combination.rules import RULES, Plurality, Running
from conjunto.votes import RollCall, Votes, as_votes


def combine(votes: Votes | RollCall) -> Count:
    """Count the votes of all voters.

    Parameters
    ----------
    votes : Votes or RollCall
        What the voters say; a roll call is gone through once, and never held whole.

    Returns
    -------
    Count
        `counts`, (n, K) by class or (n,) values, and `voted`, (n,).
    """
    if isinstance(votes, Votes) and votes.groups is not None:
        return combine(by_voter(votes))
    call = votes.roll_call() if isinstance(votes, Votes) else votes
    running = begin(call)
    for weight, answer in call:
        running.add(answer, weight)
    return running.count()


def prefixes(votes: Votes | RollCall) -> Iterator[Count]:
    """Yield the count of the first 1, 2, …, T members; its arrays are updated in place."""
    if isinstance(votes, Votes) and votes.groups is not None:
        yield from _prefixes_of_groups(votes)
        return
    call = votes.roll_call() if isinstance(votes, Votes) else votes
    running = begin(call)
    for weight, answer in call:
        running.add(answer, weight)
        yield running.count()


def decide(votes: Votes | RollCall | ArrayLike) -> NDArray[Any]:
    """(n,): what the voters answer together: labels where the votes have classes, else codes, or values.

    Where everybody abstains the code is -1 and the value NaN; such rows have no label, so votes with `classes` must
    have none.
    """
    votes = votes if isinstance(votes, RollCall) else as_votes(votes)
    answers = combine(votes).answers()
    if votes.kind == "values" or votes.classes is None:
        return answers
    if (answers < 0).any():
        raise ValueError(f"nobody votes on {(answers < 0).sum()} of the {len(answers)} rows: leave them out")
    return votes.classes[answers]


def by_voter(votes: Votes) -> Votes:
    """The votes of voters: where groups of members decide before they vote, one vote for each group."""
    return votes if votes.groups is None else Votes(labels=group_decisions(votes)[0], classes=votes.classes)


def group_decisions(votes: Votes) -> tuple[NDArray[np.int32], list[NDArray[np.intp]]]:
    """(groups, n): what each group decides by its own votes, in the order of the groups' names, and who is in it."""
    assert votes.groups is not None
    names, group = np.unique(votes.groups, return_inverse=True)
    inside = [np.flatnonzero(group == g) for g in range(len(names))]
    decided = [combine(replace(votes.take(members), groups=None)).winners() for members in inside]
    return np.stack(decided).astype(np.int32), inside


def begin(call: RollCall) -> Running:
    """A running count for the votes of a roll call."""
    # Votes without a list of classes, all abstaining, know none: one column holds nothing.
    return RULES[call.rule](call.n_examples, 0 if call.kind == "values" else max(1, call.n_classes))


def _prefixes_of_groups(votes: Votes) -> Iterator[Count]:
    """Prefixes of members where groups of them decide before they vote: the last group may be incomplete."""
    assert votes.groups is not None
    n, k = votes.n_examples, max(1, votes.n_classes)
    total = Plurality(n, k)
    names, group = np.unique(votes.groups, return_inverse=True)
    inside = [RULES[votes.rule](n, k) for _ in names]
    decided = np.full((len(names), n), -1)
    for g, (weight, answer) in zip(group, replace(votes, groups=None).roll_call(), strict=True):
        inside[g].add(answer, weight)
        after = inside[g].count().winners()
        total.add(decided[g], -1.0)
        total.add(after, 1.0)
        decided[g] = after
        yield total.count()
