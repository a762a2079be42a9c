"""`write_report`: everything in a store as one page of HTML that needs nothing else.

The page depends on the store alone: the same store gives the same bytes. What users wrote (names, labels, notes,
tracebacks) is escaped by the template.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from conjunto.atomic import whole_file
from conjunto.experiments.results import Results
from conjunto.experiments.splits.protocols import Protocol
from conjunto.experiments.store import Store, StoreError
from conjunto.report import ran
from conjunto.report.templates import templates
from conjunto.report.words import count, listed, moment

PAGES = ("template.html", "parts.html", "dataset.html", "answered.html", "style.css")
"""What the page is put together from."""
MOST_OPEN = 3
"""With more data sets than this their sections are folded up."""


def write_report(
    store: str | Path,
    out: str | Path,
    *,
    models: dict[str, str] | None = None,
    results: Results | None = None,
    unsaved: dict[str, str] | None = None,
) -> Path:
    """Write the page of a store; a run that is going on is not disturbed.

    Parameters
    ----------
    store : path
        The SQLite file of an experiment.
    out : path
        The HTML file; replaced as a whole or not at all.
    models : dict of data set to file name, default=None
        Where the best model of a data set was saved, to be mentioned in the page.
    results : Results, default=None
        What is in the store, where it was read before; its leaderboards are not computed again then.
    unsaved : dict of data set to reason, default=None
        Why a better model than the one that was saved was not.

    Returns
    -------
    Path
        `out`.

    Raises
    ------
    StoreError
        If the file is no store, or no cell of it is done.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from conjunto.experiments import Experiment, Protocol, run
    >>> from conjunto.report import write_report
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> experiment = Experiment(("wine",), ("cart", "bagging"), Protocol("k-fold", repetitions=1, folds=3))
    >>> _ = run(experiment, folder / "results.sqlite")
    >>> write_report(folder / "results.sqlite", folder / "report.html").name
    'report.html'
    """
    return write_page(out, report_facts(store, results=results), models=models, unsaved=unsaved)


def report_facts(store: str | Path, *, results: Results | None = None) -> dict[str, Any]:
    """Everything that the page of a store shows, pictures too, for `write_page`."""
    templates(*PAGES)
    with Store(store) as opened, opened.snapshot():
        return _facts(opened, results or Results.read(opened))


def with_findings(facts: dict[str, Any], store: str | Path, results: Results) -> dict[str, Any]:
    """The facts of a report with what was found out since: nothing else is drawn again."""
    from conjunto.report.explained import findings

    with Store(store) as opened:
        sections = [
            section | findings(opened, section["name"], results.facts[section["name"]]["target"], section["model"])
            if section["board"] is not None
            else section
            for section in facts["sections"]
        ]
    return facts | {"sections": sections}


def write_page(
    out: str | Path,
    facts: dict[str, Any],
    *,
    models: dict[str, str] | None = None,
    unsaved: dict[str, str] | None = None,
) -> Path:
    """Write the page that the facts of a report make; `models` as in `write_report`."""
    out = Path(out)
    text = templates(*PAGES).get_template("template.html").render(facts, models=models or {}, unsaved=unsaved or {})
    with whole_file(out) as part:
        # The path of a file may hold bytes that are no UTF-8.
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return out


def _facts(store: Store, results: Results) -> dict[str, Any]:
    """Everything the template shows, as plain data."""
    from conjunto.report.across import across_section
    from conjunto.report.one import dataset_section
    from conjunto.report.pictures import Painter

    whole = results.frame[results.frame["size"] == 0]
    done, failed = (int((whole["status"] == status).sum()) for status in ("done", "failed"))
    if not done:
        why = f"all of its {count(failed, 'cell')} so far failed" if failed else "no cell of it is done yet"
        hint = ": " + results.failures()["reason"].iloc[0] if failed else ""
        raise StoreError(f"{store.path} has nothing to report: {why}{hint}")
    protocol = Protocol(**results.spec["protocol"])
    if all(facts["task"] == "regression" for facts in results.facts.values()):
        protocol = replace(protocol, stratify=False)  # there is nothing to stratify by, and the page should not say so
    painter = Painter(results.methods)
    across = across_section(results, painter)
    sections = [
        # A store may have been asked for fewer partitions of one data set than of another.
        dataset_section(results, store, name, painter, results.partitions(name) or protocol.partitions)
        for name in results.datasets
    ]
    shown = [section for section in sections if section["board"] is not None]
    return {
        "title": _title(store.name, results.datasets),
        "sentence": _lead(across, shown),
        "combined": sorted(results.combined),
        "cells": {"all": store.total, "done": done, "failed": failed, "missing": store.total - done - failed},
        "across": across,
        "sections": sections,
        "open": len(sections) <= MOST_OPEN,
        "datasets": [ran.dataset_row(name, results.facts.get(name)) for name in results.datasets],
        "methods": [ran.method_row(method) for method in results.spec["methods"]],
        "protocol": protocol.describe(any(facts.get("groups") for facts in results.facts.values())),
        "split_by": ran.split_by(results.datasets, results.facts),
        "threads": ran.threads(whole),
        "kept": ran.kept(store),
        "kind": protocol.kind,
        "seed": results.spec["seed"],
        "versions": ran.versions(whole),
        "started": moment(store.created),
        "finished": moment(max(whole["finished"])),
        "failures": ran.failures(results),
        "warnings": ran.warnings(whole),
        "command": store.command,
        "spec": json.dumps(results.spec, indent=2, ensure_ascii=False),
    }


def _title(name: str, datasets: list[str]) -> str:
    if name and name != "experiment":
        return name
    return listed(datasets) if len(datasets) <= 4 else f"{datasets[0]} and {len(datasets) - 1} more data sets"


def _lead(across: dict[str, Any] | None, shown: list[dict[str, Any]]) -> str:
    """The result in words: over all data sets, or of each."""
    if across is None:
        return " ".join(_named(section, shown) for section in shown)
    worthless = [section["name"] for section in shown if section["worthless"]]
    on = f" On {listed(worthless)} no method is better than the constant." if worthless else ""
    return str(across["sentence"]) + on


def _named(section: dict[str, Any], shown: list[dict[str, Any]]) -> str:
    return section["sentence"] if len(shown) == 1 else f"{section['name']}: {section['sentence']}"
