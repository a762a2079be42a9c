"""Scores by method as box plots: how far the methods are apart, and how far a method is from itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.plots._figure import new_figure

# With more scores than this the points would hide the box.
MOST_POINTS = 30


class ScoreBoxDisplay:
    """Box plots of repeated scores, one line per method, in the order given (the first on top).

    The box spans the quartiles, the line in it is the median, the whiskers reach the last score within 1.5 box
    lengths; the filled marker is the mean. Scores themselves are drawn over the box while they are few.

    Parameters
    ----------
    scores : dict of name to array
        The scores of each method; NaN is left out, and a method without any score keeps an empty line.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and figure, after `plot`.

    Examples
    --------
    >>> from conjunto.plots import ScoreBoxDisplay
    >>> display = ScoreBoxDisplay({"cart": [0.31, 0.28, float("nan")], "bagging": [0.22, 0.25, 0.21]})
    >>> display.scores["cart"]
    array([0.31, 0.28])
    """

    def __init__(self, scores: dict[str, ArrayLike]) -> None:
        if not isinstance(scores, dict):
            raise TypeError(f"scores must be a dict of name to scores, got {type(scores).__name__}")
        arrays = {name: np.asarray(values, dtype=np.float64).ravel() for name, values in scores.items()}
        self.scores: dict[str, NDArray[np.float64]] = {
            name: values[np.isfinite(values)] for name, values in arrays.items()
        }

    def plot(
        self,
        *,
        ax: Any = None,
        title: str | None = None,
        xlabel: str = "score",
        colors: dict[str, str] | None = None,
        markers: dict[str, str] | None = None,
    ) -> ScoreBoxDisplay:
        """Draw the boxes; `colors` and `markers` by name where they are to agree with other pictures."""
        if ax is None:
            height = 0.9 + 0.32 * max(len(self.scores), 1)
            ax = new_figure(6.4, height, layout="constrained").add_subplot()
        for place, (name, values) in enumerate(self.scores.items()):
            if len(values):
                color = (colors or {}).get(name, f"C{place % 10}")
                self._draw(ax, place, values, color, (markers or {}).get(name, "D"))
        ax.set_yticks(range(len(self.scores)), list(self.scores))
        ax.set_ylim(len(self.scores) - 0.4, -0.6)
        ax.set(xlabel=xlabel, title=title or "")
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @staticmethod
    def _draw(ax: Any, place: int, values: NDArray[np.float64], color: str, marker: str) -> None:
        from matplotlib.cbook import boxplot_stats

        # Drawn line by line: how `Axes.boxplot` is told to lie down depends on the release of matplotlib.
        few, half = len(values) <= MOST_POINTS, 0.28
        (box,) = boxplot_stats(values)
        low, high = box["q1"], box["q3"]
        corners = [low, low, high, high, low], [place - half, place + half, place + half, place - half, place - half]
        ax.plot(*corners, color=color, linewidth=1.2)
        ax.plot([box["med"]] * 2, [place - half, place + half], color=color, linewidth=2, solid_capstyle="butt")
        for edge, end in ((low, box["whislo"]), (high, box["whishi"])):
            ax.plot([edge, end], [place, place], color=color, linewidth=1.2)
            ax.plot([end, end], [place - half / 2, place + half / 2], color=color, linewidth=1.2)
        if not few:
            ax.plot(box["fliers"], [place] * len(box["fliers"]), linestyle="", marker=".", markersize=4, color=color)
        if few:
            # The golden ratio spreads equal scores evenly, and the same way each time.
            aside = (np.arange(1, len(values) + 1) * 0.6180339887 % 1 - 0.5) * 0.44
            ax.scatter(values, place + aside, s=7, color=color, alpha=0.45, linewidths=0, zorder=3)
        ax.scatter([values.mean()], [place], s=30, color=color, marker=marker, zorder=4)
