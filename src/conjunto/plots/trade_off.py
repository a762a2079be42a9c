"""What a better model costs: one point per method, cost on a logarithmic axis against the measure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.plots._figure import new_figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
# Where a label may stand around its point: nearest places first, then further off with a line to the point.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_DISTANCES = (6, 14, 24, 36)


class TradeOffDisplay:
    """Cost against error, each point with its name beside it and a marker of its own.

    Parameters
    ----------
    cost : array-like of shape (n,)
        Seconds, bytes, members; on a logarithmic axis, so that only positive ones are drawn.
    error : array-like of shape (n,)
        The measure.
    labels : sequence of n str

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and figure, after `plot`.
    texts_ : list of matplotlib Annotation
        The labels, in the order of the points drawn.

    Examples
    --------
    >>> from conjunto.plots import TradeOffDisplay
    >>> display = TradeOffDisplay([0.01, 0.2, 1.5], [0.31, 0.24, 0.25], ["cart", "bagging", "class-switching"])
    >>> display.unbeaten
    ['cart', 'bagging']
    """

    def __init__(self, cost: ArrayLike, error: ArrayLike, labels: Sequence[str]) -> None:
        self.cost, self.error = np.asarray(cost, dtype=np.float64), np.asarray(error, dtype=np.float64)
        self.labels = list(labels)
        if not self.cost.shape == self.error.shape == (len(self.labels),):
            raise ValueError(
                f"cost, error and labels must be of one length, got {self.cost.shape}, {self.error.shape} "
                f"and {len(self.labels)}"
            )

    @property
    def drawn(self) -> NDArray[np.intp]:
        """Which points have a place in the picture."""
        return np.flatnonzero(np.isfinite(self.cost) & np.isfinite(self.error) & (self.cost > 0))

    @property
    def unbeaten(self) -> list[str]:
        """Methods that no other one beats in cost and error (smaller is better) at once, by cost."""
        return unbeaten(self.cost, self.error, self.labels)

    def plot(
        self,
        *,
        ax: Any = None,
        title: str | None = None,
        xlabel: str = "seconds",
        ylabel: str = "error",
        colors: dict[str, str] | None = None,
        markers: dict[str, str] | None = None,
    ) -> TradeOffDisplay:
        """Draw the points; `colors` and `markers` by label where they are to agree with other pictures."""
        if ax is None:
            ax = new_figure(6.4, 4.0, layout="constrained").add_subplot()
        if ax.get_xscale() != "log":  # setting it again would undo the caller's ticks
            ax.set_xscale("log")
        ax.set(xlabel=xlabel, ylabel=ylabel, title=title or "")
        ax.grid(alpha=0.3)
        ax.set_axisbelow(True)
        for place in self.drawn:
            label = self.labels[place]
            color = (colors or {}).get(label, f"C{place % 10}")
            marker = (markers or {}).get(label, MARKERS[place % len(MARKERS)])
            ax.scatter(self.cost[place], self.error[place], s=42, color=color, marker=marker, zorder=3)
        if len(self.drawn):
            self._set_limits(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self.texts_ = self._label()
        return self

    def _set_limits(self, ax: Any) -> None:
        """Room for labels beside the outermost points."""
        cost, error = np.log10(self.cost[self.drawn]), self.error[self.drawn]
        room = max(0.25, 0.18 * np.ptp(cost))
        ax.set_xlim(10 ** (cost.min() - room), 10 ** (cost.max() + room))
        room = 0.14 * np.ptp(error) or 0.05 * abs(error.max()) or 1.0
        ax.set_ylim(error.min() - room, error.max() + room)

    def _label(self) -> list[Any]:
        """Put each label where it covers least: other labels, points and the edge of the axes."""
        from matplotlib.text import Text
        from matplotlib.transforms import Bbox

        ax, figure = self.ax_, self.figure_
        texts = [
            ax.annotate(
                self.labels[place],
                (self.cost[place], self.error[place]),
                xytext=(0, 0),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "linewidth": 0.6, "alpha": 0.7, "shrinkA": 0, "shrinkB": 3},
                zorder=4,
            )
            for place in self.drawn
        ]
        for text in texts:
            # The layout is made for the axes; labels inside them have no say in it.
            text.set_in_layout(False)
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
        scale = figure.dpi / 72
        points = ax.transData.transform(np.column_stack([self.cost[self.drawn], self.error[self.drawn]]))
        taken = [Bbox.from_bounds(x - 4 * scale, y - 4 * scale, 8 * scale, 8 * scale) for x, y in points]
        inside = ax.get_window_extent()
        # Those in the crowd choose first.
        crowd = [float(np.sum(np.exp(-np.linalg.norm(points - point, axis=1) / (40 * scale)))) for point in points]
        for place in np.argsort(crowd, kind="stable")[::-1]:
            text, point = texts[place], points[place]
            text.arrow_patch.set(edgecolor=text.get_color())
            # Of the text alone: the extent of an annotation holds its line too.
            extent = Text.get_window_extent(text)
            size = Bbox.from_extents(0, 0, extent.width + 4 * scale, extent.height)
            best, cheapest = (1, 0, _DISTANCES[0]), np.inf
            for distance, (dx, dy) in itertools.product(_DISTANCES, _SIDES):
                box = _placed(size, point, dx, dy, distance * scale)
                price = _covered(box, taken) + 3 * _outside(box, inside) + distance * scale * scale
                if price < cheapest:
                    best, cheapest, chosen = (dx, dy, distance), price, box
            taken.append(chosen)
            dx, dy, distance = best
            text.set_position((dx * distance, dy * distance))
            text.set(ha=("right", "center", "left")[dx + 1], va=("top", "center", "bottom")[dy + 1])
            text.arrow_patch.set_visible(distance > _DISTANCES[0])
        return texts


def unbeaten(cost: ArrayLike, error: ArrayLike, labels: Sequence[str]) -> list[str]:
    """The labels of points that no other point beats in both numbers (smaller is better), by cost."""
    points = [
        (float(c), float(e), label)
        for c, e, label in zip(np.asarray(cost), np.asarray(error), labels, strict=True)
        if np.isfinite(c) and np.isfinite(e)
    ]
    kept: list[tuple[float, float, str]] = []
    for point in sorted(points, key=lambda point: point[:2]):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return [label for _, _, label in kept]


def _placed(size: Any, point: Any, dx: int, dy: int, distance: float) -> Any:
    """The box of a label that stands at a distance from the point, to the side (dx, dy)."""
    x = point[0] + dx * distance - size.width * (1 - dx) / 2
    y = point[1] + dy * distance - size.height * (1 - dy) / 2
    return size.translated(x, y)


def _covered(box: Any, others: list[Any]) -> float:
    """The area that a box shares with others."""
    shared = 0.0
    for other in others:
        width = min(box.x1, other.x1) - max(box.x0, other.x0)
        height = min(box.y1, other.y1) - max(box.y0, other.y0)
        shared += max(width, 0.0) * max(height, 0.0)
    return shared


def _outside(box: Any, frame: Any) -> float:
    width = max(min(box.x1, frame.x1) - max(box.x0, frame.x0), 0.0)
    height = max(min(box.y1, frame.y1) - max(box.y0, frame.y0), 0.0)
    return float(box.width * box.height - width * height)
