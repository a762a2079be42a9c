"""A batch of members as a pure function: (learner, problem, draw, key, numbers) -> members.

Threads, processes and other machines can call it with the same arguments and get the same members.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from conjunto.draw import Draw, Outline
from conjunto.learners.fitting import Members, fit_members
from conjunto.problem import Problem
from conjunto.streams import Key, Stream
from conjunto.view import View


class Batch(NamedTuple):
    """Fitted members, and what they report about themselves."""

    members: Members
    without_rows: list[int]
    """Numbers of the members whose rows all had weight 0, which learned from all rows of positive weight instead."""


def fit_batch(learner: Any, problem: Problem, draw: Draw, key: Key, numbers: Sequence[int], n_jobs: int = 1) -> Batch:
    """Fit the members with these numbers; nothing else decides what they are."""
    outline = draw.outline(problem)
    streams = [Stream(key, number) for number in numbers]
    without_rows: list[int] = []
    views = _views(problem, draw, outline, streams, without_rows)
    return Batch(fit_members(learner, draw.posed(problem), views, streams, n_jobs, coded=True), without_rows)


def _views(
    problem: Problem, draw: Draw, outline: Outline, streams: Sequence[Stream], without_rows: list[int]
) -> Iterator[View]:
    """The views of the members, drawn as they are needed; notes those whose rows all weigh nothing."""
    there = None if problem.weights is None else problem.weights > 0
    for stream in streams:
        view = draw.view(stream, problem, outline)
        if there is not None and view.weights is not None and not view.weights[there].any():
            without_rows.append(stream.member)
        yield view
