"""`read_table`: a user's file into a `Dataset`, with every decision said.

Numbers stay numbers, texts become categories, dates are refused with a hint; an empty field is missing. The target is
named or the last column, and decides between classification and regression.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from conjunto.checks import check_choice, suggest
from conjunto.datasets.files import TableError, content_hash, is_number, read_content, read_frame, table_name
from conjunto.datasets.record import Dataset
from conjunto.datasets.sparse_files import is_sparse_name, read_sparse_table

if TYPE_CHECKING:
    import pandas as pd

TASKS = ("classification", "regression")
# A text column with more values than this is an identifier or free text, not a category.
MOST_CATEGORIES = 1000
# A whole number as target means classes up to this many values, with at least ten rows for each.
MOST_INTEGER_CLASSES = 20
# So many columns that cannot be used are told one by one.
MOST_PROBLEMS = 8
_NUMBER_LIKE = re.compile(r"\W*[+-]?\d[\d.,' ]*\W*")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([ T].*)?")


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    task: str | None = None,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    aside: Collection[str] = (),
) -> Dataset:
    """Read a CSV, CSV.gz, Parquet or ARFF file, or one of sparse rows.

    Parameters
    ----------
    path : str or Path
        The file; its ending says the format: .csv, .csv.gz, .tsv, .parquet, .arff; .npz, as `scipy.sparse.save_npz`
        writes it, with an array `y` beside the matrix; .svmlight, .svm or .libsvm, .gz or not.
    target : str, default=None
        The column to predict; None is the last one. Sparse rows have no names of columns, and their target is "y".
    task : {"classification", "regression"}, default=None
        None decides: text and bool targets are classes, and so are whole numbers with at most 20 values.
    drop : collection of str
        Columns to leave out.
    categorical : collection of str
        Columns to read as categories although they hold numbers, or more than 1,000 texts.
    aside : collection of str
        Columns that are no attributes and are read all the same, whatever they hold: dates, identifiers, free text. A
        mapping of a column to a word says in notes and errors what the column is for.

    Returns
    -------
    Dataset
        Its `notes` say what was decided: the target, the task, rows without a target. Sparse rows stay sparse. The
        columns of `aside` are not in `X`, but in a table of their own.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("grams,skin,fruit\\n150,smooth,apple\\n,rough,orange\\n140,rough,orange\\n")
    >>> data = read_table(path)
    >>> data
    <Dataset fruit: 3 rows, 2 attributes, 2 classes>
    >>> print(*data.notes, sep="\\n")
    target: 'fruit', the last column
    classification: 'fruit' holds text, 2 classes
    categories: skin
    """
    path = Path(path)
    roles = dict(aside) if isinstance(aside, Mapping) else dict.fromkeys(aside, "")
    if is_sparse_name(path.name):
        for name, role in roles.items():
            raise TableError(f"{role or 'aside'}: {name!r} names a column, and those of {path.name} have no names")
        if drop or categorical:
            raise TableError(f"drop and categorical name columns, and those of {path.name} have no names")
        return read_sparse_table(path, target, task, _decide_task)
    content = read_content(path)
    frame, notes = read_frame(path, categorical, content)
    need_columns("drop", drop, frame)
    need_columns("categorical", categorical, frame)
    for name, role in roles.items():
        if name in (target, *drop):
            raise TableError(f"{role or 'aside'}: {name!r} is {'the target' if name == target else 'left out (drop)'}")
        need_columns(role or "aside", [name], frame)
    frame = frame.drop(columns=list(drop))
    beside = frame[list(roles)] if roles else None
    frame = frame.drop(columns=list(roles))
    if frame.shape[1] < 2:
        columns = ", ".join(map(repr, frame.columns))
        raise TableError(f"{path.name} has no more than the column {columns}: a target and an attribute are needed")
    if target is None:
        target = str(frame.columns[-1])
        notes.append(f"target: {target!r}, the last column")
    need_columns("target", [target], frame)
    y = frame.pop(target)
    if y.isna().any():
        notes.append(f"{int(y.isna().sum())} rows without a target were left out")
        known = y.notna()
        frame, y = frame[known].reset_index(drop=True), y[known].reset_index(drop=True)
        beside = None if beside is None else beside[known].reset_index(drop=True)
    if is_number(y.dtype) and np.isinf(y.to_numpy(dtype=float)).any():
        raise TableError(f"the target {target!r} holds an infinite number: leave the field empty or correct it")
    if y.nunique() < 2:
        what = f"only the value {str(y.iloc[0])!r}" if len(y) else "no value"
        raise TableError(f"the target {target!r} holds {what}: there is nothing to learn")
    task, why = _decide_task(y, task)
    notes.append(why)
    attributes = _Attributes(frame)
    problems = attributes.problems(categorical)
    if problems:
        more = f"; … ({len(problems):,} columns)" if len(problems) > MOST_PROBLEMS else ""
        raise TableError("; ".join(problems[:MOST_PROBLEMS]) + more)
    notes += attributes.remarks()
    if roles:
        notes.append(aside_note(roles))
    return Dataset(
        table_name(path),
        mark_categories(frame),
        y,
        task,
        source=path.name,
        notes=tuple(notes),
        checksum=content_hash(content),
        aside=beside,
    )


def aside_note(roles: Mapping[str, str]) -> str:
    """What is said of columns that are no attributes, with what they are for where that is known."""
    return "not attributes: " + ", ".join(f"{name} ({role})" if role else name for name, role in roles.items())


def mark_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with every column that holds no numbers of type category."""
    texts = [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if not is_number(kind)]
    return frame.astype(dict.fromkeys(texts, "category")) if texts else frame


