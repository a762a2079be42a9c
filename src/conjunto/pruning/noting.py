"""What `prune` notes on a pruned ensemble: `order_`, `curve_` and `pruning_report_`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ensembles._ensemble import ABOUT_PRUNING
from conjunto.pruning.judging import Examples, Losses
from conjunto.pruning.measuring import file_bytes, predict_milliseconds, thousand_rows
from conjunto.voters import Voters
from conjunto.voters.checking import check_voters, fitted_of

# In the place of what would be measured, on a part whose file is only counted.
SOME_TIME = {"median": 1.2345678901234567, "low": 1.1345678901234567, "high": 1.3345678901234567}
SOME_COSTS = {
    "bytes": {"before": 1_234_567, "after": 123_456},
    "milliseconds_per_1000_rows": {"before": SOME_TIME, "after": {name: 3 * time for name, time in SOME_TIME.items()}},
}


@dataclass(frozen=True, eq=False)
class Notes:
    """What is known about every part of an ordered ensemble."""

    voters: Voters
    settings: dict[str, str]
    examples: Mapping[str, Examples]
    losses: Mapping[str, Losses]

    @cached_property
    def curve(self) -> dict[str, NDArray[Any]]:
        """The errors of all sizes."""
        curve: dict[str, NDArray[Any]] = {"members": np.arange(1, len(self.voters) + 1)}
        return curve | {name: loss.curve() for name, loss in self.losses.items()}

    def write(self, part: Any, size: int, costs: dict[str, Any]) -> None:
        """Note them on the part of so many members."""
        errors = {
            name: {**loss.compare(size), "optimistic": self.examples[name].used} for name, loss in self.losses.items()
        }
        part.curve_ = self.curve
        members = {"before": len(self.voters), "after": size}
        part.pruning_report_ = {**self.settings, "members": members, **costs, "error": errors}


def part_of(voters: Voters, order: NDArray[np.intp], size: int) -> Any:
    """The first members, without notes."""
    part = voters.take(check_voters(order[:size], len(voters)))
    for stale in ABOUT_PRUNING:
        # Of an earlier one.
        part.__dict__.pop(stale, None)
    return part


def part_to_count(voters: Voters, order: NDArray[np.intp], size: int, notes: Notes | None) -> Any:
    """The first members as they will be, but for costs that are not measured."""
    part = part_of(voters, order, size)
    part.order_ = order
    if notes is not None:
        notes.write(part, size, SOME_COSTS)
    return part


def measured_costs(voters: Voters, pruned: Any, X: Any) -> dict[str, Any]:
    """Bytes and time before and after; those of notes do not count."""
    whole = fitted_of(voters)
    whole = whole if hasattr(whole, "predict") else voters.take(np.arange(len(voters)))
    before, after = predict_milliseconds([whole, pruned], thousand_rows(X))
    return {
        "bytes": {"before": file_bytes(whole), "after": file_bytes(pruned)},
        "milliseconds_per_1000_rows": {"before": before, "after": after},
    }
