"""What the page shows of what was found out after a run: which columns the best uses, and its worth on other rows."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.store import Store
from conjunto.report import curves
from conjunto.report.pictures import Painter
from conjunto.report.words import DASH, Scale, title

MOST_IMPORTANT = 15
"""Columns in the picture."""


def findings(store: Store, dataset: str, target: str, model: str | None) -> dict[str, Any]:
    """What was found out about a data set after it was run, in pictures of its own; `model` is the best one."""
    painter = Painter([], prefix=f"x{hashlib.sha256(dataset.encode()).hexdigest()[:6]}-")
    return {
        "saved": (store.remarked(dataset, "model") or {}).get("method"),
        "explained": explained_section(store.remarked(dataset, "explained"), dataset, target, model, painter),
        "holdout": holdout_section(store.remarked(dataset, "holdout")),
    }


def explained_section(
    facts: Mapping[str, Any] | None, dataset: str, target: str, best: str | None, painter: Painter
) -> dict[str, Any] | None:
    """Pictures of what `experiments.explain` found; None where nothing was kept."""
    if facts is None:
        return None
    method = str(facts.get("method", best))
    section: dict[str, Any] = {
        "method": method,
        "of_best": method == best,
        "skipped": facts.get("skipped"),
        "notes": facts.get("notes", []),
    }
    if section["skipped"] or not facts.get("importances"):
        return section | {"skipped": section["skipped"] or "no column was reached in time", "partial": []}
    measure = facts["measure"]
    return section | {
        "rows": f"{facts['rows']:,}",
        "repeats": facts["repeats"],
        "measure": MEASURES[measure].title,
        "columns": len(facts["importances"]),
        "shown": min(MOST_IMPORTANT, len(facts["importances"])),
        "importances": _importances(facts["importances"], measure, dataset, method, painter),
        "partial": _partial(facts, dataset, target, painter),
        "answers": facts["answers"],
    }


def _importances(lines: list[dict[str, Any]], measure: str, dataset: str, method: str, painter: Painter) -> str:
    """What the measure loses when a column is shuffled."""
    known = MEASURES[measure]
    factor = 100 if known.percent else 1
    shown = lines[:MOST_IMPORTANT]
    points = [
        (
            line["column"],
            factor * line["mean"],
            factor * (line["mean"] if line["low"] is None else line["low"]),
            factor * (line["mean"] if line["high"] is None else line["high"]),
        )
        for line in shown
    ]
    unit = " (percentage points)" if known.percent else ""
    loses = f"{known.short or known.title} {'falls' if known.greater_is_better else 'grows'} by{unit}"
    said = "; ".join(f"{name} {mean:.3g} ({low:.3g} to {high:.3g})" for name, mean, low, high in points)
    alt = f"How much the {known.title} of {method} on {dataset} gets worse when a column is shuffled: {said}."
    return curves.importances(painter, method, points, loses, alt)


def _partial(facts: Mapping[str, Any], dataset: str, target: str, painter: Painter) -> list[str]:
    """The mean answer by the value of a column; all pictures have one scale, so that they can be compared."""
    of_values = facts["answers"] == "value"
    values = np.array([value for part in facts["partial"] for curve in part["curves"] for value in curve["values"]])
    if not len(values):
        return []
    room = 0.06 * (np.ptp(values) or abs(values[0]) or 1)
    limits = (float(values.min() - room), float(values.max() + room))
    found = []
    for part in facts["partial"]:
        label = part["curves"][0]["label"]
        if of_values:
            what = f"mean {target}"
        elif len(part["curves"]) == 1:
            what = f"{facts['answers']} of {label}"
        else:
            what = str(facts["answers"])
        ends = "; ".join(
            f"{curve['label'] or 'the answer'} from {curve['values'][0]:.3g} at {_at(part['grid'][0])} to "
            f"{curve['values'][-1]:.3g} at {_at(part['grid'][-1])}"
            for curve in part["curves"]
        )
        alt = f"Partial dependence of the {what} on {part['column']}, {dataset}: {ends}."
        found.append(curves.partial(painter, part, _cut(what), limits, alt))
    return found


def _at(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cut(text: str, most: int = 28) -> str:
    """A text that fits beside an axis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def holdout_section(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a model reached on a file of rows that had no part in anything; None where there was no such file."""
    if facts is None:
        return None
    lines = []
    for measure, (value, low, high) in facts["measures"].items():
        constant = facts["constant"].get(measure, math.nan)
        scale = Scale.of(measure, [value, constant])
        interval = DASH if not (_is_number(low) and _is_number(high)) else f"{scale.write(low)} to {scale.write(high)}"
        lines.append(
            {
                "measure": title(measure),
                "value": scale.write(value),
                "interval": interval,
                "constant": scale.write(constant),
            }
        )
    return {
        "file": facts["file"],
        "rows": f"{facts['rows']:,}",
        "method": facts["method"],
        "lines": lines,
        "looks": facts["looks"],
    }


def _is_number(value: Any) -> bool:
    return value is not None and math.isfinite(value)
