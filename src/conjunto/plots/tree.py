"""A tree as a picture: boxes with tests, leaves in the colour of their class.

Texts are measured first, boxes placed around them (`_tree_layout.py`). All lengths are in points at `FONT_SIZE`, so
that a picture that must be smaller only needs a smaller font.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from conjunto.checks import check_optional_count
from conjunto.learners.conditions import Combination
from conjunto.learners.outline import TreeOutline, TreeOutlineNode, outline
from conjunto.learners.readable import COLORS
from conjunto.learners.wording import Wording
from conjunto.plots._figure import new_figure
from conjunto.plots._tree_layout import LABEL_PLACE, PAD, lay_out

FONT_SIZE = 9.0
MOST_INCHES = 60.0
"""No figure of its own is wider or higher; what does not fit gets a smaller font."""
LABEL_FONT = 0.85
"""The font of labels on edges, as a share of that in boxes."""
LINE = 30
"""Letters in a line of a linear combination."""
GREY = "0.55"
# Names are text: a dollar sign in them starts no formula.
_PLAIN = {"ha": "center", "va": "center", "parse_math": False}


class TreeDisplay:
    """One tree.

    A node with two branches shows its test, with *yes* on the left; a node with more shows what it looks at, and each
    branch its own condition. A leaf shows its class and, unless it is pure, the classes in it with their shares, or
    its value.

    Parameters
    ----------
    outline : TreeOutline
        The tree, from `conjunto.learners.outline.outline`; `from_estimator` takes a fitted tree.
    max_depth : int, default=None
        Nodes deeper than this are only counted.
    feature_names, class_names, decimals, show_missing
        As in `conjunto.export_text`.
    show_shares : bool, default=True
        Write class shares into leaves that are not pure.
    max_categories : int, default=4
        Name no more categories than this in one test and count the others.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and figure, after `plot`.
    boxes_ : dict of int to matplotlib Text
        The boxes by the number of their node in `outline`.

    Examples
    --------
    >>> from conjunto import CARTClassifier, TreeDisplay
    >>> tree = CARTClassifier().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> display = TreeDisplay.from_estimator(tree, feature_names=["size"])
    >>> [text.get_text() for text in display.boxes_.values()]
    ['size <= 1.5', 'a', 'size <= 2.5', 'b', 'a']
    """

    def __init__(
        self,
        outline: TreeOutline,
        *,
        max_depth: int | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        decimals: int | None = 2,
        show_shares: bool = True,
        show_missing: bool = False,
        max_categories: int | None = 4,
    ) -> None:
        if not isinstance(outline, TreeOutline):
            raise TypeError(f"a TreeOutline is needed, got {type(outline).__name__}: use TreeDisplay.from_estimator")
        self.outline = outline
        self.max_depth = check_optional_count("max_depth", max_depth, 0)
        self.show_shares = show_shares
        self.show_missing = show_missing
        self._leaves = outline.leaf_counts()
        self._values = [node.value for node in outline.nodes if node.value is not None]
        self.wording = Wording(
            outline,
            feature_names=feature_names,
            class_names=class_names,
            decimals=decimals,
            most_categories=check_optional_count("max_categories", max_categories, 2),
        )

    @classmethod
    def from_estimator(cls, tree: Any, *, ax: Any = None, title: str | None = None, **options: Any) -> TreeDisplay:
        """Plot a fitted tree; `options` are the parameters of the display."""
        return cls(outline(tree), **options).plot(ax=ax, title=title)

    def plot(self, *, ax: Any = None, title: str | None = None) -> TreeDisplay:
        """Draw the tree; without `ax`, in a figure as large as the tree needs it."""
        own = ax is None
        if own:
            ax = new_figure(4.0, 3.0).add_axes((0, 0, 1, 1))
        ax.set_axis_off()
        ax.set_title(title or "")
        depths = dict(self.outline.walk(math.inf if self.max_depth is None else self.max_depth))
        children = {number: self._children(number, depth) for number, depth in depths.items()}
        edges = [(number, place, child) for number in depths for place, child in enumerate(children[number])]
        self.boxes_ = {number: self._box(ax, number, bool(children[number])) for number in depths}
        labels = {child: self._label(ax, number, place) for number, place, child in edges}
        sizes = {number: _size(text) for number, text in self.boxes_.items()}
        layout = lay_out(children, depths, sizes, {child: _size(text) for child, text in labels.items()})
        scale, unit = _fit(ax, layout.size, own)
        ax.set(xlim=layout.x_limits, ylim=layout.y_limits)
        for number, text in self.boxes_.items():
            text.set(position=layout.middles[number], fontsize=FONT_SIZE * scale)
        for number, _, child in edges:
            above, below = ((sizes[end][1] / 2 + PAD) * scale for end in (number, child))
            start, end = layout.middles[number], layout.middles[child]
            _draw_edge(ax, start, end, above, below, scale)
            top, bottom = start[1] - above / unit, end[1] + below / unit
            x, y = start[0] + (end[0] - start[0]) * LABEL_PLACE, top + (bottom - top) * LABEL_PLACE
            labels[child].set(position=(x, y), fontsize=FONT_SIZE * LABEL_FONT * scale)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _children(self, number: int, depth: int) -> tuple[int, ...]:
        return () if depth == self.max_depth else self.outline.nodes[number].children

    def _box(self, ax: Any, number: int, inner: bool) -> Any:
        node = self.outline.nodes[number]
        box = {"boxstyle": f"round,pad={PAD / FONT_SIZE},rounding_size=0.3", "linewidth": 0.8, "edgecolor": GREY}
        # What is written on a tint is black, whatever the style says of other text.
        paint = {} if node.children else {"color": "black"}
        box["facecolor"] = "none" if node.children else self._paint(node)
        return ax.text(0, 0, self._text(number, inner), bbox=box, fontsize=FONT_SIZE, zorder=3, **_PLAIN, **paint)

    def _text(self, number: int, inner: bool) -> str:
        node = self.outline.nodes[number]
        if inner:
            asks = node.branches[0]
            if isinstance(asks, Combination):
                return _in_lines(self.wording.condition(asks))
            return self.wording.condition(asks) if len(node.children) == 2 else self.wording.subject(asks)
        if node.children:
            return f"…\n{self._leaves[number]} leaves"
        impure = node.shares is not None and max(node.shares) < 1
        return "\n".join(self.wording.shares(node, 3)) if self.show_shares and impure else self.wording.answer(node)

    def _label(self, ax: Any, number: int, place: int) -> Any:
        node = self.outline.nodes[number]
        branch = node.branches[place]
        text = ("yes", "no")[place] if len(node.children) == 2 else self.wording.branch(branch)
        if self.show_missing and branch.missing:
            text += ", missing"
        ground = {"boxstyle": "square,pad=0.1", "linewidth": 0, "facecolor": ax.figure.get_facecolor()}
        return ax.text(0, 0, text, bbox=ground, fontsize=FONT_SIZE * LABEL_FONT, zorder=2, **_PLAIN)

    def _paint(self, leaf: TreeOutlineNode) -> Any:
        """The colour of a leaf: that of its class, the paler the less pure, or the darker the greater its value."""
        if leaf.label is not None:
            share = 1.0 if leaf.shares is None else leaf.shares[leaf.label]
            return _tint(COLORS[leaf.label % len(COLORS)], 0.2 + 0.4 * share)
        least, most = min(self._values, default=0.0), max(self._values, default=0.0)
        place = (leaf.value - least) / (most - least) if leaf.value is not None and least < most else 0.1
        return _tint(COLORS[0], 0.05 + 0.55 * place)


def plot_tree(tree: Any, *, ax: Any = None, title: str | None = None, **options: Any) -> TreeDisplay:
    """Plot a fitted tree: `TreeDisplay.from_estimator` under the name that scikit-learn uses.

    Parameters
    ----------
    tree : fitted tree
        A `CARTClassifier` or `CARTRegressor`, or a member of an ensemble, as in `model.estimators_[0]`.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure as large as the tree needs it.
    title : str, default=None
    **options
        `max_depth`, `feature_names`, `class_names`, `decimals`, `show_shares`, `show_missing`, `max_categories`, as
        in `TreeDisplay`.

    Examples
    --------
    >>> from conjunto import CARTRegressor, plot_tree
    >>> display = plot_tree(CARTRegressor().fit([[1.0], [2.0]], [0.0, 1.0]))
    >>> len(display.boxes_)
    3
    """
    return TreeDisplay.from_estimator(tree, ax=ax, title=title, **options)


def _in_lines(combination: str) -> str:
    """A linear combination, a few terms to a line: boxes side by side would need too much room."""
    lines = [""]
    for part in re.split(r" (?=[+-] |<=)", combination):
        if lines[-1] and len(lines[-1]) + len(part) > LINE:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".strip()
    return "\n".join(lines)


def _tint(color: str, strength: float) -> tuple[float, ...]:
    """A colour mixed with white."""
    from matplotlib.colors import to_rgb

    return tuple(1 - strength * (1 - part) for part in to_rgb(color))


def _size(text: Any) -> tuple[float, float]:
    """Width and height of a text in points, without its box."""
    extent = text.get_window_extent()
    return extent.width * 72 / text.figure.dpi, extent.height * 72 / text.figure.dpi


def _draw_edge(ax: Any, start: Any, end: Any, above: float, below: float, width: float) -> None:
    """A line from the lower border of a box to the upper border of another, so many points from their middles.

    The distances stay points when a layout moves the axes later on.
    """
    from matplotlib.transforms import offset_copy

    leave = offset_copy(ax.transData, ax.figure, y=-above, units="points")
    arrive = offset_copy(ax.transData, ax.figure, y=below, units="points")
    line = {"arrowstyle": "-", "shrinkA": 0, "shrinkB": 0, "color": GREY, "linewidth": width}
    ax.annotate("", xy=end, xycoords=arrive, xytext=start, textcoords=leave, arrowprops=line, zorder=1)


def _fit(ax: Any, size: tuple[float, float], own: bool) -> tuple[float, float]:
    """How much smaller the fonts must be to fit, and the points that a unit of the y axis takes.

    A figure of its own is made as large as the tree.
    """
    width, height = size
    if own:
        title_width, title_height = _size(ax.title) if ax.get_title() else (0.0, 0.0)
        scale = min(1.0, 72 * MOST_INCHES / width, 72 * MOST_INCHES / height)
        title_height = 1.5 * title_height
        whole = height * scale + title_height
        ax.figure.set_size_inches(max(width * scale, 1.05 * title_width) / 72, whole / 72)
        ax.set_position((0, 0, 1, height * scale / whole))
        return scale, scale
    room = ax.get_window_extent()
    across, down = (length * 72 / ax.figure.dpi for length in (room.width, room.height))
    return min(1.0, across / width, down / height), down / height
