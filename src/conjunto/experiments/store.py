"""`Store`: the results of one experiment in an SQLite file, one committed row per finished cell.

Write-ahead logging with full synchronisation: what was committed survives a kill and a power cut. Workers in any
number of processes claim cells; a claim is void when its process is gone or has not shown a sign of life for a
while, so a killed run leaves nothing locked.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.atomic import timestamp, whole_file
from conjunto.experiments.cells import Outcome
from conjunto.experiments.rows import COLUMNS, as_frame, as_row
from conjunto.experiments.spec import Cell, Experiment

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
SILENCE = 60.0
"""Seconds without a sign of life after which a worker counts as gone."""
PATIENCE = 60.0
"""Seconds to wait for others who are writing."""

_SCHEMA = """
CREATE TABLE experiment (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format INTEGER NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    spec TEXT NOT NULL,
    cells INTEGER NOT NULL,
    command TEXT NOT NULL,
    created TEXT NOT NULL
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
    versions TEXT NOT NULL,
    finished TEXT NOT NULL,
    PRIMARY KEY (dataset, repetition, method)
);
CREATE TABLE workers (id TEXT PRIMARY KEY, pid INTEGER NOT NULL, alive REAL NOT NULL);
CREATE TABLE claims (
    dataset TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    method TEXT NOT NULL,
    worker TEXT NOT NULL,
    PRIMARY KEY (dataset, repetition, method)
);
"""


class StoreError(ValueError):
    """A file is no store, or a store of something else; the message says what to do."""


class OtherExperimentError(StoreError):
    """The store holds the results of another experiment."""


class Store:
    """The results of one experiment.

    Parameters
    ----------
    path : path
        The SQLite file; made when it does not exist and `experiment` is given.
    experiment : Experiment, default=None
        What is to be run; a store of another one is refused. None opens what is there for reading.
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
        fingerprint, spec = "", {}
        if experiment is not None:
            fingerprint, spec = experiment.fingerprint(contents), experiment.as_dict(contents)
            # Two processes may arrive together: the first makes the tables, the second finds them.
            with self._transaction():
                if not self._tables():
                    self._make(experiment, fingerprint, spec, command)
        if not {"experiment", "cells"} <= self._tables():
            raise StoreError(f"{self.path} is not a conjunto store")
        if experiment is not None:
            self._log_ahead()
        line = self._connection.execute(
            "SELECT format, name, fingerprint, spec, cells, command, created FROM experiment"
        )
        found = line.fetchone()
        if found is None:
            raise StoreError(f"{self.path} is an empty store")
        if found[0] != FORMAT:
            raise StoreError(f"{self.path} has format {found[0]}, this release reads format {FORMAT}")
        self.name, self.spec, self.total = str(found[1]), json.loads(found[3]), int(found[4])
        self.command, self.created = str(found[5]), str(found[6])
        if experiment is not None and found[2] != fingerprint:
            raise OtherExperimentError(
                f"{self.path} holds the results of another experiment ({self.name}), "
                f"{_difference(self.spec, spec)}; choose another file or folder, or remove it"
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

    def _make(self, experiment: Experiment, fingerprint: str, spec: dict[str, Any], command: str) -> None:
        for statement in _SCHEMA.split(";"):
            self._connection.execute(statement)
        self._connection.execute(
            "INSERT INTO experiment VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            (
                FORMAT,
                experiment.name,
                fingerprint,
                json.dumps(spec),
                len(experiment.cells()),
                command,
                timestamp(),
            ),
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

    def forget_failures(self, cells: Iterable[Cell]) -> None:
        """Remove the rows of those of the cells that failed, so that they are run again."""
        with self._transaction():
            self._connection.executemany(f"DELETE FROM cells WHERE status = 'failed' AND {_KEY}", cells)

    def save(self, outcome: Outcome) -> None:
        """Commit the row of a cell. If another worker was faster, its row stays."""
        marks = ", ".join("?" * len(COLUMNS))
        with self._transaction():
            self._connection.execute(f"INSERT OR IGNORE INTO cells VALUES ({marks})", as_row(outcome))
            self._connection.execute(f"DELETE FROM claims WHERE {_KEY}", outcome.cell)

    @contextmanager
    def worker(self, name: str = "") -> Iterator[str]:
        """Sign on as a worker and show signs of life; sign off, with all claims, at the end."""
        name = name or uuid.uuid4().hex
        self._connection.execute("INSERT INTO workers VALUES (?, ?, ?)", (name, os.getpid(), time.time()))
        over = threading.Event()
        pulse = threading.Thread(target=self._show_life, args=(name, over), daemon=True)
        pulse.start()
        try:
            yield name
        finally:
            over.set()
            pulse.join()
            with self._transaction():
                self._connection.execute("DELETE FROM claims WHERE worker = ?", (name,))
                self._connection.execute("DELETE FROM workers WHERE id = ?", (name,))

    def _show_life(self, worker: str, over: threading.Event) -> None:
        while not over.wait(SILENCE / 4):
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as connection:
                # Not an update: after a long silence (a laptop asleep) others have struck this worker off the list.
                connection.execute(
                    "INSERT OR REPLACE INTO workers VALUES (?, ?, ?)", (worker, os.getpid(), time.time())
                )

    def claim(self, worker: str, pending: deque[Cell]) -> Cell | None:
        """Take the first pending cell that has no row and no living claimant; None if there is none.

        Cells that are finished leave `pending`; those that somebody else runs go to its end.
        """
        with self._transaction():
            self._drop_dead(worker)
            self._connection.execute(
                "INSERT OR IGNORE INTO workers VALUES (?, ?, ?)", (worker, os.getpid(), time.time())
            )
            for _ in range(len(pending)):
                cell = pending.popleft()
                if self._connection.execute(f"SELECT 1 FROM cells WHERE {_KEY}", cell).fetchone():
                    continue
                taken = self._connection.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (*cell, worker))
                if taken.rowcount:
                    return cell
                pending.append(cell)
        return None

    def claimed_by(self, worker: str) -> Cell | None:
        """The cell that a worker has claimed; None if it has none."""
        query = "SELECT dataset, repetition, method FROM claims WHERE worker = ?"
        row = self._connection.execute(query, (worker,)).fetchone()
        return None if row is None else Cell(*row)

    def drop_dead(self) -> None:
        """Void the claims of workers that are gone."""
        with self._transaction():
            self._drop_dead("")

    def _drop_dead(self, worker: str) -> None:
        for name, pid, alive in self._connection.execute("SELECT id, pid, alive FROM workers").fetchall():
            if name != worker and (not _is_running(pid) or time.time() - alive > SILENCE):
                self._connection.execute("DELETE FROM workers WHERE id = ?", (name,))
        self._connection.execute("DELETE FROM claims WHERE worker NOT IN (SELECT id FROM workers)")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in this block is of one moment, whatever others write meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException:  # Ctrl-C can arrive between any two lines
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

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
_KEY = "dataset = ? AND repetition = ? AND method = ?"


def _connect(path: Path, *, reading: bool) -> sqlite3.Connection:
    if reading and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # On a medium that cannot be written to, even a reader of a log would have to write.
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def _first_bytes(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(len(_MAGIC))


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first thing in which two experiments differ, in words."""
    words = {"datasets": "other data sets", "methods": "other methods", "protocol": "another protocol"}
    words |= {"measures": "other measures", "seed": "another seed"}
    for key, what in words.items():
        if old.get(key) != new.get(key):
            return f"with {what}"
    return "whose data have changed, or what the names of its methods stand for"


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # os.kill would end the process there; the sign of life has to do
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
