"""Members by a method: an ordering, a selector of subsets, or a user's own function of votes and y."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import suggest
from conjunto.ordering import ORDERINGS, clustering, exhaustive, genetic, optimal
from conjunto.pruning.adapters import Adapter
from conjunto.pruning.judging import Judged
from conjunto.pruning.meta_tree import meta_tree
from conjunto.votes import Votes

Method = str | Callable[..., Any]


class Selector(NamedTuple):
    """A method that chooses a subset."""

    function: Callable[..., Any]
    """What it takes of weights, threads and seeds is said by its signature."""
    members: Callable[..., Any]
    """The members, given votes, y and the size."""


SELECTORS = {
    "exhaustive": Selector(exhaustive, lambda v, y, size, **more: exhaustive(v, y, sizes=[size], **more).members[0]),
    "optimal": Selector(optimal, lambda v, y, size, **more: optimal(v, y, size, **more).members),
    "clustering": Selector(clustering, clustering),
    "genetic": Selector(genetic, lambda v, y, size, **more: genetic(v, y, **more)),
    "meta_tree": Selector(meta_tree, lambda v, y, size, **more: meta_tree(v, y, size=size, **more)),
}
# Methods that judge what members would answer together, and so need all that they add to the classes; the others, and
# complementarity too, ask who is right.
ANSWERING = ("reduce_error", "complementarity", "exhaustive", "optimal", "genetic")


def check_method(method: Any) -> None:
    """Refuse what is neither a name nor a function."""
    known = [*ORDERINGS, *SELECTORS]
    if isinstance(method, str) and _spelled(method) not in known:
        raise ValueError(
            f"unknown method {method!r}; {suggest(method, known, len(known))}; or give a function of votes and y"
        )
    if not isinstance(method, str) and not callable(method):
        raise ValueError(f"method must be a name or a function of votes and y, got {method!r}")


def choose(
    adapter: Adapter, judged: Judged, method: Method, size: int | None, *, n_jobs: int | None, random_state: Any
) -> NDArray[np.intp]:
    """The members in the order of a method, or the subset that it chooses, of this size if it can be told one.

    Members without a vote come last: alone they would say nothing.
    """
    check_method(method)
    name = _spelled(method)
    votes = judged.scores(adapter) if adapter.soft and name in ANSWERING else judged.votes(adapter)
    if not adapter.labels_tell and (name == "complementarity" or name not in ANSWERING):
        raise ValueError(
            f"members of {type(adapter.fitted).__name__} vote for sets of classes, and none is right or wrong by "
            'itself: use method="reduce_error", "exhaustive", "optimal" or "genetic"'
        )
    truth = truth_of(votes, judged)
    offered = {"sample_weight": judged.weight, "n_jobs": n_jobs, "random_state": random_state}
    if chooses_subset(method):
        if size is None and name != "genetic":
            raise ValueError(f"keep must be a share or a number of members: {name} chooses a subset of a given size")
        found = SELECTORS[name].members(votes, truth, size, **_taken(SELECTORS[name].function, offered))
    else:
        function = method if callable(method) else ORDERINGS[name]
        found = function(votes, truth, **_taken(function, offered))
    members = check_members(found, len(adapter), method)
    if votes.weights is None or len(members) < len(adapter):
        return members
    return members[np.argsort(votes.weights[members] == 0, kind="stable")]


def chooses_subset(method: Method) -> bool:
    """Whether a method is known to choose a subset."""
    return isinstance(method, str) and _spelled(method) in SELECTORS


def _spelled(method: Method) -> str:
    return method.replace("-", "_") if isinstance(method, str) else ""


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
    everything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    return {name: value for name, value in offered.items() if (everything or name in known) and value is not None}
