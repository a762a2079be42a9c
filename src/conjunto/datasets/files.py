"""`read_frame`: a CSV, Parquet or ARFF file into a table whose columns hold numbers or text.

A column of a CSV file is a column of numbers when all its fields are; every other one is kept as it was written, so
that a file read later is encoded alike.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

MISSING = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL")
"""Fields that mean "not known". "None" is not among them: it is a frequent category."""
CSV, PARQUET, ARFF = (".csv", ".csv.gz", ".tsv", ".tsv.gz"), (".parquet", ".pq"), (".arff",)
SPARSE = (".npz", ".svmlight", ".svm", ".libsvm", ".svmlight.gz", ".svm.gz", ".libsvm.gz")
"""The endings of files, by kind."""
# A table with more columns than this, and more columns than rows, is read column by column without pandas' parser.
WIDE = 1000


class TableError(ValueError):
    """The content of a table cannot be used; the message says why and what to do."""


def read_content(path: Path) -> bytes:
    """The bytes of a file of a kind that can be read and that is not empty."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"{path} {what}")
    if not is_table_name(path.name):
        raise TableError(
            f"{path.name}: unknown kind of file; give .csv, .csv.gz, .tsv, .parquet, .arff, .npz or .svmlight"
        )
    content = path.read_bytes()
    if not content:
        raise TableError(f"{path.name} is empty")
    return content


def read_frame(path: Path, texts: Collection[str] = (), content: bytes | None = None) -> tuple[pd.DataFrame, list[str]]:
    """The columns of a file with names, and what is to be said about them; sparse files are `read_sparse`'s.

    `texts` are kept as text whatever they hold. `content` are the bytes of the file where somebody has read them.
    """
    name = path.name.lower()
    content = read_content(path) if content is None else content
    notes: list[str] = []
    if name.endswith(CSV):
        frame = _read_csv(path, content, texts, notes)
    elif name.endswith(PARQUET):
        frame = _read_parquet(path, content)
    else:
        frame = _read_arff(path, content)
    if not len(frame):
        raise TableError(f"{path.name} has a header but no rows")
    if not name.endswith(CSV):
        for column, kind in zip(frame.columns, frame.dtypes, strict=True):
            if column in texts or not (is_number(kind) or _is_date(kind)):
                frame[column] = as_text(frame[column])
    return frame, notes


def is_table_name(name: str) -> bool:
    """Whether a name ends like a file of a kind that can be read."""
    return name.lower().endswith((*CSV, *PARQUET, *ARFF, *SPARSE))


def table_name(path: str | Path) -> str:
    """The name of a file without its endings, as text that can be written anywhere."""
    endings = r"(\.(csv|tsv|parquet|pq|arff|npz|svmlight|svm|libsvm))?(\.gz)?$"
    return readable(re.sub(endings, "", Path(path).name, flags=re.IGNORECASE))


def readable(path: str) -> str:
    """A path with a sign of its own for each byte that is no UTF-8, which no database and no page takes."""
    return os.fsencode(path).decode("utf-8", "replace")


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(content: bytes) -> str:
    """SHA-256 of the content of a file, the same as `file_hash` gives."""
    return hashlib.sha256(content).hexdigest()


def need_pandas() -> Any:
    """The pandas module, or how to get it."""
    try:
        import pandas
    except ImportError:
        raise ImportError("reading data sets needs pandas: pip install 'conjunto[data]'") from None
    return pandas


def is_number(kind: Any) -> bool:
    """Whether a column of this type holds numbers; bools are categories."""
    from pandas.api import types

    return bool(types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind))


def as_text(column: pd.Series) -> pd.Series:
    """The column as text, with missing values kept missing."""
    return column.astype(object).map(str, na_action="ignore").astype(object)


def _is_date(kind: Any) -> bool:
    from pandas.api import types

    return bool(types.is_datetime64_any_dtype(kind))


def _read_csv(path: Path, content: bytes, texts: Collection[str], notes: list[str]) -> pd.DataFrame:
    pandas = need_pandas()
    text = _decoded(path, content, notes)
    header = text.partition("\n")[0]
    separator = "\t" if ".tsv" in path.name.lower() else max(",;\t", key=header.count)
    if separator != "," and ".tsv" not in path.name.lower():
        notes.append(f"fields are separated by {'semicolons' if separator == ';' else 'tabs'}")
    names, rows = _check_fields(path, text, separator)
    columns = _wide_columns(path, rows) if rows is not None else _long_columns(path, text, separator, len(names))
    if names and not names[0].strip():
        first = next(columns)
        if _is_index(first):
            notes.append("the first column, without a name, numbers the rows and was left out")
            names = names[1:]
        else:
            columns = chain([first], columns)
    _check_names(path, names)
    kept, decimal = set(texts), "," if separator == ";" else "."
    # All at once: a frame to which columns are added one by one falls into as many pieces.
    read = {
        name: fields if name in kept else _as_numbers(fields, decimal)
        for name, fields in zip(names, columns, strict=True)
    }
    index = pandas.RangeIndex(len(next(iter(read.values()))))
    return pandas.DataFrame(
        {name: pandas.Series(fields, index, dtype=fields.dtype) for name, fields in read.items()}, index
    )


