"""The error of an ordered ensemble against the number of members kept, and where it was cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.checks import check_count
from conjunto.plots._figure import new_figure

# Rows keep their colour and dash from picture to picture, whichever of them are known.
STYLES: dict[str, tuple[str, Any]] = {
    "train": ("C0", "--"),
    "oob": ("C1", "-."),
    "selection": ("C2", (0, (1, 1))),
    "test": ("C3", "-"),
}
NAMES = {"train": "training rows", "oob": "out of bag", "selection": "selection rows", "test": "test rows"}


class PruningCurveDisplay:
    """The error of the first members of an order, on every set of rows on which it is known.

    The error of the whole ensemble is a thin line of the same colour, the cut a vertical one. What was measured on rows
    that members were selected on is marked: it is optimistic.

    Parameters
    ----------
    curve : dict of name to array
        "members", and the error of so many members on "train", "oob", "selection" or "test".
    size : int
        The number of members kept.
    optimistic : collection of str, default=()
        The rows that members were selected on.
    measure : str, default="error"
        What the error is called on its axis.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and figure, after `plot`.

    Examples
    --------
    >>> from conjunto.plots import PruningCurveDisplay
    >>> display = PruningCurveDisplay({"members": [1, 2, 3], "test": [0.3, 0.1, 0.2]}, size=2)
    >>> display.whole
    {'test': 0.2}
    """

    def __init__(
        self,
        curve: Mapping[str, ArrayLike],
        size: int,
        *,
        optimistic: Collection[str] = (),
        measure: str = "error",
    ) -> None:
        if not isinstance(curve, Mapping) or "members" not in curve or not set(curve) <= {"members", *STYLES}:
            raise ValueError(f"curve must be a dict of 'members' and errors on any of {', '.join(STYLES)}")
        self.members: NDArray[np.intp] = np.asarray(curve["members"], dtype=np.intp)
        errors = {name: np.asarray(curve[name], dtype=np.float64) for name in STYLES if name in curve}
        for name, error in errors.items():
            if error.shape != self.members.shape:
                raise ValueError(f"curve: {name!r} has shape {error.shape}, and 'members' {self.members.shape}")
        self.curves = {name: error for name, error in errors.items() if np.isfinite(error).any()}
        self.size = check_count("size", size)
        if self.size > len(self.members):
            raise ValueError(f"size must be at most the {len(self.members)} members of the curve, got {size}")
        self.optimistic = frozenset(optimistic)
        self.measure = measure

    @property
    def whole(self) -> dict[str, float]:
        """The error of the whole ensemble, by rows."""
        return {name: float(error[-1]) for name, error in self.curves.items()}

    @classmethod
    def from_estimator(cls, pruned: Any, *, ax: Any = None) -> PruningCurveDisplay:
        """Draw what `prune` measured of the ensemble that it gave back."""
        if not hasattr(pruned, "curve_") or not hasattr(pruned, "pruning_report_"):
            raise ValueError(
                f"this {type(pruned).__name__} has no curve: it must come from prune, or be a fitted PrunedClassifier "
                "or PrunedRegressor, with report=True"
            )
        report = pruned.pruning_report_
        used = [name for name, error in report["error"].items() if error["optimistic"]]
        measure = "error" if hasattr(pruned, "classes_") else "mean squared error"
        return cls(pruned.curve_, report["members"]["after"], optimistic=used, measure=measure).plot(ax=ax)

    def plot(self, *, ax: Any = None, title: str | None = None) -> PruningCurveDisplay:
        """Draw the curves."""
        own = ax is None
        if own:
            ax = new_figure(6.4, 4.6, layout="constrained").add_subplot()
        for name, error in self.curves.items():
            color, dash = STYLES[name]
            label = NAMES[name] + (" (optimistic)" if name in self.optimistic else "")
            ax.plot(self.members, error, color=color, linestyle=dash, linewidth=1.6, label=label)
        for name, whole in self.whole.items():
            ax.axhline(whole, color=STYLES[name][0], linewidth=0.8, alpha=0.8, zorder=1)
        # One entry in the legend for all of them: they differ by the colour of their curve alone.
        ax.plot([], [], color="0.35", linewidth=0.8, label=f"all {len(self.members)} members")
        ax.axvline(self.size, color="0.2", linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
        for name, error in self.curves.items():
            ax.plot(self.size, error[self.size - 1], marker="o", markersize=5, color=STYLES[name][0], clip_on=False)
        ax.plot(
            [],
            [],
            color="0.2",
            linewidth=1.2,
            linestyle=(0, (4, 3)),
            marker="o",
            markersize=5,
            label=f"{self.size} kept",
        )
        # Linear, unlike other curves: a cut is a share of the members.
        ax.set(xlabel="members, in their order", ylabel=self.measure, title=title or "")
        ax.set_xlim(0, max(len(self.members), 2))
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
        if own:
            # Below the axes nothing can be hidden by it.
            ax.figure.legend(loc="outside lower center", ncols=2, frameon=False, handlelength=2.8)
        else:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
