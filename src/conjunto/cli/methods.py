"""`conjunto methods`: what `compare` and `train` know by name."""

from __future__ import annotations

import click


@click.command(short_help="The methods that can be named.")
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List the methods that can be named, or the parameters of one; * marks those that compare runs by default.

    Methods of other libraries come last; an estimator of your own is named module:Class.

    \b
    conjunto methods
    conjunto methods adaboost
    conjunto compare data.csv --methods bagging,adaboost:algorithm=mh:estimator__max_depth=3
    conjunto compare data.csv --methods panel,lightgbm,sklearn.svm:LinearSVC:C=0.1
    """
    from conjunto.cli.inputs import InputError, parse_methods
    from conjunto.experiments import METHODS, make
    from conjunto.experiments.making import parameters_of
    from conjunto.experiments.methods import estimator_name, installed, panel

    tasks = ("classification", "regression")
    if name is not None:
        (chosen, *_) = parse_methods(name)
        for task in (task for task in tasks if estimator_name(chosen.name, task)):
            try:
                model = make(chosen.name, task, chosen.parameters)
            except (TypeError, ValueError) as error:
                raise InputError(f"{name}: {error}") from error
            click.echo(f"{task}: {estimator_name(chosen.name, task)}")
            for parameter, value in sorted(parameters_of(model).items()):
                if parameter not in ("estimator", "random_state"):
                    click.echo(f"  {parameter}={value!r}")
        return
    default = {task: panel(task) for task in tasks}
    width = max(map(len, METHODS)) + 2
    for rival in (False, True):
        if rival:
            click.echo("\nof other libraries:")
        for key in (key for key, method in METHODS.items() if method.rival is rival):
            does = " and ".join(task + "*" * (key in default[task]) for task in tasks if estimator_name(key, task))
            missing = "" if installed(key) else " (not installed)"
            click.echo(f"{key:<{width}}{does:<34}{METHODS[key].title}{missing}")