def need_columns(argument: str, names: Collection[str], frame: pd.DataFrame) -> None:
    """Refuse a column that is not there, with the name of the argument that asks for it."""
    for name in names:
        if name not in frame.columns:
            raise TableError(f"{argument}: there is no column {name!r}; {suggest(name, frame.columns)}")


def _decide_task(y: pd.Series, task: str | None) -> tuple[str, str]:
    """The task and the reason in words."""
    from pandas.api import types

    values = y.nunique()
    numeric = is_number(y.dtype)
    if task is not None:
        check_choice("task", task, TASKS)
        if task == "regression" and not numeric:
            raise TableError(f"task: regression needs numbers, and the target {y.name!r} holds {y.iloc[0]!r}")
        return task, f"{task}, as asked"
    if types.is_datetime64_any_dtype(y):
        raise TableError(f"the target {y.name!r} holds dates: replace it by a number or a class")
    if not numeric:
        if values > len(y) / 2 and values > MOST_INTEGER_CLASSES:
            raise TableError(f"the target {y.name!r} holds {values:,} different texts in {len(y):,} rows: not classes")
        return "classification", f"classification: {y.name!r} holds text, {values} classes"
    whole = bool(((y % 1) == 0).all())
    if whole and values <= MOST_INTEGER_CLASSES and (values == 2 or len(y) >= 10 * values):
        return "classification", f"classification: {y.name!r} holds {values} whole numbers (unless task is regression)"
    return "regression", f"regression: {y.name!r} holds {values:,} different numbers (unless task is classification)"


class _Attributes:
    """The attributes of a table; those of numbers are one matrix, so that all columns are asked at once."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        numeric = np.array([is_number(kind) for kind in frame.dtypes], dtype=bool)
        self._numbers = frame.columns[numeric].tolist()
        self._texts = frame.columns[~numeric].tolist()
        self._matrix = frame.loc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)

    def problems(self, allowed: Collection[str]) -> list[str]:
        """Why attributes cannot be used, and what to do, in their order; `allowed` may hold any number of texts."""
        found = {}
        empty, infinite = np.isnan(self._matrix).all(axis=0), np.isinf(self._matrix).any(axis=0)
        for place in np.flatnonzero(empty | infinite).tolist():
            found[self._numbers[place]] = (
                "is empty: leave it out (drop)"
                if empty[place]
                else "holds an infinite number: leave the field empty or correct it"
            )
        for name in self._texts:
            if problem := _problem_with_texts(self._frame[name], name in allowed):
                found[name] = problem
        return [f"column {name!r} {found[name]}" for name in self._frame.columns if name in found] if found else []

    def remarks(self) -> list[str]:
        """What a reader of the results may want to know about the attributes."""
        shown = ", ".join(self._texts[:12]) + (", …" if len(self._texts) > 12 else "")
        remarks = [f"categories: {shown}"] if self._texts else []
        found = {
            self._numbers[place]: "numbers the rows: leave it out (drop) if it means nothing"
            for place in self._counting()
        }
        for name in self._texts:
            column = self._frame[name]
            alike = {kind for kind in _kinds(column) if _NUMBER_LIKE.fullmatch(kind)}
            if alike and column.isin(alike).sum() > 0.8 * column.notna().sum():
                such = next(kind for kind in column if kind in alike)
                found[name] = f"holds text that looks like numbers, such as {such!r}: categories here"
        return remarks + [f"{name!r} {found[name]}" for name in self._frame.columns if name in found]

    def _counting(self) -> list[int]:
        """The places of columns that count 0, 1, 2, … or 1, 2, 3, …; gaps do not matter."""
        if len(self._frame) <= 2:
            return []
        gaps = np.isnan(self._matrix).any(axis=0)
        whole = ~gaps & np.isin(self._matrix[0], (0, 1)) & (np.diff(self._matrix, axis=0) == 1).all(axis=0)
        places = np.flatnonzero(whole).tolist()
        for place in np.flatnonzero(gaps).tolist():
            known = self._matrix[~np.isnan(self._matrix[:, place]), place]
            if known[0] in (0, 1) and (np.diff(known) == 1).all():
                places.append(place)
        return places


def _kinds(column: pd.Series) -> list[str]:
    """The different texts of a column, in the order in which they come."""
    import pandas

    return [kind for kind in pandas.unique(column.to_numpy(dtype=object)) if isinstance(kind, str)]


def _problem_with_texts(column: pd.Series, allowed: bool) -> str:
    """Why a column that holds no numbers cannot be used, and what to do; empty where it can."""
    from pandas.api import types

    if column.isna().all():
        return "is empty: leave it out (drop)"
    dated = types.is_datetime64_any_dtype(column)
    kinds = [str(column.dropna().iloc[0])] if dated else _kinds(column)
    if dated or all(_DATE.fullmatch(kind) for kind in kinds[:1000]):
        return (
            f"holds dates, such as {kinds[0]!r}: replace it by numbers (days since an origin, year, month), or leave "
            "it out (drop)"
        )
    if not allowed and (len(kinds) > MOST_CATEGORIES or (len(kinds) > 256 and len(kinds) > len(column) / 2)):
        return (
            f"holds {len(kinds):,} different texts, such as {kinds[0]!r}: an identifier or free text; leave it out "
            "(drop), or name it (categorical)"
        )
    return ""
