"""Members by a criterion: one of the table, or a user's own function of votes and y."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import suggest
from conjunto.ordering import CRITERIA, Criterion
from conjunto.pruning.judging import Examples
from conjunto.voters import Voters
from conjunto.votes import Votes

CriterionLike = str | Callable[..., Any]


def check_criterion(method: Any) -> None:
    """Refuse what is neither a name nor a function."""
    if isinstance(method, str) and _spelled(method) not in CRITERIA:
        raise ValueError(
            f"unknown method {method!r}; {suggest(method, CRITERIA, len(CRITERIA))}; or give a function of votes and y"
        )
    if not isinstance(method, str) and not callable(method):
        raise ValueError(f"method must be a name or a function of votes and y, got {method!r}")


def choose(
    voters: Voters,
    examples: Examples,
    method: CriterionLike,
    size: int | None,
    *,
    n_jobs: int | None,
    random_state: Any,
) -> NDArray[np.intp]:
    """The members in the order of a criterion, or the subset that it chooses, of this size if it can be told one.

    Members without a vote come last: alone they would say nothing.
    """
    check_criterion(method)
    criterion = _criterion(method)
    if criterion.sized and size is None:
        raise ValueError(f"keep must be a share or a number of members: {method} chooses a subset of a given size")
    votes = examples.votes() if "answers" in criterion.needs else examples.labels()
    if votes.for_sets and "correctness" in criterion.needs:
        votes.as_labels()  # says why not
    offered = {"sample_weight": examples.weight, "n_jobs": n_jobs, "random_state": random_state}
    if criterion.sized:
        offered["size"] = size
    found = criterion.function(votes, truth_of(votes, examples), **_taken(criterion.function, offered))
    # Results that say more than the members have them as `chosen`.
    members = check_members(getattr(found, "chosen", found), len(voters), method)
    if votes.weights is None or len(members) < len(voters):
        return members
    return members[np.argsort(votes.weights[members] == 0, kind="stable")]


def chooses_subset(method: CriterionLike) -> bool:
    """Whether a criterion is known to choose a subset; what a user's own function does is seen by its result."""
    return _criterion(method).returns == "subset"


def _criterion(method: CriterionLike) -> Criterion:
    """The line of the table; a user's own function asks what each member says."""
    return Criterion(method, {"correctness"}, "order") if callable(method) else CRITERIA[_spelled(method)]


def _spelled(method: str) -> str:
    return method.replace("-", "_")


def truth_of(votes: Votes, examples: Examples) -> NDArray[Any]:
    """The truth as functions of votes take it: labels where the votes have classes."""
    return examples.truth if votes.classes is None else votes.classes[examples.truth]


def check_members(members: Any, count: int, method: CriterionLike) -> NDArray[np.intp]:
    """Refuse what is no list of different members."""
    found = np.asarray(members)
    name = method if isinstance(method, str) else getattr(method, "__name__", "method")
    if found.ndim != 1 or found.dtype.kind not in "iu" or not 1 <= len(found) <= count:
        raise ValueError(f"{name} must return the numbers of members, a permutation or a subset of 0 .. {count - 1}")
    if found.min() < 0 or found.max() >= count or len(np.unique(found)) < len(found):
        raise ValueError(f"{name} returned numbers outside 0 .. {count - 1}, or one of them twice")
    return found.astype(np.intp)


def _taken(function: Callable[..., Any], offered: dict[str, Any]) -> dict[str, Any]:
    """What a function takes of what is offered; a user's own takes votes and y, and more if it says so by name."""
    known = signature(function).parameters
    everything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    return {name: value for name, value in offered.items() if (everything or name in known) and value is not None}
