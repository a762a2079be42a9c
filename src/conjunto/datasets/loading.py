"""`load`, `names`, `describe`: data sets by name, wherever they live.

Generators draw; the small classics are package data with checksums; others come from a folder of CSV files
(`folder=` or the environment variable `CONJUNTO_DATA`), else from OpenML by a pinned id.
"""

from __future__ import annotations

import io
import json
import os
import warnings
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.checks import suggest
from conjunto.datasets.catalogue import ENTRIES, Entry
from conjunto.datasets.files import content_hash, file_hash, need_pandas
from conjunto.datasets.generators import GENERATORS, Generator
from conjunto.datasets.record import Dataset
from conjunto.datasets.table import mark_categories, read_table

if TYPE_CHECKING:
    import pandas as pd


class DatasetNotFoundError(LookupError):
    """A data set cannot be had here; the message says how to get it."""

    def __str__(self) -> str:
        return str(self.args[0])


def names() -> list[str]:
    """The names that `load` knows.

    Examples
    --------
    >>> from conjunto.datasets import names
    >>> "german" in names(), "waveform" in names()
    (True, True)
    """
    return sorted({*ENTRIES, *GENERATORS})


def describe() -> pd.DataFrame:
    """One line per data set: size, classes, where it comes from, licence.

    Examples
    --------
    >>> from conjunto.datasets import describe
    >>> german = describe().loc["german"]
    >>> print(german["rows"], german["attributes"], german["classes"], german["home"])
    1000 20 2 bundled
    """
    pandas = need_pandas()
    rows: list[dict[str, Any]] = []
    for name in names():
        record: Entry | Generator = GENERATORS[name] if name in GENERATORS else ENTRIES[name]
        facts = {"title": record.title, "rows": record.rows or "any", "attributes": record.columns}
        facts |= {"classes": record.classes, "home": record.home, "licence": record.licence}
        rows.append({"name": name, **facts, "citation": record.citation})
    return pandas.DataFrame(rows).set_index("name")


