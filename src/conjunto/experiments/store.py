"""`Store`: results in an SQLite file, one committed row per finished cell, and what its model said about test rows.

Write-ahead logging with full synchronisation: what was committed survives a kill and a power cut. A store grows: what
has the same keys (`keys.py`) joins what is there, and whatever does not is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.atomic import timestamp, whole_file
from conjunto.experiments.answers import Answers, HeldOut, pack, unpack
from conjunto.experiments.cells import Outcome
from conjunto.experiments.claims import KEY, PATIENCE, Claims
from conjunto.experiments.claims import SCHEMA as CLAIMS
from conjunto.experiments.keys import Keys
from conjunto.experiments.rows import COLUMNS, as_frame, as_row
from conjunto.experiments.spec import Cell, Experiment

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 2
Partitions = dict[tuple[str, str], int]
"""How many partitions are asked for, by data set and method."""

_SCHEMA = """
CREATE TABLE experiment (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format INTEGER NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    command TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE keys (part TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (part, name));
CREATE TABLE plan (
    dataset TEXT NOT NULL, method TEXT NOT NULL, partitions INTEGER NOT NULL, PRIMARY KEY (dataset, method)
);
CREATE TABLE datasets (name TEXT PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE cells (
    dataset TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    method TEXT NOT NULL,
    status TEXT NOT NULL,
    measures TEXT NOT NULL,
    nested TEXT NOT NULL,
    confusion TEXT NOT NULL,
    fit_seconds REAL,
    predict_seconds REAL,
    model_bytes INTEGER,
    members INTEGER,
    n_train INTEGER,
    n_test INTEGER,
    seed INTEGER,
    warnings TEXT NOT NULL,
    traceback TEXT NOT NULL,
    seconds REAL,
    threads INTEGER,
    versions TEXT NOT NULL,
    finished TEXT NOT NULL,
    PRIMARY KEY (dataset, repetition, method)
);
CREATE TABLE tested (
    dataset TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    rows BLOB NOT NULL,
    truth BLOB NOT NULL,
    prior BLOB NOT NULL,
    positive INTEGER,
    PRIMARY KEY (dataset, repetition)
);
CREATE TABLE answers (
    dataset TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    method TEXT NOT NULL,
    predicted BLOB NOT NULL,
    proba BLOB,
    PRIMARY KEY (dataset, repetition, method)
);
CREATE TABLE remarks (
    dataset TEXT NOT NULL, topic TEXT NOT NULL, key TEXT NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (dataset, topic)
);
"""


class StoreError(ValueError):
    """A file is no store, or a store of something else; the message says what to do."""


class OtherExperimentError(StoreError):
    """What is to be run does not belong to the results in the store."""


class Store(Claims):
    """The results of an experiment, to which more can be added.

    Parameters
    ----------
    path : path
        The SQLite file; made when it does not exist and `experiment` is given.
    experiment : Experiment, default=None
        What is to be run. Repetitions, methods and data sets that are new join those of the store; another seed or
        way of partitioning, other data under the same name and another method under the same label are refused.
        None opens what is there for reading.
    command : str, default=""
        How to run it again, for the report.
    contents : mapping of data set to hash, default=None
        The hashes of data sets that are known already; the others are computed.
    """

    def __init__(
        self,
        path: str | Path,
        experiment: Experiment | None = None,
        *,
        command: str = "",
        contents: Mapping[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise IsADirectoryError(f"{self.path} is a folder, not a store: name the file in it, results.sqlite")
        if experiment is None and not self.path.is_file():
            raise FileNotFoundError(f"there is no store {self.path}")
        if experiment is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(f"the folder of {self.path} does not exist")
        if self.path.is_file() and _first_bytes(self.path) not in (b"", _MAGIC):
            # SQLite itself takes a file of less than 512 bytes for an empty database and writes over it.
            raise StoreError(f"{self.path} is not a conjunto store: it is not a database")
        try:
            self._connection = _connect(self.path, reading=experiment is None)
        except sqlite3.OperationalError as error:
            raise OSError(f"{self.path} cannot be opened: {error}") from error
        try:
            self._open(experiment, command, contents or {})
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise OSError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise StoreError(f"{self.path} is not a conjunto store: {error}") from error
        except BaseException:
            self._connection.close()
            raise

    def _open(self, experiment: Experiment | None, command: str, contents: Mapping[str, str]) -> None:
        self._connection.execute("PRAGMA synchronous = FULL")
        if experiment is not None:
            keys = experiment.keys(contents)
            # Two processes may arrive together: the first makes the tables, the second finds them.
            with self._transaction():
                if not self._tables():
                    self._make(experiment.name)
                self._read_head()
                self._check_keys(keys)
                self._check_labels(keys)
                self._grow(experiment, keys, command, contents)
            self._log_ahead()
        self._read_head()

    def _read_head(self) -> None:
        """Refuse what is no store of this release; read what it says of itself."""
        if not {"experiment", "cells"} <= self._tables():
            raise StoreError(f"{self.path} is not a conjunto store")
        written = self._connection.execute("SELECT format FROM experiment").fetchone()
        if written is None:
            raise StoreError(f"{self.path} is an empty store")
        if written[0] != FORMAT:
            raise StoreError(
                f"{self.path} has format {written[0]}, this release reads format {FORMAT}: read it with the release "
                "that wrote it, or choose another file or folder and run again"
            )
        found = self._connection.execute("SELECT name, spec, command, created FROM experiment").fetchone()
        self.name, self.command, self.created = str(found[0]), str(found[2]), str(found[3])
        self.spec: dict[str, Any] = json.loads(found[1])

    def _check_keys(self, keys: Keys) -> None:
        """Refuse what would not belong to the results that are here."""
        for part, name, key in self._connection.execute("SELECT part, name, key FROM keys"):
            new = {"frame": {"": keys.frame}, "dataset": keys.datasets, "method": keys.methods}[part].get(name, key)
            if new != key:
                what = {
                    "frame": "with another protocol or seed",
                    "dataset": f"in which {name!r} held other data or was read in another way",
                    "method": f"in which {name!r} has other parameters or stands for something else (another label "
                    "would let it in)",
                }[part]
                raise OtherExperimentError(
                    f"{self.path} holds the results of another experiment ({self.name}), {what}; choose another file "
                    "or folder, or remove it"
                )

    def _check_labels(self, keys: Keys) -> None:
        """Refuse a method with the label of a combination, whose rows are there."""
        combined = {method["label"] for method in self.spec.get("methods", []) if "combines" in method}
        if taken := combined & keys.methods.keys():
            raise OtherExperimentError(f"{self.path}: {min(taken)!r} is a combination there; choose another label")

    def _grow(self, experiment: Experiment, keys: Keys, command: str, contents: Mapping[str, str]) -> None:
        """Take in what is new."""
        spec = _joined(self.spec, experiment.as_dict(contents))
        commands = self.command.split("\n") if self.command else []
        commands += [command] if command and command not in commands else []
        if spec != self.spec or "\n".join(commands) != self.command:
            self._connection.execute(
                "UPDATE experiment SET spec = ?, command = ?", (json.dumps(spec), "\n".join(commands))
            )
        for part, named in (("frame", {"": keys.frame}), ("dataset", keys.datasets), ("method", keys.methods)):
            rows = [(part, name, key) for name, key in named.items()]
            self._connection.executemany("INSERT OR IGNORE INTO keys VALUES (?, ?, ?)", rows)
        partitions = experiment.protocol.partitions
        self._plan({(d.name, m.label): partitions for d in experiment.datasets for m in experiment.methods})

    def _plan(self, partitions: Partitions) -> None:
        """Ask for so many partitions; more that were asked for before stay so."""
        self._connection.executemany(
            "INSERT INTO plan VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET partitions = excluded.partitions WHERE excluded.partitions > partitions",
            [(*pair, number) for pair, number in partitions.items()],
        )

    def _log_ahead(self) -> None:
        """Switch to write-ahead logging, trying again while others have the file open: SQLite does not wait."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _tables(self) -> set[str]:
        return {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}

    def _make(self, name: str) -> None:
        for statement in (_SCHEMA + CLAIMS).split(";"):
            self._connection.execute(statement)
        self._connection.execute(
            "INSERT INTO experiment VALUES (1, ?, ?, ?, ?, ?)", (FORMAT, name, "{}", "", timestamp())
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def describe_dataset(self, name: str, facts: dict[str, Any]) -> None:
        """Keep what is known of a data set, for the report."""
        self._connection.execute("INSERT OR REPLACE INTO datasets VALUES (?, ?)", (name, json.dumps(facts)))

    def datasets(self) -> dict[str, dict[str, Any]]:
        """What is known of each data set."""
        return {name: json.loads(facts) for name, facts in self._connection.execute("SELECT * FROM datasets")}

    def finished(self, status: str = "%") -> set[Cell]:
        """The cells that have a row, or those with a row of this status."""
        query = "SELECT dataset, repetition, method FROM cells WHERE status LIKE ?"
        return {Cell(*row) for row in self._connection.execute(query, (status,))}

    def plan(self) -> Partitions:
        """How many partitions are asked for, by data set and method."""
        rows = self._connection.execute("SELECT dataset, method, partitions FROM plan")
        return {(dataset, method): number for dataset, method, number in rows}

    @property
    def total(self) -> int:
        """How many cells are asked for in all."""
        return sum(self.plan().values())

    def forget(self, cells: Iterable[Cell], *, failed: bool = False) -> None:
        """Remove the rows of these cells, or of those of them that failed, so that they are run again."""
        with self._transaction():
            listed = list(cells)
            self._connection.executemany(f"DELETE FROM cells WHERE {KEY}" + " AND status = 'failed'" * failed, listed)
            self._connection.executemany(
                f"DELETE FROM answers WHERE {KEY} AND NOT EXISTS "
                f"(SELECT 1 FROM cells c WHERE c.dataset = answers.dataset AND c.repetition = answers.repetition "
                "AND c.method = answers.method)",
                listed,
            )

    def save(self, outcome: Outcome) -> None:
        """Commit the row of a cell, with its answers. If another worker was faster, its row stays."""
        with self._transaction():
            self._save(outcome)
            self._connection.execute(f"DELETE FROM claims WHERE {KEY}", outcome.cell)

    def _save(self, outcome: Outcome) -> None:
        marks = ", ".join("?" * len(COLUMNS))
        new = self._connection.execute(f"INSERT OR IGNORE INTO cells VALUES ({marks})", as_row(outcome)).rowcount
        if not new or outcome.answers is None or outcome.tested is None:
            return
        tested, answers = outcome.tested, outcome.answers
        self._connection.execute(
            "INSERT OR IGNORE INTO tested VALUES (?, ?, ?, ?, ?, ?)",
            (*outcome.cell[:2], pack(tested.rows), pack(tested.truth), pack(tested.prior), tested.positive),
        )
        self._connection.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?)",
            (*outcome.cell, pack(answers.predicted), None if answers.proba is None else pack(answers.proba)),
        )

    def replace_combined(self, described: list[dict[str, Any]], outcomes: Iterable[Outcome], plan: Partitions) -> None:
        """Put the rows of combinations of what was run in place of those of the same labels."""
        with self._transaction():
            self._read_head()
            labels = [(method["label"],) for method in described]
            for table in ("cells", "answers", "plan"):
                self._connection.executemany(f"DELETE FROM {table} WHERE method = ?", labels)
            spec = {**self.spec, "methods": _by_name(self.spec["methods"], described, "label")}
            self._connection.execute("UPDATE experiment SET spec = ?", (json.dumps(spec),))
            self.spec = spec
            for outcome in outcomes:
                self._save(outcome)
            self._plan(plan)

    def tested(self, dataset: str, repetition: int) -> HeldOut | None:
        """The test rows of a partition; None where they were not kept."""
        query = "SELECT rows, truth, prior, positive FROM tested WHERE dataset = ? AND repetition = ?"
        found = self._connection.execute(query, (dataset, repetition)).fetchone()
        return None if found is None else HeldOut(unpack(found[0]), unpack(found[1]), unpack(found[2]), found[3])

    def answers(self, cell: Cell) -> Answers | None:
        """What a method said about the test rows of a partition; None where that was not kept."""
        query = f"SELECT predicted, proba FROM answers WHERE {KEY}"
        found = self._connection.execute(query, cell).fetchone()
        return None if found is None else Answers(unpack(found[0]), None if found[1] is None else unpack(found[1]))

    def answered(self) -> set[Cell]:
        """The cells whose answers were kept."""
        return {Cell(*row) for row in self._connection.execute("SELECT dataset, repetition, method FROM answers")}

    def measured(self) -> dict[Cell, set[str]]:
        """The names of the measures in the row of each cell that is done."""
        rows = self._connection.execute("SELECT dataset, repetition, method, measures FROM cells WHERE status = 'done'")
        return {Cell(*row[:3]): set(json.loads(row[3])) for row in rows}

    def answer_bytes(self) -> int:
        """What the answers that were kept take."""
        query = "SELECT total(length(predicted) + coalesce(length(proba), 0)) FROM answers"
        return int(self._connection.execute(query).fetchone()[0])

    def costs(self) -> list[tuple[str, str, float, int]]:
        """(data set, method, mean seconds of a cell, number of cells) of what is done."""
        query = "SELECT dataset, method, avg(seconds), count(*) FROM cells WHERE seconds NOT NULL GROUP BY 1, 2"
        return self._connection.execute(query).fetchall()

    def key(self, part: str, name: str) -> str:
        """The key of a data set or a method; empty where it has none, as combinations have."""
        query = "SELECT key FROM keys WHERE part = ? AND name = ?"
        found = self._connection.execute(query, (part, name)).fetchone()
        return "" if found is None else str(found[0])

    def remark(self, dataset: str, topic: str, key: str, facts: Mapping[str, Any]) -> None:
        """Keep something that was found out about a data set; `key` says of what it holds."""
        values = (dataset, topic, key, json.dumps(facts))
        self._connection.execute("INSERT OR REPLACE INTO remarks VALUES (?, ?, ?, ?)", values)

    def remarked(self, dataset: str, topic: str, key: str | None = None) -> dict[str, Any] | None:
        """What was kept under a topic; None where there is nothing, or something with another key."""
        query = "SELECT key, facts FROM remarks WHERE dataset = ? AND topic = ?"
        found = self._connection.execute(query, (dataset, topic)).fetchone()
        return json.loads(found[1]) if found is not None and key in (None, found[0]) else None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in this block is of one moment, whatever others write meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def frame(self) -> pd.DataFrame:
        """One row per cell and size, one column per measure; `size` is 0 for the whole ensemble."""
        return as_frame(self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM cells ORDER BY 1, 2, 3"))

    def confusion(self, dataset: str, method: str) -> dict[tuple[int, int], int]:
        """The confusion matrix over all repetitions, by (true, predicted) class code."""
        total: dict[tuple[int, int], int] = {}
        query = "SELECT confusion FROM cells WHERE dataset = ? AND method = ?"
        for (text,) in self._connection.execute(query, (dataset, method)):
            for true, predicted, count in json.loads(text):
                total[true, predicted] = total.get((true, predicted), 0) + count
        return total

    def export(self, path: str | Path) -> None:
        """Write `frame()` to a CSV or Parquet file, whole or not at all."""
        path = Path(path)
        if path.suffix not in (".csv", ".parquet"):
            raise ValueError(f"path must end in .csv or .parquet, got {path.name!r}")
        with whole_file(path) as part:
            if path.suffix == ".csv":
                self.frame().to_csv(part, index=False)
            else:
                self.frame().to_parquet(part, index=False)


_MAGIC = b"SQLite format 3\0"


def _connect(path: Path, *, reading: bool) -> sqlite3.Connection:
    if reading and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # On a medium that cannot be written to, even a reader of a log would have to write.
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def _first_bytes(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(len(_MAGIC))


def _joined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What two runs asked for, together; the measures are those that were asked for last."""
    if not old:
        return new
    protocol = {**new["protocol"]}
    if "repetitions" in protocol:
        protocol["repetitions"] = max(protocol["repetitions"], old["protocol"]["repetitions"])
    return {
        **old,
        "protocol": protocol,
        "measures": new["measures"],
        "datasets": _by_name(old["datasets"], new["datasets"], "name"),
        "methods": _by_name(old["methods"], new["methods"], "label"),
    }


def _by_name(old: list[dict[str, Any]], new: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The old ones, each in its newest form, and those that are new behind them."""
    return list({**{item[name]: item for item in old}, **{item[name]: item for item in new}}.values())
