"""Where to cut: a share, a number, a rule or a budget into the number of members kept."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from conjunto.checks import check_count, check_number
from conjunto.pruning.judging import Losses

CUTS = ("auto", "min-oob", "min-selection")
# Out of bag a few members judge a few rows, on which they may well make no error.
ENOUGH = 0.9


@dataclass(frozen=True)
class Budget:
    """The most that a pruned ensemble may cost, as `keep`: the largest prefix that fits is kept.

    Parameters
    ----------
    bytes : int, default=None
        Of the file that the model is kept in, with what `prune` notes on it: a model file for an ensemble of conjunto
        (`conjunto.model_file`, if skops is installed), else a pickle.
    milliseconds_per_1000_rows : float, default=None
        To predict 1000 rows at once: time of the processor, in one thread on this machine. It is measured at several
        sizes, each the least of several runs, and read off a straight line.
    milliseconds_per_row : float, default=None
        The same to predict one row by itself, where most of the time is often that of the call.

    Examples
    --------
    >>> from conjunto.pruning import Budget
    >>> Budget(bytes=1_000_000)
    Budget(bytes=1000000, milliseconds_per_1000_rows=None, milliseconds_per_row=None)
    """

    bytes: int | None = None
    milliseconds_per_1000_rows: float | None = None
    milliseconds_per_row: float | None = None

    def __post_init__(self) -> None:
        if self.bytes is None and self.milliseconds_per_1000_rows is None and self.milliseconds_per_row is None:
            raise ValueError("a Budget needs bytes, milliseconds_per_1000_rows or milliseconds_per_row, or several")
        if isinstance(self.bytes, float) and self.bytes.is_integer():
            object.__setattr__(self, "bytes", int(self.bytes))
        if self.bytes is not None:
            check_count("bytes", self.bytes)
        for name in ("milliseconds_per_1000_rows", "milliseconds_per_row"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0, 1e9, open_low=True)


def check_keep(keep: Any, members: int) -> None:
    """Refuse what is no way to cut, before anything is computed."""
    if isinstance(keep, Budget) or (isinstance(keep, str) and keep in CUTS):
        return
    if fixed_size(keep, members) is None:
        raise ValueError(
            f"keep must be a share in (0, 1], a number of members from 1 to {members}, one of "
            f"{', '.join(map(repr, CUTS))}, or a Budget, got {keep!r}"
        )


def fixed_size(keep: Any, members: int) -> int | None:
    """The number of members that a share or a number stands for; None for anything else."""
    if isinstance(keep, bool) or not isinstance(keep, Real):
        return None
    if isinstance(keep, Integral):
        return int(keep) if 1 <= int(keep) <= members else None
    return max(1, round(float(keep) * members)) if 0 < float(keep) <= 1 else None


def least(losses: Losses) -> int:
    """The size of the prefix of least error, of those that judge nearly all rows; of equal ones the smallest."""
    curve = losses.curve()
    enough = ENOUGH * losses.judged(len(curve))
    judges = np.array([losses.judged(size) >= enough for size in range(1, len(curve) + 1)])
    known = np.where(np.isnan(curve) | ~judges, np.inf, curve)
    return int((known <= known.min() + 1e-12).argmax()) + 1
