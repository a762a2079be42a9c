"""`conjunto reproduce`: published tables, run again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conjunto.cli.inputs import InputError, check_folder, jobs_option, progress_bar, say

if TYPE_CHECKING:
    from conjunto.experiments.reproduce import Comparison


@click.command(no_args_is_help=True, short_help="Run a published table again and compare.")
@click.argument("table", required=False)
@click.option("--list", "show", is_flag=True, help="The tables that can be run, what they need and what they cost.")
@click.option("--runs", type=int, help="Repetitions, 2 or more; by default as many as published.")
@click.option("--datasets", metavar="LIST", help="Only these, such as waveform,twonorm.")
@click.option("--quick", is_flag=True, help="5 repetitions: wider intervals.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), default="conjunto-reproduce", show_default=True)
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
def reproduce(
    table: str | None,
    show: bool,
    runs: int | None,
    datasets: str | None,
    quick: bool,
    out: Path,
    jobs: int,
    as_json: bool,
) -> None:
    """Run a published TABLE again and say, cell by cell, whether the numbers agree.

    A run that was stopped, or made with fewer repetitions or data sets, is continued, never repeated.

    \b
    conjunto reproduce --list
    conjunto reproduce martinez-4.2 --datasets waveform,twonorm --runs 20
    """
    from conjunto.experiments.reproduce import TABLES
    from conjunto.experiments.reproduce import reproduce as run_table

    if show:
        _list(as_json)
        return
    if table is None:
        raise InputError("name a table; `conjunto reproduce --list` shows them")
    check_folder(out)
    names = [name.strip() for name in datasets.split(",") if name.strip()] if datasets else None
    with progress_bar(table) as bar:
        compared = run_table(table, out, runs=runs, datasets=names, quick=quick, n_jobs=jobs, progress=bar)
    if as_json:
        click.echo(json.dumps(_as_json(compared), indent=2))
        return
    reproduction = TABLES[table]
    click.echo(f"{table}: {reproduction.title}\n{reproduction.source}")
    for departure in reproduction.departures:
        click.echo(f"not as published: {departure}")
    if compared.runs < compared.published_runs:
        click.echo(f"{compared.runs} runs instead of {compared.published_runs}: the intervals are wider")
    for name, reason in compared.skipped.items():
        say(f"not run: {name}: {reason}")
    click.echo(_table(compared))
    click.echo(", ".join(f"{verdict}: {count}" for verdict, count in compared.counts().items() if count))
    for conclusion in compared.conclusions:
        verdict = {True: "holds", False: "does not hold", None: f"undecided after {compared.runs} runs"}[
            conclusion.holds
        ]
        click.echo(f"{verdict}: {conclusion.statement}: {conclusion.found}")


def _list(as_json: bool) -> None:
    from conjunto.datasets import ENTRIES
    from conjunto.experiments.reproduce import TABLES, WorkedExample

    rows = []
    for key, table in TABLES.items():
        sources = () if isinstance(table, WorkedExample) else table.experiment().datasets
        names = [source.load or source.name for source in sources]
        files = [name for name in dict.fromkeys(names) if name in ENTRIES and ENTRIES[name].home == "external"]
        online = " or OpenML" if any(ENTRIES[name].openml for name in files) else ""
        needs = f"{', '.join(files)} from a folder (CONJUNTO_DATA){online}, else left out" if files else "nothing"
        rows.append({"key": key, "title": table.title, "source": table.source, "needs": needs, "cost": table.cost})
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for row in rows:
        click.echo(
            f"{row['key']}  {row['title']}\n    {row['source']}\n    needs: {row['needs']}\n    cost: {row['cost']}"
        )


def _table(compared: Comparison) -> str:
    lines = []
    for line in compared.lines:
        ours = line.ours_text or (f"{line.ours:.2f} ± {2 * line.standard_error:.2f}" if line.runs else "-")
        published = line.published_text or f"{line.published:g}"
        verdict = line.verdict + (f" ({line.reason})" if line.reason else "")
        lines.append((line.dataset, line.column, published, ours, verdict))
    head = ("data", "column", "published", "ours ± 2 se", "verdict")
    widths = [max(len(row[i]) for row in [head, *lines]) for i in range(4)]
    rows = [
        f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}  {e}"
        for a, b, c, d, e in [head, *lines]
    ]
    return "\n".join(rows)


def _as_json(compared: Comparison) -> dict[str, object]:
    lines = [{key: None if value != value else value for key, value in asdict(line).items()} for line in compared.lines]
    return {
        "table": compared.key,
        "runs": compared.runs,
        "published_runs": compared.published_runs,
        "counts": compared.counts(),
        "lines": lines,
        "conclusions": [asdict(conclusion) for conclusion in compared.conclusions],
        "skipped": compared.skipped,
    }
