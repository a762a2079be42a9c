"""`conjunto compare`: methods on data sets, a leaderboard, a page, the best model."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conjunto.cli.asked import Asked, arguments_again, pruned, read_arguments
from conjunto.cli.boards import STORE, board_json, board_text, holdout_text
from conjunto.cli.inputs import (
    InputError,
    check_folder,
    jobs_option,
    progress_bar,
    result_folder,
    say,
    split_options,
    table_options,
)

if TYPE_CHECKING:
    from conjunto.experiments import Results
    from conjunto.experiments.best import Saved

_SHARE: dict[str, Any] = {"metavar": "[SHARE]", "is_flag": False, "flag_value": 0.2}


@click.command(no_args_is_help=True, short_help="Compare methods on data: a leaderboard, a page, the best model.")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@table_options
@split_options
@click.option("--test", metavar="FILE", help="Rows that are judged once, at the end, by the best model of all.")
@click.option(
    "--methods",
    metavar="LIST",
    help="Such as cart,adaboost:algorithm=mh:n_estimators=200; all, rivals or panel for many at once; module:Class for "
    "an estimator of your own (`conjunto methods` lists them). Default: panel.",
)
@click.option(
    "--protocol",
    metavar="P",
    help="10x10 (repeated k-fold), 5-fold, holdout:100, bootstrap:50, forward:5; default: by size.",
)
@click.option(
    "--prune",
    **_SHARE,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Every ensemble once more, cut to this share of its members; 0.2 where none is given.",
)
@click.option(
    "--prune-best",
    **_SHARE,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The best ensemble that can be pruned once more, cut to this share of its members.",
)
@click.option("--measures", metavar="LIST", help="Such as error,auc; the first one ranks (`conjunto measures`).")
@click.option("--seed", type=click.IntRange(0), help="By default 0.")
@click.option(
    "--out",
    metavar="DIR",
    help="Folder of results. What is there is not run again; further methods, repetitions, data sets and measures join "
    "it. Default: conjunto-DATA.",
)
@jobs_option
@click.option("--retry-failed", is_flag=True, help="Run cells that failed before again.")
@click.option(
    "--answers/--no-answers",
    default=True,
    help="Keep what models say about test rows, so that another question needs no run (the default), or do not.",
)
@click.option("--explain/--no-explain", default=True, help="Find out which columns the best method uses, or do not.")
@click.option("--json", "as_json", is_flag=True, help="The leaderboard as JSON on standard output.")
def compare(data: tuple[str, ...], **options: Any) -> None:
    """Compare methods on DATA: files, names of data sets, or one experiment in a .toml file.

    Prints a leaderboard with error bars and writes report.html, results.sqlite and the best model, fitted on all rows.

    \b
    conjunto compare german
    conjunto compare prices.csv --target price --methods bagging,random-forest
    conjunto compare prices.csv --target price --methods rivals    (joins what was run)
    conjunto compare visits.csv --target sick --groups patient --test later.csv
    conjunto compare wine sonar glass --protocol 10x10 --out three
    conjunto compare experiment.toml
    """
    asked = read_arguments(data, options)
    out = Path(options["out"] or f"conjunto-{asked.experiment.name}")
    check_folder(out)
    command = shlex.join(["conjunto", "compare", *arguments_again(data, options, out)])
    results = _run(asked, out, options, command)
    if options["prune_best"] is not None:
        asked = _with_best_pruned(asked, results, options["prune_best"])
        results = _run(asked, out, options, command)
    for name in results.datasets:
        for warning in results.facts.get(name, {}).get("warnings", []):
            say(f"Warning: {name}: {warning}")
    _finish(asked, results, out, options)


def _run(asked: Asked, out: Path, options: dict[str, Any], command: str) -> Results:
    """Run what is missing, and say what is."""
    from conjunto.datasets import readable
    from conjunto.experiments import run
    from conjunto.experiments.run import threads_each
    from conjunto.report.words import count

    experiment = asked.experiment
    methods = count(len(experiment.methods), "method")
    threads = count(threads_each(options["jobs"]), "thread")
    say(f"{count(len(experiment.cells()), 'cell')}: {experiment.describe_protocol()}, {methods} -> {out}")
    with result_folder(out), progress_bar(experiment.name) as progress:
        say(f"  each model may use {threads}")
        return run(
            experiment,
            out / STORE,
            n_jobs=options["jobs"],
            retry_failed=options["retry_failed"],
            progress=progress,
            command=readable(command),
            opened=asked.opened,
            keep_answers=options["answers"],
        )


def _with_best_pruned(asked: Asked, results: Results, share: float) -> Asked:
    """The experiment with the best ensemble of each data set that can be pruned, cut."""
    from conjunto.experiments.making import can_be_pruned

    methods = {method.label: method for method in asked.experiment.methods}
    found = []
    for board in results.boards.values():
        able = [
            methods[label]
            for label in board[board["n"] > 0]["method"]
            if label in methods and can_be_pruned(methods[label].name, methods[label].parameters)
        ]
        found += [pruned(method, share) for method in able[:1]]
    new = {method.label: method for method in found if method.label not in methods}
    if not found:
        raise InputError("--prune-best: none of the methods can be pruned")
    return replace(asked, experiment=replace(asked.experiment, methods=(*asked.experiment.methods, *new.values())))


def _finish(asked: Asked, results: Results, out: Path, options: dict[str, Any]) -> None:
    """Show the results; then fit, judge and explain the best, and show that too."""
    from conjunto.report import report_facts, with_findings, write_page

    # Whatever becomes of the best model, the results are out before it is fitted.
    facts = report_facts(out / STORE, results=results)
    page = write_page(out / "report.html", facts)
    if not options["as_json"]:
        for name in results.datasets:
            click.echo(board_text(name, results))
        for failure in results.failures().groupby("method").first().itertuples():
            say(f"{failure.Index} failed: {failure.reason}")
        click.echo(f"report: {page}")
    say("fitting the best on all rows")
    saved, problems = _save_models(asked, results, out, explain=options["explain"])
    models = {name: model.file for name, model in saved.items()}
    unsaved = {name: _passed_over(model) for name, model in saved.items() if model.passed_over}
    write_page(page, with_findings(facts, out / STORE, results), models=models, unsaved=unsaved)
    if options["as_json"]:
        told = {name: str(problem) for name, problem in problems.items()}
        board = board_json(results, out, models) | {"report": str(page), "not_saved": told | unsaved}
        click.echo(json.dumps(board, indent=2))
    else:
        for name, model in saved.items():
            click.echo(f"best model, fitted on all rows: {out / model.file} ({model.method})")
            if asked.holdout is not None:
                click.echo(holdout_text(name, results))
    for name, reason in unsaved.items():
        say(f"{name}: {reason}")
    for name, problem in problems.items():
        say(f"the best model of {name} was not saved, its results are complete: {type(problem).__name__}: {problem}")
    if any(isinstance(problem, OSError) for problem in problems.values()):
        raise click.exceptions.Exit(1)


def _passed_over(saved: Saved) -> str:
    """Why the best that is saved is not the best of all."""
    names = " and ".join(saved.passed_over)
    better = "is better" if len(saved.passed_over) == 1 else "are better"
    return f"{names} {better}, and not saved: {next(iter(saved.passed_over.values()))}; {saved.method} is saved"


def _save_models(
    asked: Asked, results: Results, out: Path, *, explain: bool
) -> tuple[dict[str, Saved], dict[str, Exception]]:
    """Fit and save the best model of each data set; return them, and what went wrong where there is none."""
    from conjunto.experiments import save_best
    from conjunto.experiments.best import explain_best, judge_holdout

    saved, problems = {}, {}
    for item in asked.opened:
        try:
            if (model := save_best(asked.experiment, item, results, out)) is not None:
                saved[item.source.name] = model
                if asked.holdout is not None:
                    judge_holdout(item, results, model, out, asked.holdout)
            if explain:
                explain_best(asked.experiment, item, results)
        except Exception as problem:  # whatever it is, the results stand
            problems[item.source.name] = problem
    return saved, problems
