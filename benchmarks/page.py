"""Results as Markdown tables, as a page, and as JSON."""

from __future__ import annotations

import datetime
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.measure import Ratio, Series, ratio
from benchmarks.peers import OURS
from benchmarks.runs import Comparison, Figures, Result, Verdict
from benchmarks.workloads import Task
from conjunto import _core

METHOD = """\
In each workload all libraries run in turn in one process on the same data, {repeats} times (A B C, A B C, …), each
time with another seed; R runs in its own process and is timed inside it. Times are medians. A ratio is the library's
median divided by conjunto's, so that more than 1 means conjunto is faster; in brackets are the smallest and the
largest ratio of the pairs. With one thread CPU time counts (user and system). With two, only elapsed time is given,
because some libraries work in other processes. The error is the share of wrong rows (regression: root mean squared
error) on test rows that all share, averaged over the repetitions. R has one thread only, and its randomForest
always computes out-of-bag votes. LightGBM and scikit-learn-intelex search binned values, the others every value;
LightGBM in random forest mode samples without replacement. scikit-learn-intelex and LightGBM have no bagging, so
that their forests use all columns there, no class-switching and no AdaBoost. Boosting is AdaBoost: SAMME with stumps,
in regression R2 with resampled rows and trees of depth 3; its trees follow one another, so that it has one thread.
Pruned trees are bagged CART trees, each pruned by 10-fold cross-validation. scikit-learn has no such method: it is
timed on the eleven tree fits of each member that no loop over its trees can avoid (the tree of the bootstrap sample,
and one without each fold), with the drawing of samples and folds, and on nothing else; the pruning itself, in Python,
is left out of its time, and gives its error. R's rpart has the method, and is timed on bootstrap samples, fits and
pruning. Nobody else has IGP trees: scikit-learn is timed on two trees for each member, one on each half of the rows,
which is less than the method needs, and its error is that of a vote of all of them.
Where only some of the trees are measured, what a library prepares once per fit weighs more than it would with
all of them."""


EVERYDAY = """\
How many times longer other libraries take on tables like those of users (`python -m benchmarks.everyday`): geometric
means over nine tables, each with a forest of 100 trees and bagging of 10, one thread, CPU time; in brackets the table
where we lead least. conjunto gets the DataFrame as it is, the others an array in which categories and missing values
are numbers. A model is asked once before its predictions are timed."""

BUSY = "Other programs were running at the start: elapsed times are larger than they should be, CPU times less so."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def seconds(value: float) -> str:
    """A time with three digits in a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def times(value: Ratio) -> str:
    """A ratio with its range."""
    return f"{value.middle:.1f} ({value.low:.1f} … {value.high:.1f})"


def describe(task: Task) -> str:
    """A task in a few words."""
    return f"{task.trees} trees, {task.rows:,} × {task.columns}"


def _error(series: Series, task: Task) -> str:
    return f"{100 * series.error:.2f} %" if task.classes else f"{series.error:.3f}"


def _comparison_rows(result: Comparison) -> Iterable[Sequence[str]]:
    own = result.of(OURS)
    assert own is not None
    about = f"{describe(result.workload.task)}; measured {result.workload.note}"
    about = about if result.workload.note else describe(result.workload.task)
    if result.workload.kind != "fit":
        predicted = "one row" if result.workload.kind == "one" else f"{result.workload.test_rows:,} rows"
        about = f"{about}; predict {predicted}"
    for series in result.series:
        one_thread = result.threads == 1
        peer = not series.name.startswith(OURS)
        yield (
            f"{result.workload.name} ({about})",
            str(result.threads),
            series.name,
            seconds(series.cpu) if one_thread else "–",
            seconds(series.wall),
            times(ratio(series, own, "cpu")) if one_thread and peer else "–",
            times(ratio(series, own, "wall")) if peer else "–",
            _error(series, result.workload.task),
        )


def times_table(results: Sequence[Result]) -> str:
    """The table of all races."""
    head = ("workload", "threads", "library", "CPU", "elapsed", "CPU ratio", "elapsed ratio", "test error")
    return table(
        head, (row for result in results if isinstance(result, Comparison) for row in _comparison_rows(result))
    )


def figures_table(results: Sequence[Result]) -> str:
    """The table of growth and memory."""
    rows = (
        (f"{result.workload.name} ({describe(result.workload.task)})", *line)
        for result in results
        if isinstance(result, Figures)
        for line in result.lines
    )
    return table(("workload", "library", "what", "value"), rows)


def bars_table(results: Sequence[Result], quick: bool) -> str:
    """The bars next to what was measured."""
    rows = (
        (verdict.workload, verdict.bar, verdict.measured, _judgement(verdict, quick))
        for result in results
        for verdict in result.verdicts()
    )
    return table(("workload", "bar", "measured", "verdict"), rows)


def _judgement(verdict: Verdict, quick: bool) -> str:
    if quick:
        return "not judged"
    word = "met" if verdict.met else "**missed**"
    return f"{word} ({verdict.remark})" if verdict.remark else word


def machine(r_versions: Mapping[str, str]) -> str:
    """The machine and the versions, in general terms."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = [f"Python {platform.python_version()}"]
    for name in ("numpy", "scikit-learn", "scikit-learn-intelex", "lightgbm", "conjunto"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    versions += [f"{name} {number}" for name, number in r_versions.items()]
    return (
        f"{platform.machine()}, {cores} cores, {memory:.0f} GiB of memory, {platform.system()}; conjunto's vector path "
        f"is {_core.kernel_name()}. {', '.join(versions)}."
    )


def report(results: Sequence[Result], quick: bool) -> str:
    """The tables that there is something to show in."""
    parts = []
    if any(isinstance(result, Comparison) for result in results):
        parts.append("## Times\n\n" + times_table(results))
    if any(isinstance(result, Figures) for result in results):
        parts.append("## Growth and memory\n\n" + figures_table(results))
    if any(True for result in results for _ in result.verdicts()):
        parts.append("## Bars\n\n" + bars_table(results, quick))
    return "\n\n".join(parts)


def page(
    results: Sequence[Result],
    repeats: int,
    missing: Sequence[str],
    r_versions: Mapping[str, str],
    *,
    quick: bool,
    busy: bool,
    everyday: str = "",
) -> str:
    """The whole page; `everyday` is what `python -m benchmarks.everyday` wrote, and comes first."""
    parts = [
        "# Benchmarks",
        f"{EVERYDAY}\n\n{everyday.strip()}\n\n## Textbook workloads" if everyday else "",
        f"Measured on {datetime.date.today().isoformat()} with `python -m benchmarks`.",
        "This was a quick run, which shows only that everything works: the figures mean nothing." if quick else "",
        BUSY if busy else "",
        "## Machine",
        machine(r_versions),
        "## How it was measured",
        re.sub(r"\s+", " ", METHOD.format(repeats=repeats)),
        f"Not installed, so not measured: {', '.join(missing)}." if missing else "",
        report(results, quick),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Everything that was measured, every repetition."""
    return [{"kind": type(result).__name__, **asdict(result)} for result in results]
