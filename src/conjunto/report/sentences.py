"""The result on a data set in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conjunto.experiments.measures import MEASURES
from conjunto.report.words import Scale, listed

if TYPE_CHECKING:
    import pandas as pd


def sentence(board: pd.DataFrame, measure: str, scale: Scale, partitions: int) -> str:
    """The result in words: the best, what it reached, and who is tied with it."""
    known = MEASURES[measure]
    finished = board[board["n"] > 0]
    best = finished.iloc[0]
    value = scale.spread(best["mean"], best["sd"])
    if best["n"] < partitions:
        value += f" over {best['n']} of {partitions} partitions"
    if len(finished) == 1:
        return f"{best['method']}, the only method with results, has {_a(known.title)} of {value}."
    side = "highest" if known.greater_is_better else "lowest"
    combined = ", a combination of methods," if best["combined"] else ""
    text = f"{best['method']}{combined} has the {side} {known.title}, {value}."
    others = finished.iloc[1:]
    tied, worse, unsure = (
        others[others["verdict"] == verdict]["method"].tolist() for verdict in ("tied", "worse", "too few runs to tell")
    )
    parts = []
    if tied:
        parts.append(f"Statistically tied with it: {listed(tied)}.")
    if worse and len(worse) == len(others) > 1:
        parts.append(f"All {len(worse)} others are significantly worse.")
    elif worse:
        parts.append(f"Significantly worse: {listed(worse)}.")
    if unsure:
        parts.append(f"Too few runs to tell: {listed(unsure)}.")
    single = finished[~finished["combined"]]
    if combined and len(single):
        parts.append(f"The best single method: {single['method'].iloc[0]}, {scale.full(single['mean'].iloc[0])}.")
    return " ".join([text, *parts])


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
