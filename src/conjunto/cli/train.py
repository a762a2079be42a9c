"""`conjunto train`: one method on all rows of a table, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conjunto.cli.inputs import (
    InputError,
    find_source,
    jobs_option,
    open_data,
    parse_methods,
    say,
    table_options,
)


@click.command(no_args_is_help=True, short_help="Train one method on all rows and save it.")
@click.argument("data")
@table_options
@click.option(
    "--method",
    default="random-forest",
    show_default=True,
    help="Such as bagging or adaboost:algorithm=mh:n_estimators=200 (`conjunto methods` lists them).",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", metavar="FILE", default="model.skops", show_default=True, type=click.Path(path_type=Path))
@jobs_option
@click.option("--allow-pickle", is_flag=True, help="Write a .pkl, which executes code when it is read.")
def train(data: str, method: str, seed: int, out: Path, jobs: int, allow_pickle: bool, **reading: Any) -> None:
    """Train a method on all rows of DATA, a file or the name of a data set, and save the model.

    \b
    conjunto train german.csv --method bagging:n_estimators=200 --out german.skops
    conjunto predict german.skops new.csv
    """
    import time

    from conjunto.atomic import check_place
    from conjunto.experiments import make
    from conjunto.model_file import Model, column_kinds, save_model
    from conjunto.report.words import human_bytes, human_seconds

    check_place(out)
    table = open_data(find_source(data, **reading)).data
    (chosen, *others) = parse_methods(method)
    if others:
        raise InputError("--method: one method; `conjunto compare` takes several")
    start = time.perf_counter()
    try:
        estimator = make(chosen.name, table.task, chosen.parameters, random_state=seed)
        if "n_jobs" in estimator.get_params():
            estimator.set_params(n_jobs=jobs)
        estimator.fit(table.X, table.y.to_numpy())
    except (TypeError, ValueError) as error:
        raise InputError(f"--method {method}: {error}") from error
    seconds = time.perf_counter() - start
    about = {"method": chosen.label, "data": table.name}
    save_model(
        out,
        Model(estimator, column_kinds(table.X), str(table.y.name), table.task, about=about),
        allow_pickle=allow_pickle,
    )
    say(f"trained in {human_seconds(seconds)}")
    click.echo(f"{out} ({human_bytes(out.stat().st_size)})")
