"""What a column says of rows that are to be split: codes of groups, or order keys of times.

Numbers are times as they are. Texts are dates: ISO 8601, day or month first where the column itself shows which, or
with the month's name; a column whose dates could be read both ways is refused, never guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conjunto.datasets import TableError, as_text, is_number

if TYPE_CHECKING:
    import pandas as pd

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERED = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)(.*)", re.DOTALL)
_DAY_AND_NAME = re.compile(r"(\d{1,2})[ -]([A-Za-z]{3,9})\.?[ -](\d{4})(?!\d)(.*)", re.DOTALL)
_NAME_AND_DAY = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})(?!\d)(.*)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Times:
    """When rows happened."""

    keys: NDArray[Any]
    """One number for each row, of which the smaller is the earlier."""
    first: str
    last: str
    """The earliest and the latest time, as they are written."""


def group_codes(column: pd.Series, where: str, among: str = "") -> NDArray[np.intp]:
    """The number of the group of every row, from 0 on.

    `where` begins the message of an error, and `among` says which rows are counted in it.

    Texts that differ in blanks around them are one group: two groups made of one would leak, one made of two does not.
    """
    import pandas

    _need_known(column, where, among)
    values: Any = column if is_number(column.dtype) else as_text(column).str.strip()
    codes, _ = pandas.factorize(values.to_numpy())
    return np.asarray(codes, dtype=np.intp)


def read_times(column: pd.Series, where: str, among: str = "") -> Times:
    """The times of a column of numbers or dates; `where` and `among` are for the message of an error."""
    import pandas
    from pandas.api import types

    _need_known(column, where, among)
    if is_number(column.dtype):
        keys = column.to_numpy()
        if not np.isfinite(keys.astype(np.float64)).all():
            row = int(np.argmin(np.isfinite(keys.astype(np.float64)))) + 1
            raise TableError(f"{where} is infinite in row {row}{among}: correct it")
        texts = [f"{value:.15g}" for value in (keys.min(), keys.max())]
        return Times(keys, *texts)
    if types.is_datetime64_any_dtype(column):
        shown = as_text(column)
        moments = column
    else:
        shown = as_text(column).str.strip()
        moments = _read_dates(shown, where, among)
    keys = pandas.DatetimeIndex(moments).asi8
    ends = [str(shown.iloc[int(place)]).removesuffix(" 00:00:00") for place in (keys.argmin(), keys.argmax())]
    return Times(keys, *ends)


def _need_known(column: pd.Series, where: str, among: str) -> None:
    missing = column.isna().to_numpy()
    if missing.any():
        raise TableError(f"{where} is empty in row {missing.argmax() + 1}{among}: fill it in, or remove the row")


def _read_dates(texts: pd.Series, where: str, among: str) -> pd.Series:
    """Dates of texts, by the one reading that fits them all."""
    import pandas

    codes, different = pandas.factorize(texts.to_numpy(dtype=object))
    readings = []
    for day_first in (True, False):
        written = [_as_iso(text, day_first) for text in different]
        readings.append(pandas.to_datetime(pandas.Series(written), format="ISO8601", utc=True, errors="coerce"))
    unread = [reading.isna().to_numpy() for reading in readings]
    # Where both fail, the one that fails on fewer rows knows best which row is wrong.
    best = int(unread[1][codes].sum() < unread[0][codes].sum())
    if unread[best].any():
        row = int(unread[best][codes].argmax())
        raise TableError(
            f"{where} holds {texts.iloc[row]!r} in row {row + 1}{among}, which is neither a number nor a date that can "
            "be read like the others: write dates as 2024-01-31"
        )
    if not unread[0].any() and not unread[1].any() and not readings[0].equals(readings[1]):
        row = int((readings[0] != readings[1]).to_numpy()[codes].argmax())
        raise TableError(
            f"{where} holds {texts.iloc[row]!r} in row {row + 1}{among}, and no row tells whether the day or the month "
            "stands first: write dates as 2024-01-31"
        )
    return readings[best].iloc[codes]


def _as_iso(text: str, day_first: bool) -> str:
    """A date with the year last, or with the month's name, as ISO 8601 writes it; others as they are.

    Dots stand between days, months and years, in that order, wherever dots are used.
    """
    if match := _NUMBERED.fullmatch(text):
        one, sign, other, year, rest = match.groups()
        day, month = (one, other) if day_first or sign == "." else (other, one)
        return f"{year}-{month:0>2}-{day:0>2}{rest}"
    if match := _DAY_AND_NAME.fullmatch(text):
        day, name, year, rest = match.groups()
    elif match := _NAME_AND_DAY.fullmatch(text):
        name, day, year, rest = match.groups()
    else:
        return text
    short = name[:3].lower()
    return f"{year}-{_MONTHS.index(short) + 1:02}-{day:0>2}{rest}" if short in _MONTHS else text
