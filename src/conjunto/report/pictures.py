"""Numbers into inline SVG that takes its colours from the page, so that one picture serves light and dark.

matplotlib knows no CSS: pictures are drawn in sentinel colours that stand for a role (text, lines, the n-th method),
and the sentinels are replaced by `currentColor` and CSS variables in the text of the SVG. Nothing in the SVG depends
on the time or on chance, and its ids are its own.
"""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from conjunto.plots import CriticalDifferenceDisplay, ScoreBoxDisplay, TradeOffDisplay
from conjunto.plots.trade_off import MARKERS
from conjunto.report.words import unbroken

if TYPE_CHECKING:
    import pandas as pd

COLORS = 8
"""How many colours the style sheet has for methods (--c0 …); markers go on where colours repeat."""
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (2.5, 1)))
WIDTH = 4.7
"""Inches of a picture that takes half the page, or the whole of a phone."""
# Two columns of so many letters and their lines fit the width.
LEGEND_LETTERS = 22
INK, LINE, GRID = "#010203", "#040506", "#070809"
SERIES = [f"#0a0b{number:02x}" for number in range(COLORS)]
_ROLES = {INK: "currentColor", LINE: "var(--line)", GRID: "var(--grid)"} | {
    color: f"var(--c{number})" for number, color in enumerate(SERIES)
}
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "conjunto",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.5,
}


