"""Run a workload: line up the contestants, measure them, judge the bars."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

from benchmarks import memory
from benchmarks.in_r import RPackage
from benchmarks.measure import Contestant, Sample, Series, in_turn, ratio, timed
from benchmarks.peers import FACTORIES, OURS, SCIKIT_LEARN, entrants, on_threads
from benchmarks.randomforest import RandomForest
from benchmarks.rpart import Rpart
from benchmarks.workloads import Data, Task, Workload, make_data

BYTES_PER_NODE = 16
PEAK_SHARE = 0.5
# Rows from which on growth is measured once.
ONCE = 1_000_000
R_PACKAGES: tuple[type[RPackage], ...] = (RandomForest, Rpart)


@dataclass(frozen=True)
class Verdict:
    """A bar, what was measured, and whether it was passed."""

    workload: str
    bar: str
    measured: str
    met: bool
    remark: str = ""


@dataclass(frozen=True)
class Comparison:
    """Times of all contestants; `noise` is the difference of errors that may be chance."""

    workload: Workload
    threads: int
    series: Sequence[Series]
    noise: float

    def of(self, name: str) -> Series | None:
        """The series of a contestant, if it took part."""
        return next((series for series in self.series if series.name == name), None)

    @property
    def clock(self) -> str:
        """CPU time with one thread; elapsed time with more, where workers may be processes with clocks of their own."""
        return "cpu" if self.threads == 1 else "wall"

    def verdicts(self) -> Iterator[Verdict]:
        """Judge the bars; a ratio counts only if our error is no larger than scikit-learn's, up to noise."""
        own, reference = self.of(OURS), self.of(SCIKIT_LEARN)
        assert own is not None
        assert reference is not None
        accurate = own.error <= reference.error + self.noise
        clock = f"{self.threads} thread{'s' if self.threads > 1 else ''}, {'CPU' if self.threads == 1 else 'elapsed'}"
        for bar in self.workload.bars:
            peer = self.of(bar.peer)
            if peer is None:
                continue
            seen = ratio(peer, own, self.clock)
            yield Verdict(
                self.workload.name,
                f"≥ {bar.at_least:g} × {bar.peer} ({clock})",
                f"{seen.middle:.1f} × ({seen.low:.1f} … {seen.high:.1f})",
                seen.middle >= bar.at_least and accurate,
                "" if accurate else "less accurate than scikit-learn",
            )


