"""`run`: execute the cells of an experiment, in this process or several, on one store.

Whoever runs claims a cell, works, commits its row, and takes the next. Helpers are processes that do the same, so a
second `run` on the same store, started by hand, helps too.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from conjunto.experiments.cells import Bench, Outcome
from conjunto.experiments.results import Results, dataset_facts
from conjunto.experiments.spec import Cell, Experiment
from conjunto.experiments.store import Store

Progress = Callable[[int, int, int], None]
"""Called with the numbers of finished, failed and all cells."""
# How often a process that waits for others looks.
PAUSE = 0.2
# Helpers that may be killed while they have no cell before something is wrong with the machine.
MOST_IDLE_DEATHS = 10


def run(
    experiment: Experiment,
    store: str | Path,
    *,
    n_jobs: int | None = None,
    retry_failed: bool = False,
    progress: Progress | None = None,
    command: str = "",
    cells: Sequence[Cell] | None = None,
) -> Results:
    """Run what is not done yet, and return the results.

    Parameters
    ----------
    experiment : Experiment
    store : path
        The SQLite file. One of the same experiment is resumed, one of another is refused.
    n_jobs : int, default=None
        Processes; None is 1 (this one), -1 all processors. Results do not depend on it.
    retry_failed : bool, default=False
        Run cells that failed before again.
    progress : callable, default=None
        Called with (finished, failed, all) after each change.
    command : str, default=""
        How to run this again, kept for the report.
    cells : sequence of Cell, default=None
        Run these only, such as the first repetitions; None is all.

    Returns
    -------
    Results

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from conjunto.experiments import Experiment, Protocol, run
    >>> experiment = Experiment(("wine",), ("cart", "random-forest"), Protocol("k-fold", repetitions=1, folds=3))
    >>> results = run(experiment, pathlib.Path(tempfile.mkdtemp()) / "results.sqlite")
    >>> results.leaderboard("wine")["method"].tolist()
    ['random-forest', 'cart']
    """
    wanted = experiment.cells() if cells is None else [Cell(*cell) for cell in cells]
    if foreign := set(wanted) - set(experiment.cells()):
        raise ValueError(f"cells: {tuple(min(foreign))} is not a cell of the experiment")
    names = {cell.dataset for cell in wanted}
    # Data that cannot be read leave no store behind.
    facts = {} if Path(store).exists() else read_facts(experiment, names)
    with Store(store, experiment, command=command) as opened:
        if retry_failed:
            opened.forget_failures(wanted)
        facts |= read_facts(experiment, names - facts.keys() - opened.datasets().keys())
        for name, about in facts.items():
            opened.describe_dataset(name, about)
        tell = _Teller(opened, progress, set(wanted))
        tell(now=True)
        jobs = _count_jobs(n_jobs)
        while missing := len(set(wanted) - opened.finished()):
            # Again and again: a cell whose claimant died meanwhile is left over.
            if jobs > 1:
                _run_helpers(experiment, opened, wanted, min(jobs, missing), tell)
            else:
                work(experiment, opened, wanted, tell)
            if set(wanted) - opened.finished():
                time.sleep(PAUSE)
        tell(now=True)
        return Results.read(opened)


def work(
    experiment: Experiment,
    store: Store,
    cells: Sequence[Cell],
    tell: Callable[[], None] = lambda: None,
    name: str = "",
) -> None:
    """Claim and run cells, as a worker of this name, until none is left to claim."""
    finished = store.finished()
    pending = deque(cell for cell in cells if cell not in finished)
    if not pending:
        return
    bench = Bench(experiment)
    with store.worker(name) as worker:
        while (cell := store.claim(worker, pending)) is not None:
            store.save(bench.run(cell))
            tell()


def read_facts(experiment: Experiment, names: Collection[str]) -> dict[str, dict[str, Any]]:
    """What the report says of these data sets."""
    return {source.name: dataset_facts(source, experiment) for source in experiment.datasets if source.name in names}


class _Teller:
    """Tells how far a run is, but not so often that it slows the run down."""

    def __init__(self, store: Store, progress: Progress | None, wanted: set[Cell]) -> None:
        self._store, self._progress, self._wanted = store, progress, wanted
        self._last = -math.inf

    def __call__(self, *, now: bool = False) -> None:
        if self._progress is not None and (now or time.monotonic() - self._last > PAUSE):
            failed = self._wanted & self._store.finished("failed")
            self._progress(len(self._wanted & self._store.finished()), len(failed), len(self._wanted))
            self._last = time.monotonic()


def _count_jobs(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    if n_jobs == 0 or (n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int))):
        raise ValueError(f"n_jobs must be a number of processes, -1 for all processors, or None, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def _run_helpers(experiment: Experiment, store: Store, cells: list[Cell], jobs: int, tell: Callable[[], None]) -> None:
    """Helper processes until all cells are done or no helper is left."""
    order = pickle.dumps((experiment, cells))
    if b"__main__" in order:
        raise ValueError(
            "n_jobs: an estimator or data set of the experiment is of a class that this script defines, which other "
            "processes cannot import; put the class into a module, or use n_jobs=1"
        )
    helpers: list[_Helper] = []
    deaths: Counter[Cell | None] = Counter()
    try:
        helpers += [_Helper(store.path, order) for _ in range(jobs)]
        while helpers:
            time.sleep(PAUSE)
            tell()
            for helper in [helper for helper in helpers if helper.ended()]:
                helpers.remove(helper)
                words = helper.last_words()
                helper.stop()
                if helper.did_well():
                    continue
                cell = store.claimed_by(helper.name)
                deaths[cell] += 1
                if cell is not None and deaths[cell] > 1:
                    # Once may be somebody's kill or a lack of memory; what dies twice would die for ever.
                    store.save(Outcome(cell, "failed", traceback=words))
                elif cell is None and (deaths[cell] > MOST_IDLE_DEATHS or not helper.was_killed()):
                    raise RuntimeError(f"a helper process could not work:\n{words}")
                helpers.append(_Helper(store.path, order))
    finally:
        for helper in helpers:
            helper.stop()
        store.drop_dead()


class _Helper:
    """A process that works on the store until nothing is left, or until this one is gone."""

    def __init__(self, store: Path, order: bytes) -> None:
        self.name = uuid.uuid4().hex
        # A file, not a pipe, which would fill up and stop a helper that says much.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "conjunto.experiments.helper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            # Ctrl-C goes to the parent alone, which then stops its helpers.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it died at once: ended() and last_words() tell
            pickle.dump({"path": sys.path, "store": str(store), "name": self.name, "work": order}, self._process.stdin)
            self._process.stdin.flush()

    def ended(self) -> bool:
        return self._process.poll() is not None

    def did_well(self) -> bool:
        return self._process.returncode == 0

    def was_killed(self) -> bool:
        return self._process.returncode < 0

    def last_words(self) -> str:
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 4000))
        said = self._stderr.read().decode(errors="replace")
        code = self._process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the process {how}\n{said}"

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._stderr.close()
