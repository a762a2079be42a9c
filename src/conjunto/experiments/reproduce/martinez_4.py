"""Martínez Muñoz (2006), chapter 4: class-switching and flipping against bagging.

Cuadros 4.2, 4.3 and 4.5 come from one experiment: 15 problems, 100 partitions, ensembles of 1000 trees. The thesis
grows C4.5 trees; ours are unpruned CART trees until C4.5 is here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.protocols import Protocol
from conjunto.experiments.reproduce.published import read_published, rounding
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, decide, judge
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method, Source
from conjunto.experiments.statistics import paired_t, win_draw_loss

RUNS = 100
SHARES = {0.8: "4/5", 0.6: "3/5", 0.4: "2/5", 0.2: "1/5"}
BEST = "class-switching 3/5"
NO_C45 = "base learner: unpruned CART (Gini) instead of C4.5 Release 8, also in bagging, which prunes there"
# Problems with about equal classes, where the text says that flipping 3/5 equals class-switching 3/5.
UNIFORM = ("segment", "threenorm", "twonorm", "vowel")


def _methods() -> tuple[Method, ...]:
    altered = [
        Method(name, f"{name} {word}", {"n_estimators": 1000, "p_hat": share})
        for name in ("class-switching", "flipping")
        for share, word in SHARES.items()
    ]
    return (*altered, Method("bagging", "bagging", {"n_estimators": 1000}))


def experiment() -> Experiment:
    """The experiment behind cuadros 4.2, 4.3 and 4.5."""
    sources = tuple(
        Source(_name(row["dataset"]), train=int(row["n_train"]), test=int(row["n_test"]))
        for row in read_published("martinez-4.1")
    )
    measures = ("error", "members-worse-than-chance")
    return Experiment(sources, _methods(), Protocol("holdout", RUNS), measures, name="martinez-4")


def table_4_2(results: Results, datasets: list[str]) -> tuple[list[Line], list[Conclusion]]:
    """Mean test error of each configuration."""
    scores = {name: 100 * results.scores(name, "error") for name in datasets}
    lines = []
    for row in read_published("martinez-4.2"):
        name, column, printed = _name(row["dataset"]), _label(row["method"], row["p_hat"]), row["error_pct"]
        if name not in scores:
            continue
        if column not in scores[name]:
            lines.append(Line(name, column, float(printed), reason=_ABSENT.get(column, "")))
            continue
        values = scores[name][column].dropna()
        lines.append(judge(name, column, float(printed), values, published_runs=RUNS, rounding=rounding(printed)))
    return lines, _conclusions_4_2(results, datasets)


def table_4_3(results: Results, datasets: list[str]) -> tuple[list[Line], list[Conclusion]]:
    """In how many problems a configuration wins, draws, loses against another, by the means to one decimal."""
    theirs, columns = _published_means(datasets)
    samples = [100 * results.scores(name, "error")[columns].to_numpy() for name in datasets]
    ours = np.array(
        [np.nanmean(sample, axis=0) if len(sample) else np.full(len(columns), np.nan) for sample in samples]
    )
    won, published = win_draw_loss(ours, decimals=1), win_draw_loss(theirs, decimals=1)
    spread = _resampled_wins(samples)
    lines = []
    for i, one in enumerate(columns):
        for j, other in enumerate(columns):
            if i == j:
                continue
            line = Line(
                one,
                f"against {other}",
                float(published[i, j, 0]),
                float(won[i, j, 0]),
                # The wins of the thesis vary as ours do: one spread for both sides.
                float(np.sqrt(2) * spread[i, j]),
                min(len(sample) for sample in samples),
                published_text="/".join(map(str, published[i, j])),
                ours_text="/".join(map(str, won[i, j])),
            )
            # More wins are better, errors are not: the sign is turned for the verdict.
            turned = decide(Line("", "", -line.published, -line.ours, line.standard_error), 0.5)
            lines.append(Line(**{**line.__dict__, "verdict": turned.verdict}))
    return lines, _conclusions_4_2(results, datasets)


def table_4_5(results: Results, datasets: list[str]) -> tuple[list[Line], list[Conclusion]]:
    """Share of members whose own test error exceeds p_max."""
    lines = []
    worse = []
    for name in datasets:
        scores = 100 * results.scores(name, "members-worse-than-chance")
        worse.append(scores[f"class-switching {SHARES[0.8]}"].mean() >= scores[BEST].mean())
        for row in read_published("martinez-4.5"):
            if _name(row["dataset"]) == name:
                column, printed = _label("class_switching", row["p_hat"]), row["pct_classifiers_above_pmax"]
                values = scores[column].dropna()
                lines.append(
                    judge(name, column, float(printed), values, published_runs=RUNS, rounding=rounding(printed))
                )
    statement = "with 4/5 of the limit more members are worse than chance than with 3/5, in every problem"
    return lines, [Conclusion(statement, all(worse), f"in {sum(worse)} of {len(worse)}")]


def experiment_4_6() -> Experiment:
    """Threenorm with a minority share of 0.5, …, 0.1."""
    sources = tuple(
        Source(
            f"threenorm {share}",
            load="threenorm",
            parameters={"class_shares": [share, round(1 - share, 1)]},
            train=300,
            test=5000,
        )
        for share in (0.5, 0.4, 0.3, 0.2, 0.1)
    )
    methods = tuple(method for method in _methods() if method.name != "bagging")
    return Experiment(sources, methods, Protocol("holdout", 10), ("error",), name="martinez-4.6")


def table_4_6(results: Results, datasets: list[str]) -> tuple[list[Line], list[Conclusion]]:
    """Test error on threenorm by minority share."""
    lines = []
    for row in read_published("martinez-4.6"):
        name, column, printed = f"threenorm {row['p_min']}", _label(row["method"], row["p_hat"]), row["error_pct"]
        if name in datasets:
            values = 100 * results.scores(name, "error")[column].dropna()
            # The row of equal classes repeats cuadro 4.2, with its 100 runs.
            runs = 100 if row["p_min"] == "0.5" else 10
            lines.append(judge(name, column, float(printed), values, published_runs=runs, rounding=rounding(printed)))
    conclusions = []
    for name in (name for name in datasets if name != "threenorm 0.5"):
        means = 100 * results.scores(name, "error").mean()
        switching, flipping = (
            min(means[f"{kind} {word}"] for word in SHARES.values()) for kind in ("class-switching", "flipping")
        )
        statement = f"{name}: the best flipping is worse than the best class-switching"
        conclusions.append(Conclusion(statement, bool(flipping > switching), f"{flipping:.1f} against {switching:.1f}"))
    return lines, conclusions


def _conclusions_4_2(results: Results, datasets: list[str]) -> list[Conclusion]:
    theirs, columns = _published_means(datasets)
    ours = np.array([100 * results.scores(name, "error")[columns].mean().to_numpy() for name in datasets])
    won, published = win_draw_loss(ours, decimals=1), win_draw_loss(theirs, decimals=1)
    best, bagging = columns.index(BEST), columns.index("bagging")
    wins, needed, n = int(won[best, bagging, 0]), int(published[best, bagging, 0]), len(datasets)
    conclusions = [
        Conclusion(
            f"class-switching 3/5 wins against bagging in at least {needed} of {n}"
            + ("" if n == len(read_published("martinez-4.1")) else " (the published count for these problems)"),
            wins >= needed,
            f"in {wins} of {n}",
        )
    ]
    losing = [columns[j] for j in range(len(columns)) if j != best and won[best, j, 0] <= won[best, j, 2]]
    conclusions.append(
        Conclusion(
            "class-switching 3/5 wins more often than it loses against every other configuration that was run",
            not losing,
            "against all" if not losing else f"not against {', '.join(losing)}",
        )
    )
    equal = [name for name in UNIFORM if name in datasets]
    if equal:
        p = {name: _p(results, name) for name in equal}
        conclusions.append(
            Conclusion(
                f"flipping 3/5 equals class-switching 3/5 where classes are equal ({', '.join(equal)}; p >= 0.005)",
                all(value >= 0.005 for value in p.values()),
                ", ".join(f"{name} p = {value:.2g}" for name, value in p.items()),
            )
        )
    return conclusions


def _p(results: Results, dataset: str) -> float:
    scores = results.scores(dataset, "error")[[BEST, "flipping 3/5"]].dropna()
    return paired_t(scores[BEST], scores["flipping 3/5"]).p_value


def _published_means(datasets: list[str]) -> tuple[NDArray[np.float64], list[str]]:
    """Printed means of cuadro 4.2 for the configurations that can be run: (data sets, configurations)."""
    columns = [method.label for method in _methods()]
    printed = {
        (_name(row["dataset"]), _label(row["method"], row["p_hat"])): float(row["error_pct"])
        for row in read_published("martinez-4.2")
    }
    return np.array([[printed[name, column] for column in columns] for name in datasets]), columns


def _resampled_wins(samples: list[NDArray[np.float64]], rounds: int = 200) -> NDArray[np.float64]:
    """Standard deviation of the number of wins when the runs are drawn again with replacement."""
    random = np.random.default_rng(0)
    wins = []
    for _ in range(rounds):
        means = [np.nanmean(sample[random.integers(0, len(sample), len(sample))], axis=0) for sample in samples]
        wins.append(win_draw_loss(np.array(means), decimals=1)[:, :, 0])
    return np.std(wins, axis=0)


_ABSENT = {"C4.5": "C4.5 is not here yet", "boosting": "boosting is not here yet"}


def _label(method: str, p_hat: str) -> str:
    name = {"c45": "C4.5", "class_switching": "class-switching"}.get(method, method)
    return f"{name} {SHARES[float(p_hat)]}" if p_hat else name


def _name(key: str) -> str:
    return key.replace("_", "-")
