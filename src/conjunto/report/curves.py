"""The pictures of answers and of explanations, drawn by the painter of the page in its colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conjunto.plots.trade_off import MARKERS
from conjunto.report.answered import Curve
from conjunto.report.pictures import DASHES, INK, LEGEND_LETTERS, LINE, SERIES, Painter, folded, legend_name, new_axes

SMALL = 2.7
"""Inches of the width of a picture that stands beside others of its kind."""
_LETTERS = 22


def shares(
    painter: Painter,
    curves: Mapping[str, Curve],
    axes: tuple[str, str],
    chance: float | None,
    alt: str,
) -> str:
    """Curves of methods between 0 and 1; `chance` is a level that guessing has, None for the diagonal."""

    def draw() -> Any:
        names = [f"{legend_name(method, LEGEND_LETTERS - 6)}: {curve.area:.3f}" for method, curve in curves.items()]
        rows = -(-len(names) // 2) * (1 + max(name.count("\n") for name in names))
        ax = new_axes(3.3 + 0.18 * rows)
        ax.plot([0, 1], [0, 1] if chance is None else [chance, chance], color=LINE, linewidth=1, linestyle=(0, (2, 2)))
        style = "default" if chance is None else "steps-post"
        lines = []
        for method, curve in curves.items():
            look = {"color": painter.colors[method], "linestyle": painter.dashes[method]}
            lines += ax.plot(curve.x, curve.y, drawstyle=style, **look)
        _square(ax, *axes)
        ax.figure.legend(lines, names, loc="outside lower center", ncols=2, frameon=False, handlelength=2.8)
        return ax.figure

    return painter.svg(draw, alt)


def reliability(
    painter: Painter, method: str, bins: Sequence[tuple[float, float, int]], axes: tuple[str, str], alt: str
) -> str:
    """How often something is so, by the probability that a method gives it."""

    def draw() -> Any:
        ax = new_axes(3.5)
        ax.plot([0, 1], [0, 1], color=LINE, linewidth=1, linestyle=(0, (2, 2)))
        look = {"color": painter.colors[method], "marker": painter.markers[method]}
        ax.plot([at for at, _, _ in bins], [so for _, so, _ in bins], markersize=5.5, clip_on=False, zorder=3, **look)
        _square(ax, *axes)
        return ax.figure

    return painter.svg(draw, alt)


def importances(
    painter: Painter, method: str, lines: Sequence[tuple[str, float, float, float]], xlabel: str, alt: str
) -> str:
    """(column, mean, low, high) as dots with intervals, the first above."""

    def draw() -> Any:
        names = [folded(name, _LETTERS) for name, _, _, _ in lines]
        ax = new_axes(0.9 + 0.26 * len(lines) + 0.14 * sum(name.count("\n") for name in names))
        places = range(len(lines))
        color, marker = painter.colors.get(method, INK), painter.markers.get(method, "o")
        ax.axvline(0, color=LINE, linewidth=1)
        ax.hlines(places, [low for _, _, low, _ in lines], [high for *_, high in lines], color=color, linewidth=1.6)
        ax.scatter([mean for _, mean, _, _ in lines], places, color=color, marker=marker, s=26, zorder=3)
        ax.set_yticks(places, names)
        ax.set(xlabel=xlabel, ylim=(len(lines) - 0.5, -0.5))
        ax.grid(axis="x", alpha=1)
        ax.set_axisbelow(True)
        return ax.figure

    return painter.svg(draw, alt)


def partial(painter: Painter, facts: Mapping[str, Any], ylabel: str, limits: tuple[float, float], alt: str) -> str:
    """The mean answer by the value of one column: lines for numbers, dots for categories; one look for each class."""

    def draw() -> Any:
        from matplotlib.ticker import MaxNLocator

        labels = [curve["label"] for curve in facts["curves"]]
        several = len(labels) > 1
        text = facts["kind"] == "category"
        names = [folded(str(value), _LETTERS - 6) for value in facts["grid"]] if text else []
        high = 2.1 if not text else 1.0 + 0.24 * len(names) + 0.13 * sum(name.count("\n") for name in names)
        ax = new_axes(max(2.1, high) + (0.19 * -(-len(labels) // 2) if several else 0), SMALL)
        drawn = []
        for number, curve in enumerate(facts["curves"]):
            look: dict[str, Any] = {"color": SERIES[number] if several else INK, "marker": MARKERS[number]}
            values = np.array(curve["values"], dtype=float)
            if text:
                drawn += ax.plot(values, range(len(names)), linestyle="", markersize=5, **look)
            else:
                drawn += ax.plot(facts["grid"], values, markersize=3.5, linestyle=DASHES[number], **look)
        bounds = {"xlim": limits, "xlabel": ylabel} if text else {"ylim": limits, "ylabel": ylabel}
        ax.set(**bounds)
        if text:
            ax.set_yticks(range(len(names)), names)
            ax.set_ylim(len(names) - 0.5, -0.5)
            ax.set_ylabel(folded(str(facts["column"]), 24))
            ax.xaxis.set_major_locator(MaxNLocator(4))
        else:
            ax.set_xlabel(folded(str(facts["column"]), 30))
            ax.xaxis.set_major_locator(MaxNLocator(4))
            ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.grid(alpha=1)
        ax.set_axisbelow(True)
        if several:
            shown = [legend_name(label, 14) for label in labels]
            ax.figure.legend(drawn, shown, loc="outside lower center", ncols=2, frameon=False, handlelength=2.2)
        return ax.figure

    return painter.svg(draw, alt)


def _square(ax: Any, xlabel: str, ylabel: str) -> None:
    """Both axes from 0 to 1."""
    ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(0, 1), ylim=(0, 1.02))
    ax.grid(alpha=1)
    ax.set_axisbelow(True)
