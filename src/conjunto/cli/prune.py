"""`conjunto prune`: a saved ensemble into a smaller one, with what that gains and costs."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conjunto.cli.inputs import InputError, find_source, jobs_option, open_data, say

if TYPE_CHECKING:
    from conjunto.model_file import Model
    from conjunto.pruning import Budget
    from conjunto.voters import Voters

PICTURES = (".svg", ".png")
UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3}


@click.command(no_args_is_help=True, short_help="Cut a saved ensemble to its best members.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@click.option("--target", metavar="COLUMN", help="The column that the model predicts; by default its own.")
@click.option(
    "--method",
    default="margin-distance",
    show_default=True,
    help="The order of members, such as orientation or reduce-error, or a search, such as optimal or genetic.",
)
@click.option(
    "--keep",
    default="0.2",
    show_default=True,
    help="A share, a number of members, auto, min-oob, min-selection, or the most that fit a budget: 2MB, 500kB, "
    "3ms (to predict 1000 rows), 0.2ms/row (one at a time), 2MB,3ms.",
)
@click.option(
    "--selection",
    default="train",
    show_default=True,
    help="What members are selected on: train, oob (out of bag), or a share such as 0.3 of DATA, which are then rows "
    "that the model has not seen.",
)
@click.option("--test", metavar="FILE", help="Rows to report on, used for nothing else.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the share and random orders.")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="By default MODEL with -pruned.")
@click.option(
    "--curve",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The error by number of members: a table (.csv) or a picture (.svg, .png).",
)
@jobs_option
@click.option(
    "--allow-pickle", is_flag=True, help="Read a model that is a pickle: only one of your own, it can execute anything."
)
def prune(
    model: Path,
    data: str,
    target: str | None,
    method: str,
    keep: str,
    selection: str,
    test: str | None,
    seed: int,
    out: Path | None,
    curve: Path | None,
    jobs: int,
    allow_pickle: bool,
) -> None:
    """Cut a MODEL that conjunto saved to its best members, given DATA, the rows that it was trained on.

    DATA are a file or the name of a data set, as for `train`. MODEL itself is not changed.

    \b
    conjunto prune model.skops german.csv
    conjunto prune model.skops german.csv --selection oob --keep min-oob --test new.csv --curve curve.svg
    conjunto prune model.skops german.csv --method orientation --keep 500kB --out small.skops
    """
    from conjunto.model_file import Model, load_model, save_model
    from conjunto.pruning import PrunedClassifier, PrunedRegressor
    from conjunto.pruning import prune as cut
    from conjunto.report.words import human_bytes
    from conjunto.voters import as_voters

    out = out or model.with_name(f"{model.stem}-pruned{model.suffix}")
    _check_outputs(model, out, curve)
    method, amount, rows = _parse_method(method), parse_keep(keep), parse_selection(selection)
    loaded = load_model(model, allow_pickle=allow_pickle)
    prunes = isinstance(loaded.estimator, PrunedClassifier | PrunedRegressor)
    fitted = loaded.estimator.estimator_ if prunes else loaded.estimator
    try:
        voters = as_voters(fitted)
    except (TypeError, ValueError) as error:
        raise InputError(f"{model}: {error}") from error
    X, y = _read(data, target, loaded)
    evaluate = None if test is None else _read(test, target, loaded)
    try:
        pruned = cut(
            fitted,
            X,
            y,
            method=method,
            keep=amount,
            selection=rows,
            evaluate=evaluate,
            n_jobs=jobs,
            random_state=seed,
        )
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from error
    members = pruned.pruning_report_["members"]
    about = loaded.about | {"pruned": f"{method}, {members['after']} of {members['before']} members"}
    with ExitStack() as files:
        # The curve takes its place when the model has: both or none.
        if curve is not None:
            _write_curve(pruned, curve, files)
        save_model(
            out, Model(pruned, loaded.columns, loaded.target, loaded.task, about=about), allow_pickle=allow_pickle
        )
    click.echo(_table(pruned.pruning_report_, loaded.task))
    for line in _not_known(pruned.pruning_report_["error"], voters, rows, len(y)):
        click.echo(f"not known: {line}")
    if curve is not None:
        click.echo(curve)
    click.echo(f"{out} ({human_bytes(out.stat().st_size)})")


def _check_outputs(model: Path, out: Path, curve: Path | None) -> None:
    """Refuse what cannot be written, before anything is computed."""
    if out.resolve() == model.resolve():
        raise InputError(f"--out: {out} is the model itself, which stays as it is: give another name")
    if curve is not None and curve.suffix not in (".csv", *PICTURES):
        raise InputError(f"--curve: {curve.name} must end in .csv, .svg or .png")
    for path in filter(None, (out, curve)):
        if not path.parent.is_dir():
            raise FileNotFoundError(f"the folder of {path} does not exist")


def _parse_method(text: str) -> str:
    from conjunto.checks import suggest
    from conjunto.ordering import CRITERIA

    names = {name.replace("_", "-"): name for name in CRITERIA}
    plain = text.strip().lower().replace("_", "-")
    if plain not in names:
        raise InputError(f"--method: unknown order {text!r}; {suggest(plain, names, len(names))}")
    return names[plain]


def parse_keep(text: str) -> float | int | str | Budget:
    """`0.2`, `50`, `auto`, `2MB`, `3ms` or `0.2ms/row` into what `prune` takes as `keep`."""
    from conjunto.pruning.keep import CUTS

    text = text.strip()
    if text in CUTS:
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _parse_budget(text)


def _parse_budget(text: str) -> Budget:
    from conjunto.pruning.keep import CUTS, Budget

    limits: dict[str, Any] = {}
    for part in text.split(","):
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(ms/row|ms|[kmg]?b)", part.strip(), flags=re.IGNORECASE)
        if found is None:
            raise InputError(
                f"--keep: {text!r} is none of a share (0.2), a number of members (50), {', '.join(CUTS)}, or a budget "
                "such as 2MB, 500kB, 3ms (for 1000 rows) or 0.2ms/row (for one at a time)"
            )
        number, unit = float(found[1]), found[2].lower()
        name = {"ms": "milliseconds_per_1000_rows", "ms/row": "milliseconds_per_row"}.get(unit, "bytes")
        if name in limits:
            raise InputError(f"--keep: {text!r} sets {name.replace('_', ' ')} twice: give one of each")
        limits[name] = round(number * UNITS[unit]) if unit in UNITS else number
    try:
        return Budget(**limits)
    except ValueError as error:
        raise InputError(f"--keep: {error}") from error


def parse_selection(text: str) -> str | float:
    """`train`, `oob`, or a share."""
    if text.strip() in ("train", "oob"):
        return text.strip()
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(f"--selection: {text!r} is none of train, oob, or a share of the rows between 0 and 1")
    return share


def _read(data: str, target: str | None, model: Model) -> tuple[Any, Any]:
    """The columns that the model expects, and the answers."""
    from conjunto.checks import suggest
    from conjunto.datasets import read_frame

    source = find_source(data, target, None, (), ())
    if source.path is None:
        table = open_data(source).data
        return model.arrange(table.X), table.y.to_numpy()
    column = target or model.target
    texts = [name for name, kind in model.columns.items() if kind == "category"]
    if any(isinstance(label, str) for label in model.classes):
        # Classes that were text stay text, also in a file where all of them look like numbers.
        texts.append(column)
    frame, notes = read_frame(Path(data), texts)
    for note in notes:
        say(f"  {note}")
    if column not in frame.columns:
        hint = "" if target else "the model's target; --target names another: "
        raise InputError(f"{data}: there is no column {column!r}, {hint}{suggest(column, frame.columns)}")
    known = frame[column].notna()
    if not known.all():
        say(f"{data}: {int((~known).sum())} rows without a target were left out")
    return model.arrange(frame[known].reset_index(drop=True)), frame.loc[known, column].to_numpy()


def _write_curve(pruned: Any, path: Path, files: ExitStack) -> None:
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


def _table(report: dict[str, Any], task: str) -> str:
    """Each number before and after, one to a line."""
    from io import StringIO

    from rich.console import Console
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
    text = StringIO()
    Console(file=text, width=130).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def _relative(numbers: dict[str, float]) -> str:
    """The change in percent of the number before."""
    change = round(100 * (numbers["after"] / numbers["before"] - 1))
    return f"{change:+d} %".replace("-", "\N{MINUS SIGN}") if change else "0 %"


def _not_known(errors: dict[str, Any], voters: Voters, selection: str | float, n: int) -> list[str]:
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
