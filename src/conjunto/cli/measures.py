"""`conjunto measures`: what `compare`, `report` and `evaluate` can measure."""

from __future__ import annotations

import click


@click.command(short_help="The measures that can be named.")
def measures() -> None:
    """List the measures that can be named; * marks those that are taken by default.

    Of two classes the rarer one counts as positive. Those marked "run" need the model itself and are taken while
    methods are run; all others are taken of answers, of a finished store too.

    \b
    conjunto measures
    conjunto compare data.csv --measures average-precision,brier
    conjunto report conjunto-data --measures kappa
    """
    from conjunto.experiments import MEASURES
    from conjunto.experiments.measures import default_measures

    usual = {*default_measures("classification"), *default_measures("regression")}
    width = max(map(len, MEASURES)) + 2
    for name, measure in MEASURES.items():
        better = "higher is better" if measure.greater_is_better else "lower is better"
        task = "both" if measure.task == "any" else measure.task
        marks = "*" * (name in usual) + ("" if measure.of_answers else " run")
        click.echo(f"{name:<{width}}{task + marks:<22}{better:<18}{measure.title}")
