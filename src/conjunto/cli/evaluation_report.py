"""What `conjunto evaluate` shows: the table of measures, that of the classes, and that of parts of the rows."""

from __future__ import annotations

from typing import Any

from conjunto.cli.inputs import drawn

WIDTH = 130


def measure_table(facts: dict[str, Any]) -> str:
    """Each measure with its interval and what the best constant has, one to a line."""
    from rich.table import Table

    from conjunto.experiments.measures import MEASURES
    from conjunto.report.evaluation import interval
    from conjunto.report.words import Scale

    table = Table(box=None, pad_edge=False)
    for head in ("", "value", _level(facts), "best constant", ""):
        table.add_column(head, justify="right" if head else "left")
    for name, numbers in facts["measures"].items():
        scale = Scale.of(name, [numbers["value"], numbers["constant"]])
        table.add_row(
            MEASURES[name].title,
            scale.full(numbers["value"]),
            interval(scale, numbers),
            scale.full(numbers["constant"]),
            "higher is better" if MEASURES[name].greater_is_better else "lower is better",
        )
    return drawn(table, WIDTH)


def class_table(facts: dict[str, Any]) -> str:
    """Each class: how many rows have it, how many are put in it, and how many of both are right."""
    from rich.table import Table

    from conjunto.report.evaluation import interval, shown_classes
    from conjunto.report.words import Scale

    table = Table(box=None, pad_edge=False)
    level = _level(facts)
    for head in ("class", "rows", "predicted", "recall", level, "precision", level, "F1"):
        table.add_column(head, justify="left" if head == "class" else "right")
    shares, f1 = Scale(True, 1), Scale(False, 3)
    shown = shown_classes(facts["classes"])
    for line in shown:
        table.add_row(
            line["label"],
            f"{line['rows']:,}",
            f"{line['predicted']:,}",
            shares.full(line["recall"]["value"]),
            interval(shares, line["recall"]),
            shares.full(line["precision"]["value"]),
            interval(shares, line["precision"]),
            f1.write(line["f1"]),
        )
    more = len(facts["classes"]) - len(shown)
    return drawn(table, WIDTH) + (f"\nand {more} more classes, which are recognised more often" if more else "")


def part_table(facts: dict[str, Any], column: str) -> str:
    """The main measure within each value of a column."""
    from rich.table import Table

    from conjunto.report.evaluation import interval
    from conjunto.report.words import Scale, title

    main = next(iter(facts["measures"]))
    table = Table(box=None, pad_edge=False)
    for head in (column, "rows", title(main), _level(facts)):
        table.add_column(head, justify="left" if head == column else "right")
    scale = Scale.of(main, [part["value"] for part in facts["parts"]])
    for part in facts["parts"]:
        table.add_row(part["name"], f"{part['rows']:,}", scale.write(part["value"]), interval(scale, part))
    return drawn(table, WIDTH)


def _level(facts: dict[str, Any]) -> str:
    return f"{100 * facts['level']:g} % interval"
