"""Martínez Muñoz (2006), chapter 5: bagging in the order of five criteria, and cut.

Cuadros 5.7, 5.8 and 5.9 come from one experiment: 18 problems, 100 partitions, 200 CART trees pruned by
cross-validation, ordered by their votes on the training data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.reproduce.martinez_3 import LEAST_RUNS, PRUNED, SIGNIFICANT
from conjunto.experiments.reproduce.martinez_4 import BALANCED
from conjunto.experiments.reproduce.published import dataset_name, read_published, rounding
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, conclude, judge, judge_p_value
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method, Source
from conjunto.experiments.splits.protocols import Protocol
from conjunto.experiments.statistics import paired_t

if TYPE_CHECKING:
    import pandas as pd

RUNS = 100
MEMBERS = 200
BAGGING: Mapping[str, Any] = MappingProxyType({"n_estimators": MEMBERS, **PRUNED})
# What the orderings of the published tables are called here, and what the library calls them.
ORDERINGS = {
    "reduce_error": ("reduce-error", "reduce_error"),
    "complementarity": ("complementarity", "complementarity"),
    "margin_distance": ("margin distance", "margin_distance"),
    "angle": ("orientation", "orientation"),
    "boosting_based": ("boosting-based", "boosting_based"),
}
SHARES = (0.1, 0.2, 0.4)
COLUMNS = tuple((label, share) for label, _ in ORDERINGS.values() for share in SHARES)
BAGGED = ("bagging", 1.0)
# Where the text grants bagging a significant advantage over some orderings.
EXCEPTIONS = ("twonorm", "vowel")
# Of the eight combinations of the rule, of copies in one fold or apart, and of roots allowed or not, that of chapter 3
# has the training errors of bagging nearest to the printed ones (5 to 8 runs of seven problems: 1.5 points off on
# average, the next one 2.6). Its trees are smaller than the thesis' on some: 21.9 for 20.8 on diabetes, 16.4 for 13.1
# on sonar.
DEPARTURES = (
    "alpha by the one-standard-error rule, copies of an example in one fold: the thesis does not say; its numbers of "
    "leaves in chapter 3 fit",
)


def ordered(label: str, ordering: str, sizes: tuple[int | float, ...], members: int = MEMBERS) -> Method:
    """The first members of bagging in the order of a criterion, all of them kept, so that every size can be read."""
    parameters = {**BAGGING, "n_estimators": members, "pruning__method": ordering, "pruning__keep": 1.0}
    return Method("bagging", label, parameters, sizes, seed_as="bagging")


def sources(*names: str) -> tuple[Source, ...]:
    """Problems with the sizes of cuadro 5.6; all where none is named."""
    return tuple(
        Source(
            dataset_name(row["dataset"]),
            train=int(row["n_train"]),
            test=int(row["n_test"]),
            parameters={"class_shares": [0.5, 0.5]} if row["dataset"] in BALANCED else {},
        )
        for row in read_published("martinez-5.6")
        if not names or row["dataset"] in names
    )


def experiment() -> Experiment:
    """The experiment behind cuadros 5.7, 5.8 and 5.9."""
    methods = (
        Method("bagging", parameters=BAGGING),
        *(ordered(label, ordering, SHARES) for label, ordering in ORDERINGS.values()),
    )
    measures = ("error", "training-error")
    return Experiment(sources(), methods, Protocol("holdout", RUNS), measures, name="martinez-5")


def table_5_7(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Training error of bagging and of the first members of each ordering."""
    samples = samples_of(results, datasets, "training-error")
    first = COLUMNS.index(("reduce-error", 0.1)) + 1
    average = np.mean([sample.mean(axis=0) for sample in samples], axis=0)
    conclusions = [
        conclude(
            "reduce-error at 10 % has the least training error on average over the problems",
            lambda means: int(np.mean(means, axis=0).argmin()) == first,
            samples,
            _listed(average),
        )
    ]
    if "heart" in datasets:
        conclusions.append(_heart(results))
    return _error_lines(results, datasets, skipped, "martinez-5.7", "training-error"), conclusions


