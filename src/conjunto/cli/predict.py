"""`conjunto predict`: a saved model on a table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conjunto.cli.inputs import InputError, say


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
    """Predict the rows of DATA (.csv, .csv.gz, .tsv, .parquet, .arff) with a MODEL that conjunto saved.

    Columns may stand in any order; those that the model does not know are listed and left out.

    \b
    conjunto predict model.skops new.csv --keep id --probabilities --out predictions.csv
    """
    import pandas

    from conjunto.atomic import whole_file
    from conjunto.checks import suggest
    from conjunto.datasets import read_frame
    from conjunto.model_file import load_model

    loaded = load_model(model, allow_pickle=allow_pickle)
    if probabilities and not hasattr(loaded.estimator, "predict_proba"):
        raise InputError(
            f"--probabilities: {model.name} gives none" + " (it is a regression)" * (loaded.task == "regression")
        )
    texts = [name for name, kind in loaded.columns.items() if kind == "category"]
    frame, _ = read_frame(data, texts)
    for name in keep:
        if name not in frame.columns:
            raise InputError(f"--keep: there is no column {name!r}; {suggest(name, frame.columns)}")
    extra = [name for name in frame.columns if name not in loaded.columns and name not in keep]
    if extra and loaded.columns:
        say(f"not used: {', '.join(extra[:8])}{', …' if len(extra) > 8 else ''}")
    X = loaded.arrange(frame if loaded.columns else frame.drop(columns=list(keep)))
    target = loaded.target or "prediction"
    kept = {name: frame[name] for name in keep if name != target}
    try:
        answers = loaded.estimator.predict(X)
        shares = loaded.estimator.predict_proba(X) if probabilities else None
    except (TypeError, ValueError) as error:
        if not loaded.alone:
            raise
        # What another library's model takes only that model knows.
        raise InputError(f"{model.name} cannot predict these rows: {error}") from error
    predicted = pandas.DataFrame({**kept, target: answers})
    if shares is not None:
        for k, label in enumerate(loaded.classes):
            predicted[f"p({label})"] = shares[:, k]
    if out is None:
        predicted.to_csv(sys.stdout, index=False)
        return
    with whole_file(out) as part:
        predicted.to_csv(part, index=False)
    say(f"{len(predicted):,} predictions: {out}")
