"""`conjunto report`: the page of a store, its tables, and further questions to it."""

from __future__ import annotations

from pathlib import Path

import click

TABLES = (".csv", ".parquet", ".tex")
ROWS = (".csv", ".parquet")


@click.command(no_args_is_help=True, short_help="The page of a store, its tables, and further questions to it.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="By default report.html beside the store.")
@click.option(
    "--measures", metavar="LIST", help="Look at other measures (`conjunto measures`); the first one ranks. No fit."
)
@click.option(
    "--threshold",
    metavar="P",
    type=click.FloatRange(0, 1),
    help="Predict the rarer of two classes from this probability on. No fit.",
)
@click.option(
    "--export",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the leaderboards to a .csv, .parquet or .tex too.",
)
@click.option(
    "--rows", metavar="FILE", type=click.Path(path_type=Path), help="Write a row for every cell to a .csv or .parquet."
)
def report(
    store: Path,
    out: Path | None,
    measures: str | None,
    threshold: float | None,
    export: Path | None,
    rows: Path | None,
) -> None:
    """Write the page of a STORE: results.sqlite, or the folder that holds it. Works while a run is going on.

    \b
    conjunto report conjunto-german
    conjunto report conjunto-german --measures average-precision,brier --export table.tex
    conjunto report conjunto-german --threshold 0.2 --out at-20.html
    """
    from conjunto.cli.boards import STORE, board_text
    from conjunto.cli.inputs import InputError
    from conjunto.experiments import Results, Store
    from conjunto.report import write_report
    from conjunto.report.saved import saved_models
    from conjunto.report.tables import leaderboards, write_table

    for option, path, endings in (("--export", export, TABLES), ("--rows", rows, ROWS)):
        if path is not None and path.suffix not in endings:
            raise InputError(f"{option}: {path.name} must end in {', '.join(endings[:-1])} or {endings[-1]}")
    store = store / STORE if store.is_dir() else store
    asked = [name.strip() for name in (measures or "").split(",") if name.strip()]
    with Store(store) as opened:
        try:
            results = Results.read(opened, measures=asked, threshold=threshold)
        except ValueError as error:
            if not asked or not str(error).startswith("measures"):
                raise
            raise InputError(f"--{error}") from error
        if rows is not None:
            opened.export(rows)
    page = write_report(
        store, out or store.parent / "report.html", models=saved_models(store, results), results=results
    )
    if asked or threshold is not None:
        for name in results.datasets:
            click.echo(board_text(name, results))
    click.echo(page)
    if export is not None:
        write_table(leaderboards(results), export)
        click.echo(export)
    if rows is not None:
        click.echo(rows)
