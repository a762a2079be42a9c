"""`explain`: what a fitted model makes of each attribute, on rows that had no part in fitting it.

Importance is what a measure loses when the values of one attribute are shuffled among the rows (Breiman 2001, Fisher et
al. 2019): it says what this model uses, not what causes the answer, and attributes that say the same share it. Partial
dependence is the mean answer when an attribute is set to one value in every row (Friedman 2001).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from conjunto.experiments.explain_rows import Answering, column_kind, column_name, column_of, with_column, with_each
from conjunto.experiments.measures import MEASURES, default_measures
from conjunto.experiments.measures.scored import Scored
from conjunto.problem import select

MOST_ROWS, REPEATS = 2000, 5
"""Of the importances."""
MOST_COLUMNS, SCREENING_ROWS = 60, 500
"""With more columns than this, those that matter most in one shuffle of fewer rows are looked at closely."""
PARTIAL_ROWS, PARTIAL_COLUMNS, GRID, CATEGORIES, MOST_CLASSES = 300, 4, 12, 8, 4
"""Of the partial dependence."""
SHARE_OF_IMPORTANCES, SHARE_OF_SCREENING = 0.75, 0.35
"""How much of the time may be gone after a part, so that something is left for the next."""


def explain(
    model: Any,
    X: Any,
    y: Any,
    task: str,
    measure: str,
    *,
    seed: int,
    classes: Any = None,
    positive: int | None = None,
    budget: float = 20.0,
) -> dict[str, Any]:
    """Importances of the attributes of a fitted model and partial dependence on the first of them.

    Parameters
    ----------
    model : fitted estimator
        Of any library.
    X : DataFrame or array of shape (n, attributes)
        Rows that had no part in fitting it. Sparse ones are left alone, with a word.
    y : array-like of shape (n,)
        Their answers.
    task : {"classification", "regression"}
    measure : str
        A name of `MEASURES`; where it cannot be taken of these answers, the error or the root mean squared error is.
    seed : int
        Of the shuffles and of the rows that are drawn where there are many.
    classes : array-like, default=None
        All classes of the data set, in the order of their codes; None in regression.
    positive : int, default=None
        The code of the class that counts as positive; None is the rarer one of the rows.
    budget : float, default=20.0
        Seconds; looked at between columns.

    Returns
    -------
    dict
        Facts that JSON can hold: `measure`, `rows`, `repeats`, `importances` (from most to least important: `column`,
        `mean`, `low`, `high`, the last two None where there was one shuffle only), `partial` (`column`, `kind`, `grid`
        and `curves` by class), `answers` (what the curves are means of), `notes` on what was left out, and `skipped`,
        why there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import BaggingRegressor
    >>> from conjunto.experiments.explain import explain
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = BaggingRegressor(n_estimators=10, random_state=0).fit(X[:100], X[:100, 1])
    >>> facts = explain(model, X[100:], X[100:, 1], "regression", "rmse", seed=0)
    >>> facts["importances"][0]["column"]
    'column 2'
    """
    if issparse(X):
        return {"skipped": "the rows are sparse, and their columns are not shuffled one by one", "notes": []}
    if X.shape[1] == 0 or len(y) == 0:
        return {"skipped": "there are no attributes or no rows", "notes": []}
    began = time.monotonic()
    task_classes = None if task == "regression" else np.asarray(classes if classes is not None else np.unique(y))
    study = _Study(model, np.asarray(y), task_classes, positive, began, budget, np.random.default_rng(seed))
    study.choose_measure(X, measure, task)
    importances = study.importances(X)
    first = [line["place"] for line in importances[:PARTIAL_COLUMNS]]
    partial = study.partial(X, first)
    return {
        "measure": study.measure,
        "rows": min(len(study.y), MOST_ROWS),
        "repeats": REPEATS,
        "importances": [{key: line[key] for key in ("column", "mean", "low", "high")} for line in importances],
        "partial": partial,
        "answers": Answering.of(model, study.y, task_classes, positive, MOST_CLASSES).what,
        "notes": study.notes,
    }


@dataclass
class _Study:
    """One model on one set of rows, and the time that is left."""

    model: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None
    positive: int | None
    began: float
    budget: float
    random: np.random.Generator
    measure: str = ""
    notes: list[str] = field(default_factory=list)

    def choose_measure(self, X: Any, asked: str, task: str) -> None:
        """The measure that was asked for, where answers are enough to take it and it is a number."""
        self.measure = asked
        if not MEASURES[asked].of_answers or not math.isfinite(self._loss(*self._drawn(X, MOST_ROWS))):
            self.measure = default_measures(task)[0]
            self.notes.append(f"{MEASURES[asked].title} cannot be taken of these answers: {self.measure} is")

    def importances(self, X: Any) -> list[dict[str, Any]]:
        """Columns from the most to the least important; shuffle by shuffle, so that time ends evenly for all."""
        places = list(range(X.shape[1]))
        if len(places) > MOST_COLUMNS:
            places = self._screened(X, places)
        X, y = self._drawn(X, MOST_ROWS)
        whole = self._loss(X, y)
        lost: dict[int, list[float]] = {place: [] for place in places}
        for shuffle in range(REPEATS):
            for place in places:
                if self._late(SHARE_OF_IMPORTANCES):
                    reached = sum(len(values) > shuffle for values in lost.values())
                    self.notes.append(
                        f"time was up in shuffle {shuffle + 1} of {REPEATS}, after {reached} of {len(places)} columns"
                    )
                    return _sorted(X, lost)
                lost[place].append(self._shuffled_loss(X, y, place) - whole)
        return _sorted(X, lost)

    def _screened(self, X: Any, places: list[int]) -> list[int]:
        """Those that lose most in one shuffle of a few rows; of equals, and of those not reached, the first."""
        few, y = self._drawn(X, SCREENING_ROWS)
        whole = self._loss(few, y)
        lost = {}
        for place in places:
            if self._late(SHARE_OF_SCREENING):
                break
            lost[place] = self._shuffled_loss(few, y, place) - whole
        kept = sorted(places, key=lambda place: -lost.get(place, -math.inf))[:MOST_COLUMNS]
        looked = "" if len(lost) == len(places) else f" (time was up after {len(lost)})"
        self.notes.append(
            f"of {len(places)} columns the {MOST_COLUMNS} that mattered most in one shuffle of {len(y)} rows{looked}"
        )
        return sorted(kept)

    def partial(self, X: Any, places: list[int]) -> list[dict[str, Any]]:
        """The mean answer by the value of each of these columns."""
        answering = Answering.of(self.model, self.y, self.classes, self.positive, MOST_CLASSES)
        X, rows = self._drawn(X, PARTIAL_ROWS)
        found: list[dict[str, Any]] = []
        for place in places:
            if self._late(1):
                self.notes.append(f"time was up for the partial dependence on {len(places) - len(found)} columns")
                break
            kind = column_kind(X, place)
            grid = _grid(column_of(X, place), kind)
            if len(grid) == 0:
                continue
            said = answering.ask(with_each(X, place, grid))
            means = said.reshape(len(grid), len(rows), -1).mean(axis=1)
            found.append(
                {
                    "column": column_name(X, place),
                    "kind": kind,
                    "grid": [float(value) if kind == "number" else str(value) for value in grid],
                    "curves": [
                        {"label": label, "values": [float(value) for value in means[:, number]]}
                        for number, label in enumerate(answering.labels)
                    ],
                }
            )
        return found

    def _drawn(self, X: Any, most: int) -> tuple[Any, NDArray[Any]]:
        """Some of the rows, or all where they are few."""
        if len(self.y) <= most:
            return X, self.y
        chosen = np.sort(self.random.choice(len(self.y), most, replace=False))
        return select(X, chosen), self.y[chosen]

    def _shuffled_loss(self, X: Any, y: NDArray[Any], place: int) -> float:
        column = column_of(X, place)
        return self._loss(with_column(X, place, column[self.random.permutation(len(column))]), y)

    def _loss(self, X: Any, y: NDArray[Any]) -> float:
        """The measure, the smaller the better."""
        known = MEASURES[self.measure]
        value = known.of(Scored.of(self.model, X, y, self.classes, self.positive))
        return -value if known.greater_is_better else value

    def _late(self, share: float) -> bool:
        return time.monotonic() - self.began > share * self.budget


def _sorted(X: Any, lost: dict[int, list[float]]) -> list[dict[str, Any]]:
    """Means with their 95 % intervals over shuffles, the largest first; of equals the first column."""
    from scipy.stats import t

    lines = []
    for place, values in lost.items():
        finite = [value for value in values if math.isfinite(value)]
        if not finite:
            continue
        mean, half = float(np.mean(finite)), None
        if len(finite) > 1:
            half = float(t.ppf(0.975, len(finite) - 1) * np.std(finite, ddof=1) / math.sqrt(len(finite)))
        low, high = (None, None) if half is None else (mean - half, mean + half)
        lines.append({"place": place, "column": column_name(X, place), "mean": mean, "low": low, "high": high})
    return sorted(lines, key=lambda line: (-line["mean"], line["place"]))


def _grid(column: Any, kind: str) -> Any:
    """Values that occur, ascending: quantiles of numbers, the most frequent categories; never a missing one."""
    import pandas

    known = column[~np.asarray(pandas.isna(column))]
    if kind == "category":
        counts = pandas.Series(known).value_counts(sort=False)
        counts = counts[counts > 0]
        order = np.argsort(-counts.to_numpy(), kind="stable")[:CATEGORIES]
        return counts.index[order].to_numpy()
    values = np.unique(np.asarray(known, dtype=np.float64))
    values = values[np.isfinite(values)]
    if len(values) <= GRID:
        return values
    every = np.asarray(known, dtype=np.float64)
    return np.unique(np.quantile(every[np.isfinite(every)], np.linspace(0, 1, GRID), method="inverted_cdf"))
