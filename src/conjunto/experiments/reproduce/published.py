"""The published numbers, as printed, with the number of digits that was printed."""

from __future__ import annotations

import csv
from importlib.resources import files


def read_published(key: str) -> list[dict[str, str]]:
    """The rows of a published table, every value as printed.

    Examples
    --------
    >>> read_published("martinez-4.2")[1]["error_pct"]
    '14.8'
    """
    text = (files("conjunto.experiments.reproduce") / "published" / f"{key}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def dataset_name(key: str) -> str:
    """The name of a data set of the published tables, as `conjunto.datasets` knows it."""
    return {"audio": "audiology"}.get(key, key.replace("_", "-"))


def rounding(printed: str) -> float:
    """Half a unit of the last digit that was printed.

    Examples
    --------
    >>> rounding("14.8"), rounding("3")
    (0.05, 0.5)
    """
    _, _, digits = printed.partition(".")
    return float(0.5 * 10.0 ** -len(digits))
