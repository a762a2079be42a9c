"""`conjunto predict`: a saved model on a table."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conjunto.cli.inputs import InputError, say

if TYPE_CHECKING:
    import pandas as pd

    from conjunto.model_file import Model

# The name by which messages know what comes through a pipe; its ending says the format.
PIPE = Path("standard-input.csv")


@click.command(no_args_is_help=True, short_help="Predict the rows of a table with a saved model.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="A CSV file; by default standard output.")
@click.option("--keep", metavar="COLUMN", multiple=True, help="Copy a column of DATA, such as an id; may be repeated.")
@click.option("--probabilities", is_flag=True, help="A column for the probability of each class.")
@click.option(
    "--allow-pickle", is_flag=True, help="Read a model that is a pickle: only one of your own, it can execute anything."
)
def predict(
    model: Path, data: Path, out: Path | None, keep: tuple[str, ...], probabilities: bool, allow_pickle: bool
) -> None:
    """Predict the rows of DATA (.csv, .csv.gz, .tsv, .parquet, .arff, .npz, .svmlight) with a MODEL of conjunto.

    DATA may also be - or a pipe: CSV from standard input.

    Columns may stand in any order; those that the model does not know are listed and left out.

    \b
    conjunto predict model.skops new.csv --keep id --probabilities --out predictions.csv
    zcat new.csv.gz | conjunto predict model.skops - > predictions.csv
    """
    import pandas

    from conjunto.atomic import check_place, whole_file
    from conjunto.checks import suggest
    from conjunto.datasets import is_sparse_name
    from conjunto.model_file import load_model

    if out is not None:
        check_place(out)
    loaded = load_model(model, allow_pickle=allow_pickle)
    if probabilities and not hasattr(loaded.estimator, "predict_proba"):
        raise InputError(
            f"--probabilities: {model.name} gives none" + " (it is a regression)" * (loaded.task == "regression")
        )
    texts = [name for name, kind in loaded.columns.items() if kind == "category"]
    target = loaded.target or "prediction"
    if is_sparse_name(data.name):
        X, kept = _sparse_rows(data, keep, loaded), {}
    else:
        frame = _read(data, texts)
        for name in keep:
            if name not in frame.columns:
                raise InputError(f"--keep: there is no column {name!r}; {suggest(name, frame.columns)}")
        extra = [name for name in frame.columns if name not in loaded.columns and name not in keep]
        if extra and loaded.columns:
            say(f"not used: {', '.join(extra[:8])}{', …' if len(extra) > 8 else ''}")
        X = loaded.arrange(frame if loaded.columns else frame.drop(columns=list(keep)))
        kept = {name: frame[name] for name in keep if name != target}
    try:
        answers = loaded.estimator.predict(X)
        shares = loaded.estimator.predict_proba(X) if probabilities else None
    except (TypeError, ValueError) as error:
        if not loaded.alone:
            raise
        # What another library's model takes only that model knows.
        raise InputError(f"{model.name} cannot predict these rows: {error}") from error
    predicted = pandas.DataFrame({**kept, **_columns(target, answers)})
    if shares is not None:
        for o, (of_target, labels) in enumerate(_by_target(shares, loaded.classes)):
            for k, label in enumerate(labels):
                predicted[f"p({label})" if answers.ndim == 1 else f"p({target}_{o}={label})"] = of_target[:, k]
    if out is None:
        predicted.to_csv(sys.stdout, index=False)
        return
    with whole_file(out) as part:
        predicted.to_csv(part, index=False)
    say(f"{len(predicted):,} predictions: {out}")


def _columns(target: str, answers: Any) -> dict[str, Any]:
    """What is predicted, by the name of its column; of several targets these are numbered."""
    return {target: answers} if answers.ndim == 1 else {f"{target}_{o}": each for o, each in enumerate(answers.T)}


def _by_target(shares: Any, classes: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(shares, classes, strict=True) if isinstance(shares, list) else [(shares, classes)]


def _sparse_rows(data: Path, keep: Collection[str], loaded: Model) -> Any:
    """The rows of a file of mostly zeros, whose columns have no names."""
    from conjunto.datasets import read_sparse

    if keep:
        raise InputError(f"--keep: the columns of {data.name} have no names")
    rows, _ = read_sparse(data)
    expected = getattr(loaded.estimator, "n_features_in_", rows.shape[1])
    if rows.shape[1] > expected and not loaded.columns:
        say(f"not used: columns from {expected} on, which the model does not know")
    return loaded.arrange(rows)


def _read(data: Path, texts: Collection[str]) -> pd.DataFrame:
    """The columns of a file, or of a CSV that comes through a pipe."""
    from conjunto.datasets import read_frame

    if str(data) == "-":
        return read_frame(PIPE, texts, sys.stdin.buffer.read())[0]
    return read_frame(PIPE, texts, data.read_bytes())[0] if data.is_fifo() else read_frame(data, texts)[0]
