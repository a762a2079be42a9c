"""`run`: execute the cells of an experiment, in this process or several, on one store.

Whoever runs claims a cell, works, commits its row, and takes the next. Helpers are processes that do the same, so a
second `run` on the same store, started by hand, helps too.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any

from conjunto.experiments.cells import Bench, Outcome, threads_of_a_model
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.remaining import USUAL, seconds_left
from conjunto.experiments.results import Results
from conjunto.experiments.sources import DATA_CHANGED, DataChangedError, OpenedSource, Sources
from conjunto.experiments.spec import Cell, Experiment
from conjunto.experiments.store import Store
from conjunto.jobs import count_jobs

Progress = Callable[[int, int, int, float], None]
"""Called with the numbers of finished, failed and all cells, and the seconds that are left (NaN: nobody knows)."""
# Seconds between two looks of a process that waits for others.
PAUSE = 0.2
# What libraries read when they are loaded: OpenMP (scikit-learn, XGBoost), kinds of BLAS, numexpr, and joblib, which
# answers for the processors of LightGBM and of whoever has n_jobs=-1.
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
# Where more helpers than this are killed while they have no cell, something is wrong with the machine.
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
    opened: Iterable[OpenedSource] = (),
    keep_answers: bool = True,
) -> Results:
    """Run what is not done yet, and return the results.

    Parameters
    ----------
    experiment : Experiment
    store : path
        The SQLite file. What it has of the experiment is not run again; repetitions, methods and data sets that are
        new join it. Another seed or way of partitioning, other data or other parameters under an old name are refused.
    n_jobs : int, default=None
        Processes; None is 1 (this one), -1 all processors. Results do not depend on it. Several processes share the
        processors out among them: an estimator with `n_jobs` None or -1 has its share of threads.
    retry_failed : bool, default=False
        Run cells that failed before again.
    progress : callable, default=None
        Called with (finished, failed, all, seconds left) after each change.
    command : str, default=""
        How to run this again, kept for the report.
    cells : sequence of Cell, default=None
        Run these only, such as the first repetitions; None is all.
    opened : iterable of OpenedSource, default=()
        Data sets of the experiment that were opened before, which are then not read again.
    keep_answers : bool, default=True
        Keep what models say about test rows, so that other measures, thresholds and combinations need no fit.

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
    # Repetition by repetition, so that what every method costs on every data set is known early.
    wanted.sort(key=lambda cell: cell.repetition)
    if foreign := set(wanted) - set(experiment.cells()):
        raise ValueError(f"cells: {tuple(min(foreign))} is not a cell of the experiment")
    names = {cell.dataset for cell in wanted}
    sources = Sources(experiment, opened)
    # Data that cannot be read leave no store behind, and a question that cannot be asked changes none.
    known = _known_tasks(Path(store))
    for name in names & known.keys():
        experiment.check_task(known[name])
    facts = _read_facts(experiment, sources, names - known.keys())
    with Store(store, experiment, command=command, contents=sources.contents()) as kept:
        if retry_failed:
            kept.forget(wanted, failed=True)
        for name, about in facts.items():
            kept.describe_dataset(name, about)
        kept.forget(lacking(experiment, kept, wanted))
        jobs = _count_jobs(n_jobs)
        usual = {method.label: USUAL.get(method.name, 1.0) for method in experiment.methods}
        report = _ProgressReport(kept, progress, set(wanted), jobs, usual)
        report(now=True)
        while missing := len(set(wanted) - kept.finished()):
            # Again and again: a cell whose claimant died meanwhile is left over.
            if jobs > 1:
                _run_helpers(experiment, sources, kept, wanted, min(jobs, missing), report, keep_answers)
            else:
                work(experiment, sources, kept, wanted, report, keep_answers=keep_answers)
            if set(wanted) - kept.finished():
                time.sleep(PAUSE)
        report(now=True)
        return Results.read(kept)


def work(
    experiment: Experiment,
    sources: Sources,
    store: Store,
    cells: Sequence[Cell],
    report: Callable[[], None] = lambda: None,
    name: str = "",
    *,
    keep_answers: bool = True,
) -> None:
    """Claim and run cells, as a worker of this name, until none is left to claim."""
    finished = store.finished()
    pending = deque(cell for cell in cells if cell not in finished)
    if not pending:
        return
    bench = Bench(experiment, sources, keep_answers=keep_answers)
    with store.worker(name) as worker:
        while (cell := store.claim(worker, pending)) is not None:
            store.save(bench.run(cell))
            report()


def _known_tasks(path: Path) -> dict[str, str]:
    """The tasks of the data sets that a store knows already."""
    if not path.is_file() or not path.stat().st_size:
        return {}
    with Store(path) as store:
        return {name: facts["task"] for name, facts in store.datasets().items()}


def _read_facts(experiment: Experiment, sources: Sources, names: Collection[str]) -> dict[str, dict[str, Any]]:
    """What a report says of these data sets."""
    wanted = [source.name for source in experiment.datasets if source.name in names]
    return {name: sources.open(name).facts(experiment) for name in wanted}


def lacking(experiment: Experiment, store: Store, cells: Iterable[Cell]) -> list[Cell]:
    """The cells that are done, but have neither all the measures asked for nor the answers that give them."""
    measured, answered, facts = store.measured(), store.answered(), store.datasets()
    corrected = experiment.protocol.apparent_share > 0  # by a model of all rows, whose answers nobody kept

    def is_lacking(cell: Cell) -> bool:
        if cell not in measured or cell.dataset not in facts:
            return False
        missing = set(experiment.measures_of(facts[cell.dataset]["task"])) - measured[cell]
        given = cell in answered and not corrected
        return any(not given or not MEASURES[name].of_answers for name in missing)

    return [cell for cell in cells if is_lacking(cell)]