def load(
    name: str,
    *,
    folder: str | Path | None = None,
    random_state: Any = None,
    **parameters: Any,
) -> Dataset:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        One of `names()`; underscores and hyphens mean the same.
    folder : path, default=None
        Where CSV files of data sets that are not bundled lie (`adult.csv.gz`, …; the last column is the target);
        None is the environment variable `CONJUNTO_DATA`.
    random_state : int or RandomState, default=None
        For generators.
    **parameters
        For generators: `n_samples`, and what the generator takes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from conjunto.datasets import load
    >>> load("glass")
    <Dataset glass: 214 rows, 9 attributes, 6 classes>
    >>> load("waveform", n_samples=500, random_state=0)
    <Dataset waveform: 500 rows, 21 attributes, 3 classes>
    """
    name = canonical_name(name)
    if name in GENERATORS:
        return _generate(name, random_state, parameters)
    if parameters:
        raise TypeError(f"{name} is not generated and takes no {next(iter(parameters))!r}")
    entry = ENTRIES[name]
    return _READERS[entry.home](name, entry, folder)


def canonical_name(name: str) -> str:
    """The name with hyphens, or an error that suggests the nearest."""
    known = names()
    name = str(name)
    if name.lower().replace("_", "-") in known:
        return name.lower().replace("_", "-")
    raise DatasetNotFoundError(f"there is no data set {name!r}; {suggest(name.lower(), known)}")


def _generate(name: str, random_state: Any, parameters: dict[str, Any]) -> Dataset:
    pandas = need_pandas()
    generator = GENERATORS[name]
    if generator.rows is None:
        parameters = {**parameters, "random_state": random_state}
    X, y = generator.make(**parameters)
    if not hasattr(X, "columns"):
        X = pandas.DataFrame(X, columns=[f"x{i + 1}" for i in range(X.shape[1])])
    return Dataset(
        name,
        X,
        pandas.Series(y, name="target"),
        "classification",
        source=generator.source,
        licence=generator.licence,
        citation=generator.citation,
    )


def identity(name: str, folder: str | Path | None = None) -> str:
    """What decides the content of a data set that `load` gives: a checksum where it is read from a file."""
    name = canonical_name(name)
    if name in GENERATORS or ENTRIES[name].home == "scikit-learn":
        return name
    if ENTRIES[name].home == "bundled":
        return str(_index()[name]["sha256"])
    if (path := _file_of(name, folder)) is not None:
        return file_hash(path)
    return f"OpenML {ENTRIES[name].openml}"


@cache
def _index() -> dict[str, Any]:
    index: dict[str, Any] = json.loads((files("conjunto.datasets") / "data" / "index.json").read_text())
    return index


def _read_bundled(name: str, entry: Entry, folder: Any) -> Dataset:
    content = (files("conjunto.datasets") / "data" / f"{name}.csv.gz").read_bytes()
    checksum = content_hash(content)
    if checksum != _index()[name]["sha256"]:
        raise OSError(f"the bundled file of {name} is damaged: install conjunto again")
    frame = need_pandas().read_csv(io.BytesIO(content), compression="gzip")
    return replace(_dataset(name, entry, frame, _index()[name]["provenance"]), checksum=checksum)


def _read_scikit_learn(name: str, entry: Entry, folder: Any) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    frame = bunch.data.copy()
    frame["target"] = [bunch.target_names[code] for code in bunch.target]
    return _dataset(name, entry, frame, "scikit-learn")


def _read_external(name: str, entry: Entry, folder: Any) -> Dataset:
    if (path := _file_of(name, folder)) is not None:
        data = read_table(path, task="classification" if entry.classes else "regression")
        frame = need_pandas().concat([data.X, data.y], axis=1)
        return replace(_dataset(name, entry, frame, f"{path.name}, from a folder"), checksum=data.checksum)
    folder = folder or os.environ.get("CONJUNTO_DATA")
    looked = (
        f"the folder {folder} has no {name}.csv, .csv.gz or .parquet" if folder else "no folder of data sets is set"
    )
    if entry.openml is None:
        raise DatasetNotFoundError(f"{name} is not bundled, {looked}, and OpenML has no copy: {_remedy(name)}")
    return _fetch(name, entry, looked)


def _file_of(name: str, folder: str | Path | None) -> Path | None:
    folder = folder or os.environ.get("CONJUNTO_DATA")
    paths = [Path(folder) / f"{name}{ending}" for ending in (".csv", ".csv.gz", ".parquet")] if folder else []
    return next((path for path in paths if path.is_file()), None)


def _fetch(name: str, entry: Entry, looked: str) -> Dataset:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own retries; the error below says what matters
            bunch = fetch_openml(data_id=entry.openml, as_frame=True, parser="auto")
    except Exception as error:  # whatever the network, the cache or the service raise, the remedy is the same
        raise DatasetNotFoundError(
            f"{name} is not bundled, {looked}, and OpenML (data set {entry.openml}) could not be reached "
            f"({type(error).__name__}): {_remedy(name)}, or try again with a network"
        ) from error
    frame = bunch.data.copy()
    frame["target"] = bunch.target.to_numpy()
    return _dataset(name, entry, frame, f"OpenML data set {entry.openml}")


def _remedy(name: str) -> str:
    return f"put {name}.csv (header, target last) into a folder and give folder=… or set CONJUNTO_DATA to it"


def _dataset(name: str, entry: Entry, frame: pd.DataFrame, provenance: str) -> Dataset:
    if frame.shape != (entry.rows, entry.columns + 1):
        raise DatasetNotFoundError(
            f"{name} from {provenance} has {frame.shape[0]} rows and {frame.shape[1] - 1} attributes, not "
            f"{entry.rows} and {entry.columns}: another version of the data; {_remedy(name)}"
        )
    y = frame.iloc[:, -1]
    task = "classification" if entry.classes else "regression"
    source = f"{entry.source} ({provenance})"
    return Dataset(name, mark_categories(frame.iloc[:, :-1]), y, task, source, entry.licence, entry.citation)


_READERS = {"bundled": _read_bundled, "scikit-learn": _read_scikit_learn, "external": _read_external}
