"""`judged`: everything that rows with known answers say of one model, as plain data.

Measures with their intervals and what the best constant has, each class, the confusion, and the main measure within
parts of the rows. Tables, pages and JSON are made of the same facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures import MEASURES, SKEWED, default_measures, is_skewed
from conjunto.experiments.measures.judging import best_constant, judge, wilson
from conjunto.experiments.measures.resampled_tables import tables
from conjunto.experiments.measures.scored import Scored


def measures_for(scored: Scored) -> tuple[str, ...]:
    """What is measured where nothing is asked for: where one of two classes is rare, measures that see it."""
    if scored.classes is None:
        return default_measures("regression")
    counts = np.bincount(scored.codes, minlength=len(scored.classes))
    return SKEWED if len(counts) == 2 and is_skewed(counts) else default_measures("classification")


def judged(
    scored: Scored,
    measures: Sequence[str],
    parts: Sequence[tuple[str, NDArray[np.bool_]]] = (),
    *,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, Any]:
    """The facts about a model on rows that it was not trained on.

    Parameters
    ----------
    scored : Scored
        What the model says, beside the truth.
    measures : sequence of str
        Names of `MEASURES`; the first is the main one.
    parts : sequence of (name, mask of rows), default=()
        Within each the main measure is taken, too.
    seed, level : int, float
        As for `judge`.

    Returns
    -------
    dict
        `rows`; `level`; `measures` by name: `value`, `low`, `high`, `constant`; `parts`: `name`, `rows`, `value`, `low`
        and `high` of each. Of classes also `positive`, a label, where there are two; `classes`: `label`, `rows`,
        `predicted`, and `recall` and `precision` (`value`, `low`, `high`) and `f1` of each; `confusion`: rows by true,
        then predicted class. What cannot be taken is NaN.
    """
    constant = best_constant(scored)
    found = judge(scored, measures, seed=seed, level=level)
    facts: dict[str, Any] = {
        "rows": len(scored.y),
        "level": level,
        "measures": {
            name: {**_interval(*numbers), "constant": MEASURES[name].of(constant)} for name, numbers in found.items()
        },
        "parts": [_part(scored, measures[0], name, rows, seed, level) for name, rows in parts],
    }
    if scored.classes is None:
        return facts
    table = tables(scored)(np.ones((1, len(scored.y))))[0].astype(int)
    if len(scored.classes) == 2:
        facts["positive"] = str(scored.classes[scored.positive])
    facts["classes"] = [_of_class(table, code, str(label), level) for code, label in enumerate(scored.classes)]
    facts["confusion"] = table.tolist()
    return facts


def _interval(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}


def _part(scored: Scored, measure: str, name: str, rows: NDArray[np.bool_], seed: int, level: float) -> dict[str, Any]:
    """The main measure within some of the rows; the positive class stays the one of all."""
    proba = None if scored.proba is None else scored.proba[rows]
    rarer = None if scored.classes is None else scored.positive
    inside = Scored(None, None, scored.y[rows], scored.predicted[rows], scored.classes, proba, rarer)
    return {
        "name": name,
        "rows": int(rows.sum()),
        **_interval(*judge(inside, [measure], seed=seed, level=level)[measure]),
    }


def _of_class(table: NDArray[np.int_], code: int, label: str, level: float) -> dict[str, Any]:
    """What the answers are worth for one class."""
    right, rows, predicted = int(table[code, code]), int(table[code].sum()), int(table[:, code].sum())
    return {
        "label": label,
        "rows": rows,
        "predicted": predicted,
        "recall": _share(right, rows, level),
        "precision": _share(right, predicted, level),
        "f1": 2 * right / (rows + predicted) if rows + predicted else float("nan"),
    }


def _share(meant: int, n: int, level: float) -> dict[str, float]:
    return _interval(meant / n if n else float("nan"), *wilson(meant, n, level))
