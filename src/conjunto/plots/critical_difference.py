"""Demšar's diagram: methods on an axis of average ranks, and bars over those that a test cannot tell apart.

Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1-30.
"""

from __future__ import annotations

import math
from typing import Any

from conjunto.evaluation.cliques import close_runs
from conjunto.plots._figure import new_figure

LINE = 0.21
"""Inches from one label to the next."""
_BAR, _ABOVE = 0.11, 0.62


class CriticalDifferenceDisplay:
    """Average ranks of methods, joined by a bar where they are less than the critical difference apart.

    Parameters
    ----------
    average_ranks : dict of name to float
        The average rank of each method; 1 is best.
    critical_difference : float
        How far two average ranks must be apart to differ, such as Nemenyi's
        (`conjunto.experiments.statistics.nemenyi_critical_difference`).

    Attributes
    ----------
    cliques : list of tuples of str
        The names under each bar, best first.
    ax_, figure_
        The matplotlib axes and figure, after `plot`.

    Examples
    --------
    >>> from conjunto.plots import CriticalDifferenceDisplay
    >>> display = CriticalDifferenceDisplay({"a": 3.5, "b": 1.0, "c": 2.0, "d": 3.0}, 1.25)
    >>> display.cliques
    [('b', 'c'), ('c', 'd'), ('d', 'a')]
    """

    def __init__(self, average_ranks: dict[str, float], critical_difference: float) -> None:
        if not isinstance(average_ranks, dict):
            raise TypeError(f"average_ranks must be a dict of name to rank, got {type(average_ranks).__name__}")
        if len(average_ranks) < 2:
            raise ValueError(f"average_ranks must hold at least 2 methods, got {len(average_ranks)}")
        if not all(math.isfinite(rank) for rank in average_ranks.values()):
            raise ValueError("average_ranks must be finite")
        if not critical_difference >= 0:
            raise ValueError(f"critical_difference must be 0 or more, got {critical_difference}")
        self.average_ranks = dict(sorted(((n, float(r)) for n, r in average_ranks.items()), key=lambda item: item[1]))
        self.critical_difference = float(critical_difference)
        names, ranks = list(self.average_ranks), list(self.average_ranks.values())
        self.cliques = [tuple(names[run]) for run in close_runs(ranks, self.critical_difference)]

    def plot(self, *, ax: Any = None, title: str | None = None) -> CriticalDifferenceDisplay:
        """Draw the diagram; without `ax`, in a figure wide and high enough for its labels."""
        names, ranks = list(self.average_ranks), list(self.average_ranks.values())
        # The better half is named on the left, the others on the right, each from the outside inwards.
        half = math.ceil(len(names) / 2)
        rows = [*range(half), *range(len(names) - half - 1, -1, -1)]
        levels = self._levels()
        depth = _BAR * (max(levels, default=-1) + 1) + 0.12
        height = _ABOVE + depth + LINE * half + (0.25 if title else 0)
        if ax is None:
            ax = new_figure(6.4, height).add_axes((0, 0, 1, 1 - (0.25 / height if title else 0)))
        ax.set_axis_off()
        texts = []
        color = self._ink()
        for place, (name, rank, row) in enumerate(zip(names, ranks, rows, strict=True)):
            left = place < half
            texts.append(
                ax.text(0, -depth - LINE * (row + 0.5), f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}")
            )
            texts[-1].set(ha="right" if left else "left", va="center", color=color)
        low, high = self._fit(ax, texts, half, height)
        for place, (text, rank) in enumerate(zip(texts, ranks, strict=True)):
            edge, y = (low if place < half else high), text.get_position()[1]
            text.set_x(edge)
            inwards = 0.012 * (high - low) * (1 if place < half else -1)
            ax.plot([rank, rank, edge + inwards], [0, y, y], color=color, linewidth=0.8, gid=f"leader-{place}")
        self._draw_axis(ax, color)
        for clique, level in zip(self.cliques, levels, strict=True):
            ends = [self.average_ranks[clique[0]] - 0.04, self.average_ranks[clique[-1]] + 0.04]
            y = -_BAR * (level + 0.9)
            ax.plot(ends, [y, y], color=color, linewidth=3.5, solid_capstyle="butt", gid=f"clique-{level}")
        ax.set_title(title or "")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @staticmethod
    def _ink() -> Any:
        from matplotlib import rcParams

        return rcParams["text.color"]

    def _levels(self) -> list[int]:
        """The height of each bar: the first at which it touches no other."""
        ends: list[float] = []
        levels = []
        for clique in self.cliques:
            start, end = self.average_ranks[clique[0]] - 0.12, self.average_ranks[clique[-1]] + 0.12
            level = next((at for at, taken in enumerate(ends) if taken < start), len(ends))
            ends[level : level + 1] = [end]
            levels.append(level)
        return levels

    def _fit(self, ax: Any, texts: list[Any], half: int, height: float) -> tuple[float, float]:
        """Set the limits so that all labels fit beside the axis; return where those on the left and right begin."""
        figure = ax.figure
        widths = [text.get_window_extent().width / figure.dpi for text in texts]
        left, right = max(widths[:half]), max(widths[half:])
        gap, least = 0.16, max(2.0, 0.3 * len(texts))
        box = ax.get_position()
        wide = figure.get_figwidth() * box.width
        if wide < left + right + 4 * gap + least:
            # Only a figure of our own may grow; in somebody else's axes the labels reach over the edge.
            wide = left + right + 4 * gap + least
            if len(figure.axes) == 1 and box.width == 1:
                figure.set_figwidth(wide)
        span = len(self.average_ranks) - 1
        unit = span / (wide - left - right - 4 * gap)
        low, high = 1 - gap * unit, 1 + span + gap * unit
        ax.set_xlim(low - (left + gap) * unit, high + (right + gap) * unit)
        ax.set_ylim(_ABOVE - height, _ABOVE)
        return low, high

    def _draw_axis(self, ax: Any, color: Any) -> None:
        count = len(self.average_ranks)
        ax.plot([1, count], [0, 0], color=color, linewidth=1)
        for rank in range(1, count + 1):
            ax.plot([rank, rank], [0, 0.06], color=color, linewidth=1)
            ax.text(rank, 0.08, str(rank), ha="center", va="bottom", color=color)
        # A difference longer than the axis is cut; its number tells.
        end = min(1 + self.critical_difference, count)
        ax.plot([1, end], [0.34, 0.34], color=color, linewidth=1.2, marker="|", markersize=6, gid="critical-difference")
        text = f"critical difference {self.critical_difference:.2f}"
        ax.text(1, 0.4, text, ha="left", va="bottom", color=color)
