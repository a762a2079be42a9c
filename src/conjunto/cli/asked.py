"""What `conjunto compare` is asked for: arguments into an experiment with its data sets, opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.cli.boards import STORE
from conjunto.cli.inputs import FORWARD, InputError, find_source, open_data, parse_methods, parse_protocol, say

if TYPE_CHECKING:
    from conjunto.datasets import Dataset
    from conjunto.experiments import Experiment, Method, OpenedSource, Protocol, Results

# Options of the experiment itself, which a .toml file says instead.
OF_EXPERIMENT: tuple[str, ...] = ("target", "task", "drop", "categorical", "groups", "time", "methods", "protocol")
OF_EXPERIMENT += ("prune", "measures", "seed")


@dataclass(frozen=True, eq=False)
class Asked:
    """An experiment and what belongs to it."""

    experiment: Experiment
    opened: list[OpenedSource]
    holdout: Dataset | None = None
    """Rows that are judged once, at the end."""


def read_arguments(data: tuple[str, ...], options: dict[str, Any]) -> Asked:
    """The experiment that the arguments describe, and its data sets, opened."""
    from conjunto.experiments import read_experiment

    if data[0].endswith(".toml"):
        if len(data) > 1 or any(options[name] not in (None, ()) for name in OF_EXPERIMENT):
            raise InputError("a .toml file says everything itself: give it alone, without options of the experiment")
        experiment = read_experiment(data[0])
        opened = [open_data(source, experiment.seed) for source in experiment.datasets]
        return Asked(experiment, opened, _open_holdout(opened, options["test"]))
    earlier = _earlier(data, options)
    seed = options["seed"] if options["seed"] is not None else 0 if earlier is None else int(earlier.spec["seed"])
    reading = [options[name] for name in ("target", "task", "drop", "categorical")]
    splitting = {name: options[name] for name in ("groups", "time")}
    sources = [find_source(name, *reading, **splitting) for name in data]
    opened = [open_data(source, seed) for source in sources]
    tables = [item.data for item in opened]
    tasks = {table.task for table in tables}
    if len(tasks) > 1:
        raise InputError("DATA mixes classification and regression: compare them apart")
    holdout = _open_holdout(opened, options["test"])
    task = tasks.pop()
    methods = _methods(options, task, max(len(table.y) for table in tables), earlier)
    protocol = _protocol(options, task, opened, earlier)
    name = name_of([source.name for source in sources])
    settings = (tuple(sources), methods, protocol, _measures(options, task, tables), seed, name)
    return Asked(_experiment(*settings), opened, holdout)


def name_of(datasets: list[str]) -> str:
    """What an experiment on these data sets, and its folder, is called."""
    return datasets[0] if len(datasets) == 1 else f"{datasets[0]}-and-{len(datasets) - 1}-more"


def _earlier(data: tuple[str, ...], options: dict[str, Any]) -> Results | None:
    """What is in the folder of results already: whatever is not said is as it was."""
    from conjunto.datasets import table_name
    from conjunto.experiments import Results

    store = Path(options["out"] or f"conjunto-{name_of([table_name(name) for name in data])}") / STORE
    return Results.read(store) if store.is_file() and store.stat().st_size else None


def _experiment(*settings: Any) -> Experiment:
    from conjunto.experiments import Experiment, SpecError

    try:
        return Experiment(*settings)
    except SpecError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def _open_holdout(opened: list[OpenedSource], path: str | None) -> Dataset | None:
    """The rows of `--test`, read as the one table was."""
    if path is None:
        return None
    from conjunto.experiments.splits.holdout import open_holdout

    if len(opened) > 1:
        raise InputError("--test is for one table: compare them apart, each with its own")
    holdout = open_holdout(path, opened[0])
    say(f"test: {len(holdout.y):,} rows of {holdout.source}, judged once, at the end")
    for note in holdout.notes:
        say(f"  {note}")
    return holdout


def _methods(options: dict[str, Any], task: str, rows: int, earlier: Results | None) -> tuple[Method, ...]:
    """The methods that are named, those of an earlier run, or the panel."""
    from conjunto.experiments.defaults import CURVE_SIZES, suggest_methods

    before = [] if earlier is None else [earlier.method(label) for label in earlier.methods]
    known = [method for method in before if method is not None]
    named = parse_methods(options["methods"], task) if options["methods"] else []
    methods = named or known or suggest_methods(task, rows)
    if options["prune"] is not None:
        methods = _with_pruned(methods, options["prune"])
    return tuple(method if method.sizes else replace(method, sizes=CURVE_SIZES) for method in methods)


def _with_pruned(methods: list[Method], share: float) -> list[Method]:
    """The methods, each ensemble that can be pruned followed by a part of the same members."""
    from conjunto.experiments.making import can_be_pruned

    found, labels, able = [], {method.label for method in methods}, False
    for method in methods:
        found.append(method)
        if can_be_pruned(method.name, method.parameters):
            able = True
            if pruned(method, share).label not in labels:
                found.append(pruned(method, share))
    if not able:
        raise InputError(f"--prune: none of {', '.join(method.name for method in methods)} can be pruned")
    return found


def pruned(method: Method, share: float) -> Method:
    """The same members, cut to a share of them."""
    from conjunto.experiments.making import PRUNING

    label = f"{method.label}, pruned to {100 * share:g} %"
    return replace(method, label=label, parameters={**method.parameters, f"{PRUNING}keep": share}, seed_as=method.label)


def _protocol(options: dict[str, Any], task: str, opened: list[OpenedSource], earlier: Results | None) -> Protocol:
    """The protocol that is named, that of an earlier run, or one that ends in minutes."""
    from conjunto.experiments import Protocol
    from conjunto.experiments.defaults import suggest_protocol

    if options["protocol"] or options["time"]:
        protocol = parse_protocol(options["protocol"] or FORWARD, options["time"])
    elif earlier is not None:
        return earlier.protocol
    else:
        rows, attributes = (max(item.data.X.shape[axis] for item in opened) for axis in (0, 1))
        protocol = suggest_protocol(rows, attributes)
        protocol = replace(protocol, stratify=False) if task == "regression" else protocol
        groups = min((int(item.groups.max()) + 1 for item in opened if item.groups is not None), default=None)
        if groups is not None and 2 <= groups < protocol.folds:
            protocol = replace(protocol, folds=groups)
        if protocol.partitions < Protocol().partitions:
            say(f"  {protocol}, instead of 10 x 10 folds, to end in minutes (--protocol changes it)")
    return replace(protocol, stratify=False) if task == "regression" else protocol


def _measures(options: dict[str, Any], task: str, tables: list[Dataset]) -> tuple[str, ...]:
    """The measures that are named; where one of two classes is rare in every table, those that see it."""
    from conjunto.experiments import MEASURES
    from conjunto.experiments.measures import SKEWED, is_skewed

    measures = tuple(filter(None, (options["measures"] or "").split(",")))
    for measure in measures:
        if measure in MEASURES and MEASURES[measure].task not in (task, "any"):
            raise InputError(f"--measures: {measure} is not for {task}")
    if measures or task == "regression":
        return measures
    rare = [table for table in tables if is_skewed(table.y.value_counts().to_numpy())]
    for table in rare:
        counts = table.y.value_counts()
        label, share = counts.index[-1], counts.iloc[-1] / counts.sum()
        say(f"  {table.name}: {str(label)!r} is rare, {counts.iloc[-1]:,} rows, {100 * share:.2g} %")
    if len(rare) == len(tables) and all(table.y.nunique() == 2 for table in tables):
        say("  ranked by average precision, which sees a rare class, in place of the error (--measures changes it)")
        return SKEWED
    return ()


def arguments_again(data: tuple[str, ...], options: dict[str, Any], out: Path) -> list[str]:
    """The arguments that repeat this run."""
    arguments = list(data)
    for name in ("target", "task", "groups", "time", "test", "methods", "protocol", "measures"):
        if options[name]:
            arguments += [f"--{name}", options[name]]
    for name in ("drop", "categorical"):
        for column in options[name]:
            arguments += [f"--{name}", column]
    for name in ("prune", "prune_best"):
        if options[name] is not None:
            arguments += [f"--{name.replace('_', '-')}", f"{options[name]:g}"]
    if options["seed"]:
        arguments += ["--seed", str(options["seed"])]
    return [*arguments, "--out", str(out)]
