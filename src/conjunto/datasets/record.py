"""`Dataset`: one data set, with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set: attributes, target, and its papers.

    Columns of `X` hold numbers or are of type category; NaN is missing. Rows of mostly zeros, from a file of such, are
    a CSR matrix.
    """

    name: str
    X: Any
    y: pd.Series
    task: str
    """"classification" or "regression"."""
    source: str = ""
    licence: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    """What was decided or changed while reading."""
    checksum: str = ""
    """SHA-256 of the file that was read; empty where there was none."""
    aside: pd.DataFrame | None = None
    """Columns that are no attributes, such as customers or dates to split by; its rows are those of `X`."""

    def __repr__(self) -> str:
        kinds = self.y.nunique()
        what = f"{kinds} classes" if self.task == "classification" else "regression"
        return f"<Dataset {self.name}: {self.X.shape[0]} rows, {self.X.shape[1]} attributes, {what}>"
