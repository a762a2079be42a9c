"""Recarey (2021), figura 2.4: AdaBoost with stumps on the chi-squared problem (after Hastie et al. 2008).

Ten standard normals; the class says whether their squares sum to more than the median of chi-squared. The figure is a
curve; the text gives the error of one stump and says what the curve shows.
"""

from __future__ import annotations

from collections.abc import Mapping

from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, Target, conclude, judge_targets
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method, Source
from conjunto.experiments.splits.protocols import Protocol

RUNS = 10
STUMP, TREE = "stump", "tree of 244 splits"
ROUNDS = (10, 100, 400)
DEPARTURES = (
    "the text counts splits (a stump has d = 1), so the large tree, d = 244, has 245 leaves here",
    "the mean of 10 draws of the data; the figure shows one",
    "the numbers of rounds are ours: the figure's axis is not in the text",
)


def experiment_figure() -> Experiment:
    """2000 rows to train, 10,000 to test."""
    methods = (
        Method("cart", STUMP, {"max_depth": 1}),
        Method("cart", TREE, {"max_leaf_nodes": 245}),
        *(Method("adaboost-stumps", f"AdaBoost {rounds}", {"n_estimators": rounds}) for rounds in ROUNDS),
    )
    source = Source("chi-squared", train=2000, test=10_000)
    return Experiment((source,), methods, Protocol("holdout", RUNS), ("error",), name="recarey-2.4")


def figure_2_4(
    results: Results, datasets: list[str], skipped: Mapping[str, str]
) -> tuple[list[Line], list[Conclusion]]:
    """The error of one stump, and what the curve is said to show."""
    (row,) = read_published("recarey-2.4")
    target = Target("chi-squared", STUMP, row["error_pct"], 1)
    columns = [method.label for method in experiment_figure().methods]
    sample = 100 * results.scores("chi-squared", "error")[columns].to_numpy()
    means = dict(zip(columns, sample.mean(axis=0), strict=True))
    boosted = [columns.index(f"AdaBoost {rounds}") for rounds in ROUNDS]
    conclusions = [
        conclude(
            "the error falls as members are added",
            lambda means: bool(means[0][0] > means[0][boosted[0]] > means[0][boosted[1]] > means[0][boosted[2]]),
            [sample],
            f"{means[STUMP]:.1f}, " + ", ".join(f"{means[f'AdaBoost {rounds}']:.1f}" for rounds in ROUNDS),
        ),
        conclude(
            "boosted stumps become better than a large tree",
            lambda means: bool(means[0][boosted[-1]] < means[0][columns.index(TREE)]),
            [sample],
            f"{means[f'AdaBoost {ROUNDS[-1]}']:.1f} against {means[TREE]:.1f}",
        ),
    ]
    return judge_targets([target], results, datasets, skipped), conclusions