def _long_columns(path: Path, text: str, separator: str, count: int) -> Iterator[NDArray[Any]]:
    """The fields of each column as they were written, NaN where they are missing, by pandas' parser."""
    pandas = need_pandas()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(
                io.StringIO(text),
                sep=separator,
                # Under names of our own: pandas would rename the second of two equal ones without a word.
                header=0,
                names=range(count),
                dtype=str,
                index_col=False,
                keep_default_na=False,
                na_values=list(MISSING),
            )
    except pandas.errors.EmptyDataError:
        raise TableError(f"{path.name} has a header but no rows") from None
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, ValueError) as error:
        raise TableError(f"{path.name} is not a well-formed table: {_one_line(error)}") from error
    return (column.to_numpy(dtype=object) for _, column in frame.items())


def _wide_columns(path: Path, rows: list[list[str]]) -> Iterator[NDArray[Any]]:
    """The same of rows that were parsed: pandas spends more on a column than on the fields of a short one."""
    if not rows:
        raise TableError(f"{path.name} has a header but no rows")
    missing = set(MISSING)
    return (
        np.array([np.nan if field in missing else field for field in fields], dtype=object)
        for fields in zip(*rows, strict=True)
    )


def _decoded(path: Path, content: bytes, notes: list[str]) -> str:
    try:
        content = gzip.decompress(content) if path.name.lower().endswith(".gz") else content
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise TableError(f"{path.name} is not a well-formed table: {_one_line(error)}") from error
    if b"\0" in content:
        raise TableError(f"{path.name} is not a well-formed table: it holds bytes that are no text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append("not in UTF-8: read as Latin-1")
        text = content.decode("latin-1")
    if not text.strip():
        raise TableError(f"{path.name} is empty")
    return text.replace("\r\n", "\n").lstrip("\n")


def _check_fields(path: Path, text: str, separator: str) -> tuple[list[str], list[list[str]] | None]:
    """The first row, and of a wide table the others.

    An error where a row is longer than the first, which pandas would cut, or shorter, which it would fill.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = next(reader)
        wide = len(columns) > WIDE and len(columns) > text.count("\n")
        rows: list[list[str]] = []
        for row in reader:
            if len(row) != len(columns) and row:
                fields = f"{len(row)} field{'s' if len(row) != 1 else ''}"
                raise TableError(
                    f"{path.name} is not a well-formed table: line {reader.line_num} has {fields}, the first line "
                    f"{len(columns)}"
                )
            if wide and row:
                rows.append(row)
    except csv.Error as error:
        raise TableError(f"{path.name} is not a well-formed table: line {reader.line_num}: {error}") from error
    return columns, rows if wide else None


def _as_numbers(fields: NDArray[Any], decimal: str) -> NDArray[Any]:
    """Numbers if every field is one, else the fields as they are."""
    pandas = need_pandas()
    numbers = fields
    if decimal == ",":
        column = pandas.Series(fields)
        if column.dropna().astype("str").str.fullmatch(r"\s*[+-]?\d*,?\d+\s*").all():
            numbers = column.str.replace(",", ".", regex=False).to_numpy(dtype=object)
    try:
        numbers = np.asarray(pandas.to_numeric(numbers))
    except (ValueError, TypeError):
        return fields
    # Whole numbers that no type of numpy holds are names.
    return fields if numbers.dtype == object else numbers


def _is_index(column: NDArray[Any]) -> bool:
    return any(column.tolist() == [str(place + first) for place in range(len(column))] for first in (0, 1))


def _read_parquet(path: Path, content: bytes) -> pd.DataFrame:
    try:
        frame: pd.DataFrame = need_pandas().read_parquet(io.BytesIO(content))
    except (ValueError, OSError) as error:
        raise TableError(f"{path.name} is not a readable Parquet file: {_one_line(error)}") from error
    frame.columns = [str(column) for column in frame.columns]
    _check_names(path, list(frame.columns))
    return frame


def _read_arff(path: Path, content: bytes) -> pd.DataFrame:
    from scipy.io import arff

    try:
        rows, _ = arff.loadarff(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
    except (arff.ArffError, ValueError, StopIteration, NotImplementedError) as error:
        raise TableError(f"{path.name} is not a readable ARFF file: {_one_line(error)}") from error
    _check_names(path, rows.dtype.names or ())
    frame: pd.DataFrame = need_pandas().DataFrame(rows)
    for name in frame.columns:
        if frame[name].dtype == object:
            known = frame[name].str.decode("utf-8")
            frame[name] = known.where(known != "?")
    return frame


def _check_names(path: Path, names: Sequence[Any]) -> None:
    seen: set[str] = set()
    for place, name in enumerate(map(str, names)):
        if not name.strip():
            raise TableError(f"{path.name}: column {place + 1} has no name in the first row")
        if name in seen:
            raise TableError(f"{path.name} has two columns named {name!r}: rename one of them")
        seen.add(name)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")[:200]
