"""What the table of criteria says about each of them."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, eq=False)
class Criterion:
    """A function that orders members or chooses some of them, and what one must know to call it.

    The function takes votes and y, and by name what it needs of `size`, `sample_weight`, `n_jobs` and `random_state`.
    It returns numbers of members, or a result that has them as `chosen`.

    Examples
    --------
    >>> from conjunto.ordering import CRITERIA
    >>> CRITERIA["optimal"].returns, CRITERIA["optimal"].sized
    ('subset', True)
    """

    function: Callable[..., Any]
    needs: Set[Literal["answers", "correctness"]]
    """"answers": it judges what members answer together, and so needs all that they add to the classes;
    "correctness": it asks what each says by itself, as who is right, and so needs members that are for one class."""
    returns: Literal["order", "subset"]
    """All members in an order, or some of them."""
    sized: bool = False
    """Whether it must be told how many members to choose (`size`)."""
    values: bool = False
    """Whether it takes values of a regression, too."""