@dataclass(frozen=True)
class Figures:
    """Results that are not a race: (library, what, value) lines."""

    workload: Workload
    lines: Sequence[tuple[str, str, str]]
    judged: Sequence[Verdict] = ()

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts."""
        yield from self.judged


Result = Comparison | Figures


def run(
    workload: Workload,
    threads: Sequence[int],
    repeats: int,
    libraries: Sequence[str],
    r_packages: Collection[type[RPackage]],
) -> Iterator[Result]:
    """Measure a workload with each number of threads."""
    if workload.kind == "growth":
        yield growth(workload, threads[0], repeats)
        return
    if workload.kind == "memory":
        yield memory_use(workload, libraries)
        return
    data = make_data(workload.task, workload.test_rows)
    line_up = fitting if workload.kind == "fit" else predicting(workload, data, libraries)
    with tempfile.TemporaryDirectory() as folder:
        for count in threads:
            if workload.one_thread_only and count > 1:
                continue
            contestants = line_up(workload, data, libraries, count)
            package = r_package(workload)
            if count == 1 and package is not None and package in r_packages:
                peer = package(workload.measured, data, Path(folder), predicts=workload.kind == "predict")
                warm_up = (lambda peer=peer: peer.sample(0)) if workload.kind == "predict" else (lambda: None)
                contestants.append(Contestant(package.name(), peer.sample, warm_up))
            series = in_turn(contestants, repeats)
            reference = next(one for one in series if one.name == SCIKIT_LEARN)
            yield Comparison(workload, count, series, data.noise(reference.error))


def r_package(workload: Workload) -> type[RPackage] | None:
    """The R package that has the method; None also where one row is predicted, or a single fit takes it minutes."""
    task = workload.task
    if task.method in ("boosting", "igp") or workload.kind == "one":
        return None
    if task.method == "pruned":
        return Rpart
    small = task.rows <= 10_000
    return RandomForest if small or (workload.kind == "fit" and task.method != "regression") else None


def fitting(workload: Workload, data: Data, libraries: Sequence[str], threads: int) -> list[Contestant]:
    """Contestants that fit the task anew, with another seed, in every repetition."""

    def contestant(name: str, library: str, task: Task) -> Contestant:
        def sample(repetition: int) -> Sample:
            model = FACTORIES[library](task, threads, repetition)
            fitted, cpu, wall = timed(lambda: model.fit(data.X, data.y), threads)
            return Sample(cpu, wall, data.error(fitted.predict(data.X_test)))

        def warm_up() -> None:
            FACTORIES[library](replace(task, trees=4), threads, 0).fit(data.X, data.y)

        return Contestant(name, sample, warm_up)

    task = workload.measured
    contestants = [contestant(library, library, task) for library in entrants(task, threads, libraries)]
    if workload.measured_trees:
        contestants.append(contestant(f"{OURS}, all {workload.task.trees} trees", OURS, workload.task))
    if workload.beside:
        other = replace(task, method=workload.beside)
        contestants.append(contestant(f"{other.method} trees of {OURS}", OURS, other))
    return contestants


def predicting(workload: Workload, data: Data, libraries: Sequence[str]) -> Callable[..., list[Contestant]]:
    """Fit the models once, then return what lines up contestants that predict with them."""
    # Fitting is not timed here, so that large models may use all cores.
    workers = (os.cpu_count() or 1) if workload.task.rows > 10_000 else 1
    models = {
        library: FACTORIES[library](workload.task, workers, 0).fit(data.X, data.y)
        for library in entrants(workload.task, workers, libraries)
    }
    rows = [data.X_test[i : i + 1].copy() for i in range(workload.calls)]

    def contestant(name: str, model: Any, threads: int) -> Contestant:
        def all_rows(repetition: int) -> Sample:
            said, cpu, wall = timed(lambda: model.predict(data.X_test), threads)
            return Sample(cpu, wall, data.error(said))

        def row_by_row(repetition: int) -> Sample:
            _, cpu, wall = timed(lambda: [model.predict(row) for row in rows], threads)
            return Sample(cpu / len(rows), wall / len(rows), data.error(model.predict(data.X_test)))

        sample = row_by_row if workload.kind == "one" else all_rows
        return Contestant(name, sample, lambda: model.predict(data.X_test[:100]))

    def line_up(workload: Workload, data: Data, libraries: Sequence[str], threads: int) -> list[Contestant]:
        return [contestant(name, on_threads(model, threads), threads) for name, model in models.items()]

    return line_up


def growth(workload: Workload, threads: int, repeats: int) -> Figures:
    """Our time per tree against N log N, relative to the smallest size, where 1 is growth as N log N; and the memory.

    Sizes that take a minute or more are fitted once.
    """
    largest = workload.task.rows
    lines, costs = [], []
    for rows in (largest // 1000, largest // 100, largest // 10, largest):
        task = replace(workload.task, rows=rows)
        data = make_data(task, workload.test_rows)
        samples = []
        for repetition in range(repeats if rows < ONCE else 1):
            model = FACTORIES[OURS](task, threads, repetition)
            fitted, cpu, wall = timed(lambda model=model, data=data: model.fit(data.X, data.y), threads)
            samples.append(Sample(cpu, wall, data.error(fitted.predict(data.X_test))))
        series = Series(f"{rows:,} rows", samples)
        table = data.X.nbytes
        del data
        peak = (table + memory.measure(OURS, task)["peak"]) / table
        time = (series.cpu if threads == 1 else series.wall) / task.trees
        costs.append(time / (rows * log(rows)))
        about = f"{series.name}, {task.trees} trees, {threads} thread{'s' if threads > 1 else ''}"
        by_size = f"{time:.3g} s per tree; {costs[-1] / costs[0]:.2f} × the cost by N log N"
        error = f"test error {100 * series.error:.2f} %"
        lines.append((OURS, about, f"{by_size}; peak while fitting {peak:.2f} × the table; {error}"))
    return Figures(workload, lines)


def memory_use(workload: Workload, libraries: Sequence[str]) -> Figures:
    """Model size per node and the peak while fitting.

    LightGBM is left out, whose leaf limit decides its memory, and YDF, which keeps a copy of the data by itself.
    """
    seen = {name: memory.measure(name, workload.task) for name in libraries if name not in ("LightGBM", "YDF")}
    lines = []
    for name, figures in seen.items():
        lines.append((name, "peak while fitting", f"{figures['peak'] / 2**20:.0f} MiB"))
        if "bytes_per_node" in figures:
            lines.append((name, "model, bytes per node", f"{figures['bytes_per_node']:.1f}"))
            lines.append((name, "pickle, bytes per node", f"{figures['pickle_per_node']:.1f}"))
    size = seen[OURS]["bytes_per_node"]
    share = seen[OURS]["peak"] / max(seen[SCIKIT_LEARN]["peak"], 1)
    judged = [
        Verdict(workload.name, f"≤ {BYTES_PER_NODE} bytes per node", f"{size:.1f}", size <= BYTES_PER_NODE),
        Verdict(workload.name, f"peak ≤ {PEAK_SHARE:g} × scikit-learn", f"{share:.2f} ×", share <= PEAK_SHARE),
    ]
    return Figures(workload, lines, judged)
