"""`open_holdout`: a file of rows that nothing was trained on, read as the training table was.

Columns are those of the training table, in its order and of its types; classes are its classes. What does not fit is an
error that names the row, never a value that is missing without a word.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from conjunto.checks import suggest
from conjunto.classes import Classes, listed
from conjunto.datasets import (
    Dataset,
    TableError,
    as_text,
    as_wide,
    is_number,
    is_sparse_name,
    read_frame,
    read_sparse,
    table_name,
)
from conjunto.datasets.files import content_hash, need_pandas, read_content
from conjunto.experiments.sources import OpenedSource, aside_of

if TYPE_CHECKING:
    import pandas as pd

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,?\d+\s*")


def open_holdout(path: str | Path, opened: OpenedSource) -> Dataset:
    """Read a file of test rows for models that are fitted on a data set.

    Parameters
    ----------
    path : str or Path
        The file, of any kind that `read_table` reads; named `test` in errors.
    opened : OpenedSource
        The training rows, which decide the target, the attributes, their order and types, and the classes. Columns that
        are set aside there need not be in the file.

    Returns
    -------
    Dataset
        Its `notes` list columns that are not used and rows without a target.
    """
    path = Path(path)
    try:
        content = read_content(path)
        # No score would tell whoever has named the wrong file.
        notes = ["these are the rows that are trained on"] if content_hash(content) == opened.content else []
        reading = _Reading(path, content, opened, notes)
        X, y, aside = reading.sparse() if issparse(opened.data.X) else reading.table()
    except (TableError, FileNotFoundError) as error:
        raise type(error)(f"test: {error}") from error
    return Dataset(
        table_name(path),
        X,
        y,
        opened.data.task,
        source=path.name,
        notes=tuple(notes),
        checksum=content_hash(content),
        aside=aside,
    )


class _Reading:
    """One file, to be read as the training table was; `notes` is added to."""

    def __init__(self, path: Path, content: bytes, opened: OpenedSource, notes: list[str]) -> None:
        self._path, self._content, self._opened, self._notes = path, content, opened, notes
        self._target = str(opened.data.y.name)

    def table(self) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame | None]:
        """Attributes, answers and columns set aside of a file whose columns have names."""
        if is_sparse_name(self._path.name):
            raise TableError(f"{self._path.name} has no names of columns, and the training table has: give a table")
        training = self._opened.data
        texts = [str(name) for name, kind in training.X.dtypes.items() if not is_number(kind)]
        if not is_number(training.y.dtype):
            texts.append(self._target)
        frame, notes = read_frame(self._path, texts, self._content)
        # A Parquet file may bring an index of its own; here rows are known by their place.
        frame = frame.reset_index(drop=True)
        self._notes += notes
        self._need_columns(frame)
        apart = [name for name in aside_of(self._opened.source) if name in frame.columns]
        known = {*map(str, training.X.columns), self._target, *self._opened.source.drop, *apart}
        if extra := [name for name in frame.columns if name not in known]:
            self._notes.append(f"not used: {', '.join(extra[:8])}{', …' if len(extra) > 8 else ''}")
        answered = frame[self._target].notna().to_numpy()
        self._need_answers(answered)
        y = self._answers(frame[self._target])
        columns = {name: self._as_trained(frame[str(name)], training.X[name]) for name in training.X.columns}
        X = need_pandas().DataFrame(columns)[answered].reset_index(drop=True)
        return X, y, frame.loc[answered, apart].reset_index(drop=True) if apart else None

    def sparse(self) -> tuple[Any, pd.Series, None]:
        """Rows and answers of a file of mostly zeros."""
        if not is_sparse_name(self._path.name):
            raise TableError(f"{self._path.name} is a table, and the training rows are sparse: give such a file")
        rows, answers = read_sparse(self._path, self._content)
        if answers is None:
            raise TableError(f"{self._path.name} has no array 'y' of answers beside the matrix: write it with np.savez")
        width = self._opened.data.X.shape[1]
        if rows.shape[1] > width:
            self._notes.append(f"not used: columns from {width} on, which the training rows do not have")
        y = need_pandas().Series(answers, name=self._target)
        if y.isna().any():
            raise TableError(f"the answers of {self._path.name} hold a number that is missing: remove these rows")
        return as_wide(rows, width), self._answers(y), None

    def _need_columns(self, frame: pd.DataFrame) -> None:
        if self._target not in frame.columns:
            hint = suggest(self._target, frame.columns)
            raise TableError(f"{self._path.name} has no column {self._target!r}, the target; {hint}")
        missing = [str(name) for name in self._opened.data.X.columns if str(name) not in frame.columns]
        if missing:
            what = "attribute" if len(missing) == 1 else "attributes"
            hint = f"; {suggest(missing[0], frame.columns)}" if len(missing) == 1 else ""
            raise TableError(f"{self._path.name} lacks {len(missing)} {what}: {listed(missing)}{hint}")

    def _need_answers(self, answered: NDArray[np.bool_]) -> None:
        if not answered.any():
            raise TableError(f"the target {self._target!r} of {self._path.name} holds no value")
        if not answered.all():
            self._notes.append(f"{int((~answered).sum())} rows without a target were left out")

    def _as_trained(self, column: pd.Series, training: pd.Series) -> pd.Series:
        """A column of the type that it has in training."""
        if not is_number(training.dtype):
            return _as_categories(column, training)
        column = self._numbers(column, "column")
        exact = column.astype(np.float64)
        try:
            cast = column.astype(training.dtype)
        except (TypeError, ValueError):  # gaps, where there are none in training
            return exact
        return cast if cast.astype(np.float64).equals(exact) else exact

    def _numbers(self, column: pd.Series, what: str) -> pd.Series:
        """The column, which holds numbers in training; an error where it does not."""
        if not is_number(column.dtype):
            numbers = need_pandas().to_numeric(as_text(column), errors="coerce")
            wrong = (numbers.isna() & column.notna()).to_numpy()
            # A field that is no number turns those with a decimal comma into text; it is the one to be named.
            culprit = wrong & ~as_text(column).map(lambda text: bool(_DECIMAL_COMMA.fullmatch(str(text)))).to_numpy()
            row = int((culprit if culprit.any() else wrong).argmax())
            raise TableError(
                f"{what} {column.name!r} of {self._path.name} holds {str(column.iloc[row])!r} in row {row + 1}, and "
                "numbers in training: correct it, or leave the field empty"
            )
        infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if infinite.any():
            raise TableError(
                f"{what} {column.name!r} of {self._path.name} holds an infinite number in row {infinite.argmax() + 1}: "
                "leave the field empty or correct it"
            )
        return column

    def _answers(self, column: pd.Series) -> pd.Series:
        """The answers that are known, as training has them."""
        training = self._opened.data.y
        if self._opened.data.task == "regression":
            return self._numbers(column, "the target").dropna().astype(np.float64).reset_index(drop=True)
        labels = np.unique(training.to_numpy())
        given = column.dropna()
        codes = _class_codes(given, labels)
        if (codes < 0).any():
            place = int((codes < 0).argmax())
            raise TableError(
                f"the target {self._target!r} of {self._path.name} holds {str(given.iloc[place])!r} in row "
                f"{given.index[place] + 1}, which is no class of the training data: these are {listed(labels.tolist())}"
            )
        return need_pandas().Series(labels[codes], name=training.name).astype(training.dtype)


def _as_categories(column: pd.Series, training: pd.Series) -> pd.Series:
    """Text as categories: those of training keep their codes, and those that it does not have follow."""
    pandas = need_pandas()
    kind = training.dtype
    trained = kind.categories if isinstance(kind, pandas.CategoricalDtype) else pandas.unique(training.dropna())
    # Categories of data in memory may be truth values or numbers; a file has their texts.
    by_text = {str(category): category for category in trained}
    values = as_text(column).map(lambda text: by_text.get(text, text), na_action="ignore")
    new = [text for text in pandas.unique(values.dropna()) if text not in by_text and text not in trained]
    ordered = isinstance(kind, pandas.CategoricalDtype) and bool(kind.ordered)
    categories = pandas.CategoricalDtype([*trained, *new], ordered)
    return pandas.Series(pandas.Categorical(values, dtype=categories), name=training.name)


def _class_codes(given: pd.Series, labels: NDArray[Any]) -> NDArray[np.int32]:
    """The code of every label, -1 for one that is no class; 1, 1.0 and "1" are the same."""
    if is_number(given.dtype) and labels.dtype.kind in "iuf":
        return Classes(labels).encode(given.to_numpy(), unknown="abstain")
    table = {str(label): code for code, label in enumerate(labels.tolist())}
    numbers = {_number(text): code for text, code in table.items()} | {None: -1}
    different = {text: table.get(text, numbers.get(_number(text), -1)) for text in set(map(str, given))}
    return np.array([different[str(label)] for label in given], dtype=np.int32)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
