"""Martínez Muñoz (2006), cuadros 5.2 and 5.3: the subsets of a genetic algorithm against those of reduce-error.

The algorithm starts from single members, or from the part of reduce-error's order with the least training error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conjunto.evaluation import error_curve
from conjunto.experiments.reproduce import martinez_5
from conjunto.experiments.reproduce.martinez_5 import BAGGING, RUNS, sources
from conjunto.experiments.reproduce.published import read_published, rounding
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, conclude, judge, neutral
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method
from conjunto.experiments.splits.protocols import Protocol
from conjunto.ordering import genetic, reduce_error
from conjunto.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

DEPARTURES = (
    *martinez_5.DEPARTURES,
    "of parts of reduce-error's order with the same least error the largest is taken: the thesis does not say, its "
    "numbers of trees fit",
)
# What the columns of the published tables are called here.
COLUMNS = {
    "bagging": "bagging",
    "ga": "genetic",
    "reduce_error": "reduce-error",
    "ga_reduce_error": "genetic from reduce-error",
}
MEASURES = {"train_error_pct": "training error", "test_error_pct": "test error", "n_trees": "trees"}
# "Very small improvements or none": 1 run of 100 on diabetes, 13 on waveform.
FEW = 0.25


def best_of_reduce_error(votes: Votes, y: NDArray[Any]) -> NDArray[np.intp]:
    """The part of reduce-error's order with the least error; of equals the largest.

    The thesis does not say which; the smallest would have 14 trees on waveform and 8 on diabetes, not 35 and 10.
    """
    order = reduce_error(votes, y)
    curve = error_curve(votes, y, order=order)
    return order[: int(np.flatnonzero(curve <= curve.min() + 1e-12)[-1]) + 1]


def genetic_from_reduce_error(votes: Votes, y: NDArray[Any], random_state: Any = None) -> NDArray[np.intp]:
    """The genetic algorithm started from the best part of reduce-error's order."""
    return genetic(votes, y, seeds=[best_of_reduce_error(votes, y)], random_state=random_state)


def experiment() -> Experiment:
    """The experiment behind cuadros 5.2 and 5.3, with the members of cuadro 5.8."""
    choices: dict[str, dict[str, Any]] = {
        "genetic": {"pruning__method": "genetic"},
        "reduce-error": {"pruning__method": best_of_reduce_error},
        "genetic from reduce-error": {"pruning__method": genetic_from_reduce_error},
    }
    methods = (
        Method("bagging", parameters=BAGGING),
        *(Method("bagging", label, {**BAGGING, **choice}, seed_as="bagging") for label, choice in choices.items()),
    )
    protocol = Protocol("holdout", RUNS)
    return Experiment(
        sources("diabetes", "waveform"), methods, protocol, ("error", "training-error"), name="martinez-5.2"
    )


def table_5_2(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Diabetes: errors and numbers of trees."""
    return _table(results, "diabetes", datasets, "martinez-5.2")


def table_5_3(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Waveform: errors and numbers of trees."""
    return _table(results, "waveform", datasets, "martinez-5.3")


def _table(results: Results, name: str, datasets: list[str], key: str) -> tuple[list[Line], list[Conclusion]]:
    if name not in datasets:
        return [Line(name, "all of it", float("nan"), reason=f"this is the table of {name}, which was not run")], []
    found = _found(results, name)
    lines = []
    for row in read_published(key):
        values = found[row["measure"]][COLUMNS[row["method"]]].dropna()
        column = f"{COLUMNS[row['method']]}, {MEASURES[row['measure']]}"
        printed = row["value"]
        line = judge(name, column, float(printed), values, published_runs=RUNS, rounding=rounding(printed))
        lines.append(neutral(line) if row["measure"] == "n_trees" else line)
    return lines, _conclusions(name, found)


def _found(results: Results, name: str) -> dict[str, pd.DataFrame]:
    """Runs x methods of each thing that is measured."""
    frame = results.frame
    whole = frame[(frame["dataset"] == name) & (frame["size"] == 0) & (frame["status"] == "done")]
    return {
        "train_error_pct": 100 * results.scores(name, "training-error"),
        "test_error_pct": 100 * results.scores(name, "error"),
        "n_trees": whole.pivot(index="repetition", columns="method", values="members").astype(float),
    }


def _conclusions(name: str, found: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
    columns = ["genetic", "reduce-error", "genetic from reduce-error"]
    training = found["train_error_pct"][columns].to_numpy()
    trees = found["n_trees"][columns].to_numpy()
    lower = training[:, 2] < training[:, 1] - 1e-9
    larger = ~lower & (trees[:, 2] > trees[:, 1])
    improved = conclude(
        f"{name}: started from reduce-error's subset the genetic algorithm lowers its training error in few runs "
        f"(under {FEW:.0%})",
        lambda means: bool(means[0][0] < FEW),
        [lower[:, None]],
        f"lower in {lower.sum()} of {len(lower)} runs, as low with more trees in {larger.sum()}",
    )
    if np.isnan(training).any():
        improved = replace(improved, holds=None, found="not all of it was run")
    return [
        conclude(
            f"{name}: reduce-error finds a smaller training error than the genetic algorithm that starts from single "
            "members",
            lambda means: bool(means[0][1] < means[0][0]),
            [training],
            f"{training[:, 1].mean():.2f} against {training[:, 0].mean():.2f}",
        ),
        improved,
    ]
