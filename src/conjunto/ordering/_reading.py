"""The door of this room: votes and y of a user into arrays that the criteria and the core can rely on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.combination import group_decisions
from conjunto.jobs import count_jobs
from conjunto.ordering._magnitudes import moderate_values, moderate_votes, moderate_weights
from conjunto.ties import ROUNDING
from conjunto.votes import Votes, as_votes, leading

# A larger code is no class, but an identifier or a mistake; counts of all classes are kept for every example.
MOST_CLASSES = 100_000
# The rules of combination that the criteria follow; a mean of scores decides as their sum.
READABLE = ("plurality", "sum", "mean", "weighted-median")


@dataclass(frozen=True, eq=False)
class Ballot:
    """What T voters say about n examples, and the truth."""

    weights: NDArray[np.float64] | None
    """(T,): the weight of each vote; None where all are equal."""
    sample_weight: NDArray[np.float64] | None
    """(n,): the weight of each example; None where all are equal."""
    voters: list[NDArray[np.intp]] | None
    """The members of each voter, where groups of members decide before they vote; None: one each."""

    def permutation(self, order: ArrayLike) -> NDArray[np.intp]:
        """The members in the order of the voters; those of a group stay together, as they stood."""
        if self.voters is None:
            return np.asarray(order, dtype=np.intp)
        return np.concatenate([self.voters[voter] for voter in np.asarray(order)])


@dataclass(frozen=True, eq=False)
class ClassBallot(Ballot):
    """Votes on classes."""

    labels: NDArray[np.int32]
    """(T, n): the class that each voter is for, by itself; -1 where it abstains."""
    truth: NDArray[np.int32]
    """(n,): class codes."""
    n_classes: int
    scores: NDArray[np.float64] | None
    """(T, n, K): what each voter adds to the classes, where that is more than a label; NaN where it abstains."""

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class ValueBallot(Ballot):
    """Predictions of a regression."""

    values: NDArray[np.float64]
    """(T, n): NaN where a member abstains."""
    truth: NDArray[np.float64]
    median: bool
    """Whether the ensemble answers with the weighted median instead of the mean."""

    def __len__(self) -> int:
        return len(self.values)


def read(votes: Votes | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ClassBallot | ValueBallot:
    """Check votes, y and weights; refuse what no criterion could use.

    Weights, scores and values come out at a scale at which nothing that is made of them overflows.
    """
    votes = as_votes(votes)
    if len(votes) == 0 or votes.n_examples == 0:
        raise ValueError(
            f"votes must hold at least one member and one example, got {len(votes)} and {votes.n_examples}"
        )
    if votes.rule not in READABLE:
        raise ValueError(
            f"criteria judge votes that are combined by {', '.join(READABLE)}, and these are combined by {votes.rule}"
        )
    shared = {"weights": _weights_of(votes), "sample_weight": _sample_weight(sample_weight, votes.n_examples)}
    if votes.values is not None:
        try:
            targets = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("y must hold numbers where votes are values of a regression") from None
        if targets.shape != (votes.n_examples,):
            raise ValueError(f"y has shape {targets.shape}, votes have {votes.n_examples} examples")
        values = np.ascontiguousarray(votes.values, dtype=np.float64)
        if np.isinf(values).any() or not np.isfinite(targets).all():
            raise ValueError("votes and y must be finite; NaN in votes is an abstention")
        values, targets = moderate_values(values, targets, shared["sample_weight"])
        return ValueBallot(**shared, voters=None, values=values, truth=targets, median=votes.rule == "weighted-median")
    truth = _codes(votes, y)
    k = max(votes.n_classes, int(truth.max()) + 1)
    if k > MOST_CLASSES:
        raise ValueError(f"votes or y hold the code {k - 1}: class codes are numbered from 0, without gaps")
    if votes.scores is not None and np.isinf(votes.scores).any():
        raise ValueError("scores must be finite; NaN is an abstention")
    votes = moderate_votes(votes)
    if votes.groups is not None:
        labels, voters = group_decisions(votes)
        shared["weights"] = None
        return ClassBallot(**shared, voters=voters, labels=labels, truth=truth, n_classes=k, scores=None)
    if votes.scores is None:
        labels = np.ascontiguousarray(votes.labels, dtype=np.int32)
        if votes.classes is not None and labels.max() >= len(votes.classes):
            raise ValueError(f"votes hold the code {labels.max()}, and there are {len(votes.classes)} classes")
        return ClassBallot(**shared, voters=None, labels=np.maximum(labels, -1), truth=truth, n_classes=k, scores=None)
    scores = votes.scores
    if k > scores.shape[2]:
        raise ValueError(f"y holds the code {k - 1}, and the scores are about {scores.shape[2]} classes")
    labels = np.stack([leading(each) for each in scores]).astype(np.int32)
    return ClassBallot(**shared, voters=None, labels=labels, truth=truth, n_classes=k, scores=scores)


def read_classes(votes: Votes | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, name: str) -> ClassBallot:
    """The same for a criterion that is about right and wrong."""
    ballot = read(votes, y, sample_weight)
    if isinstance(ballot, ValueBallot):
        # The table imports the criteria, which import this file.
        from conjunto.ordering import CRITERIA

        others = [other for other, criterion in CRITERIA.items() if criterion.values]
        raise ValueError(
            f"{name} needs votes on classes (integers, or Votes with labels), and these are values of a regression: "
            f"use {', '.join(others[:-1])} or {others[-1]}"
        )
    return ballot


def first_best(scores: NDArray[np.float64]) -> int:
    """The lowest index whose score is the least, up to rounding."""
    scale = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    return int((scores <= scores.min() + ROUNDING * scale).argmax())


def _codes(votes: Votes, y: ArrayLike) -> NDArray[np.int32]:
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {y.shape}")
    if votes.classes is None and (y.dtype.kind not in "iub" or (len(y) and y.min() < 0)):
        raise ValueError("y must hold class codes (integers from 0) where the votes have no classes")
    return votes.encode(y).astype(np.int32)


def _weights_of(votes: Votes) -> NDArray[np.float64] | None:
    if votes.weights is None:
        return None
    weights = np.ascontiguousarray(votes.weights, dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("the weights of members must be finite, at least 0, and not all 0")
    return None if (weights == weights[0]).all() else moderate_weights(weights)


def _sample_weight(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one entry per example, ({n},), got {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("sample_weight must be finite, at least 0, and not all 0")
    return None if (weights == weights[0]).all() else moderate_weights(weights)


def threads_of(n_jobs: int | None) -> int:
    """Threads for the core."""
    return 1 if n_jobs is None else count_jobs(n_jobs)
