"""`conjunto datasets`: what `compare` knows by name."""

from __future__ import annotations

import click


@click.command(short_help="The data sets that can be named.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
def datasets(name: str | None, as_json: bool) -> None:
    """List the data sets that can be named, or show all that is known of one.

    \b
    conjunto datasets
    conjunto datasets german
    """
    from conjunto.datasets import canonical_name, describe

    table = describe()
    if name is not None:
        table = table.loc[[canonical_name(name)]]
    if as_json:
        click.echo(table.reset_index().to_json(orient="records", indent=2, force_ascii=False))
    elif name is not None:
        for key, value in table.reset_index().iloc[0].items():
            click.echo(f"{key:<11}{value}")
    else:
        click.echo(f"{'name':<18}{'rows':>7}{'attributes':>12}{'classes':>9}  {'home':<14}title")
        for row in table.itertuples():
            click.echo(f"{row.Index:<18}{row.rows:>7}{row.attributes:>12}{row.classes:>9}  {row.home:<14}{row.title}")
