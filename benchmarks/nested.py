"""Whether `conjunto combine` tells the truth, and what it gains.

    python -m benchmarks.nested [--only fresh|gain] [--draws N]

*fresh*: problems of which there is no end of rows, drawn again and again. The nested estimate of each combination,
from the store of a cross-validation, beside its error on fresh rows: the same methods fitted on all rows, combined by
what was learned from all answers of the store.

*gain*: tables with many classes, categories, gaps and skew. Each combination against the method that is best on the
same partitions (which nobody can know), the one that other folds would choose, and the one that is best in the mean,
with the 95 % interval of the mean difference over the tables.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from conjunto.datasets import Dataset, load
from conjunto.experiments import COMBINATIONS, Experiment, Method, Protocol, Results, Source, combine, run
from conjunto.experiments.cells import build, cell_seed
from conjunto.experiments.combine import MOST_RECORDS, ask, records_of
from conjunto.experiments.measures.judging import wilson
from conjunto.experiments.recorded import RecordedClassifier
from conjunto.problem import select

PROBLEMS = ("waveform", "twonorm", "threenorm", "ringnorm", "adult")
TABLES = ("german", "vehicle", "vowel", "segment", "horse-colic", "hypothyroid-3163", "glass", "sonar")
METHODS = "cart,bagging,random-forest,boosting,logistic-regression,knn,hist-gradient-boosting"
QUICK = "cart,random-forest,boosting,logistic-regression,knn"
TRAIN, FRESH = 400, 20_000


def problem(name: str, seed: int) -> tuple[Dataset, Dataset]:
    """Rows to compare on, and fresh ones."""
    if name != "adult":
        return load(name, n_samples=TRAIN, random_state=seed), load(name, n_samples=FRESH, random_state=1000 + seed)
    data = load(name)
    rows = np.random.default_rng(seed).permutation(len(data.y))
    old, fresh = (
        Dataset(name, select(data.X, part), data.y.iloc[part].reset_index(drop=True), data.task)
        for part in (rows[:TRAIN], rows[TRAIN : TRAIN + FRESH])
    )
    return old, fresh


def fresh_errors(results: Results, data: Dataset, fresh: Dataset, methods: list[Method]) -> dict[str, float]:
    """The error on fresh rows of every combination, learned from all records of the store."""
    records = records_of(results, data.name, None, print)
    assert records is not None
    classes = np.unique(data.y.to_numpy())
    truth = np.searchsorted(classes, fresh.y.to_numpy())
    models = []
    for label, recorded in records.models:
        method = next(method for method in methods if method.label == label)
        model = build(method, data.task, cell_seed(0, data.name, "all", label)).fit(data.X, data.y.to_numpy())
        said = np.searchsorted(classes, model.predict(fresh.X))
        proba = model.predict_proba(fresh.X)
        models.append(
            (label, RecordedClassifier(np.append(recorded.predicted, said), np.concatenate([recorded.proba, proba])))
        )
    known = np.flatnonzero(records.partition < results.protocol.folds)[:MOST_RECORDS]
    asked = np.arange(len(records.y), len(records.y) + len(truth))[:, None]
    errors = {label: float(np.mean(model.predict(asked) != truth)) for label, model in models}
    for combination in COMBINATIONS.values():
        if "classification" in combination.tasks:
            combined = combination.fit(models, known[:, None], records.y[known], "error", 0)
            errors[combination.label] = float(np.mean(ask(combined, asked, len(classes)).predicted != truth))
    return errors


def compare(names: list[Source], methods: list[Method], protocol: Protocol) -> Results:
    folder = Path(tempfile.mkdtemp())
    run(Experiment(tuple(names), tuple(methods), protocol), folder / "results.sqlite", n_jobs=-1)
    return combine(folder / "results.sqlite")


def show_fresh(methods: list[Method], draws: int) -> None:
    print(f"\nnested estimates, 10 folds of {TRAIN} rows, beside {FRESH:,} fresh rows: {draws} draws of each problem")
    print("errors in %; bias: nested less fresh, with its 95 % interval; inside: draws whose 95 % interval holds")
    inside = total = 0
    for name in PROBLEMS:
        rows: dict[str, list[tuple[float, float]]] = {}
        for seed in range(draws):
            data, fresh = problem(name, seed)
            results = compare([Source(name, data=data)], methods, Protocol("k-fold", 1, 10))
            errors = fresh_errors(results, data, fresh, methods)
            for label, estimate in results.scores(name).mean().items():
                rows.setdefault(str(label), []).append((estimate, errors[label]))
        print(f"\n{name:36}{'nested':>8}{'fresh':>8}{'bias':>16}{'inside':>10}")
        for label, pairs in rows.items():
            nested, reached = 100 * np.array(pairs).T
            bias = nested - reached
            half = t.ppf(0.975, draws - 1) * bias.std(ddof=1) / math.sqrt(draws)
            held = sum(_holds(*pair) for pair in pairs)
            if label in results.combined:
                inside, total = inside + held, total + draws
            interval = f"{bias.mean():+.2f} ± {half:.2f}"
            print(f"{label:36}{nested.mean():8.2f}{reached.mean():8.2f}{interval:>16}{held:>6} of {draws}")
    print(f"\n{inside} of {total} nested estimates of combinations hold within their 95 % interval")


def _holds(estimate: float, fresh: float) -> bool:
    """Whether the error of fresh rows lies in the interval of the estimate (Wilson's, of so many test rows)."""
    low, high = wilson(estimate * TRAIN, TRAIN)
    return low <= fresh <= high


def show_gain(methods: list[Method]) -> None:
    results = compare([Source(name) for name in TABLES], methods, Protocol("k-fold", 2, 10))
    means = results.means("error")
    own = [method for method in means.columns if method not in results.combined]
    chosen = COMBINATIONS["best"].label
    print("\nerrors in %, mean of 2 x 10 folds\n" + (100 * means.T).round(2).to_string())
    against: dict[str, Any] = {
        "the best of each table": means[own].min(axis=1),
        "the best by other folds": means[chosen],
    }
    against |= {f"{means[own].mean().idxmin()}, the best in the mean": means[means[own].mean().idxmin()]}
    print(f"\nmean difference over {len(TABLES)} tables, in points, with its 95 % interval (below 0: better)")
    for label in results.combined:
        for what, reference in against.items():
            differences = 100 * (means[label] - reference).to_numpy()
            half = t.ppf(0.975, len(differences) - 1) * differences.std(ddof=1) / math.sqrt(len(differences))
            print(f"{label:36} against {what:42}{differences.mean():+7.2f} ± {half:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=("fresh", "gain"))
    parser.add_argument("--draws", type=int, default=8)
    options = parser.parse_args()
    if options.only != "gain":
        show_fresh([Method(name) for name in QUICK.split(",")], options.draws)
    if options.only != "fresh":
        show_gain([Method(name) for name in METHODS.split(",")])


if __name__ == "__main__":
    main()
