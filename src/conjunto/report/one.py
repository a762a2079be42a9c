"""What the page says of one data set: the leaderboard, its pictures, and what the best method confuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conjunto.experiments.combine import DEPENDENCE, LEFT_OUT
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.results import Results
from conjunto.experiments.store import Store
from conjunto.plots.trade_off import unbeaten
from conjunto.report.answered import read_answers
from conjunto.report.confusion import confusion_section, count_pairs
from conjunto.report.constant import constant_answer, constant_sentence
from conjunto.report.explained import findings
from conjunto.report.from_answers import answers_section
from conjunto.report.pictures import Painter
from conjunto.report.sentences import sentence
from conjunto.report.words import DASH, Scale, count, evidence, human_bytes, human_seconds, listed, title

if TYPE_CHECKING:
    import pandas as pd

MOST_LABELS, MOST_LETTERS = 9, 130
"""Up to so many methods, with so many letters in all, points are labelled by name; beyond, by rank."""


def dataset_section(results: Results, store: Store, name: str, painter: Painter, partitions: int) -> dict[str, Any]:
    """Everything the template needs for one data set; `board` is None where no cell is done."""
    section: dict[str, Any] = {"name": name, "board": None}
    if name not in results.facts or results.scores(name).notna().to_numpy().sum() == 0:
        return section
    facts = results.facts[name]
    measures = results.measures(name)
    main = measures[0]
    board = results.boards[name]
    finished = board[board["n"] > 0]
    best = str(finished["method"].iloc[0])
    model = _best_model(results, finished) or best
    means = {measure: results.scores(name, measure).mean() for measure in measures[1:]}
    scales = {main: Scale.of(main, finished["mean"])} | {
        measure: Scale.of(measure, means[measure]) for measure in means
    }
    answered = read_answers(results, name, finished["method"].tolist())
    at_threshold = results.threshold is not None and answered.best is not None
    counts = count_pairs(answered.best) if at_threshold and answered.best else store.confusion(name, best)
    against = constant_sentence(results, name)
    return section | {
        "sentence": " ".join(filter(None, [sentence(board, main, scales[main], partitions), against])),
        "worthless": against.startswith("No method"),  # and not where runs are too few to tell
        "measure": MEASURES[main].title,
        "better": "higher is better" if MEASURES[main].greater_is_better else "lower is better",
        "board": _rows(board, means, scales),
        "constant": _constant(results, name, scales),
        "by_rows": bool(board["p_rows"].notna().any()),
        "combined": _combined(results, board[board["combined"]]["method"].tolist()),
        "dependence": DEPENDENCE,
        "heads": [title(measure) for measure in measures],
        "incomplete": bool((board["n"] < partitions).any()),
        "failures": bool(board["failed"].any()),
        "partitions": partitions,
        **_pictures(results, name, finished, scales[main], painter),
        "confusion": confusion_section(facts.get("classes"), counts),
        "best": best,
        "model": model,
        "threshold": results.threshold if len(facts.get("classes") or ()) == 2 else None,
        "answered": answers_section(results, name, answered, best, painter, partitions),
        **findings(store, name, facts["target"], model),
    }


def _best_model(results: Results, finished: pd.DataFrame) -> str | None:
    """The first that is fitted on rows: a combination is not, and the constant has nothing to explain."""
    names = {method["label"]: method["name"] for method in results.spec["methods"]}
    fitted = [method for method in finished[~finished["combined"]]["method"] if names[method] not in LEFT_OUT]
    return fitted[0] if fitted else None


def _combined(results: Results, labels: list[str]) -> list[dict[str, Any]]:
    """What combinations combine; those of the same methods are named together."""
    together: dict[str, list[str]] = {}
    for label in labels:
        together.setdefault(listed(results.combined[label]), []).append(label)
    return [{"labels": listed(of), "several": len(of) > 1, "parts": parts} for parts, of in together.items()]


def _constant(results: Results, name: str, scales: dict[str, Scale]) -> str | None:
    """What a model reaches that knows no attribute, by every measure that can be taken of it."""
    found = {measure: results.constant(name, measure).mean() for measure in scales}
    values = [
        f"{MEASURES[measure].short or MEASURES[measure].title} {scales[measure].full(value)}"
        for measure, value in found.items()
        if np.isfinite(value)
    ]
    if not values:
        return None
    shares = (
        ", with the class shares of the training rows as probabilities" if results.task(name) != "regression" else ""
    )
    return f"The constant ({constant_answer(results, name)}{shares}): {', '.join(values)}."


def _pictures(results: Results, name: str, finished: pd.DataFrame, scale: Scale, painter: Painter) -> dict[str, Any]:
    """Scores over partitions, by number of members, and against what they cost."""
    main = results.measures(name)[0]
    scores = results.scores(name)
    factor = 100 if MEASURES[main].percent else 1
    return {
        "boxes": painter.boxes(
            {method: factor * scores[method].to_numpy() for method in finished["method"]},
            title(main),
            _boxes_alt(name, finished, main, scale),
        ),
        "curves": _curves(results, name, finished, painter),
        "trade_offs": _trade_offs(name, finished, main, scale, painter),
    }


def _rows(board: pd.DataFrame, means: dict[str, pd.Series], scales: dict[str, Scale]) -> list[dict[str, Any]]:
    """The lines of the leaderboard; `means` are those of the measures that do not rank."""
    scale = next(iter(scales.values()))
    rows = []
    for place, line in enumerate(board.to_dict("records"), start=1):
        done = line["n"] > 0
        rows.append(
            {
                "rank": str(place) if done else DASH,
                "method": line["method"],
                "mean": scale.write(line["mean"]),
                "sd": scale.write(line["sd"]),
                "others": [scales[measure].write(means[measure][line["method"]]) for measure in means],
                "verdict": "the best" if line["verdict"] == "best" else line["verdict"],
                "p": evidence(line["p_value"], line["p_rows"]),
                "combined": line["combined"],
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
