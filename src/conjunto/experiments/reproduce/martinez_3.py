"""Martínez Muñoz (2006), cuadro 3.6: bagging on waveform by training size.

The thesis prunes its CART trees by cost-complexity with 10-fold cross-validation; ours are unpruned until pruning is
here, so the numbers of leaves cannot be compared yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from conjunto.experiments.protocols import Protocol
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, Target, conclude, judge_targets
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method, Source

RUNS = 10
UNPRUNED = "base learner: unpruned CART instead of CART pruned by 10-fold cross-validation"


def experiment_3_6() -> Experiment:
    """101 trees, 10 training sets of each size, tests of 5000."""
    sources = tuple(
        Source(f"waveform {row['n_train']}", load="waveform", train=int(row["n_train"]), test=5000)
        for row in read_published("martinez-3.6")
    )
    methods = (Method("bagging", "bagging", {"n_estimators": 101}),)
    return Experiment(sources, methods, Protocol("holdout", RUNS), ("error",), name="martinez-3.6")


def table_3_6(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Test error of bagging; the leaves of pruned trees are not run."""
    targets = []
    for row in read_published("martinez-3.6"):
        name = f"waveform {row['n_train']}"
        if name in datasets:
            error, sd = row["bagging_cart_error_pct"], float(row["bagging_cart_sd_pct"])
            leaves = row["bagging_cart_mean_leaves"]
            targets.append(Target(name, "bagging error", error, RUNS, method="bagging", sd=sd))
            targets.append(Target(name, "bagging leaves", leaves, RUNS, reason="needs cost-complexity pruning"))
    lines = judge_targets(targets, results, datasets, skipped)
    if len(datasets) < 2:
        return lines, []
    ends = [100 * results.scores(name, "error")["bagging"].to_numpy() for name in (datasets[0], datasets[-1])]
    statement = f"the error falls from {datasets[0]} to {datasets[-1]}"
    found = " to ".join(f"{end.mean():.1f}" for end in ends)
    return lines, [conclude(statement, lambda means: bool(means[1] < means[0]), ends, found)]
