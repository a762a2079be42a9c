"""`read_table`: a user's file into a `Dataset`, with every decision said.

Numbers stay numbers, texts become categories, dates are refused with a hint; an empty field is missing. The target is
named or the last column, and decides between classification and regression.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.checks import check_choice, suggest
from conjunto.datasets.record import Dataset

if TYPE_CHECKING:
    import pandas as pd

TASKS = ("classification", "regression")
# A text column with more values than this is an identifier or free text, not a category.
MOST_CATEGORIES = 1000
# A whole number as target means classes up to this many values, with at least ten rows for each.
MOST_INTEGER_CLASSES = 20
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([ T].*)?")


class TableError(ValueError):
    """The content of a table cannot be used; the message says why and what to do."""


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    task: str | None = None,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
) -> Dataset:
    """Read a CSV, CSV.gz, Parquet or ARFF file.

    Parameters
    ----------
    path : str or Path
        The file; its ending says the format (.csv, .csv.gz, .tsv, .parquet, .arff).
    target : str, default=None
        The column to predict; None is the last one.
    task : {"classification", "regression"}, default=None
        None decides: text and bool targets are classes, and so are whole numbers with at most 20 values.
    drop : collection of str
        Columns to leave out.
    categorical : collection of str
        Columns to read as categories although they hold numbers, or more than 1,000 texts.

    Returns
    -------
    Dataset
        Its `notes` say what was decided: the target, the task, rows without a target.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("grams,skin,fruit\\n150,smooth,apple\\n,rough,orange\\n140,rough,orange\\n")
    >>> data = read_table(path)
    >>> data
    <Dataset fruit: 3 rows, 2 attributes, 2 classes>
    >>> data.notes
    ("target: 'fruit', the last column", "classification: 'fruit' holds text, 2 classes")
    """
    path = Path(path)
    frame = read_frame(path, categorical)
    _need_columns("drop", drop, frame)
    _need_columns("categorical", categorical, frame)
    frame = frame.drop(columns=list(drop))
    if frame.shape[1] < 2:
        raise TableError(f"{path.name} has {frame.shape[1]} column: a target and at least one attribute are needed")
    notes = []
    if target is None:
        target = str(frame.columns[-1])
        notes.append(f"target: {target!r}, the last column")
    _need_columns("target", [target], frame)
    y = frame.pop(target)
    if y.isna().any():
        notes.append(f"{int(y.isna().sum())} rows without a target were left out")
        frame, y = frame[y.notna()].reset_index(drop=True), y[y.notna()].reset_index(drop=True)
    if y.nunique() < 2:
        what = f"only the value {y.iloc[0]!r}" if len(y) else "no value"
        raise TableError(f"the target {target!r} holds {what}: there is nothing to learn")
    task, why = _decide_task(y, task)
    notes.append(why)
    for name in frame.columns:
        _check_attribute(frame[name], name in categorical)
    return Dataset(_stem(path), mark_categories(frame), y, task, source=path.name, notes=tuple(notes))


def read_frame(path: Path, categorical: Collection[str] = (), *, texts: Collection[str] = ()) -> pd.DataFrame:
    """The columns of a file, with their types; `texts` names those to keep as text whatever they hold."""
    pandas = need_pandas()
    name = path.name.lower()
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"{path} {what}")
    if path.stat().st_size == 0:
        raise TableError(f"{path.name} is empty")
    texts = [*categorical, *texts]
    if name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        frame = _read_csv(path, "\t" if ".tsv" in name else ",", texts)
    elif name.endswith((".parquet", ".pq")):
        try:
            frame = pandas.read_parquet(path)
        except (ValueError, OSError) as error:
            raise TableError(f"{path.name} is not a readable Parquet file: {_one_line(error)}") from error
    elif name.endswith(".arff"):
        frame = _read_arff(path)
    else:
        raise TableError(f"{path.name}: unknown kind of file; give .csv, .csv.gz, .tsv, .parquet or .arff")
    _check_names(path, list(frame.columns))
    if not len(frame):
        raise TableError(f"{path.name} has a header but no rows")
    frame.columns = [str(column) for column in frame.columns]
    for column in frame.columns:
        # Bools and mixtures are text from here on, so that a file read later is encoded alike.
        if column in texts or frame[column].dtype == bool or frame[column].dtype == object:
            frame[column] = as_text(frame[column])
    return frame


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


def mark_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with every column that holds no numbers of type category."""
    return frame.astype({name: "category" for name in frame.columns if not is_number(frame[name].dtype)})


