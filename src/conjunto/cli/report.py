"""`conjunto report`: the page of a store, and its rows as a table."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(no_args_is_help=True, short_help="The page of a store, and its rows as a table.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="By default report.html beside the store.")
@click.option(
    "--export", metavar="FILE", type=click.Path(path_type=Path), help="Write all rows to a .csv or .parquet too."
)
def report(store: Path, out: Path | None, export: Path | None) -> None:
    """Write the page of a STORE: results.sqlite, or the folder that holds it. Works while a run is going on.

    \b
    conjunto report conjunto-german
    conjunto report conjunto-german --export rows.parquet
    """
    from conjunto.cli.boards import STORE
    from conjunto.cli.inputs import InputError
    from conjunto.experiments import Store
    from conjunto.experiments.best import model_file_name
    from conjunto.report import write_report

    store = store / STORE if store.is_dir() else store
    with Store(store) as opened:
        names = [source["name"] for source in opened.spec["datasets"]]
        if export is not None:
            if export.suffix not in (".csv", ".parquet"):
                raise InputError(f"--export: {export.name} must end in .csv or .parquet")
            opened.export(export)
    files = {name: model_file_name(name, names) for name in names}
    found = {name: file for name, file in files.items() if (store.parent / file).is_file()}
    click.echo(write_report(store, out or store.parent / "report.html", models=found))
    if export is not None:
        click.echo(export)
