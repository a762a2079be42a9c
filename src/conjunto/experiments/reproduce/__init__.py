"""Published tables, run again: ours beside the printed value, with a verdict per cell and per conclusion.

One literal table says what can be run; the numbers are package data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conjunto.checks import suggest
from conjunto.datasets import Dataset, DatasetNotFoundError
from conjunto.experiments.reproduce import (
    bourel,
    martinez_3,
    martinez_4,
    martinez_5,
    martinez_5_genetic,
    martinez_5_sizes,
    martinez_5_time,
    notes,
    recarey,
    recarey_3,
    recarey_3_cars,
    recarey_3_data,
)
from conjunto.experiments.reproduce.verdicts import VERDICTS, Conclusion, Line
from conjunto.experiments.results import Results
from conjunto.experiments.run import Progress, run
from conjunto.experiments.sources import OpenedSource, open_source
from conjunto.experiments.spec import Experiment

BOUREL = "Bourel, Métodos de agregación de modelos y aplicaciones, 2012"
NOTES = "Combinación de clasificadores, lecture notes without an author's name"
RECAREY = "Recarey Fernández, Métodos de ensamblado en Machine Learning, Universidade de Santiago de Compostela, 2021"
THESIS = "Martínez Muñoz, Clasificación mediante conjuntos, doctoral thesis, Universidad Autónoma de Madrid, 2006"
QUICK_RUNS = 5


class ReproduceError(ValueError):
    """A table cannot be run as asked; the message says why."""


@dataclass(frozen=True)
class Reproduction:
    """A published table and how it is run again."""

    title: str
    source: str
    experiment: Callable[[], Experiment]
    judge: Callable[[Results, list[str], Mapping[str, str]], tuple[list[Line], list[Conclusion]]]
    departures: tuple[str, ...]
    """In what our run is not that of the document."""
    cost: str
    prepare: Callable[[Dataset], Dataset] | None = None
    """What the document does to its data before it partitions them."""


@dataclass(frozen=True)
class WorkedExample:
    """A published table that follows from the numbers in it: there is nothing to fit, and no data set."""

    title: str
    source: str
    compute: Callable[[], tuple[list[Line], list[Conclusion]]]
    departures: tuple[str, ...]
    cost: str = "nothing: no model is fitted"


@dataclass(frozen=True)
class Comparison:
    """Our run of a table beside the published one."""

    key: str
    runs: int
    published_runs: int
    lines: list[Line]
    conclusions: list[Conclusion]
    skipped: dict[str, str]
    """Data sets that were not run, and why."""

    def counts(self) -> dict[str, int]:
        """How many lines have each verdict."""
        return {verdict: sum(line.verdict == verdict for line in self.lines) for verdict in VERDICTS}


TABLES: dict[str, Reproduction | WorkedExample] = {
    "bourel-II": Reproduction(
        "test error of CART, AdaBoost.M1, SAMME, bagging and random forests, 100 trees",
        f"{BOUREL}, tabla II",
        bourel.experiment_2,
        bourel.table_2,
        bourel.DEPARTURES,
        "400 fits of 100 trees: seconds",
    ),
    "martinez-3.2": Reproduction(
        "single trees: CART pruned by cross-validation against IGP",
        f"{THESIS}, cuadro 3.2",
        martinez_3.experiment,
        martinez_3.table_3_2,
        martinez_3.DEPARTURES,
        "2,000 fits of up to 99 trees: two minutes on two cores",
    ),
    "martinez-3.3": Reproduction(
        "test error of bagging, boosting, IGP ensemble, boosting IGP and committees, 1, 9 and 99 trees",
        f"{THESIS}, cuadro 3.3",
        martinez_3.experiment,
        martinez_3.table_3_3,
        martinez_3.DEPARTURES,
        "the run of martinez-3.2, shared with it",
    ),
    "martinez-3.4": Reproduction(
        "the IGP ensemble against bagging, paired t-tests",
        f"{THESIS}, cuadro 3.4",
        martinez_3.experiment,
        martinez_3.table_3_4,
        martinez_3.DEPARTURES,
        "the run of martinez-3.2, shared with it",
    ),
    "martinez-3.5": Reproduction(
        "the IGP committees against the other ensembles, paired t-tests",
        f"{THESIS}, cuadro 3.5",
        martinez_3.experiment,
        martinez_3.table_3_5,
        martinez_3.DEPARTURES,
        "the run of martinez-3.2, shared with it",
    ),
    "martinez-3.6": Reproduction(
        "error and leaves on waveform by training size, 101 trees",
        f"{THESIS}, cuadro 3.6",
        martinez_3.experiment_by_size,
        martinez_3.table_3_6,
        martinez_3.DEPARTURES_BY_SIZE,
        "450 fits of 101 trees: a minute",
    ),
    "martinez-3.7": Reproduction(
        "time to build 101 trees on waveform, as ratios",
        f"{THESIS}, cuadro 3.7",
        martinez_3.experiment_by_size,
        martinez_3.table_3_7,
        martinez_3.DEPARTURES_BY_SIZE,
        "the run of martinez-3.6, shared with it",
    ),
    "martinez-4.2": Reproduction(
        "test error of C4.5, class-switching, flipping, bagging and boosting, 1000 trees",
        f"{THESIS}, cuadro 4.2",
        martinez_4.experiment,
        martinez_4.table_4_2,
        martinez_4.DEPARTURES,
        "16,500 fits of 1000 trees: one to two hours on two cores; 10 runs are ten minutes",
    ),
    "martinez-4.3": Reproduction(
        "wins, draws and losses between the configurations of 4.2",
        f"{THESIS}, cuadro 4.3",
        martinez_4.experiment,
        martinez_4.table_4_3,
        (
            *martinez_4.DEPARTURES,
            "counts of the published table are those of the problems and configurations that were run",
        ),
        "the run of martinez-4.2, shared with it",
    ),
    "martinez-4.5": Reproduction(
        "share of class-switching's members that are worse than chance",
        f"{THESIS}, cuadro 4.5",
        martinez_4.experiment,
        martinez_4.table_4_5,
        martinez_4.DEPARTURES,
        "the run of martinez-4.2, shared with it",
    ),
    "martinez-4.6": Reproduction(
        "class-switching and flipping on unbalanced threenorm",
        f"{THESIS}, cuadro 4.6",
        martinez_4.experiment_4_6,
        martinez_4.table_4_6,
        (
            *martinez_4.DEPARTURES,
            "a fresh test set for each training set; the thesis has one test set for each share",
            "the minority is the class of one normal; the thesis does not say which it is",
        ),
        "400 fits of 1000 trees: five minutes on two cores",
    ),
    "martinez-5.2": Reproduction(
        "diabetes: subsets of bagging by a genetic algorithm and by reduce-error, 200 trees",
        f"{THESIS}, cuadro 5.2",
        martinez_5_genetic.experiment,
        martinez_5_genetic.table_5_2,
        martinez_5_genetic.DEPARTURES,
        "800 fits of 200 trees pruned by cross-validation, 400 searches of 40,000 subsets: half an hour on two cores",
    ),
    "martinez-5.3": Reproduction(
        "waveform: subsets of bagging by a genetic algorithm and by reduce-error, 200 trees",
        f"{THESIS}, cuadro 5.3",
        martinez_5_genetic.experiment,
        martinez_5_genetic.table_5_3,
        martinez_5_genetic.DEPARTURES,
        "the run of martinez-5.2, shared with it",
    ),
    "martinez-5.4": Reproduction(
        "diabetes: the least test error of the first 11 to 1000 trees, ordered, and where it lies",
        f"{THESIS}, cuadro 5.4",
        martinez_5_sizes.experiment,
        martinez_5_sizes.table_5_4,
        martinez_5_sizes.DEPARTURES,
        "6,800 fits of up to 1000 trees pruned by cross-validation: an hour on two cores",
    ),
    "martinez-5.5": Reproduction(
        "waveform: the least test error of the first 11 to 1000 trees, ordered, and where it lies",
        f"{THESIS}, cuadro 5.5",
        martinez_5_sizes.experiment,
        martinez_5_sizes.table_5_5,
        martinez_5_sizes.DEPARTURES,
        "the run of martinez-5.4, shared with it",
    ),
    "martinez-5.7": Reproduction(
        "training error of bagging and of its first members in five orders, 200 trees",
        f"{THESIS}, cuadro 5.7",
        martinez_5.experiment,
        martinez_5.table_5_7,
        martinez_5.DEPARTURES,
        "the run of martinez-5.8, shared with it",
    ),
    "martinez-5.8": Reproduction(
        "test error of bagging and of its first members in five orders, 200 trees",
        f"{THESIS}, cuadro 5.8",
        martinez_5.experiment,
        martinez_5.table_5_8,
        martinez_5.DEPARTURES,
        "10,800 fits of 200 trees pruned by cross-validation: 25 minutes on two cores; 10 runs are three minutes",
    ),
    "martinez-5.9": Reproduction(
        "five orders of bagging, cut, against all of it, paired t-tests",
        f"{THESIS}, cuadro 5.9",
        martinez_5.experiment,
        martinez_5.table_5_9,
        martinez_5.DEPARTURES,
        "the run of martinez-5.8, shared with it",
    ),
    "martinez-5.10": Reproduction(
        "time to order 50 to 1600 trees on waveform, as growth",
        f"{THESIS}, cuadro 5.10",
        martinez_5_time.experiment,
        martinez_5_time.table_5_10,
        martinez_5_time.DEPARTURES,
        "1,200 fits of up to 1600 trees: minutes",
    ),
    "notes-1": WorkedExample(
        "three classifiers, one row: votes counted and probabilities averaged",
        f"{NOTES}, tabla 1",
        notes.table_1,
        notes.DEPARTURES,
    ),
    "recarey-2.4": Reproduction(
        "AdaBoost with stumps on the chi-squared problem",
        f"{RECAREY}, figura 2.4",
        recarey.experiment_figure,
        recarey.figure_2_4,
        recarey.DEPARTURES,
        "50 fits: seconds",
    ),
    "recarey-3.3": Reproduction(
        "income of adults: seven single models, bagging, a forest, AdaBoost and stacking",
        f"{RECAREY}, tabla 3.3",
        recarey_3.experiment_adult,
        recarey_3.table_3_3,
        recarey_3.DEPARTURES_ADULT,
        "55 fits, most of the time support vector machines: 20 minutes on two cores; 2 runs are eight",
        recarey_3_data.prepare_adult,
    ),
    "recarey-3.4": Reproduction(
        "digits: seven single models, bagging, a forest, AdaBoost and stacking, on 5,000 images",
        f"{RECAREY}, tabla 3.4",
        recarey_3.experiment_digits,
        recarey_3.table_3_4,
        recarey_3.DEPARTURES_DIGITS,
        "55 fits: four minutes on two cores",
        recarey_3_data.prepare_digits,
    ),
    "recarey-3.5": Reproduction(
        "prices of cars: five single models, bagging, a forest, AdaBoost and stacking",
        f"{RECAREY}, tabla 3.5",
        recarey_3_cars.experiment,
        recarey_3_cars.table_3_5,
        recarey_3_cars.DEPARTURES,
        "63 fits: four minutes on two cores",
        recarey_3_data.prepare_cars,
    ),
}


def reproduce(
    key: str,
    folder: str | Path,
    *,
    runs: int | None = None,
    datasets: Sequence[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
) -> Comparison:
    """Run a published table, or a part of it, and compare.

    Parameters
    ----------
    key : str
        One of `TABLES`.
    folder : path
        Where the store is kept. An earlier one with fewer runs or data sets is continued, never repeated.
    runs : int, default=None
        Repetitions, or folds of one cross-validation; None is the published number, or 5 with `quick`.
    datasets : sequence of str, default=None
        Only these data sets.
    n_jobs : int, default=-1
        Processes.
    progress : callable, default=None
        Called with (finished, failed, all).
    """
    if key not in TABLES:
        raise ReproduceError(f"there is no table {key!r}; {suggest(key, TABLES)}")
    table = TABLES[key]
    if isinstance(table, WorkedExample):
        if runs is not None or datasets is not None:
            raise ReproduceError(f"{key} is computed from its own numbers: it has neither runs nor data sets")
        return Comparison(key, 1, 1, *table.compute(), {})
    whole = table.experiment()
    published = whole.protocol.partitions
    runs = runs or (QUICK_RUNS if quick else published)
    if not 2 <= runs <= published:
        raise ReproduceError(f"runs must be from 2 to {published}, the published number, got {runs}")
    opened, skipped = _choose(whole, datasets)
    if table.prepare is not None:
        whole, opened = _prepared(whole, opened, table.prepare)
    chosen = [item.source.name for item in opened]
    cells = [cell for cell in whole.cells() if cell.dataset in chosen and cell.repetition < runs]
    Path(folder).mkdir(parents=True, exist_ok=True)
    store = Path(folder) / f"{whole.name}.sqlite"
    results = run(whole, store, n_jobs=n_jobs, progress=progress, cells=cells, opened=opened, keep_answers=False)
    # A store may hold more runs than were asked for now: the ones asked for are judged.
    results = Results(results.frame[results.frame["repetition"] < runs], results.spec, results.facts)
    lines, conclusions = table.judge(results, chosen, skipped)
    return Comparison(key, runs, published, lines, conclusions, skipped)


def _choose(whole: Experiment, datasets: Sequence[str] | None) -> tuple[list[OpenedSource], dict[str, str]]:
    """The data sets to run, opened, in the order of the table, and those that cannot be run, with the reason."""
    known = [source.name for source in whole.datasets]
    wanted = [name.replace("_", "-") for name in datasets] if datasets is not None else known
    skipped = {name: f"not in this table, which has {', '.join(known)}" for name in wanted if name not in known}
    opened = []
    for source in whole.datasets:
        if source.name in wanted:
            try:
                opened.append(open_source(source, whole.seed))
            except DatasetNotFoundError as error:
                skipped[source.name] = str(error)
    if not opened:
        raise ReproduceError(f"none of the data sets can be run: {'; '.join(skipped.values())}")
    return opened, skipped


def _prepared(
    whole: Experiment, opened: list[OpenedSource], prepare: Callable[[Dataset], Dataset]
) -> tuple[Experiment, list[OpenedSource]]:
    """The experiment on data prepared, which go to helper processes as they are."""
    ready = {item.source.name: replace(item.source, data=prepare(item.data)) for item in opened}
    whole = replace(whole, datasets=tuple(ready.get(source.name, source) for source in whole.datasets))
    return whole, [open_source(source, whole.seed) for source in ready.values()]
