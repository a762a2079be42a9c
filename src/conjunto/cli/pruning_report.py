"""What `conjunto prune` shows: the table of what pruning gains and costs, and the curve."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunto.cli.inputs import drawn

if TYPE_CHECKING:
    from conjunto.voters import Voters


def write_curve(pruned: Any, path: Path, files: ExitStack) -> None:
    """Write the error by number of members as a table or a picture; it takes its place when `files` close."""
    from conjunto.atomic import whole_file

    part = files.enter_context(whole_file(path))
    if path.suffix == ".csv":
        import pandas

        pandas.DataFrame(pruned.curve_).to_csv(part, index=False)
        return
    import matplotlib as mpl
    from matplotlib import pyplot

    from conjunto.plots import PruningCurveDisplay

    mpl.use("Agg")
    figure = PruningCurveDisplay.from_estimator(pruned).figure_
    figure.savefig(part, format=path.suffix[1:], dpi=150, facecolor="white")
    pyplot.close(figure)


def report_table(report: dict[str, Any], task: str) -> str:
    """Each number before and after, one to a line."""
    from rich.table import Table

    from conjunto.report.words import Scale, human_bytes

    table = Table(box=None, pad_edge=False)
    for head in ("", "before", "after", "difference", "95 % interval", ""):
        table.add_column(head, justify="right" if head else "left")
    members, size, spent = report["members"], report["bytes"], report["milliseconds_per_1000_rows"]
    table.add_row("members", str(members["before"]), str(members["after"]), _relative(members))
    table.add_row("size of the model", human_bytes(size["before"]), human_bytes(size["after"]), _relative(size))
    medians = {when: spent[when]["median"] for when in ("before", "after")}
    times = [f"{medians[when]:.3g}" for when in ("before", "after")]
    table.add_row("ms per 1000 rows", *times, _relative(medians))
    measure = "error" if task == "classification" else "mse"
    scale = Scale.of(measure, [error["before"] for error in report["error"].values()])
    for name, error in report["error"].items():
        low, high = scale.write(error["difference_low"]), scale.write(error["difference_high"])
        table.add_row(
            f"{'error' if measure == 'error' else 'mean squared error'}, {name}",
            scale.full(error["before"]),
            scale.full(error["after"]),
            scale.write(error["difference"]),
            f"{low} to {high}",
            "optimistic: members were selected on these rows" if error["optimistic"] else "",
        )
    return drawn(table, 130)


def _relative(numbers: dict[str, float]) -> str:
    """The change in percent of the number before."""
    change = round(100 * (numbers["after"] / numbers["before"] - 1))
    return f"{change:+d} %".replace("-", "\N{MINUS SIGN}") if change else "0 %"


def not_known(errors: dict[str, Any], voters: Voters, selection: str | float, n: int) -> list[str]:
    """Which errors the table lacks, and why."""
    lines = []
    if isinstance(selection, float):
        lines.append("the errors on training rows and out of bag: DATA are taken for rows that the model has not seen")
    elif "oob" not in errors:
        from conjunto.voters import rows_seen

        try:
            rows_seen(voters, n)
            why = "every member saw every row"
        except ValueError as error:
            why = str(error)
        lines.append(f"the error out of bag: {why}")
    if "test" not in errors:
        lines.append("the error on new rows: --test FILE gives some")
    return lines
