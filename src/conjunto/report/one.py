"""What the page says of one data set: the leaderboard, its pictures, and what the best method confuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.results import Results
from conjunto.experiments.store import Store
from conjunto.plots.trade_off import unbeaten
from conjunto.report.pictures import Painter
from conjunto.report.words import (
    DASH,
    Scale,
    count,
    human_bytes,
    human_seconds,
    listed,
    p_value,
    title,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 25
"""Up to so many classes the whole confusion matrix is shown; beyond, the pairs confused most often."""
MOST_PAIRS = 15
MOST_LABELS, MOST_LETTERS = 9, 130
"""Up to so many methods, with so many letters in all, points are labelled by name; beyond, by rank."""


def dataset_section(results: Results, store: Store, name: str, painter: Painter, partitions: int) -> dict[str, Any]:
    """Everything the template needs for one data set; `board` is None where no cell is done."""
    section: dict[str, Any] = {"name": name, "board": None}
    if name not in results.facts or results.scores(name).notna().to_numpy().sum() == 0:
        return section
    measures = results.measures(name)
    main = measures[0]
    board = results.boards[name]
    finished = board[board["n"] > 0]
    scale = Scale.of(main, finished["mean"])
    scores = results.scores(name)
    axis = title(main)
    factor = 100 if MEASURES[main].percent else 1
    return section | {
        "sentence": sentence(board, main, scale, partitions),
        "measure": MEASURES[main].title,
        "better": "higher is better" if MEASURES[main].greater_is_better else "lower is better",
        "board": _rows(results, name, board, scale),
        "heads": [title(measure) for measure in measures],
        "incomplete": bool((board["n"] < partitions).any()),
        "failures": bool(board["failed"].any()),
        "partitions": partitions,
        "boxes": painter.boxes(
            {method: factor * scores[method].to_numpy() for method in finished["method"]},
            axis,
            _boxes_alt(name, finished, main, scale),
        ),
        "curves": _curves(results, name, finished, painter),
        "trade_offs": _trade_offs(name, finished, main, scale, painter),
        "confusion": _confusion(results, store, name, str(finished["method"].iloc[0])),
        "best": str(finished["method"].iloc[0]),
    }


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
    text = f"{best['method']} has the {side} {known.title}, {value}."
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
    return " ".join([text, *parts])


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _rows(results: Results, name: str, board: pd.DataFrame, scale: Scale) -> list[dict[str, Any]]:
    others = results.measures(name)[1:]
    means = {measure: results.scores(name, measure).mean() for measure in others}
    scales = {measure: Scale.of(measure, means[measure]) for measure in others}
    rows = []
    for place, line in enumerate(board.to_dict("records"), start=1):
        done = line["n"] > 0
        rows.append(
            {
                "rank": str(place) if done else DASH,
                "method": line["method"],
                "mean": scale.write(line["mean"]),
                "sd": scale.write(line["sd"]),
                "others": [scales[measure].write(means[measure][line["method"]]) for measure in others],
                "verdict": "the best" if line["verdict"] == "best" else line["verdict"],
                "p": p_value(line["p_value"]),
                "n": line["n"],
                "fit": human_seconds(line["fit_seconds"]),
                "predict": human_seconds(line["predict_seconds"]),
                "size": human_bytes(line["model_bytes"]),
                "members": f"{line['members']:,.0f}" if done else DASH,
                "failed": line["failed"],
            }
        )
    return rows


def _boxes_alt(name: str, finished: pd.DataFrame, main: str, scale: Scale) -> str:
    values = [f"{row['method']} {scale.spread(row['mean'], row['sd'])}" for _, row in finished.iterrows()]
    return f"Box plots of the {MEASURES[main].title} on {name} over the partitions, mean ± sd: {'; '.join(values)}."


def _curves(results: Results, name: str, board: pd.DataFrame, painter: Painter) -> str | None:
    """The main measure by number of members; None where nothing was measured at several sizes."""
    main = results.measures(name)[0]
    table = results.curve(name).dropna(axis=1, how="all")
    if len(table) < 2 or table.empty:
        return None
    table = _with_single_points(table, board)
    scale = Scale.of(main, table.to_numpy().ravel())
    ends = []
    for method in table.columns:
        values = table[method].dropna()
        first, last = (f"{scale.full(values.iloc[i])} with {count(int(values.index[i]), 'member')}" for i in (0, -1))
        ends.append(f"{method}: {first}" + (f", {last}" if len(values) > 1 else ""))
    alt = f"Mean {MEASURES[main].title} on {name} by number of members. {'; '.join(ends)}."
    return painter.curves(table * (100 if scale.percent else 1), title(main), alt)


def _with_single_points(table: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """The curves, and methods without one, such as a single tree, as one point at their number of members."""
    table = table.copy()
    for method, members, mean in zip(board["method"], board["members"], board["mean"], strict=True):
        if method not in table.columns and members >= 1:
            table.loc[round(members), method] = mean
    order = [method for method in board["method"] if method in table.columns]
    return table.sort_index()[order]


def _trade_offs(name: str, finished: pd.DataFrame, main: str, scale: Scale, painter: Painter) -> list[dict[str, str]]:
    """Fit time and model size against the main measure."""
    methods = finished["method"].tolist()
    if len(methods) < 2:
        return []
    crowded = len(methods) > MOST_LABELS or sum(map(len, methods)) > MOST_LETTERS
    names = {method: str(rank) if crowded else method for rank, method in enumerate(methods, start=1)}
    means = finished["mean"].to_numpy(dtype=float)
    lost = -means if MEASURES[main].greater_is_better else means
    pictures = []
    for column, what, human in (("fit_seconds", "fit time", human_seconds), ("model_bytes", "model size", human_bytes)):
        cost = finished[column].to_numpy(dtype=float)
        if not (np.isfinite(cost) & (cost > 0)).any():
            continue
        points = [f"{m} {human(c)}, {scale.full(v)}" for m, c, v in zip(methods, cost, means, strict=True)]
        best = unbeaten(cost, lost, methods)
        pictures.append(
            {
                "svg": painter.trade_off(
                    cost,
                    (100 if scale.percent else 1) * means,
                    names,
                    {"xlabel": what, "ylabel": title(main)},
                    human,
                    f"{what.capitalize()} against {MEASURES[main].title} on {name}: {'; '.join(points)}.",
                ),
                "caption": f"{what.capitalize()} against {MEASURES[main].title}. "
                + ("Numbers are ranks in the table above. " if crowded else "")
                + f"Not beaten in both at once: {listed(best)}.",
            }
        )
    return pictures


def _confusion(results: Results, store: Store, name: str, method: str) -> dict[str, Any] | None:
    """The confusion matrix of the best, or the pairs it confuses most often; None for regression."""
    classes = results.facts[name].get("classes")
    counts = store.confusion(name, method)
    if not classes or not counts or max(max(pair) for pair in counts) >= len(classes):
        return None
    if len(classes) > MOST_CLASSES:
        totals: dict[int, int] = {}
        for (true, _), number in counts.items():
            totals[true] = totals.get(true, 0) + number
        wrong = sorted(((n, t, p) for (t, p), n in counts.items() if t != p), key=lambda item: (-item[0], *item[1:]))
        pairs = [
            {"true": classes[t], "predicted": classes[p], "count": n, "of": totals[t]} for n, t, p in wrong[:MOST_PAIRS]
        ]
        return {"pairs": pairs, "classes": len(classes)}
    rows = []
    for true, label in enumerate(classes):
        numbers = [counts.get((true, predicted), 0) for predicted in range(len(classes))]
        total = sum(numbers)
        cells = [
            {"count": f"{number:,}", "share": number / total if total else 0.0, "right": predicted == true}
            for predicted, number in enumerate(numbers)
        ]
        recall = f"{100 * numbers[true] / total:.1f}" if total else DASH
        rows.append({"label": label, "cells": cells, "recall": recall})
    return {"labels": classes, "rows": rows, "upright": len(classes) > 6}
