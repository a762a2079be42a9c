"""`conjunto compare`: methods on data sets, a leaderboard, a page, the best model."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conjunto.cli.boards import STORE, board_json, board_text
from conjunto.cli.inputs import (
    InputError,
    check_folder,
    find_source,
    jobs_option,
    open_data,
    parse_methods,
    parse_protocol,
    progress_bar,
    result_folder,
    say,
    table_options,
)

if TYPE_CHECKING:
    from conjunto.experiments import Experiment, OpenedSource, Results


@click.command(no_args_is_help=True, short_help="Compare methods on data: a leaderboard, a page, the best model.")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@table_options
@click.option(
    "--methods",
    metavar="LIST",
    help="Such as cart,adaboost:algorithm=mh:n_estimators=200 (`conjunto methods` lists them); default: a panel.",
)
@click.option(
    "--protocol", metavar="P", help="10x10 (repeated k-fold), 5-fold, holdout:100, bootstrap:50; default: by size."
)
@click.option(
    "--prune",
    metavar="[SHARE]",
    is_flag=False,
    flag_value=0.2,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Every ensemble once more, cut to this share of its members; 0.2 where none is given.",
)
@click.option("--measures", metavar="LIST", help="Such as error,auc; the first one ranks.")
@click.option("--seed", type=click.IntRange(0), help="By default 0.")
@click.option(
    "--out", metavar="DIR", help="Folder of results; a run that was stopped goes on there. Default: conjunto-DATA."
)
@jobs_option
@click.option("--retry-failed", is_flag=True, help="Run cells that failed before again.")
@click.option("--json", "as_json", is_flag=True, help="The leaderboard as JSON on standard output.")
def compare(data: tuple[str, ...], **options: Any) -> None:
    """Compare methods on DATA: files, names of data sets, or one experiment in a .toml file.

    Prints a leaderboard with error bars and writes report.html, results.sqlite and the best model, fitted on all rows.

    \b
    conjunto compare german
    conjunto compare prices.csv --target price --methods bagging,random-forest
    conjunto compare wine sonar glass --protocol 10x10 --out three
    conjunto compare german --prune
    conjunto compare experiment.toml
    """
    from conjunto.datasets import readable
    from conjunto.experiments import run
    from conjunto.report import report_facts, write_page
    from conjunto.report.words import count

    experiment, opened = _experiment(data, options)
    out = Path(options["out"] or f"conjunto-{experiment.name}")
    check_folder(out)
    methods = count(len(experiment.methods), "method")
    say(f"{count(len(experiment.cells()), 'cell')}: {experiment.protocol}, {methods} -> {out}")
    with result_folder(out), progress_bar(experiment.name) as progress:
        results = run(
            experiment,
            out / STORE,
            n_jobs=options["jobs"],
            retry_failed=options["retry_failed"],
            progress=progress,
            command=readable(shlex.join(["conjunto", "compare", *_arguments(data, options, out)])),
            opened=opened,
        )
    for source in experiment.datasets:
        for warning in results.facts[source.name].get("warnings", []):
            say(f"Warning: {source.name}: {warning}")
    # Whatever becomes of the best model, the results are out before it is fitted.
    facts = report_facts(out / STORE, results=results)
    page = write_page(out / "report.html", facts)
    if not options["as_json"]:
        _show(results, page)
    say("fitting the best on all rows")
    models, problems = _save_models(experiment, opened, results, out)
    if models:
        write_page(page, facts, models=models)
    if options["as_json"]:
        told = {name: str(problem) for name, problem in problems.items()}
        click.echo(json.dumps(board_json(results, out, models) | {"report": str(page), "not_saved": told}, indent=2))
    else:
        for model in models.values():
            click.echo(f"best model, fitted on all rows: {out / model}")
    for name, problem in problems.items():
        say(f"the best model of {name} was not saved, its results are complete: {type(problem).__name__}: {problem}")
    if any(isinstance(problem, OSError) for problem in problems.values()):
        raise click.exceptions.Exit(1)


def _show(results: Results, page: Path) -> None:
    """Print the leaderboards, and why cells failed."""
    for name in results.datasets:
        click.echo(board_text(name, results))
    for failure in results.failures().groupby("method").first().itertuples():
        say(f"{failure.Index} failed: {failure.reason}")
    click.echo(f"report: {page}")


def _save_models(
    experiment: Experiment, opened: list[OpenedSource], results: Results, out: Path
) -> tuple[dict[str, str], dict[str, Exception]]:
    """Fit and save the best model of each data set; return the files, and what went wrong where there is none."""
    from conjunto.experiments import save_best

    models, problems = {}, {}
    for item in opened:
        try:
            if (model := save_best(experiment, item, results, out)) is not None:
                models[item.source.name] = model
        except Exception as problem:  # whatever it is, the results stand
            problems[item.source.name] = problem
    return models, problems


def _experiment(data: tuple[str, ...], options: dict[str, Any]) -> tuple[Experiment, list[OpenedSource]]:
    """The experiment that the arguments describe, and its data sets, opened."""
    from conjunto.experiments import MEASURES, Experiment, Protocol, read_experiment
    from conjunto.experiments.defaults import suggest_methods, suggest_protocol
    from conjunto.experiments.spec import SpecError

    if data[0].endswith(".toml"):
        given = [
            name
            for name in ("target", "task", "drop", "categorical", "methods", "protocol", "prune", "measures", "seed")
            if options[name] not in (None, ())
        ]
        if len(data) > 1 or given:
            raise InputError("a .toml file says everything itself: give it alone, without options of the experiment")
        experiment = read_experiment(data[0])
        return experiment, [open_data(source, experiment.seed) for source in experiment.datasets]
    reading = [options[name] for name in ("target", "task", "drop", "categorical")]
    seed = options["seed"] or 0
    sources = [find_source(name, *reading) for name in data]
    opened = [open_data(source, seed) for source in sources]
    tables = [item.data for item in opened]
    tasks = {table.task for table in tables}
    if len(tasks) > 1:
        raise InputError("DATA mixes classification and regression: compare them apart")
    rows, attributes = max(len(table.y) for table in tables), max(table.X.shape[1] for table in tables)
    task = tasks.pop()
    methods = parse_methods(options["methods"]) if options["methods"] else suggest_methods(task, rows)
    protocol = parse_protocol(options["protocol"]) if options["protocol"] else suggest_protocol(rows, attributes)
    if task == "regression":
        protocol = replace(protocol, stratify=False)
    if not options["protocol"] and protocol.partitions < Protocol().partitions:
        say(f"  {protocol}, instead of 10 x 10 folds, to end in minutes (--protocol changes it)")
    if options["prune"] is not None:
        methods = _with_pruned(methods, options["prune"])
    measures = tuple(filter(None, (options["measures"] or "").split(",")))
    for measure in measures:
        if measure in MEASURES and MEASURES[measure].task not in (task, "any"):
            raise InputError(f"--measures: {measure} is not for {task}")
    name = sources[0].name if len(sources) == 1 else f"{sources[0].name}-and-{len(sources) - 1}-more"
    try:
        experiment = Experiment(tuple(sources), _with_curves(methods), protocol, measures, seed, name)
    except SpecError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    return experiment, opened


def _with_pruned(methods: list[Any], share: float) -> list[Any]:
    """The methods, each ensemble that can be pruned followed by a part of the same members."""
    from conjunto.experiments.making import PRUNING, can_be_pruned

    found = []
    for method in methods:
        found.append(method)
        if can_be_pruned(method.name, method.parameters):
            label = f"{method.label}, pruned to {100 * share:g} %"
            parameters = {**method.parameters, f"{PRUNING}keep": share}
            found.append(replace(method, label=label, parameters=parameters, seed_as=method.label))
    if len(found) == len(methods):
        raise InputError(f"--prune: none of {', '.join(method.name for method in methods)} can be pruned")
    return found


def _with_curves(methods: list[Any]) -> tuple[Any, ...]:
    from conjunto.experiments.defaults import CURVE_SIZES

    return tuple(method if method.sizes else replace(method, sizes=CURVE_SIZES) for method in methods)


def _arguments(data: tuple[str, ...], options: dict[str, Any], out: Path) -> list[str]:
    """The arguments that repeat this run."""
    arguments = list(data)
    for name in ("target", "task", "methods", "protocol", "measures"):
        if options[name]:
            arguments += [f"--{name}", options[name]]
    for name in ("drop", "categorical"):
        for column in options[name]:
            arguments += [f"--{name}", column]
    if options["prune"] is not None:
        arguments += ["--prune", f"{options['prune']:g}"]
    if options["seed"]:
        arguments += ["--seed", str(options["seed"])]
    return [*arguments, "--out", str(out)]