class _ProgressReport:
    """Reports how far a run is, but not so often that it slows the run down."""

    def __init__(
        self, store: Store, progress: Progress | None, wanted: set[Cell], jobs: int, usual: Mapping[str, float]
    ) -> None:
        self._store, self._progress, self._wanted, self._jobs, self._usual = store, progress, wanted, jobs, usual
        self._last = -math.inf

    def __call__(self, *, now: bool = False) -> None:
        if self._progress is not None and (now or time.monotonic() - self._last > PAUSE):
            finished, failed = self._store.finished(), self._wanted & self._store.finished("failed")
            pending = Counter((cell.dataset, cell.method) for cell in self._wanted - finished)
            left = seconds_left(self._store.costs(), pending, self._jobs, self._usual)
            self._progress(len(self._wanted & finished), len(failed), len(self._wanted), left)
            self._last = time.monotonic()


def _count_jobs(n_jobs: int | None) -> int:
    if n_jobs == 0 or (n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int))):
        raise ValueError(f"n_jobs must be a number of processes, -1 for all processors, or None, got {n_jobs!r}")
    return count_jobs(n_jobs)


class _Packer(pickle.Pickler):
    """Refuses what other processes could not import: what a script, a notebook or standard input defines."""

    def reducer_override(self, item: Any) -> Any:
        if isinstance(item, type | FunctionType) and item.__module__ == "__main__":
            raise ValueError(
                f"n_jobs: the experiment holds {item.__qualname__!r}, which this script defines and other processes "
                "cannot import; put it into a module, or use n_jobs=1"
            )
        return NotImplemented


def _pack(work: Any) -> bytes:
    """What helpers are sent."""
    packed = io.BytesIO()
    try:
        _Packer(packed).dump(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"n_jobs: the experiment cannot be sent to other processes ({error}): leave that out, or use n_jobs=1"
        ) from error
    return packed.getvalue()


def threads_each(n_jobs: int | None) -> int:
    """How many threads each model may use where so many processes run cells."""
    jobs = _count_jobs(n_jobs)
    return threads_of_a_model() if jobs == 1 else int(shared_out(jobs)["OMP_NUM_THREADS"])


def shared_out(jobs: int) -> dict[str, str]:
    """The environment of one of `jobs` helpers: libraries that look for processors find its share of them.

    Each of several processes that starts a thread for every processor would wait for the others most of the time. What
    the user has set stays.
    """
    from joblib import cpu_count

    share = str(max(1, cpu_count() // jobs))
    return dict.fromkeys(THREAD_LIMITS, share) | dict(os.environ)


def _run_helpers(
    experiment: Experiment,
    sources: Sources,
    store: Store,
    cells: list[Cell],
    jobs: int,
    report: Callable[[], None],
    keep_answers: bool,
) -> None:
    """Run helper processes until all cells are done or no helper is left."""
    order = _pack((experiment, cells, sources.contents(), keep_answers))
    helpers: list[_Helper] = []
    deaths: Counter[Cell | None] = Counter()
    try:
        environment = shared_out(jobs)
        helpers += [_Helper(store.path, order, environment) for _ in range(jobs)]
        while helpers:
            time.sleep(PAUSE)
            report()
            for helper in [helper for helper in helpers if helper.ended()]:
                helpers.remove(helper)
                words = helper.last_words()
                helper.stop()
                if helper.did_well():
                    continue
                if helper.found_other_data():
                    raise DataChangedError(words)
                cell = store.claimed_by(helper.name)
                deaths[cell] += 1
                if cell is not None and deaths[cell] > 1:
                    # One death may be somebody's kill or a lack of memory; after a second the cell itself is to blame.
                    store.save(Outcome(cell, "failed", traceback=words))
                elif cell is None and (deaths[cell] > MOST_IDLE_DEATHS or not helper.was_killed()):
                    raise RuntimeError(f"a helper process could not work:\n{words}")
                helpers.append(_Helper(store.path, order, environment))
    finally:
        for helper in helpers:
            helper.stop()
        store.drop_dead()


class _Helper:
    """A process that works on the store until nothing is left, or until this one is gone."""

    def __init__(self, store: Path, order: bytes, environment: Mapping[str, str]) -> None:
        self.name = uuid.uuid4().hex
        # A file, not a pipe, which would fill up and stop a helper that writes much.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "conjunto.experiments.helper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env=dict(environment),
            # Ctrl-C goes to the parent alone, which then stops its helpers.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it died at once, which ended() and last_words() show
            pickle.dump({"path": sys.path, "store": str(store), "name": self.name, "work": order}, self._process.stdin)
            self._process.stdin.flush()

    def ended(self) -> bool:
        return self._process.poll() is not None

    def did_well(self) -> bool:
        return self._process.returncode == 0

    def found_other_data(self) -> bool:
        return self._process.returncode == DATA_CHANGED

    def was_killed(self) -> bool:
        return self._process.returncode < 0

    def last_words(self) -> str:
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 4000))
        written = self._stderr.read().decode(errors="replace")
        if self.found_other_data():
            return written.strip().rpartition("\n")[2]
        code = self._process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the process {how}\n{written}"

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._stderr.close()
