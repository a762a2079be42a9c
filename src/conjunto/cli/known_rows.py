"""Rows whose answers are known, read for a saved model: its columns in its order, and answers as it gives them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.cli.inputs import InputError, say

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from conjunto.model_file import Model

# The name by which messages know what comes through a pipe; its ending says the format.
_PIPE = Path("standard-input.csv")


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of a file that have an answer."""

    X: Any
    """As the model takes them."""
    y: NDArray[Any]
    """Classes of the model, or numbers."""
    target: str
    left_out: int
    """How many rows have no answer."""
    frame: pd.DataFrame | None
    """All columns of these rows; None of a sparse file, whose columns have no names."""


def read_known_rows(data: Path, target: str | None, model: Model, others: Sequence[str] = ()) -> KnownRows:
    """Read a file, or CSV from standard input; what does not fit is an error that names the column or the row.

    `others` are columns that are used for something else: nobody is told that they are not used.
    """
    from conjunto.datasets import is_sparse_name

    return _sparse(data, target, model) if is_sparse_name(data.name) else _table(data, target, model, others)


def _table(data: Path, target: str | None, model: Model, others: Sequence[str]) -> KnownRows:
    frame, column = _read(data, target, model)
    extra = [str(name) for name in frame.columns if name not in model.columns and name not in (column, *others)]
    if extra and model.columns:
        say(f"not used: {', '.join(extra[:8])}{', …' if len(extra) > 8 else ''}")
    known = frame[column].notna().to_numpy()
    if not known.any():
        raise InputError(
            f"{_name(data)}: the target {column!r} holds no value, so that there is nothing to compare with"
        )
    y = _answers(frame[column], f"the target {column!r} of {_name(data)}", model)
    rows = frame[known].reset_index(drop=True)
    # A model that was fitted on an array takes all columns but the answers; one too many is what is asked for beside.
    spare = not model.columns and frame.shape[1] - 1 > model.estimator.n_features_in_
    taken = rows.drop(columns=[name for name in others if name != column], errors="ignore") if spare else rows
    return KnownRows(replace(model, target=column).arrange(taken), y, column, int((~known).sum()), rows)


def _read(data: Path, target: str | None, model: Model) -> tuple[pd.DataFrame, str]:
    """All columns of a file, and which of them holds the answers."""
    from conjunto.datasets import read_frame

    content = sys.stdin.buffer.read() if str(data) == "-" else data.read_bytes() if data.is_fifo() else None
    path = data if content is None else _PIPE
    texts = [name for name, kind in model.columns.items() if kind == "category"]
    # Classes that were text stay text, also in a file where all of them look like numbers.
    text_classes = any(isinstance(label, str) for label in model.classes)
    named = target or model.target
    frame, notes = read_frame(path, [*texts, named] if named and text_classes else texts, content)
    column = named or _last_unknown(frame, data, model)
    if column not in frame.columns:
        from conjunto.checks import suggest

        what = "" if target else ", the target of the model (--target names another)"
        raise InputError(f"{_name(data)} has no column {column!r}{what}; {suggest(column, frame.columns)}")
    if text_classes and not named:
        frame, notes = read_frame(path, [*texts, column], content)
    for note in notes:
        say(f"  {note}")
    # A Parquet file may bring an index of its own; here rows are known by their place.
    return frame.reset_index(drop=True), column


def _last_unknown(frame: pd.DataFrame, data: Path, model: Model) -> str:
    """The column of the answers for a model that does not say: the one that it does not take."""
    others = [str(name) for name in frame.columns if name not in model.columns]
    # A model that was fitted on an array knows no names; the answers stand last, as for `train`.
    if model.columns and len(others) != 1:
        raise InputError(
            f"--target: {_name(data)} has {len(others)} columns that the model does not take, and the model does not "
            "say which one it predicts: name it"
        )
    return others[-1]


def _sparse(data: Path, target: str | None, model: Model) -> KnownRows:
    """The rows of a file of mostly zeros."""
    import pandas

    from conjunto.datasets import read_sparse

    rows, answers = read_sparse(data)
    if answers is None:
        raise InputError(f"{data.name} has no array 'y' of answers beside the matrix: write it with np.savez")
    if target not in (None, "y"):
        raise InputError(f"--target: the answers of {data.name} are 'y'; its columns have no names")
    y = pandas.Series(answers)
    if y.isna().any():
        raise InputError(f"the answers of {data.name} hold a number that is missing: remove these rows")
    expected = getattr(model.estimator, "n_features_in_", rows.shape[1])
    if rows.shape[1] > expected and not model.columns:
        say(f"not used: columns from {expected} on, which the model does not know")
    labels = _answers(y, f"the answers of {data.name}", model, "hold")
    return KnownRows(model.arrange(rows), labels, model.target or "y", 0, None)


def _answers(column: pd.Series, where: str, model: Model, hold: str = "holds") -> NDArray[Any]:
    """The answers that are known, as the model gives them: its classes, or numbers."""
    import numpy as np

    from conjunto.classes import Classes, listed
    from conjunto.datasets import is_number

    given = column.dropna()
    if model.task == "regression":
        return _numbers(given, where, hold)
    labels = np.asarray(model.classes)
    if is_number(given.dtype) and labels.dtype.kind in "iuf":
        codes = Classes(labels).encode(given.to_numpy(), unknown="abstain")
    else:
        # Truth values, and numbers beside which the file has a text, are known by how they are written.
        table = {str(label): code for code, label in enumerate(labels.tolist())}
        codes = np.array([table.get(str(label), -1) for label in given], dtype=np.int32)
    if (codes < 0).any():
        place = int((codes < 0).argmax())
        raise InputError(
            f"{where} {hold} {str(given.iloc[place])!r} in row {given.index[place] + 1}, which is no class of the "
            f"model: these are {listed(labels.tolist())}; correct it, or leave the field empty"
        )
    return labels[codes]


def _numbers(given: pd.Series, where: str, hold: str) -> NDArray[Any]:
    import numpy as np
    import pandas

    numbers = pandas.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"{where} {hold} {str(given.iloc[place])!r} in row {given.index[place] + 1}, and the model predicts finite "
            "numbers: correct it, or leave the field empty"
        )
    return numbers


def _name(data: Path) -> str:
    return _PIPE.name if str(data) == "-" else data.name
