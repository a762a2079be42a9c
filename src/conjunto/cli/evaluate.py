"""`conjunto evaluate`: a saved model on rows whose answers are known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conjunto.cli.inputs import InputError, say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from conjunto.cli.known_rows import KnownRows
    from conjunto.experiments.measures.scored import Scored
    from conjunto.model_file import Model

MOST_PARTS = 20
"""Values of the column of --by."""
MISSING = "(missing)"


@click.command(no_args_is_help=True, short_help="Judge a saved model by rows with known answers.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", metavar="COLUMN", help="The column of the answers; by default the model's target.")
@click.option("--measures", metavar="LIST", help="Names with commas between, such as error,auc; the first is the main.")
@click.option(
    "--threshold",
    metavar="P",
    type=click.FloatRange(0, 1),
    help="Of two classes, predict the rarer one of the rows from this probability on.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help=f"The main measure within each value of a column of DATA, at most {MOST_PARTS}.",
)
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="A page (.html) with curves too.")
@click.option("--json", "as_json", is_flag=True, help="Write the numbers as JSON, in place of tables.")
@click.option(
    "--allow-pickle", is_flag=True, help="Read a model that is a pickle: only one of your own, it can execute anything."
)
def evaluate(
    model: Path,
    data: Path,
    target: str | None,
    measures: str | None,
    threshold: float | None,
    by: str | None,
    out: Path | None,
    as_json: bool,
    allow_pickle: bool,
) -> None:
    """Judge a MODEL that conjunto saved by DATA, rows with known answers that it was not trained on.

    DATA are a file as for `predict`, with the column of the answers, or - for CSV from standard input. Rows without an
    answer are left out. Intervals say what another draw of so many rows could have given: Wilson's for shares of rows
    such as the error, the bootstrap over rows for everything else.

    \b
    conjunto evaluate model.skops new.csv
    conjunto evaluate model.skops new.csv --measures auc,error --by region --out evaluation.html
    conjunto evaluate model.skops new.csv --threshold 0.3 --json
    """
    from conjunto.atomic import check_place
    from conjunto.cli.known_rows import read_known_rows
    from conjunto.experiments.measures.judged import judged, measures_for
    from conjunto.model_file import load_model

    if out is not None:
        if out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--out: {out.name} must end in .html")
        check_place(out)
    loaded = load_model(model, allow_pickle=allow_pickle)
    _need_one_target(loaded, model.name)
    asked = _measures(measures, loaded.task)
    known = read_known_rows(data, target, loaded, () if by is None else (by,))
    parts = [] if by is None else _parts(known, by, data)
    scored = _scored(model.name, loaded, known)
    if threshold is not None:
        scored = _at_threshold(scored, threshold, model.name)
    facts = judged(scored, asked or measures_for(scored), parts)
    facts = {
        "model": model.name,
        "method": loaded.about.get("method", ""),
        "data": data.name,
        "target": known.target,
        "task": loaded.task,
        "left_out": known.left_out,
        "threshold": threshold,
        "by": by,
        **facts,
    }
    if out is not None:
        from conjunto.report.evaluation import write_evaluation

        write_evaluation(out, facts, scored)
    if as_json:
        click.echo(json.dumps(_without_nan(facts), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _show(facts)
    if out is not None:
        (say if as_json else click.echo)(str(out))


def _need_one_target(model: Model, name: str) -> None:
    import numpy as np

    if getattr(model.estimator, "n_outputs_", 1) > 1 or any(np.ndim(label) for label in model.classes):
        raise InputError(f"{name} predicts several targets at once, and one is judged: train a model for it")


def _measures(text: str | None, task: str) -> tuple[str, ...]:
    """The measures that are named; none where the rows decide."""
    from conjunto.experiments.measures.judging import check_measures

    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in (text or "").split(",")))))
    try:
        check_measures(names, task)
    except ValueError as error:
        raise InputError(f"--{error}") from error
    return names


def _scored(name: str, model: Model, known: KnownRows) -> Scored:
    """What the model says about the rows, beside the truth."""
    import numpy as np

    from conjunto.experiments.measures.scored import Scored, one_per_row, rows_for

    estimator = model.estimator
    classes = np.asarray(model.classes) if model.classes else None
    try:
        rows = rows_for(estimator, known.X)
        predicted = one_per_row(estimator.predict(rows))
        said = None
        if classes is not None and hasattr(estimator, "predict_proba"):
            said = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if not model.alone:
            raise
        # What another library's model takes only that model knows.
        raise InputError(f"{name} cannot predict these rows: {error}") from error
    return Scored(None, None, known.y, predicted, classes, said)


def _at_threshold(scored: Scored, threshold: float, name: str) -> Scored:
    """The rarer of two classes wherever its probability reaches a threshold."""
    from dataclasses import replace

    import numpy as np

    if scored.classes is None or len(scored.classes) != 2:
        what = "numbers" if scored.classes is None else f"{len(scored.classes)} classes"
        raise InputError(f"--threshold is for two classes, and {name} predicts {what}")
    if scored.proba is None:
        raise InputError(f"--threshold: {name} gives no probabilities")
    positive = scored.proba[:, scored.positive] >= threshold
    codes = np.where(positive, scored.positive, 1 - scored.positive)
    return replace(scored, predicted=scored.classes[codes])


def _parts(known: KnownRows, by: str, data: Path) -> list[tuple[str, NDArray[np.bool_]]]:
    """The rows of each value of a column, numbers in their order, others by their texts; missing ones last."""
    from conjunto.checks import suggest
    from conjunto.datasets import as_text, is_number

    if known.frame is None:
        raise InputError(f"--by: the columns of {data.name} have no names")
    if by not in known.frame.columns:
        raise InputError(f"--by: there is no column {by!r}; {suggest(by, known.frame.columns)}")
    column = known.frame[by]
    if is_number(column.dtype):
        texts = column.map(_number, na_action="ignore")
        names = [_number(value) for value in sorted(column.dropna().unique())]
    else:
        texts = as_text(column)
        names = sorted(texts.dropna().unique())
    parts = [(name, (texts == name).to_numpy(dtype=bool)) for name in names[: MOST_PARTS + 1]]
    if column.isna().any():
        parts.append((MISSING, column.isna().to_numpy()))
    if len(parts) > MOST_PARTS:
        raise InputError(
            f"--by: {by!r} has {len(names):,} values, and at most {MOST_PARTS} are told apart: give a column with "
            "fewer, such as ranges of it"
        )
    return parts


def _number(value: float) -> str:
    """A whole number is written as one, also beside a missing value, which makes it a fraction."""
    return str(int(value)) if float(value).is_integer() else str(value)


def _show(facts: dict[str, Any]) -> None:
    """The facts as tables."""
    from conjunto.cli.evaluation_report import class_table, measure_table, part_table
    from conjunto.report.evaluation import constant_words
    from conjunto.report.words import count

    method = f" ({facts['method']})" if facts["method"] else ""
    out = f", {count(facts['left_out'], 'row')} without an answer left out" if facts["left_out"] else ""
    click.echo(f"{facts['model']}{method} on {count(facts['rows'], 'row')} of {facts['data']}{out}")
    if "positive" in facts:
        rule = "" if facts["threshold"] is None else f", predicted from a probability of {facts['threshold']:g} on"
        click.echo(f"positive class: {facts['positive']}, the rarer of these rows{rule}")
    click.echo(f"\n{measure_table(facts)}")
    if facts["parts"]:
        click.echo(f"\n{part_table(facts, facts['by'])}")
    if "classes" in facts:
        click.echo(f"\n{class_table(facts)}")
    click.echo(f"\nbest constant: {constant_words(facts)}, with the answers of these very rows")


def _without_nan(value: Any) -> Any:
    """The same with null for what is no number: JSON has no other word for it."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
