"""What the answers of a data set show beyond measures: curves, calibration, classes, and the rows that are hardest.

Answers about the test rows of all partitions are pooled: a row that was tested again counts again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.answers import Answers, HeldOut
from conjunto.experiments.combine import LEFT_OUT
from conjunto.experiments.measures.of_classes import certainty
from conjunto.experiments.measures.scored import Scored
from conjunto.experiments.results import Results
from conjunto.report.hardest import Hardest, HardRow

MOST_POOLED = 4_000_000
"""Answers (rows times classes) of a method that are pooled, in whole partitions; curves need no more."""
MOST_CURVES, MOST_POINTS = 4, 200
BINS, ROWS_OF_A_BIN = 10, 15
"""Of the calibration: bins of equal counts, fewer where there are not so many rows for each."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of one method, thinned out for a picture, and the area under the whole of it."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    area: float


@dataclass(frozen=True)
class OfClass:
    """What the answers of a method are worth for one class; NaN where nothing can be said."""

    label: str
    rows: int
    precision: float
    recall: float
    f1: float
    auc: float


@dataclass(eq=False)
class Answered:
    """What the methods of one data set said about its test rows, pooled."""

    best: Scored | None = None
    """The first of the leaderboard."""
    ranked: dict[str, tuple[NDArray[np.bool_], NDArray[np.float32]]] = field(default_factory=dict)
    """Of two classes, for the best few: whether rows are of the positive one, and its probability."""
    hardest: list[HardRow] = field(default_factory=list)
    hard: int = 0
    """How many rows are answered wrong more often than right."""
    tested: int = 0
    """How many rows of the table were tested at all; 0 where rows were drawn afresh."""
    judges: int = 0
    """How many methods say which rows are hard."""
    partitions: int = 0
    """How many are pooled."""


def read_answers(results: Results, dataset: str, ranking: Sequence[str]) -> Answered:
    """Read what was kept of a data set, once; `ranking` are its methods with results, from the best."""
    facts = results.facts[dataset]
    n_classes = len(facts.get("classes") or ())
    names = {method["label"]: method["name"] for method in results.spec["methods"]}
    judges = [method for method in ranking if names[method] not in LEFT_OUT and method not in results.combined]
    compared = [method for method in ranking if names[method] not in LEFT_OUT] if n_classes == 2 else []
    frame = results.frame[(results.frame["dataset"] == dataset) & (results.frame["status"] == "done")]
    done = set(zip(frame["method"], frame["repetition"], strict=True))
    best: list[tuple[HeldOut, Answers]] = []
    ranked: dict[str, list[tuple[NDArray[np.bool_], NDArray[np.float32]]]] = {method: [] for method in compared}
    hardest = Hardest(regression=n_classes == 0)
    repetitions: dict[int, int] = {}
    for method, repetition, tested, answers in results.answers(
        dataset, list(dict.fromkeys([*ranking[:1], *judges, *compared]))
    ):
        # Whatever was written since the frame was read, or drawn without one of the classes, has no part in the page.
        if (method, repetition) not in done or tested.n_classes != n_classes:
            continue
        if repetition not in repetitions:
            if sum(repetitions.values()) * max(1, n_classes) >= MOST_POOLED:
                break
            repetitions[repetition] = len(tested.truth)
        if method == ranking[0]:
            best.append((tested, answers))
        if method in judges and len(tested.rows):
            hardest.add(tested, answers)
        if method in ranked and answers.proba is not None and tested.positive is not None:
            ranked[method].append((tested.truth == tested.positive, answers.proba[:, tested.positive]))
    rows, hard = hardest.worst()
    return Answered(
        best=_pool(best),
        ranked={
            method: (np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))
            for method, parts in [(method, parts) for method, parts in ranked.items() if parts][:MOST_CURVES]
        },
        hardest=rows,
        hard=hard,
        tested=hardest.tested,
        judges=len(judges),
        partitions=len(repetitions),
    )


def _pool(parts: list[tuple[HeldOut, Answers]]) -> Scored | None:
    """The answers of one method about the rows of all partitions; None where none were kept."""
    if not parts:
        return None
    first = parts[0][0]
    proba = [answers.proba for _, answers in parts if answers.proba is not None]
    return Scored(
        None,
        None,
        np.concatenate([tested.truth for tested, _ in parts]),
        np.concatenate([answers.predicted for _, answers in parts]),
        first.classes,
        np.concatenate(proba) if len(proba) == len(parts) else None,
        first.positive,
    )


def roc(positive: NDArray[np.bool_], proba: NDArray[np.float32]) -> Curve | None:
    """The share of positive rows found by the share of others taken for them; None where one kind is missing."""
    from sklearn.metrics import auc, roc_curve

    if positive.all() or not positive.any():
        return None
    x, y, _ = roc_curve(positive, proba)
    chosen = thinned(x, y)
    return Curve(x[chosen], y[chosen], float(auc(x, y)))


def precision_recall(positive: NDArray[np.bool_], proba: NDArray[np.float32]) -> Curve | None:
    """The share of positive rows among those found, by the share of them that is found; its area is in steps."""
    from sklearn.metrics import average_precision_score, precision_recall_curve

    if positive.all() or not positive.any():
        return None
    precision, recall, _ = precision_recall_curve(positive, proba)
    chosen = thinned(recall, precision)
    return Curve(recall[chosen], precision[chosen], float(average_precision_score(positive, proba)))


def thinned(x: NDArray[np.float64], y: NDArray[np.float64], most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Places of at most so many points, evenly along the curve: where it is steep, rows are few and points many."""
    if len(x) <= most:
        return np.arange(len(x))
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    return np.unique(np.searchsorted(way, np.linspace(0, way[-1], most)).clip(0, len(x) - 1))


def reliability(scored: Scored) -> list[tuple[float, float, int]]:
    """(mean probability, share that is so, rows) in bins of equal counts, as far as equal probabilities allow.

    Equal ones are in one bin, and a probability that fills a bin, such as 1, has one for itself.
    """
    sure, right = certainty(scored)
    bins = max(1, min(BINS, len(sure) // ROWS_OF_A_BIN))
    edges = np.unique(np.quantile(sure, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))
    filling = np.array([edge for edge in edges if (sure == edge).sum() * bins >= len(sure)])
    # Every edge ends a bin; one that fills a bin begins it, too.
    place = np.searchsorted(edges, sure, side="left") + np.searchsorted(filling, sure, side="right")
    return [
        (float(sure[place == number].mean()), float(right[place == number].mean()), int((place == number).sum()))
        for number in np.unique(place)
    ]


def of_classes(scored: Scored, classes: Sequence[Any], most: int) -> list[OfClass]:
    """What the answers are worth for each of the first classes, against all others."""
    from sklearn.metrics import roc_auc_score

    found = []
    for code, label in enumerate(classes[:most]):
        true, said = scored.codes == code, scored.predicted == code
        right = int((true & said).sum())
        rows, predicted = int(true.sum()), int(said.sum())
        area = math.nan
        if scored.proba is not None and 0 < rows < len(true):
            area = float(roc_auc_score(true, scored.proba[:, code]))
        found.append(
            OfClass(
                str(label),
                rows,
                right / predicted if predicted else math.nan,
                right / rows if rows else math.nan,
                2 * right / (rows + predicted) if rows + predicted else math.nan,
                area,
            )
        )
    return found
