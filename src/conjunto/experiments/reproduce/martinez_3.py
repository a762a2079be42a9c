"""Martínez Muñoz (2006), cuadro 3.6: bagging on waveform by training size.

The thesis prunes its CART trees by cost-complexity with 10-fold cross-validation; ours are unpruned until pruning is
here, so the numbers of leaves cannot be compared yet.
"""

from __future__ import annotations

from conjunto.experiments.protocols import Protocol
from conjunto.experiments.reproduce.published import read_published, rounding
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, judge
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
    return Experiment(sources, methods, Protocol("holdout", RUNS), ("error", "mean-leaves"), name="martinez-3.6")


def table_3_6(results: Results, datasets: list[str]) -> tuple[list[Line], list[Conclusion]]:
    """Test error of bagging; the leaves of pruned trees and the IGP columns are not run."""
    lines = []
    for row in read_published("martinez-3.6"):
        name = f"waveform {row['n_train']}"
        if name not in datasets:
            continue
        printed = row["bagging_cart_error_pct"]
        values = 100 * results.scores(name, "error")["bagging"].dropna()
        line = judge(
            name,
            "bagging error",
            float(printed),
            values,
            published_runs=RUNS,
            rounding=rounding(printed),
            published_sd=float(row["bagging_cart_sd_pct"]),
        )
        leaves = float(row["bagging_cart_mean_leaves"])
        lines += [line, Line(name, "bagging leaves", leaves, reason="needs cost-complexity pruning")]
    first, last = lines[0], lines[-2]
    statement = "the error falls from the smallest to the largest training set"
    return lines, [Conclusion(statement, bool(last.ours < first.ours), f"{first.ours:.1f} to {last.ours:.1f}")]
