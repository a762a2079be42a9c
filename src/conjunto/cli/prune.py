"""`conjunto prune`: a saved ensemble into a smaller one, with what that gains and costs."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conjunto.cli.inputs import InputError, find_source, jobs_option, open_data, say
from conjunto.cli.pruning_report import not_known, report_table, write_curve

if TYPE_CHECKING:
    import pandas as pd

    from conjunto.model_file import Model
    from conjunto.pruning import Budget

PICTURES = (".svg", ".png")
COMPRESSED = (".gz", ".z", ".bz2", ".xz", ".lzma", ".lz4")
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

    DATA are a file or the name of a data set, as for `train`. MODEL itself is not changed. With --allow-pickle it may
    also be an ensemble of scikit-learn that joblib.dump or pickle.dump wrote. Its trees are saved as conjunto's, with
    the same predictions, unless --out names a pickle.

    \b
    conjunto prune model.skops german.csv
    conjunto prune model.skops german.csv --selection oob --keep min-oob --test new.csv --curve curve.svg
    conjunto prune model.skops german.csv --method orientation --keep 500kB --out small.skops
    conjunto prune forest.joblib german.csv --target class --allow-pickle
    """
    from conjunto.model_file import load_model, save_model
    from conjunto.pruning import PrunedClassifier, PrunedRegressor
    from conjunto.pruning import prune as cut
    from conjunto.report.words import human_bytes
    from conjunto.voters import as_voters

    out = out or _beside(model)
    _check_outputs(model, out, curve)
    method, amount, rows = _parse_method(method), parse_keep(keep), parse_selection(selection)
    loaded = load_model(model, allow_pickle=allow_pickle)
    prunes = isinstance(loaded.estimator, PrunedClassifier | PrunedRegressor)
    fitted = loaded.estimator.estimator_ if prunes else loaded.estimator
    try:
        voters = as_voters(fitted)
    except (TypeError, ValueError) as error:
        raise InputError(f"{model}: {error}") from error
    X, y, column = _read(data, target, loaded)
    loaded = replace(loaded, target=loaded.target or column)
    evaluate = None if test is None else _read(test, target, loaded)[:2]
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
            write_curve(pruned, curve, files)
        save_model(
            out,
            replace(loaded, estimator=pruned, about=about),
            allow_pickle=allow_pickle,
        )
    click.echo(report_table(pruned.pruning_report_, loaded.task))
    for line in not_known(pruned.pruning_report_["error"], voters, rows, len(y)):
        click.echo(f"not known: {line}")
    if curve is not None:
        click.echo(curve)
    click.echo(f"{out} ({human_bytes(out.stat().st_size)})")


def _beside(model: Path) -> Path:
    """The default name of the result: a file that is safe to read, also where the model is a pickle."""
    plain = model.with_suffix("") if model.suffix in COMPRESSED else model
    return plain.with_name(f"{plain.stem}-pruned.skops")


def _check_outputs(model: Path, out: Path, curve: Path | None) -> None:
    """Refuse what cannot be written, before anything is computed."""
    from conjunto.atomic import check_place

    if out.resolve() == model.resolve():
        raise InputError(f"--out: {out} is the model itself, which stays as it is: give another name")
    if curve is not None and curve.suffix not in (".csv", *PICTURES):
        raise InputError(f"--curve: {curve.name} must end in .csv, .svg or .png")
    for path in filter(None, (out, curve)):
        check_place(path)


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


def _read(data: str, target: str | None, model: Model) -> tuple[Any, Any, str]:
    """The columns that the model expects, the answers, and the name of their column."""
    from conjunto.datasets import is_sparse_name, read_frame

    source = find_source(data, target, None, (), ())
    if source.path is None or is_sparse_name(data):
        table = open_data(source).data
        return model.arrange(table.X), table.y.to_numpy(), model.target or str(table.y.name)
    texts = [name for name, kind in model.columns.items() if kind == "category"]
    # Classes that were text stay text, also in a file where all of them look like numbers.
    text_classes = any(isinstance(label, str) for label in model.classes)
    named = target or model.target
    frame, notes = read_frame(Path(data), [*texts, named] if named and text_classes else texts)
    column = _target_of(frame, data, target, model)
    if text_classes and not named:
        frame, notes = read_frame(Path(data), [*texts, column])
    for note in notes:
        say(f"  {note}")
    known = frame[column].notna()
    if not known.all():
        say(f"{data}: {int((~known).sum())} rows without a target were left out")
    rows = frame[known].reset_index(drop=True)
    return replace(model, target=column).arrange(rows), rows[column].to_numpy(), column


def _target_of(frame: pd.DataFrame, data: str, target: str | None, model: Model) -> str:
    """The column of the answers: as named, the model's own, or the one that the model does not take."""
    from conjunto.checks import suggest

    column = target or model.target
    if not column:
        others = [str(name) for name in frame.columns if name not in model.columns]
        # A model that was fitted on an array takes all columns; the answers stand last, as for `train`.
        if model.columns and len(others) != 1:
            raise InputError(
                f"--target: {data} has {len(others)} columns that the model does not take, and the model does not say "
                "which one it predicts: name it"
            )
        column = others[-1]
    if column not in frame.columns:
        hint = "" if target else "the model's target; --target names another: "
        raise InputError(f"{data}: there is no column {column!r}, {hint}{suggest(column, frame.columns)}")
    return column
