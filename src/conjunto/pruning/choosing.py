"""Members by a method: an ordering, a selector of subsets, or a user's own function of votes and y."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import suggest
from conjunto.ordering import ORDERINGS
from conjunto.pruning.adapters import Adapter
from conjunto.pruning.judging import Judged
from conjunto.votes import Votes

Method = str | Callable[..., Any]


def check_method(method: Any) -> None:
    """Refuse what is neither a name nor a function."""
    if isinstance(method, str) and method not in ORDERINGS:
        raise ValueError(f"unknown method {method!r}; {suggest(method, ORDERINGS)}; or give a function of votes and y")
    if not isinstance(method, str) and not callable(method):
        raise ValueError(f"method must be a name or a function of votes and y, got {method!r}")


def choose(
    adapter: Adapter, judged: Judged, method: Method, *, n_jobs: int | None, random_state: Any
) -> NDArray[np.intp]:
    """The members in the order of a method, or the subset that it chooses."""
    check_method(method)
    function = ORDERINGS[method] if isinstance(method, str) else method
    votes = judged.votes(adapter)
    offered = {"sample_weight": judged.weight, "n_jobs": n_jobs, "random_state": random_state}
    order = function(votes, truth_of(votes, judged), **_taken(function, offered))
    return check_members(order, len(adapter), method)


def truth_of(votes: Votes, judged: Judged) -> NDArray[Any]:
    """The truth as functions of votes take it: labels where the votes have classes."""
    return judged.truth if votes.classes is None else votes.classes[judged.truth]


def check_members(members: Any, count: int, method: Method) -> NDArray[np.intp]:
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
    return {name: value for name, value in offered.items() if name in known and value is not None}
