"""`Results`: the rows of a store as tables and comparisons."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjunto.checks import suggest
from conjunto.experiments.measures import MEASURES, default_measures
from conjunto.experiments.protocols import Protocol
from conjunto.experiments.statistics import corrected_resampled_t, paired_t
from conjunto.experiments.store import Store, StoreError
from conjunto.ties import levels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The results of an experiment.

    `frame` has one row per cell and size (0: the whole ensemble), with a column per measure.
    """

    frame: pd.DataFrame
    spec: dict[str, Any]
    facts: dict[str, dict[str, Any]]

    @staticmethod
    def read(store: Store | str | Path) -> Results:
        """Everything that is in a store now, which may be open or the path of its file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from conjunto.experiments import Experiment, Protocol, Results, run
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
        >>> _ = run(Experiment(("wine",), ("cart", "bagging"), Protocol("k-fold", repetitions=1, folds=3)), path)
        >>> Results.read(path)
        <Results of experiment: 1 data set (wine) x 2 methods (cart, bagging), 6 of 6 cells done>
        """
        if not isinstance(store, Store):
            with Store(store) as opened:
                return Results.read(opened)
        try:
            return Results(store.frame(), store.spec, store.datasets())
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{store.path} cannot be read: {error}") from error

    def __repr__(self) -> str:
        whole = self.frame[self.frame["size"] == 0]
        done, failed = (int((whole["status"] == status).sum()) for status in ("done", "failed"))
        total = Protocol(**self.spec["protocol"]).partitions * len(self.datasets) * len(self.methods)
        sizes = " x ".join(
            f"{len(names)} {what}{'s' if len(names) > 1 else ''} ({_shortened(names)})"
            for names, what in ((self.datasets, "data set"), (self.methods, "method"))
        )
        cells = f"{done:,} of {total:,} cells done" + (f", {failed:,} failed" if failed else "")
        return f"<Results of {self.spec['name']}: {sizes}, {cells}>"

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets, in the order of the experiment."""
        return [source["name"] for source in self.spec["datasets"]]

    @property
    def methods(self) -> list[str]:
        """Labels of the methods, in the order of the experiment."""
        return [method["label"] for method in self.spec["methods"]]

    def task(self, dataset: str) -> str:
        """ "classification" or "regression"."""
        return str(self.facts[dataset]["task"])

    def measures(self, dataset: str) -> list[str]:
        """The measures of a data set; the first is the main one."""
        task = self.task(dataset)
        asked = [name for name in self.spec["measures"] if MEASURES[name].task in (task, "any")]
        return asked or list(default_measures(task))

    @cached_property
    def boards(self) -> dict[str, pd.DataFrame]:
        """The leaderboard of each data set by its main measure, computed once for all who show it."""
        return {name: self.leaderboard(name) for name in self.datasets if name in self.facts}

    def scores(self, dataset: str, measure: str | None = None, size: int = 0) -> pd.DataFrame:
        """Repetitions x methods; NaN where a cell failed or is not done."""
        measure = measure or self.measures(dataset)[0]
        frame = self.frame
        chosen = frame[(frame["dataset"] == dataset) & (frame["size"] == size) & (frame["status"] == "done")]
        if measure not in chosen.columns:
            chosen = chosen.assign(**{measure: np.nan})
        table = chosen.pivot(index="repetition", columns="method", values=measure)
        return table.reindex(columns=self.methods).astype(float)

    def leaderboard(self, dataset: str | None = None, measure: str | None = None) -> pd.DataFrame:
        """Methods from best to worst: mean, sd, p-value against the best, time, size, failures.

        The data set may be left out where there is one only.

        The p-value is that of the corrected resampled t-test (Nadeau & Bengio 2003) over the repetitions that both
        methods finished, or of the paired t-test where every repetition draws new data. `verdict` is "best", "tied"
        (p >= 0.05), "worse", "too few runs to tell", "failed" or "not run yet". A method that has not finished all
        the repetitions that others have stands below those.
        """
        import pandas

        if dataset is None and len(self.datasets) == 1:
            dataset = self.datasets[0]
        if dataset not in self.facts:
            raise ValueError(f"dataset: there are no results of {dataset!r}; {suggest(str(dataset), self.facts)}")
        measure = measure or self.measures(dataset)[0]
        scores = self.scores(dataset, measure)
        greater = MEASURES[measure].greater_is_better
        whole = self.frame[(self.frame["dataset"] == dataset) & (self.frame["size"] == 0)]
        counts = scores.notna().sum()
        complete = counts >= counts.max()
        better = (scores.mean() * (-1 if greater else 1)).dropna()
        # Means that differ by rounding alone are equal and keep the order of the experiment.
        places = dict(zip(better.index, levels(better.to_numpy()).tolist(), strict=True))
        means = scores.mean()[
            sorted(scores.columns, key=lambda method: (not complete[method], places.get(method, np.inf)))
        ]
        best = means.index[0] if means.notna().any() else None
        lines = []
        for method in means.index:
            rows = whole[whole["method"] == method]
            done = rows[rows["status"] == "done"]
            values = scores[method].dropna()
            p = self._p_value(scores, method, best, whole[whole["status"] == "done"])
            lines.append(
                {
                    "method": method,
                    "mean": values.mean(),
                    "sd": values.std(ddof=1) if len(values) > 1 else np.nan,
                    "n": len(values),
                    "p_value": p,
                    "verdict": "best" if method == best else _verdict(p, len(values), rows),
                    "fit_seconds": done["fit_seconds"].mean(),
                    "predict_seconds": done["predict_seconds"].mean(),
                    "model_bytes": done["model_bytes"].mean(),
                    "members": done["members"].mean(),
                    "failed": int((rows["status"] == "failed").sum()),
                }
            )
        return pandas.DataFrame(lines)

    def means(self, measure: str) -> pd.DataFrame:
        """Data sets x methods: the mean of a measure; NaN where a method lacks repetitions that others have."""
        import pandas

        means = {}
        for name in self.datasets:
            scores = self.scores(name, measure)
            means[name] = scores.mean().where(scores.notna().sum() >= scores.notna().sum().max())
        return pandas.DataFrame(means).T

    def curve(self, dataset: str, measure: str | None = None) -> pd.DataFrame:
        """Sizes x methods: the mean measure by number of members."""
        measure = measure or self.measures(dataset)[0]
        frame = self.frame
        chosen = frame[(frame["dataset"] == dataset) & (frame["size"] > 0)]
        if measure not in chosen.columns or chosen.empty:
            import pandas

            return pandas.DataFrame(columns=self.methods, dtype=float)
        table = chosen.pivot_table(index="size", columns="method", values=measure, aggfunc="mean")
        return table.reindex(columns=[method for method in self.methods if method in table.columns])

    def failures(self) -> pd.DataFrame:
        """The cells that failed, with the last line of their traceback."""
        failed = self.frame[(self.frame["status"] == "failed") & (self.frame["size"] == 0)]
        reasons = failed["traceback"].str.strip().str.split("\n").str[-1]
        return failed[["dataset", "repetition", "method"]].assign(reason=reasons)

    def _p_value(self, scores: pd.DataFrame, method: str, best: Any, done: pd.DataFrame) -> float:
        if best is None or method == best:
            return float("nan")
        pair = scores[[method, best]].dropna()
        if len(pair) < 2:
            return float("nan")
        if self.facts[str(done["dataset"].iloc[0])]["rows"] is None:
            # Drawn afresh for every repetition: training sets do not overlap, and the plain test is right.
            test = paired_t(pair[method], pair[best])
        else:
            ratio = float((done["n_test"] / done["n_train"]).mean())
            test = corrected_resampled_t(pair[method], pair[best], test_to_train=ratio)
        # In few repetitions, the same difference every time is more likely chance than certainty.
        certain = test.degenerate and test.mean_difference != 0 and test.n < 10
        return float("nan") if certain else test.p_value


def _shortened(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _verdict(p: float, n: int, rows: pd.DataFrame) -> str:
    if not n:
        return "failed" if len(rows) else "not run yet"
    if np.isnan(p):
        return "too few runs to tell"
    return "tied" if p >= 0.05 else "worse"
