"""What the commands share: naming data, methods and protocols, and showing progress."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from conjunto.experiments import Method, OpenedSource, Protocol, Source


def table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say how a user's table is read."""
    options = (
        click.option("--target", metavar="COLUMN", help="The column to predict; by default the last one."),
        click.option(
            "--task", type=click.Choice(["classification", "regression"]), help="By default the target decides."
        ),
        click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out; may be given several times."),
        click.option(
            "--categorical",
            metavar="COLUMN",
            multiple=True,
            help="Read a column as categories although it holds numbers.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def split_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say which rows must not be parted, or which came first."""
    options = (
        click.option(
            "--groups",
            metavar="COLUMN",
            help="No attribute, but what rows belong to, such as a customer: no group is trained on and tested.",
        ),
        click.option(
            "--time",
            metavar="COLUMN",
            help="No attribute, but when rows happened: only what came before is trained on (protocol forward:5).",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _check_jobs(context: Any, parameter: Any, jobs: int) -> int:
    if jobs == 0:
        raise click.BadParameter("0 does no work; -1 is all processors")
    return jobs


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    default=-1,
    callback=_check_jobs,
    help="How many processors to use; -1, the default, is all.",
)


class InputError(ValueError):
    """An argument cannot be used; the message says why and what to do."""


def find_source(
    data: str,
    target: str | None,
    task: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    *,
    groups: str | None = None,
    time: str | None = None,
) -> Source:
    """A file of the user, or a data set by name."""
    from conjunto.datasets import canonical_name, table_name
    from conjunto.experiments import Source

    path = Path(data)
    if path.is_file():
        reading = (target, task, drop, categorical)
        try:
            return Source(table_name(path), str(path), *reading, groups=groups, time=time)
        except ValueError as error:
            raise InputError(str(error)) from error
    if path.suffix or len(path.parts) > 1:
        raise FileNotFoundError(f"{data} {'is a folder, not a file' if path.is_dir() else 'does not exist'}")
    for option, value in (("--target", target), ("--task", task), ("--drop", drop), ("--categorical", categorical)):
        if value:
            raise InputError(f"{option} is for files; {data!r} is looked up by name")
    name = canonical_name(data)
    try:
        return Source(name, groups=groups, time=time)
    except ValueError as error:
        raise InputError(str(error)) from error


def open_data(source: Source, seed: int = 0) -> OpenedSource:
    """Open a data set and show what it holds; `seed` decides the rows of a problem that is drawn."""
    from conjunto.experiments import open_source

    opened = open_source(source, seed)
    say(repr(opened.data)[1:-1])
    for note in opened.data.notes:
        say(f"  {note}")
    return opened


def parse_methods(text: str, task: str | None = None) -> list[Method]:
    """`bagging,random-forest:n_estimators=500` into methods.

    With a task, the words `all`, `rivals` and `panel` stand for every method that does it and is installed, those of
    other libraries, and those that are compared by default. `module:Class:alpha=3` is an estimator of the user.
    """
    from conjunto.experiments import METHODS, Method
    from conjunto.experiments.methods import registered

    methods: list[Method] = []
    grouped: set[str] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part in GROUPS:
            there = {method.label for method in methods}
            found = [name for name in _group(part, task) if name not in there]
            grouped.update(found)
            methods += [Method(name) for name in found]
            continue
        name, settings = _named(part)
        if "=" in name:
            raise InputError(f"{name!r} is no method; parameters follow theirs with colons, as in bagging:a=1:b=2")
        try:
            registered(name)
        except ValueError as error:
            hint = "" if ":" in name else " (`conjunto methods`)"
            raise InputError(f"{error}{hint}") from error
        if part not in grouped:  # what a word before it stands for is run once
            methods.append(Method(name, part, dict(_setting(item) for item in settings)))
    if not methods:
        raise InputError(f"--methods: name at least one; known are {', '.join(METHODS)}")
    return methods


GROUPS = ("all", "rivals", "panel")
"""Words that stand for several methods of a task."""


def _group(word: str, task: str | None) -> list[str]:
    """The methods that a word stands for."""
    from conjunto.experiments.methods import installed, of_task, panel, rivals

    if task is None:
        raise InputError(f"{word!r} stands for several methods: name one")
    if word == "all":
        return [name for name in of_task(task) if installed(name)]
    return panel(task) if word == "panel" else rivals(task)


def _named(part: str) -> tuple[str, list[str]]:
    """The name of a method and its settings; that of a user's estimator is the first two parts, module:Class."""
    from conjunto.experiments import METHODS

    name, *settings = part.split(":")
    if settings and name not in METHODS and "=" not in name and "=" not in settings[0]:
        name, settings = f"{name}:{settings[0]}", settings[1:]
    return name, settings


def _setting(text: str) -> tuple[str, Any]:
    import ast

    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{text!r} is not name=value")
    # Also in lower case, as TOML writes them.
    constants = {"true": True, "false": False, "none": None}
    if value.lower() in constants:
        return name, constants[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two by brackets in brackets
        return name, value


FORWARD = "forward:5"
"""The protocol of rows that have times, where none is named."""


def parse_protocol(text: str, time: str | None = None) -> Protocol:
    """`10x10`, `5-fold`, `holdout:100`, `bootstrap:50` or `forward:5` into a protocol.

    With a column of times, `5-fold` means five blocks of forward chaining; nothing else goes with it.
    """
    from conjunto.experiments import Protocol
    from conjunto.experiments.spec import MOST_CELLS

    if re.search(r"\d{10}", text):
        raise InputError(f"--protocol: {text[:30]!r} is more than the {MOST_CELLS:,} partitions that can be run")
    if match := re.fullmatch(r"(?:(\d+)\s*x\s*)?(\d+)(?:-?fold)?", text.strip()):
        kind, repetitions, folds = "k-fold", int(match[1] or 1), int(match[2])
    elif match := re.fullmatch(r"(holdout|bootstrap)(?:-632)?(?::(\d+))?", text.strip()):
        kind = "holdout" if match[1] == "holdout" else "bootstrap-632"
        repetitions, folds = int(match[2] or (10 if kind == "holdout" else 50)), 10
    elif match := re.fullmatch(r"forward(?::(\d+))?", text.strip()):
        kind, repetitions, folds = "forward", 1, int(match[1] or 5)
    else:
        raise InputError(f"--protocol: {text!r} is none of 10x10, 5-fold, holdout:100, bootstrap:50, forward:5")
    if time is not None and kind == "k-fold" and repetitions == 1:
        kind = "forward"
    if time is not None and kind != "forward":
        why = "would repeat the same blocks" if kind == "k-fold" else "would train on rows later than those it tests"
        raise InputError(f"--protocol: {text!r} {why}, for --time cuts the rows in their order; give {FORWARD}")
    if time is None and kind == "forward":
        raise InputError(f"--protocol: {text!r} needs to know which rows came first: name their column with --time")
    try:
        return Protocol(kind, repetitions, folds)
    except ValueError as error:
        raise InputError(f"--protocol: {error}") from error


def drawn(table: Any, width: int) -> str:
    """A table of rich as text, in which what users wrote means nothing but itself: no [markup], no :emoji:."""
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    Console(file=text, width=width, markup=False, emoji=False, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def say(text: str) -> None:
    """Write a line for the person at the screen to standard error; standard output is for results."""
    click.echo(text, err=True)


def check_folder(path: Path) -> None:
    """Refuse a path where no folder can be made, because a file is there."""
    for part in (path, *path.parents):
        if part.exists():
            if not part.is_dir():
                raise InputError(f"--out: {part} is a file, and a folder is needed")
            return


@contextmanager
def result_folder(path: Path) -> Iterator[None]:
    """Make the folder of results; an error that leaves it empty removes it again."""
    check_folder(path)
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except Exception:
        if not any(path.iterdir()):
            path.rmdir()
        raise


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int, int, float], None]]:
    """A bar with the remaining time on standard error, or a line now and then where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeElapsedColumn(),
        TextColumn("gone{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None, failed="", left="")
        shown = 0.0  # when the last line was written

        def show(done: int, failed: int, total: int, seconds: float) -> None:
            nonlocal shown
            now = time.monotonic()
            left = _left(seconds) if done < total else ""
            if not shown and done:
                say(f"{done:,} of {total:,} cells were done before, {total - done:,} to run{left}")
            elif shown and not console.is_terminal and now - shown > 20:
                say(f"{done:,} of {total:,} cells done" + (f", {failed:,} of them failed" if failed else "") + left)
            if not shown or now - shown > 20:
                shown = now
            failures = f"[red]{failed} failed[/red]" if failed else ""
            progress.update(task, completed=done, total=total, failed=failures, left=left)

        try:
            yield show
        except KeyboardInterrupt:
            say("what is done is kept: the same command goes on from there")
            raise


def _left(seconds: float) -> str:
    """`, about 3 min left`; nothing while nobody knows."""
    if not math.isfinite(seconds):
        return ""
    if seconds < 90:
        return f", about {max(1, round(seconds))} s left"
    return f", about {round(seconds / 60)} min left" if seconds < 5400 else f", about {seconds / 3600:.1f} h left"
