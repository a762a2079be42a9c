"""Leaderboards, for the screen and for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.cli.inputs import drawn

if TYPE_CHECKING:
    from conjunto.experiments import Results

STORE = "results.sqlite"
"""The store in a folder of results."""
COMBINED = "+ "
"""Stands before the name of a combination of the other methods."""


def board_text(name: str, results: Results) -> str:
    """The leaderboard of a data set for the screen, with what guessing would reach."""
    from rich.table import Table

    from conjunto.experiments import MEASURES
    from conjunto.report.words import Scale, human_bytes, human_seconds, verdict

    board: Any = results.boards[name]
    measure = results.measures(name)[0]
    scale = Scale.of(measure, board["mean"])
    title = MEASURES[measure].title
    table = Table(title=f"{name}: {title}", title_justify="left", box=None, pad_edge=False)
    for head in ("", "method", title, "± sd", "against the best", "fit", "predict", "size", "members"):
        table.add_column(head, justify="left" if head in ("method", "against the best") else "right")
    for rank, row in enumerate(board.itertuples(), start=1):
        said = verdict(row.verdict, row.p_value, row.p_rows)
        table.add_row(
            str(rank),
            f"{COMBINED}{row.method}" if row.combined else row.method,
            scale.full(row.mean),
            scale.full(row.sd),
            f"{said}; {row.failed} cells failed" if row.failed else said,
            human_seconds(row.fit_seconds),
            human_seconds(row.predict_seconds),
            human_bytes(row.model_bytes),
            f"{row.members:.0f}" if row.n else "–",
        )
    return "\n".join([*drawn(table, 130).split("\n"), *_remarks(name, results, scale)]) + "\n"


def _remarks(name: str, results: Results, scale: Any) -> list[str]:
    """What stands below a leaderboard: guessing, whether it is beaten, and what is combined."""
    from conjunto.report.constant import constant_answer, constant_sentence

    lines = []
    if (against := results.against_constant(name)) is not None:
        lines.append(f"   {constant_answer(results, name)}: {scale.full(against[0])}")
    if sentence := constant_sentence(results, name):
        lines.append(f"   {sentence}")
    if results.boards[name]["combined"].any():
        lines.append(f"   {COMBINED}combines the others, learned on other folds than it is judged on")
    return lines


def holdout_text(name: str, results: Results) -> str:
    """What the best model reached on the rows of `--test`."""
    from conjunto.experiments import MEASURES, Store
    from conjunto.report.words import Scale

    assert results.path is not None
    with Store(results.path) as store:
        facts = store.remarked(name, "holdout")
    if facts is None:
        return ""
    lines = [f"on {facts['file']}, {facts['rows']:,} rows that had no part in anything ({facts['method']}):"]
    for measure, (value, low, high) in facts["measures"].items():
        scale = Scale.of(measure, [value])
        constant = scale.full(facts["constant"][measure])
        interval = f"95 %: {scale.write(low)} to {scale.full(high)}"
        lines.append(f"   {MEASURES[measure].title:<28}{scale.full(value)}   {interval}   the constant {constant}")
    if facts["looks"] > 1:
        lines.append(f"   this file was looked at with {facts['looks']} models: the last is not judged as freshly")
    return "\n".join(lines)


def board_json(results: Results, out: Path, models: dict[str, str]) -> dict[str, Any]:
    """The leaderboards for machines."""
    return {
        "datasets": [
            {
                "dataset": name,
                "measure": results.measures(name)[0],
                # By pandas' own writer: NaN becomes null.
                "leaderboard": json.loads(results.boards[name].to_json(orient="records")),
                "constant": _number(results.constant(name).mean()),
                "model": str(out / models[name]) if name in models else None,
            }
            for name in results.datasets
        ],
        "store": str(out / STORE),
    }


def _number(value: float) -> float | None:
    return None if value != value else float(value)
