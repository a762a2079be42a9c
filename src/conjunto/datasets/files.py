"""`read_frame`: a CSV, Parquet or ARFF file into a table whose columns hold numbers or text.

A column of a CSV file is a column of numbers when all its fields are; every other one is kept as it was written, so
that a file read later is encoded alike.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL")
"""Fields that mean "not known". "None" is not among them: it is a frequent category."""
CSV, PARQUET, ARFF = (".csv", ".csv.gz", ".tsv", ".tsv.gz"), (".parquet", ".pq"), (".arff",)
"""The endings of files, by kind."""


class TableError(ValueError):
    """The content of a table cannot be used; the message says why and what to do."""


def read_content(path: Path) -> bytes:
    """The bytes of a file of a kind that `read_frame` knows and that is not empty."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"{path} {what}")
    if not is_table_name(path.name):
        raise TableError(f"{path.name}: unknown kind of file; give .csv, .csv.gz, .tsv, .parquet or .arff")
    content = path.read_bytes()
    if not content:
        raise TableError(f"{path.name} is empty")
    return content


def read_frame(path: Path, texts: Collection[str] = (), content: bytes | None = None) -> tuple[pd.DataFrame, list[str]]:
    """The columns of a file, and what is to be said about them.

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
    for column in frame.columns:
        if column in texts or not (is_number(frame[column].dtype) or _is_date(frame[column].dtype)):
            frame[column] = as_text(frame[column])
    return frame, notes


def is_table_name(name: str) -> bool:
    """Whether a name ends like a file of a kind that `read_frame` knows."""
    return name.lower().endswith((*CSV, *PARQUET, *ARFF))


def table_name(path: str | Path) -> str:
    """The name of a file without its endings."""
    return re.sub(r"(\.(csv|tsv|parquet|pq|arff))?(\.gz)?$", "", Path(path).name, flags=re.IGNORECASE)


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
    columns = _check_fields(path, text, separator)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(
                io.StringIO(text),
                sep=separator,
                # Under names of our own: pandas would rename the second of two equal ones without a word.
                header=0,
                names=range(len(columns)),
                dtype=str,
                index_col=False,
                keep_default_na=False,
                na_values=list(MISSING),
            )
    except pandas.errors.EmptyDataError:
        raise TableError(f"{path.name} has a header but no rows") from None
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, ValueError) as error:
        raise TableError(f"{path.name} is not a well-formed table: {_one_line(error)}") from error
    if columns and not columns[0].strip() and _is_index(frame[0]):
        notes.append("the first column, without a name, numbers the rows and was left out")
        frame, columns = frame.drop(columns=[0]), columns[1:]
    _check_names(path, columns)
    frame.columns = columns
    for name in columns:
        if name not in texts:
            frame[name] = _as_numbers(frame[name], decimal="," if separator == ";" else ".")
    return frame


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


def _check_fields(path: Path, text: str, separator: str) -> list[str]:
    """The first row; an error where another one is longer, which pandas would cut, or shorter, which it would fill."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = next(reader)
        for row in reader:
            if len(row) != len(columns) and row:
                fields = f"{len(row)} field{'s' if len(row) != 1 else ''}"
                raise TableError(
                    f"{path.name} is not a well-formed table: line {reader.line_num} has {fields}, the first line "
                    f"{len(columns)}"
                )
    except csv.Error as error:
        raise TableError(f"{path.name} is not a well-formed table: line {reader.line_num}: {error}") from error
    return columns


def _as_numbers(column: pd.Series, decimal: str) -> pd.Series:
    """Numbers if every field is one, else the column as it is."""
    pandas = need_pandas()
    known = column.dropna()
    if decimal == "," and known.str.fullmatch(r"\s*[+-]?\d*,?\d+\s*").all():
        column = column.str.replace(",", ".", regex=False)
    try:
        return pandas.to_numeric(column)
    except (ValueError, TypeError):
        return column


def _is_index(column: pd.Series) -> bool:
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
