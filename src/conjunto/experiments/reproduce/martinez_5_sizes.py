"""Martínez Muñoz (2006), cuadros 5.4 and 5.5: how many members are worth ordering.

Of 1000 trees the first 11, …, 1000 are ordered; the table has the minimum of the mean test curve and where it lies.
An ensemble of m members is the first m of a larger one with the same seed, so each number of members is a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.reproduce import martinez_5
from conjunto.experiments.reproduce.martinez_5 import BAGGING, ORDERINGS, RUNS, ordered, sources
from conjunto.experiments.reproduce.published import read_published, rounding
from conjunto.experiments.reproduce.verdicts import Conclusion, Line, conclude, decide, judge, neutral, resampled_means
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Experiment, Method
from conjunto.experiments.splits.protocols import Protocol

INITIAL = (11, 25, 51, 75, 101, 151, 201, 251, 501, 751, 1000)
KEYS = ("reduce_error", "margin_distance", "boosting_based")
SIZES = (*range(1, 202, 2), *range(221, 1000, 20))
DEPARTURES = (
    *martinez_5.DEPARTURES,
    "beyond 201 members every tenth odd number is measured, so that a minimum there is known to within 10 members",
)


def experiment() -> Experiment:
    """The experiment behind cuadros 5.4 and 5.5."""
    orders = [
        ordered(_label(key, initial), ORDERINGS[key][1], tuple(size for size in SIZES if size <= initial), initial)
        for key in KEYS
        for initial in INITIAL
    ]
    # All orders have its seed; all of its trees, without any order, are what they are compared with.
    bagging = Method("bagging", parameters={**BAGGING, "n_estimators": INITIAL[-1]})
    protocol = Protocol("holdout", RUNS)
    return Experiment(sources("diabetes", "waveform"), (bagging, *orders), protocol, ("error",), name="martinez-5.4")


def table_5_4(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Diabetes: the least mean test error and the size at which it is reached."""
    return _table(results, "diabetes", datasets, "martinez-5.4")


def table_5_5(results: Results, datasets: list[str], skipped: Mapping[str, str]) -> tuple[list[Line], list[Conclusion]]:
    """Waveform: the least mean test error and the size at which it is reached."""
    return _table(results, "waveform", datasets, "martinez-5.5")


def _table(results: Results, name: str, datasets: list[str], key: str) -> tuple[list[Line], list[Conclusion]]:
    if name not in datasets:
        return [Line(name, "all of it", float("nan"), reason=f"this is the table of {name}, which was not run")], []
    curves = _curves(results, name)
    lines = []
    for row in read_published(key):
        label = _label(row["method"], int(row["initial_size"]))
        runs = curves[label]
        if len(runs) < 2:
            lines.append(Line(name, f"{label}, error", float(row["min_test_error_pct"]), reason="two runs are needed"))
            continue
        place = int(runs.mean(axis=0).argmin())
        printed = row["min_test_error_pct"]
        error = f"{label}, error"
        lines.append(
            judge(name, error, float(printed), runs[:, place], published_runs=RUNS, rounding=rounding(printed))
        )
        # Where the minimum lies varies from sample to sample of runs, in the thesis as here.
        places = [SIZES[int(means.argmin())] for (means,) in resampled_means([runs])]
        spread = float(np.std(places)) * float(np.sqrt(1 + len(runs) / RUNS))
        line = Line(name, f"{label}, trees", float(row["n_classifiers"]), SIZES[place], spread, len(runs))
        line = replace(line, published_text=row["n_classifiers"], ours_text=str(SIZES[place]))
        lines.append(neutral(decide(line, rounding("1"))))
    return lines, [_falls(name, key, curves) for key in KEYS] + [_saturates(name, curves)]


def _curves(results: Results, name: str) -> dict[str, NDArray[np.float64]]:
    """Test errors in percent of each method that ordered: runs x sizes."""
    frame = results.frame
    chosen = frame[(frame["dataset"] == name) & (frame["size"] > 0) & (frame["status"] == "done")]
    table = chosen.pivot(index=["method", "repetition"], columns="size", values="error")
    curves = {}
    for key in KEYS:
        for initial in INITIAL:
            label = _label(key, initial)
            sizes = [size for size in SIZES if size <= initial]
            known = label in table.index.get_level_values("method")
            runs = table.loc[label, sizes] if known else table.iloc[:0].reindex(columns=sizes)
            curves[label] = 100 * runs.to_numpy(dtype=np.float64)
    return curves


def _falls(name: str, key: str, curves: Mapping[str, NDArray[np.float64]]) -> Conclusion:
    """The share of members at the minimum falls as more are ordered."""
    few, many = (_label(key, initial) for initial in (INITIAL[0], INITIAL[-1]))

    def shares(means: list[NDArray[np.float64]]) -> tuple[float, float]:
        return SIZES[int(means[0].argmin())] / INITIAL[0], SIZES[int(means[1].argmin())] / INITIAL[-1]

    samples = [curves[few], curves[many]]
    statement = (
        f"{name}, {ORDERINGS[key][0]}: the share of trees at the minimum falls from {INITIAL[0]} to {INITIAL[-1]}"
    )
    if any(len(sample) < 2 for sample in samples):
        return Conclusion(statement, None, "not all of it was run")
    first, last = shares([sample.mean(axis=0) for sample in samples])
    return conclude(statement, lambda means: shares(means)[1] < shares(means)[0], samples, f"{first:.0%} to {last:.0%}")


def _saturates(name: str, curves: Mapping[str, NDArray[np.float64]]) -> Conclusion:
    """From 11 to 251 trees the minimum falls by more than from 251 to 1000, for each ordering."""
    sizes = (11, 251, 1000)
    samples = [curves[_label(key, initial)] for key in KEYS for initial in sizes]
    statement = f"{name}: the least error saturates: it falls more from 11 to 251 trees than from 251 to 1000"
    if any(len(sample) < 2 for sample in samples):
        return Conclusion(statement, None, "not all of it was run")

    def least(means: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.array([mean.min() for mean in means]).reshape(len(KEYS), len(sizes))

    def holds(means: list[NDArray[np.float64]]) -> bool:
        falls = -np.diff(least(means), axis=1)
        return bool((falls[:, 0] > falls[:, 1]).all())

    found = ", ".join(
        f"{ORDERINGS[key][0]} {' '.join(f'{value:.1f}' for value in row)}"
        for key, row in zip(KEYS, least([sample.mean(axis=0) for sample in samples]), strict=True)
    )
    return conclude(statement, holds, samples, found)


def _label(key: str, initial: int) -> str:
    return f"{ORDERINGS[key][0]} of {initial}"
