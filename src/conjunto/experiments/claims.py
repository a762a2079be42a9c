"""Who works on which cell of a store: workers in any number of processes, their signs of life and their claims.

A claim is void when its process is gone or has not shown a sign of life for a while, so a killed run leaves nothing
locked.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from conjunto.experiments.spec import Cell

SILENCE = 60.0
"""Seconds without a sign of life after which a worker counts as gone."""
PATIENCE = 60.0
"""Seconds to wait for others who are writing."""
KEY = "dataset = ? AND repetition = ? AND method = ?"

SCHEMA = """
CREATE TABLE workers (id TEXT PRIMARY KEY, pid INTEGER NOT NULL, alive REAL NOT NULL);
CREATE TABLE claims (
    dataset TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    method TEXT NOT NULL,
    worker TEXT NOT NULL,
    PRIMARY KEY (dataset, repetition, method)
);
"""


class Claims:
    """The workers and claims of the store at `path`."""

    path: Path
    _connection: sqlite3.Connection

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
                if self._connection.execute(f"SELECT 1 FROM cells WHERE {KEY}", cell).fetchone():
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
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException:  # Ctrl-C can arrive between any two lines
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


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
