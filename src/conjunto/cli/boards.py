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


def board_text(name: str, results: Results) -> str:
    """The leaderboard of a data set for the screen, with what guessing would reach."""
    from rich.table import Table

    from conjunto.experiments import MEASURES
    from conjunto.report.words import Scale, human_bytes, human_seconds, p_value

    board: Any = results.boards[name]
    measure = results.measures(name)[0]
    scale = Scale.of(measure, board["mean"])
    title = MEASURES[measure].title
    table = Table(title=f"{name}: {title}", title_justify="left", box=None, pad_edge=False)
    for head in ("", "method", title, "± sd", "against the best", "fit", "predict", "size", "members"):
        table.add_column(head, justify="left" if head in ("method", "against the best") else "right")
    for rank, row in enumerate(board.itertuples(), start=1):
        verdict = f"{row.verdict}, {p_value(row.p_value)}" if row.p_value == row.p_value else row.verdict
        table.add_row(
            str(rank),
            row.method,
            scale.full(row.mean),
            scale.full(row.sd),
            f"{verdict}; {row.failed} cells failed" if row.failed else verdict,
            human_seconds(row.fit_seconds),
            human_seconds(row.predict_seconds),
            human_bytes(row.model_bytes),
            f"{row.members:.0f}" if row.n else "–",
        )
    lines = drawn(table, 120).split("\n")
    if measure == "error" and "counts" in results.facts[name]:
        counts, classes = results.facts[name]["counts"], results.facts[name]["classes"]
        most = max(range(len(counts)), key=counts.__getitem__)
        lines.append(f"   always {classes[most]!r}: {scale.full(1 - counts[most] / sum(counts))}")
    return "\n".join(lines) + "\n"


def board_json(results: Results, out: Path, models: dict[str, str]) -> dict[str, Any]:
    """The leaderboards for machines."""
    return {
        "datasets": [
            {
                "dataset": name,
                "measure": results.measures(name)[0],
                # By pandas' own writer: NaN becomes null.
                "leaderboard": json.loads(results.boards[name].to_json(orient="records")),
                "model": str(out / models[name]) if name in models else None,
            }
            for name in results.datasets
        ],
        "store": str(out / STORE),
    }