def table_5_8(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Test error of bagging and of the first members of each ordering."""
    samples = samples_of(results, datasets, "error")
    fifths = {label: COLUMNS.index((label, 0.2)) + 1 for label, _ in ORDERINGS.values()}
    average = np.mean([sample.mean(axis=0) for sample in samples], axis=0)
    at = list(fifths.values())
    best = best_counts([sample.mean(axis=0) for sample in samples])

    def rank(means: list[NDArray[np.float64]]) -> int:
        mean = np.mean(means, axis=0)
        return int((mean[at] < mean[fifths["margin distance"]]).sum())

    def leads(means: list[NDArray[np.float64]]) -> bool:
        counts = best_counts(means)
        return all(counts["margin distance"] > count for label, count in counts.items() if label != "margin distance")

    conclusions = [
        conclude(
            "each of the five orderings at 20 % is better than bagging on average over the problems",
            lambda means: bool((np.mean(means, axis=0)[at] < np.mean(means, axis=0)[0]).all()),
            samples,
            _listed(average),
        ),
        conclude(
            "margin distance at 20 % is among the best two of the orderings at 20 % on average over the problems",
            lambda means: rank(means) < 2,
            samples,
            ", ".join(f"{label} {average[column]:.2f}" for label, column in fifths.items()),
        ),
        conclude(
            "margin distance has the best result of the row, ties counted, in more problems than any other ordering",
            leads,
            samples,
            ", ".join(f"{label} {count}" for label, count in best.items()) + f" of {len(datasets)}",
        ),
    ]
    return _error_lines(results, datasets, skipped, "martinez-5.8", "error"), conclusions


def table_5_9(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Each ordering against bagging, by paired t-tests."""
    printed = {
        (dataset_name(row["dataset"]), row["method"], row["size_pct"]): float(row["error_pct"])
        for row in read_published("martinez-5.8")
    }
    errors = {name: errors_of(results, name) for name in datasets}
    lines = []
    for row in read_published("martinez-5.9"):
        name, share = dataset_name(row["dataset"]), float(row["size_pct"]) / 100
        label, _ = ORDERINGS[row["method"]]
        column = f"{label}, {row['size_pct']} %"
        if name in skipped:
            lines.append(Line(name, column, float(row["p_value"]), reason=skipped[name]))
        elif name in datasets:
            ahead = printed[name, "bagging", "100"] >= printed[name, row["method"], row["size_pct"]]
            pair = errors[name][[(label, share), BAGGED]]
            lines.append(judge_p_value(name, column, row["p_value"], pair, ahead=ahead, published_runs=RUNS))
    return lines, _significant(errors)


def errors_of(results: Results, name: str, measure: str = "error") -> pd.DataFrame:
    """A measure by run; columns are (label, share) for bagging, whose share is 1, and those of the published tables."""
    import pandas

    by_share = {
        share: results.scores(name, measure, round(share * MEMBERS) if share < 1 else 0) for share in (1.0, *SHARES)
    }
    columns = {(label, share): by_share[share][label] for label, share in (BAGGED, *COLUMNS)}
    return pandas.concat(columns, axis=1)


def samples_of(results: Results, datasets: list[str], measure: str) -> list[NDArray[np.float64]]:
    """A measure in percent, runs x (bagging, then the columns of the tables), of each data set."""
    return [100 * errors_of(results, name, measure).to_numpy(dtype=np.float64) for name in datasets]


def best_counts(means: list[NDArray[np.float64]]) -> dict[str, int]:
    """In how many problems an ordering has the best mean to one decimal, as printed, at some size; ties count."""
    counts = {label: 0 for label, _ in ORDERINGS.values()}
    for mean in means:
        printed = np.round(mean, 1)
        for label in {label for (label, _), error in zip(COLUMNS, printed[1:], strict=True) if error == printed.min()}:
            counts[label] += 1
    return counts


def _error_lines(
    results: Results, datasets: list[str], skipped: Mapping[str, str], key: str, measure: str
) -> list[Line]:
    errors = {name: errors_of(results, name, measure) for name in datasets}
    lines = []
    for row in read_published(key):
        name, share = dataset_name(row["dataset"]), float(row["size_pct"]) / 100
        label = "bagging" if row["method"] == "bagging" else ORDERINGS[row["method"]][0]
        column = label if share == 1 else f"{label}, {row['size_pct']} %"
        if name in skipped:
            lines.append(Line(name, column, float(row["error_pct"]), reason=skipped[name]))
        elif name in datasets:
            lines.append(
                judge(
                    name,
                    column,
                    float(row["error_pct"]),
                    100 * errors[name][label, share].dropna(),
                    published_runs=RUNS,
                    rounding=rounding(row["error_pct"]),
                    published_sd=float(row["sd_pct"]) if row["sd_pct"] else None,
                )
            )
    return lines


def _heart(results: Results) -> Conclusion:
    """The extreme example of the text: who has the least training error is not who has the least test error."""
    both = np.hstack([samples_of(results, ["heart"], measure)[0][:, 1:] for measure in ("training-error", "error")])
    greedy, wide = COLUMNS.index(("reduce-error", 0.1)), COLUMNS.index(("margin distance", 0.4))

    def crossed(means: list[NDArray[np.float64]]) -> bool:
        training, test = np.split(means[0], 2)
        ends = (training[greedy] == training.min(), training[wide] == training.max(), test[greedy] == test.max())
        # Margin distance at 20 % is printed as good.
        return bool(all(ends) and np.round(test[wide], 1) <= np.round(test.min(), 1))

    training, test = np.split(both.mean(axis=0), 2)
    found = "; ".join(
        f"{label} {share:.0%} {training[at]:.1f} and {test[at]:.1f}"
        for at, (label, share) in ((greedy, COLUMNS[greedy]), (wide, COLUMNS[wide]))
    )
    return conclude(
        "heart: of all orderings and sizes reduce-error at 10 % has the least training and the largest test error, "
        "margin distance at 40 % the largest training and the least test error",
        crossed,
        [both],
        f"{found}; training from {training.min():.1f} to {training.max():.1f}, test from {test.min():.1f} to "
        f"{test.max():.1f}",
    )


def _significant(errors: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
    """What the text says of significance (p < 0.005); a positive statistic speaks for the ordering."""
    tests = {}
    for name, table in errors.items():
        for column in COLUMNS:
            pair = table[[BAGGED, column]].dropna()
            tests[name, *column] = paired_t(pair.iloc[:, 0], pair.iloc[:, 1])
    runs = min(test.n for test in tests.values())
    won = {key for key, test in tests.items() if test.p_value < SIGNIFICANT and test.statistic > 0}
    lost = {key for key, test in tests.items() if test.p_value < SIGNIFICANT and test.statistic < 0}
    elsewhere = sorted(key for key in lost if key[0] not in EXCEPTIONS)
    wins = {label: sum(key[1] == label for key in won) for label, _ in ORDERINGS.values()}
    most = all(wins["boosting-based"] >= count for count in wins.values())
    conclusions = [
        Conclusion(
            f"bagging is significantly better (p < {SIGNIFICANT}) than some ordering nowhere but in twonorm and vowel",
            False if elsewhere else _told(True, runs, LEAST_RUNS),
            f"{len(won)} of {len(tests)} in favour of an ordering, {len(lost)} of bagging"
            + (f"; elsewhere {_named(elsewhere)}" if elsewhere else ""),
        ),
        Conclusion(
            "of all orderings boosting-based is significantly better than bagging most often",
            _told(most, runs, LEAST_RUNS if most else RUNS),
            ", ".join(f"{label} {count}" for label, count in wins.items()) + f" of {3 * len(errors)}",
        ),
    ]
    for label, shares in (("boosting-based", (0.2, 0.4)), ("orientation", (0.4,))):
        wanted = [(name, label, share) for name in errors for share in shares]
        missing = [key for key in wanted if key not in won]
        against = any(key in lost for key in wanted)
        conclusions.append(
            Conclusion(
                f"{label} at {' and '.join(f'{share:.0%}' for share in shares)} is significantly better than bagging "
                "in every problem",
                # What many runs find, a few may miss.
                _told(not missing, runs, LEAST_RUNS if not missing or against else RUNS),
                "in all" if not missing else f"not in {_named(missing)}",
            )
        )
    return conclusions


def _told(holds: bool, runs: int, needed: int) -> bool | None:
    return holds if runs >= needed else None


def _named(keys: list[tuple[str, str, float]]) -> str:
    return ", ".join(f"{name} ({label} {share:.0%})" for name, label, share in keys)


def _listed(average: NDArray[np.float64]) -> str:
    columns = (f"{label} {share:.0%} {value:.1f}" for (label, share), value in zip(COLUMNS, average[1:], strict=True))
    return f"bagging {average[0]:.1f}, " + ", ".join(columns)
