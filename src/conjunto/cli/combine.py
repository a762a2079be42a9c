"""`conjunto combine`: what the methods of a store would be worth together."""

from __future__ import annotations

import json
from pathlib import Path

import click

from conjunto.cli.inputs import InputError, say


@click.command(no_args_is_help=True, short_help="What the methods of a store would be worth together.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--ways", metavar="LIST", help="Such as stacking,greedy-selection; default: all that do the task.")
@click.option("--methods", metavar="LIST", help="Labels of the methods to combine; default: all that were compared.")
@click.option("--json", "as_json", is_flag=True, help="The leaderboard as JSON on standard output.")
def combine(store: Path, ways: str | None, methods: str | None, as_json: bool) -> None:
    """Combine everything that was compared in a STORE: results.sqlite, or the folder that holds it.

    The vote, naive Bayes, stacking, greedy selection, and the methods ordered and cut, from the answers that the store
    has kept: nothing is fitted again. Each is learned on other folds than it is judged on, and joins the leaderboard
    and the page as a row of its own, marked with +.

    \b
    conjunto combine conjunto-german
    conjunto combine conjunto-german --ways stacking,greedy-selection
    """
    from conjunto.cli.boards import STORE, board_json, board_text
    from conjunto.experiments import StoreError
    from conjunto.experiments import combine as combine_store
    from conjunto.experiments.combine import DEPENDENCE
    from conjunto.report import write_report
    from conjunto.report.saved import saved_models

    path = store / STORE if store.is_dir() else store
    try:
        results = combine_store(path, ways=_names(ways), methods=_names(methods), say=say)
    except StoreError:
        raise
    except ValueError as error:
        raise InputError(f"--{error}") from error
    page = write_report(path, path.parent / "report.html", models=saved_models(path, results), results=results)
    if as_json:
        click.echo(json.dumps(board_json(results, path.parent, {}) | {"report": str(page)}, indent=2))
        return
    for name in results.datasets:
        click.echo(board_text(name, results))
    say(DEPENDENCE)
    click.echo(f"report: {page}")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
