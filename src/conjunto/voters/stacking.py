"""Votes on several targets as votes on one: a row with one of its targets is an example.

What is a mean over examples, an error, a margin, a distance, is then the mean over the targets, and no criterion of
ordering need know of them. Examples of the first target come first, then those of the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.votes import RollCall, Votes


def stacked_votes(votes: Votes | Sequence[Votes]) -> Votes:
    """All targets in one; votes on one target stay as they are. Classes are known by their codes."""
    if isinstance(votes, Votes):
        return votes
    return stacked_call([each.roll_call() for each in votes]).votes()


def stacked_call(calls: RollCall | Sequence[RollCall]) -> RollCall:
    """The same of votes as they are cast."""
    if isinstance(calls, RollCall):
        return calls
    first, k = calls[0], max(call.n_classes for call in calls)
    return RollCall(
        first.kind,
        _joined([call.answers for call in calls], k),
        first.n_voters,
        sum(call.n_examples for call in calls),
        k,
        first.weights,
        first.rule,
    )


def stacked_rows(by_row: NDArray[Any], n_outputs: int) -> NDArray[Any]:
    """What is known of rows, (…, n), as known of examples: of each target the same."""
    return by_row if n_outputs == 1 else np.tile(by_row, n_outputs)


def stacked_truth(truth: NDArray[Any]) -> NDArray[Any]:
    """(n,) or (n, targets) as the truth about examples."""
    return truth if truth.ndim == 1 else truth.T.ravel()


def mean_over_outputs(by_example: NDArray[Any], n_outputs: int) -> NDArray[Any]:
    """(…, examples) as (…, n): the mean over the targets of a row."""
    if n_outputs == 1:
        return by_example
    return by_example.reshape(*by_example.shape[:-1], n_outputs, -1).mean(axis=-2)


def _joined(by_output: Sequence[Any], n_classes: int) -> Iterator[NDArray[Any]]:
    """The answers of each voter on all targets; a class that a target has not gets nothing."""
    for answers in zip(*by_output, strict=True):
        if answers[0].ndim == 1:
            yield np.concatenate(answers)
        else:
            yield np.concatenate([np.pad(each, ((0, 0), (0, n_classes - each.shape[1]))) for each in answers])