class Painter:
    """Draws the pictures of one page; each method keeps its colour, marker and dash in all of them.

    `prefix` begins the ids of its pictures: two painters of one page need different ones.
    """

    def __init__(self, methods: Sequence[str], prefix: str = "f") -> None:
        self._prefix = prefix
        self.colors = {name: SERIES[place % COLORS] for place, name in enumerate(methods)}
        self.markers = {name: MARKERS[place % len(MARKERS)] for place, name in enumerate(methods)}
        self.dashes = {name: DASHES[place % len(DASHES)] for place, name in enumerate(methods)}
        self._drawn = 0

    def boxes(self, scores: dict[str, Any], xlabel: str, alt: str) -> str:
        """Box plots of scores by method."""

        def draw() -> Any:
            names = {name: folded(name, 24) for name in scores}
            height = max(2.4, 0.6 + 0.36 * len(scores)) + 0.14 * sum(text.count("\n") for text in names.values())
            ax = new_axes(height)
            ScoreBoxDisplay(scores).plot(ax=ax, xlabel=xlabel, colors=self.colors, markers=self.markers)
            ax.set_yticks(range(len(names)), list(names.values()))
            ax.grid(axis="x", alpha=1)
            return ax.figure

        return self.svg(draw, alt)

    def curves(self, table: pd.DataFrame, ylabel: str, alt: str) -> str:
        """A measure (columns: methods) by number of members (index)."""

        def draw() -> Any:
            from matplotlib.ticker import LogLocator, NullLocator

            names = [legend_name(name, LEGEND_LETTERS) for name in table.columns]
            rows = -(-len(names) // 2) * (1 + max(name.count("\n") for name in names))
            ax = new_axes(2.9 + 0.18 * rows)
            lines = []
            for name in table.columns:
                values = table[name].dropna()
                style = {"color": self.colors[name], "marker": self.markers[name], "linestyle": self.dashes[name]}
                lines += ax.plot(values.index, values, markersize=4.5, **style)
            ax.set(xscale="log", xlabel="members", ylabel=ylabel)
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.grid()
            ax.set_axisbelow(True)
            ax.figure.legend(lines, names, loc="outside lower center", ncols=2, frameon=False, handlelength=2.8)
            return ax.figure

        return self.svg(draw, alt)

    def trade_off(
        self,
        cost: Any,
        error: Any,
        names: dict[str, str],
        axes: dict[str, str],
        human: Callable[[float], str],
        alt: str,
    ) -> str:
        """Cost against the measure; `names` are methods and what stands beside them, `axes` `xlabel` and `ylabel`."""

        def draw() -> Any:
            from matplotlib.ticker import LogLocator, NullLocator

            ax = new_axes(3.4)
            shown = [folded(label, 24) for label in names.values()]
            ax.set_xscale("log")
            finite = np.array([value for value in cost if np.isfinite(value) and value > 0])
            wide = len(finite) > 0 and finite.max() / finite.min() > 30
            ax.xaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
            ax.xaxis.set_major_formatter(lambda value, _: human(value).replace(".0", ""))
            ax.xaxis.set_minor_locator(NullLocator())
            TradeOffDisplay(cost, error, shown).plot(
                ax=ax,
                colors=dict(zip(shown, [self.colors[name] for name in names], strict=True)),
                markers=dict(zip(shown, [self.markers[name] for name in names], strict=True)),
                **axes,
            )
            ax.grid(alpha=1)
            ax.figure.set_layout_engine("none")  # the labels were placed for the layout as it is
            return ax.figure

        return self.svg(draw, alt)

    def critical_difference(self, ranks: dict[str, float], difference: float, alt: str) -> str:
        """Demšar's diagram."""
        return self.svg(lambda: CriticalDifferenceDisplay(ranks, difference).plot().figure_, alt, shrink=False)

    def svg(self, draw: Callable[[], Any], alt: str, *, shrink: bool = True) -> str:
        """Draw, save, and turn the file into a part of the page that may or may not be made narrower."""
        from markupsafe import Markup, escape
        from matplotlib import rc_context

        self._drawn += 1
        text = StringIO()
        with rc_context(_SETTINGS), warnings.catch_warnings():
            # A sign that the drawing font lacks is one that the reader's browser may well have.
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            draw().savefig(text, format="svg", metadata={"Date": None})
        return Markup(_inline(text.getvalue(), f"{self._prefix}{self._drawn}", str(escape(alt)), shrink))


def new_axes(height: float, width: float = WIDTH) -> Any:
    """Axes in a figure of their own; sizes in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def folded(name: str, width: int) -> str:
    """A long name in at most two lines, a word that is longer than a line broken."""
    name = unbroken(name)
    lines = textwrap.wrap(name, width) or [name]
    return "\n".join(
        lines if len(lines) < 3 else [lines[0], textwrap.shorten(" ".join(lines[1:]), width, placeholder="…")]
    )


def legend_name(name: str, width: int) -> str:
    """A name in a legend; matplotlib takes one that begins with an underscore for one that is not to be shown."""
    return folded(name, width) if name[:1] != "_" else f" {folded(name, width)}"


def _inline(svg: str, prefix: str, alt: str, shrink: bool) -> str:
    """The svg element alone, with its own ids, the page's colours and fonts, and words for those who cannot see it."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", svg, flags=re.DOTALL)
    box = re.search(r'viewBox="([^"]*)"', svg[: svg.index(">")])
    assert box is not None
    least = "" if shrink else f' style="min-width:{float(box[1].split()[2]):.0f}px"'
    # The words stand apart: a name in them may look like one of our colours.
    head = f'<svg viewBox="{box[1]}"{least} role="img" aria-label="{alt}">'
    drawing = re.sub("<[^>]*>", lambda tag: _own(tag[0], prefix), svg[svg.index(">") + 1 :])
    return head + re.sub(r"\n\s*", "\n", drawing).rstrip()


def _own(tag: str, prefix: str) -> str:
    """A tag with the ids of its picture, and colours and fonts of the page."""
    tag = re.sub(r'\bid="', f'id="{prefix}-', tag)
    tag = tag.replace("url(#", f"url(#{prefix}-").replace('xlink:href="#', f'href="#{prefix}-')
    # The page chooses the font family: only the size is kept.
    tag = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", tag)
    return re.sub("#[0-9a-f]{6}", lambda found: _ROLES.get(found[0], found[0]), tag)
