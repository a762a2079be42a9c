"""A cell's outcome as a row of the store, and rows as a table."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any

from conjunto.atomic import timestamp
from conjunto.experiments.cells import Outcome
from conjunto.model_file import versions

if TYPE_CHECKING:
    import sqlite3

    import pandas as pd

COLUMNS = (
    "dataset",
    "repetition",
    "method",
    "status",
    "measures",
    "nested",
    "confusion",
    "fit_seconds",
    "predict_seconds",
    "model_bytes",
    "members",
    "n_train",
    "n_test",
    "seed",
    "warnings",
    "traceback",
    "seconds",
    "threads",
    "versions",
    "finished",
)
"""The columns of the table `cells`, in its order."""
_FIRST = ["dataset", "repetition", "method", "size", "status"]
_LAST = ["fit_seconds", "predict_seconds", "model_bytes", "members", "n_train", "n_test", "seed", "seconds"]
_LAST += ["threads", "finished", "versions", "warnings", "traceback"]


def as_row(outcome: Outcome) -> tuple[Any, ...]:
    """The row that is written for a cell."""
    return (
        *outcome.cell,
        outcome.status,
        _dump(outcome.measures),
        _dump(outcome.nested),
        _dump(outcome.confusion),
        outcome.fit_seconds,
        outcome.predict_seconds,
        outcome.model_bytes,
        outcome.members,
        outcome.n_train,
        outcome.n_test,
        outcome.seed,
        _dump(outcome.warnings),
        outcome.traceback,
        outcome.seconds,
        outcome.threads,
        _versions(),
        timestamp(),
    )


def as_frame(cursor: sqlite3.Cursor) -> pd.DataFrame:
    """One row per cell and size, one column per measure; `size` is 0 for the whole ensemble."""
    import pandas

    rows: list[dict[str, Any]] = []
    for values in cursor:
        row = dict(zip(COLUMNS, values, strict=True))
        measures, nested = json.loads(row.pop("measures")), json.loads(row.pop("nested"))
        del row["confusion"]
        rows.append({**row, "size": 0, **_numbers(measures)})
        rows += [{**row, "size": int(size), **_numbers(at)} for size, at in nested.items()]
    frame = pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=[*_FIRST, *_LAST])
    frame = frame.astype(dict.fromkeys(("fit_seconds", "predict_seconds", "seconds"), float))
    return frame[_FIRST + [name for name in frame.columns if name not in (*_FIRST, *_LAST)] + _LAST]


@cache
def _versions() -> str:
    return json.dumps(versions())


def _dump(value: Any) -> str:
    """JSON without NaN, which other readers of the file refuse."""
    return json.dumps(_without_nan(value))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(measures: dict[str, float | None]) -> dict[str, float]:
    return {name: math.nan if value is None else value for name, value in measures.items()}