def as_text(column: pd.Series) -> pd.Series:
    """The column as text, with missing values kept missing."""
    return column.astype(object).map(str, na_action="ignore")


def _read_csv(path: Path, separator: str, texts: Collection[str]) -> pd.DataFrame:
    pandas = need_pandas()
    try:
        # header=None shows duplicate names as they are: pandas would rename them without a word.
        header = pandas.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
        _check_names(path, header.iloc[0].tolist())
        frame: pd.DataFrame = pandas.read_csv(path, sep=separator, index_col=False, dtype=dict.fromkeys(texts, "str"))
    except pandas.errors.EmptyDataError:
        raise TableError(f"{path.name} is empty") from None
    except (pandas.errors.ParserError, UnicodeDecodeError, EOFError, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        raise TableError(f"{path.name} is not a well-formed table: {_one_line(error)}") from error
    except pandas.errors.ParserWarning as error:
        raise TableError(f"{path.name} is not a well-formed table: {_one_line(error)}") from error
    return frame


def _read_arff(path: Path) -> pd.DataFrame:
    from scipy.io import arff

    pandas = need_pandas()
    try:
        with open(path, encoding="utf-8") as file:
            rows, _ = arff.loadarff(file)
    except (arff.ArffError, ValueError, StopIteration, NotImplementedError, UnicodeDecodeError) as error:
        raise TableError(f"{path.name} is not a readable ARFF file: {_one_line(error)}") from error
    frame = pandas.DataFrame(rows)
    for name in frame.columns:
        if frame[name].dtype == object:
            texts = frame[name].str.decode("utf-8")
            frame[name] = texts.where(texts != "?").astype("str")
    return frame


def _check_names(path: Path, names: Sequence[Any]) -> None:
    seen: set[str] = set()
    for place, name in enumerate(map(str, names)):
        if not name.strip():
            raise TableError(f"{path.name}: column {place + 1} has no name in the first row")
        if name in seen:
            raise TableError(f"{path.name} has two columns named {name!r}: rename one of them")
        seen.add(name)


def _need_columns(argument: str, names: Collection[str], frame: pd.DataFrame) -> None:
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
        return "classification", f"classification: {y.name!r} holds {values} whole numbers (task=regression otherwise)"
    return "regression", f"regression: {y.name!r} holds {values:,} different numbers (task=classification otherwise)"


def _check_attribute(column: pd.Series, allowed: bool) -> None:
    from pandas.api import types

    if column.isna().all():
        raise TableError(f"column {column.name!r} is empty: leave it out with drop")
    if types.is_datetime64_any_dtype(column):
        _refuse_dates(column)
    if is_number(column.dtype):
        import numpy as np

        if np.isinf(column.to_numpy(dtype=float, na_value=np.nan)).any():
            raise TableError(f"column {column.name!r} holds an infinite number: leave the field empty or correct it")
        return
    texts = column.dropna().astype("str")
    if texts.head(1000).str.fullmatch(_DATE).all():
        _refuse_dates(column)
    kinds = texts.nunique()
    if not allowed and (kinds > MOST_CATEGORIES or (kinds > 256 and kinds > len(column) / 2)):
        raise TableError(
            f"column {column.name!r} holds {kinds:,} different texts, such as {texts.iloc[0]!r}: an identifier or free "
            "text; leave it out with drop, or name it as categorical"
        )


def _refuse_dates(column: pd.Series) -> None:
    raise TableError(
        f"column {column.name!r} holds dates, such as {str(column.dropna().iloc[0])!r}: replace it by numbers "
        "(days since an origin, year, month), or leave it out with drop"
    )


def _stem(path: Path) -> str:
    return re.sub(r"\.(csv|tsv|parquet|pq|arff)$", "", re.sub(r"\.gz$", "", path.name, flags=re.I), flags=re.I)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")[:200]
