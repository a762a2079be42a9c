"""`Results`: the rows of a store as tables and comparisons, and further measures from the answers that it has kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import suggest
from conjunto.experiments.answers import Answers, HeldOut
from conjunto.experiments.comparing import FEW, Verdict, compare
from conjunto.experiments.measures import MEASURES, default_measures
from conjunto.experiments.pooling import rows_p_value
from conjunto.experiments.spec import Cell, Method
from conjunto.experiments.splits.protocols import Protocol
from conjunto.experiments.store import Partitions, Store, StoreError
from conjunto.ties import levels

if TYPE_CHECKING:
    import pandas as pd

CONSTANT = "the constant"
"""What answers the most frequent class, or the mean, with the shares of the training rows as probabilities."""


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The results of an experiment.

    `frame` has one row per cell and size (0: the whole ensemble), with a column per measure that was taken in the run.
    """

    frame: pd.DataFrame
    spec: dict[str, Any]
    facts: dict[str, dict[str, Any]]
    plan: Partitions = field(default_factory=dict)
    """How many partitions are asked for, by data set and method; empty where every method is tried on all."""
    path: Path | None = None
    """Where the answers are."""
    threshold: float | None = None
    """From which probability on the rarer of two classes is predicted; None is as the models say."""
    resampled: dict[Any, NDArray[np.float64]] = field(default_factory=dict)
    """What tests over rows have computed and will need again."""
    _further: dict[tuple[str, str], pd.DataFrame] = field(default_factory=dict)

    @staticmethod
    def read(store: Store | str | Path, *, measures: Sequence[str] = (), threshold: float | None = None) -> Results:
        """Everything that is in a store now, which may be open or the path of its file.

        Parameters
        ----------
        store : Store or path
        measures : sequence of str, default=()
            Measures to look at in place of those of the run; they are taken of the answers that the store has kept.
        threshold : float, default=None
            Predict the rarer of two classes from this probability on, in place of what models predict.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from conjunto.experiments import Experiment, Protocol, Results, run
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
        >>> _ = run(Experiment(("wine",), ("cart", "bagging"), Protocol("k-fold", repetitions=1, folds=3)), path)
        >>> Results.read(path)
        <Results of experiment: 1 data set (wine) x 2 methods (cart, bagging), 6 of 6 cells done>
        >>> Results.read(path, measures=["kappa"]).leaderboard()["method"].tolist()
        ['bagging', 'cart']
        """
        if not isinstance(store, Store):
            with Store(store) as opened:
                return Results.read(opened, measures=measures, threshold=threshold)
        for measure in measures:
            if measure not in MEASURES:
                raise ValueError(f"measures: unknown measure {measure!r}; {suggest(measure, MEASURES)}")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be a probability, got {threshold!r}")
        try:
            spec = {**store.spec, "measures": list(measures) or store.spec["measures"]}
            return Results(store.frame(), spec, store.datasets(), store.plan(), store.path, threshold)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{store.path} cannot be read: {error}") from error

    def __repr__(self) -> str:
        whole = self.frame[self.frame["size"] == 0]
        done, failed = (int((whole["status"] == status).sum()) for status in ("done", "failed"))
        sizes = " x ".join(
            f"{len(names)} {what}{'s' if len(names) > 1 else ''} ({_shortened(names)})"
            for names, what in ((self.datasets, "data set"), (self.methods, "method"))
        )
        total = sum(self.plan.values()) or len(whole)
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

    def methods_of(self, dataset: str) -> list[str]:
        """Labels of the methods that a data set was, or is to be, tried with."""
        return [method for method in self.methods if not self.plan or (dataset, method) in self.plan]

    def method(self, label: str) -> Method | None:
        """The method of a label, made again from what the store says of it; None where it was an object of Python."""
        described = next(method for method in self.spec["methods"] if method["label"] == label)
        if "estimator" in described or "combines" in described:
            return None
        return Method(**described)

    @property
    def combined(self) -> dict[str, list[str]]:
        """The combinations of methods (`conjunto combine`) among the methods, with what each combines."""
        return {method["label"]: method["combines"] for method in self.spec["methods"] if "combines" in method}

    @property
    def protocol(self) -> Protocol:
        """How tables were partitioned."""
        return Protocol(**self.spec["protocol"])

    def partitions(self, dataset: str) -> int:
        """How many partitions of a data set are asked for."""
        return max((number for (name, _), number in self.plan.items() if name == dataset), default=0)

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
        """Repetitions x methods; NaN where a cell failed, is not done, or did not keep what the measure needs."""
        measure = measure or self.measures(dataset)[0]
        frame = self.frame
        chosen = frame[(frame["dataset"] == dataset) & (frame["size"] == size) & (frame["status"] == "done")]
        if measure not in chosen.columns:
            chosen = chosen.assign(**{measure: np.nan})
        table = chosen.pivot(index="repetition", columns="method", values=measure)
        table = table.reindex(columns=self.methods_of(dataset)).astype(float)
        # What was measured in the run is corrected there, if at all, by models whose answers nobody kept.
        known = MEASURES[measure]
        fits = (
            known.of_answers and known.task in (self.facts[dataset]["task"], "any") if dataset in self.facts else False
        )
        if self.path is None or size or not fits or self.protocol.apparent_share:
            return table
        if self.threshold is not None:
            return self._from_answers(dataset, measure).reindex(table.index)
        done = chosen.pivot(index="repetition", columns="method", values="fit_seconds").reindex(columns=table.columns)
        if not (table.isna() & done.notna()).to_numpy().any():
            return table
        return table.fillna(self._from_answers(dataset, measure))

    def _from_answers(self, dataset: str, measure: str) -> pd.DataFrame:
        """Repetitions x methods: a measure of the answers that were kept."""
        import pandas

        if (dataset, measure) not in self._further:
            values: dict[str, dict[int, float]] = {method: {} for method in self.methods_of(dataset)}
            for method, repetition, tested, answers in self.answers(dataset):
                values[method][repetition] = MEASURES[measure].of(answers.scored(tested))
            table = pandas.DataFrame(values, dtype=float)
            self._further[dataset, measure] = table.rename_axis("repetition").sort_index()
        return self._further[dataset, measure]

    def answers(
        self, dataset: str, methods: Sequence[str] | None = None
    ) -> Iterator[tuple[str, int, HeldOut, Answers]]:
        """(method, repetition, test rows, answers) of the cells that kept them, at the threshold, if there is one."""
        if self.path is None:
            return
        with Store(self.path) as store:
            kept = {cell for cell in store.answered() if cell.dataset == dataset}
            for repetition in sorted({cell.repetition for cell in kept}):
                tested = store.tested(dataset, repetition)
                for method in self.methods_of(dataset) if methods is None else methods:
                    found = store.answers(Cell(dataset, repetition, method)) if tested is not None else None
                    if found is not None and tested is not None:
                        at = found if self.threshold is None else found.at_threshold(tested, self.threshold)
                        yield method, repetition, tested, at

    def constant(self, dataset: str, measure: str | None = None) -> pd.Series:
        """By repetition: a measure of what a model would say that knows the training answers and no attribute."""
        import pandas

        measure = measure or self.measures(dataset)[0]
        found: dict[int, float] = {}
        if self.path is not None and MEASURES[measure].of_answers and not self.protocol.apparent_share:
            with Store(self.path) as store:
                for repetition in self.scores(dataset, measure).index:
                    tested = store.tested(dataset, int(repetition))
                    if tested is not None:
                        found[int(repetition)] = MEASURES[measure].of(tested.constant().scored(tested))
        return pandas.Series(found, dtype=float)

    def against_constant(self, dataset: str) -> tuple[float, Verdict] | None:
        """The mean of the constant by the main measure, and what tests say of the best method against it.

        None where it is not known. The verdict is "worse" where the constant is, and "tied" or "best" where the best
        method is no better.
        """
        board, measure = self.boards[dataset], self.measures(dataset)[0]
        constant = self.constant(dataset, measure)
        if constant.notna().sum() == 0 or not board["n"].iloc[0]:
            return None
        best = str(board["method"].iloc[0])
        scores = self.scores(dataset, measure)[[best]].assign(**{CONSTANT: constant})
        verdict = self._compare(dataset, measure, scores, CONSTANT, best)
        gain = scores[CONSTANT].mean() - scores[best].mean()
        better = -gain if MEASURES[measure].greater_is_better else gain
        return float(constant.mean()), verdict if better > 0 else Verdict("best", verdict.p_value, verdict.p_rows)

    def leaderboard(self, dataset: str | None = None, measure: str | None = None) -> pd.DataFrame:
        """Methods from best to worst: mean, sd, p-values against the best, time, size, failures.

        The data set may be left out where there is one only.

        `p_value` is that of the corrected resampled t-test (Nadeau & Bengio 2003) over the repetitions that both
        methods finished, or of the paired t-test where every repetition draws new data. With few partitions it has
        little power, and there is `p_rows` too, of a paired test over the test rows (McNemar's for errors), which then
        decides. `verdict` is "best", "tied" (p >= 0.05), "worse", "too few runs to tell", "failed" or "not run yet". A
        method that has not finished all the repetitions that others have stands below those.
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
        combined = self.combined
        lines = []
        for method in means.index:
            rows = whole[whole["method"] == method]
            done = rows[rows["status"] == "done"]
            values = scores[method].dropna()
            verdict = Verdict("best") if method == best else self._compare(dataset, measure, scores, method, best)
            if not len(values):
                verdict = Verdict("failed" if len(rows) else "not run yet")
            lines.append(
                {
                    "method": method,
                    "mean": values.mean(),
                    "sd": values.std(ddof=1) if len(values) > 1 else np.nan,
                    "n": len(values),
                    "p_value": verdict.p_value,
                    "p_rows": verdict.p_rows,
                    "verdict": verdict.word,
                    "fit_seconds": done["fit_seconds"].mean(),
                    "predict_seconds": done["predict_seconds"].mean(),
                    "model_bytes": done["model_bytes"].mean(),
                    "members": done["members"].mean(),
                    "failed": int((rows["status"] == "failed").sum()),
                    "combined": method in combined,
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
        return pandas.DataFrame(means).T.reindex(columns=self.methods)

    def curve(self, dataset: str, measure: str | None = None) -> pd.DataFrame:
        """Sizes x methods: the mean measure by number of members, where that was taken in the run."""
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

    def _compare(self, dataset: str, measure: str, scores: pd.DataFrame, method: str, best: Any) -> Verdict:
        """What tests say of a method against the best one."""
        if best is None:
            return Verdict("too few runs to tell")
        pair = scores[[method, best]].dropna()
        whole = self.frame[(self.frame["dataset"] == dataset) & (self.frame["size"] == 0)]
        done = whole[whole["status"] == "done"]
        # Drawn afresh for every repetition: training sets do not overlap, and the plain test is right.
        ratio = None if self.facts[dataset]["rows"] is None else float((done["n_test"] / done["n_train"]).mean())
        p_rows = np.nan
        # Rows of one group are not independent, and a test that takes them for that finds too much.
        if len(pair) and len(pair) <= FEW and ratio is not None and "groups" not in self.facts[dataset]:
            p_rows = rows_p_value(self, dataset, measure, (method, str(best)), pair.index)
        verdict = compare(pair[method], pair[best], ratio, p_rows)
        gain = pair[method].mean() - pair[best].mean()
        better = gain > 0 if MEASURES[measure].greater_is_better else gain < 0
        # One that lacks partitions stands below the best, and may be better than it on those that both have.
        return replace(verdict, word="better, on fewer partitions") if verdict.word == "worse" and better else verdict


def _shortened(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
