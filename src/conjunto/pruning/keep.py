"""Where to cut: a share, a number, a rule or a budget into the number of members kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from conjunto.checks import check_count, check_number
from conjunto.pruning.judging import Losses
from conjunto.pruning.measuring import predict_milliseconds, stored_bytes, thousand_rows

CUTS = ("auto", "min-oob", "min-selection")
# Out of bag a few members judge a few rows, on which they may well make no error.
ENOUGH = 0.9


@dataclass(frozen=True)
class Budget:
    """The most that a pruned ensemble may cost, as `keep`: the largest prefix that fits is kept.

    Parameters
    ----------
    bytes : int, default=None
        Of the pickled model, without what `prune` notes on it (`order_`, `curve_`, `pruning_report_`).
    milliseconds_per_1000_rows : float, default=None
        To predict 1000 rows: the median of several runs on this machine, with the model's own `n_jobs`. A measurement:
        beside other work two runs may differ by a third of the members.

    Examples
    --------
    >>> from conjunto.pruning import Budget
    >>> Budget(bytes=1_000_000)
    Budget(bytes=1000000, milliseconds_per_1000_rows=None)
    """

    bytes: int | None = None
    milliseconds_per_1000_rows: float | None = None

    def __post_init__(self) -> None:
        if self.bytes is None and self.milliseconds_per_1000_rows is None:
            raise ValueError("a Budget needs bytes, milliseconds_per_1000_rows, or both")
        if isinstance(self.bytes, float) and self.bytes.is_integer():
            object.__setattr__(self, "bytes", int(self.bytes))
        if self.bytes is not None:
            check_count("bytes", self.bytes)
        if self.milliseconds_per_1000_rows is not None:
            check_number("milliseconds_per_1000_rows", self.milliseconds_per_1000_rows, 0, 1e9, open_low=True)


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


def fit_budget(budget: Budget, members: int, part: Callable[[int], Any], X: Any) -> int:
    """The largest number of members, by halving, with which the model fits the budget."""
    rows = thousand_rows(X) if budget.milliseconds_per_1000_rows is not None else None

    def fits(size: int) -> bool:
        model = part(size)
        if budget.bytes is not None and stored_bytes(model) > budget.bytes:
            return False
        most = budget.milliseconds_per_1000_rows
        return most is None or predict_milliseconds([model], rows)[0]["median"] <= most

    if not fits(1):
        model = part(1)
        cost = f"{stored_bytes(model):,} bytes" if budget.bytes is not None else ""
        if rows is not None:
            cost += f"{', ' if cost else ''}{predict_milliseconds([model], rows)[0]['median']:.3g} ms per 1000 rows"
        raise ValueError(f"keep={budget}: one member alone costs more ({cost}); raise the budget")
    low, high = 1, members + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
