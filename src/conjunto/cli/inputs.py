"""What the commands share: naming data, methods and protocols, and showing progress."""

from __future__ import annotations

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
    data: str, target: str | None, task: str | None, drop: tuple[str, ...], categorical: tuple[str, ...]
) -> Source:
    """A file of the user, or a data set by name."""
    from conjunto.datasets import canonical_name, table_name
    from conjunto.experiments import Source

    path = Path(data)
    if path.is_file():
        return Source(table_name(path), str(path), target, task, drop, categorical)
    if path.suffix or len(path.parts) > 1:
        raise FileNotFoundError(f"{data} {'is a folder, not a file' if path.is_dir() else 'does not exist'}")
    for option, value in (("--target", target), ("--task", task), ("--drop", drop), ("--categorical", categorical)):
        if value:
            raise InputError(f"{option} is for files; {data!r} is looked up by name")
    return Source(canonical_name(data))


def open_data(source: Source, seed: int = 0) -> OpenedSource:
    """Open a data set and show what it holds; `seed` decides the rows of a problem that is drawn."""
    from conjunto.experiments import open_source

    opened = open_source(source, seed)
    say(repr(opened.data)[1:-1])
    for note in opened.data.notes:
        say(f"  {note}")
    return opened


def parse_methods(text: str) -> list[Method]:
    """`bagging,random-forest:n_estimators=500` into methods."""
    from conjunto.checks import suggest
    from conjunto.experiments import METHODS, Method

    methods = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, *settings = part.split(":")
        if "=" in name:
            raise InputError(f"{name!r} is no method; parameters follow theirs with colons, as in bagging:a=1:b=2")
        if name not in METHODS:
            raise InputError(f"unknown method {name!r}; {suggest(name, METHODS, len(METHODS))} (`conjunto methods`)")
        methods.append(Method(name, part, dict(_setting(item) for item in settings)))
    if not methods:
        raise InputError(f"--methods: name at least one; known are {', '.join(METHODS)}")
    return methods


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


def parse_protocol(text: str) -> Protocol:
    """`10x10`, `5-fold`, `holdout:100` or `bootstrap:50` into a protocol."""
    from conjunto.experiments import Protocol
    from conjunto.experiments.spec import MOST_CELLS

    if re.search(r"\d{10}", text):
        raise InputError(f"--protocol: {text[:30]!r} is more than the {MOST_CELLS:,} partitions that can be run")
    if match := re.fullmatch(r"(?:(\d+)\s*x\s*)?(\d+)(?:-?fold)?", text.strip()):
        kind, repetitions, folds = "k-fold", int(match[1] or 1), int(match[2])
    elif match := re.fullmatch(r"(holdout|bootstrap)(?:-632)?(?::(\d+))?", text.strip()):
        kind = "holdout" if match[1] == "holdout" else "bootstrap-632"
        repetitions, folds = int(match[2] or (10 if kind == "holdout" else 50)), 10
    else:
        raise InputError(f"--protocol: {text!r} is none of 10x10, 5-fold, holdout:100, bootstrap:50")
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
def progress_bar(label: str) -> Iterator[Callable[[int, int, int], None]]:
    """A bar with the remaining time on standard error, or a line now and then where that is no terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None, failed="")
        shown = 0.0  # when the last line was written

        def show(done: int, failed: int, total: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if not shown and done:
                say(f"{done:,} of {total:,} cells were done before")
            elif shown and not console.is_terminal and now - shown > 20:
                say(f"{done:,} of {total:,} cells done" + (f", {failed:,} of them failed" if failed else ""))
            if not shown or now - shown > 20:
                shown = now
            failures = f"[red]{failed} failed[/red]" if failed else ""
            progress.update(task, completed=done, total=total, failed=failures)

        try:
            yield show
        except KeyboardInterrupt:
            say("what is done is kept: the same command goes on from there")
            raise
