"""What the page says of all data sets together: means, average ranks, tests, wins and losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.results import Results
from conjunto.experiments.statistics import FriedmanTest, friedman, nemenyi_critical_difference, win_draw_loss
from conjunto.report.pictures import Painter
from conjunto.report.words import Scale, count, listed, p_value, title

if TYPE_CHECKING:
    import pandas as pd


def across_section(results: Results, painter: Painter) -> dict[str, Any] | None:
    """The cross-data-set part; None with fewer than two data sets or methods that have results.

    Ranks and wins are those of the means as printed, so that what a reader sees as equal is equal.
    """
    means, shown = _means(results)
    if means.shape[0] < 2 or means.shape[1] < 2:
        return None
    # Smaller is better in `losses`, whatever the measure.
    mains = {name: results.measures(name)[0] for name in means.index}
    losses = means.copy()
    for name, main in mains.items():
        if MEASURES[main].greater_is_better:
            losses.loc[name] = -losses.loc[name]
    best = losses.min(axis=1)
    kinds = sorted({title(main) for main in mains.values()})
    methods = list(means.columns)
    section: dict[str, Any] = {
        "methods": methods,
        "rows": [
            {
                "name": name,
                "measure": title(mains[name]) if len(kinds) > 1 else None,
                "cells": [
                    {"text": shown[name][method], "best": losses.loc[name, method] == best[name]} for method in methods
                ],
            }
            for name in means.index
        ],
        "measures": listed(kinds),
        "wins": _wins(losses),
        "ranks": None,
    }
    complete = losses.dropna()
    section["left_out"] = [name for name in losses.index if name not in complete.index]
    if len(complete) >= 2 and len(methods) >= 3:
        section["ranks"] = _ranks(complete, painter)
    firsts = {method: sum(bool(losses.loc[name, method] == best[name]) for name in losses.index) for method in methods}
    section["sentence"] = _sentence(section["ranks"], firsts, len(losses))
    return section


def _means(results: Results) -> tuple[pd.DataFrame, dict[str, dict[str, str]]]:
    """Printed means of the main measure, data sets x methods, as numbers and as text."""
    import pandas

    values, shown = {}, {}
    for name in results.datasets:
        if name not in results.facts:
            continue
        means = results.means(results.measures(name)[0]).T[name]
        if means.isna().all():
            continue
        scale = Scale.of(results.measures(name)[0], means)
        values[name] = means.map(lambda value, scale=scale: scale.rounded(value) if math.isfinite(value) else value)
        shown[name] = {method: scale.write(means[method]) for method in results.methods}
    table = pandas.DataFrame(values, index=results.methods).T
    return table.dropna(axis=1, how="all"), shown


def _ranks(losses: pd.DataFrame, painter: Painter) -> dict[str, Any]:
    """Average ranks, the tests over them, and Demšar's diagram."""
    test = friedman(losses.to_numpy())
    ranks = dict(sorted(zip(losses.columns, test.average_ranks.tolist(), strict=True), key=lambda item: item[1]))
    n, k = losses.shape
    difference = nemenyi_critical_difference(k, n)
    first = next(iter(ranks))
    apart = {method: rank - ranks[first] for method, rank in ranks.items() if method != first}
    near = [method for method, gap in apart.items() if gap < difference]
    alt = (
        f"Critical-difference diagram of {k} methods on {n} data sets; critical difference {difference:.2f}. "
        f"Average ranks: {', '.join(f'{method} {rank:.2f}' for method, rank in ranks.items())}."
    )
    return {
        "by_method": {method: f"{rank:.2f}" for method, rank in ranks.items()},
        "first": first,
        "near": near,
        "rest": [method for method in apart if method not in near],
        "tests": _tests(test),
        "evidence": f"{'chance of agreement' if test.unanimous else 'Iman–Davenport'}, {p_value(test.f_p_value)}",
        "differ": test.f_p_value < 0.05,
        "difference": f"{difference:.2f}",
        "datasets": n,
        "diagram": painter.critical_difference(ranks, difference, alt),
    }


def _tests(test: FriedmanTest) -> str:
    """The numbers of the tests in words; where all data sets agree, Iman and Davenport's F is not a number."""
    p = p_value(test.f_p_value)
    if test.unanimous:
        other = f"all {test.n_datasets} data sets put the methods in the same order, which by chance has {p}"
    else:
        other = f"in Iman and Davenport's form F = {test.f_statistic:.2f}, {p}"
    return f"Friedman's test: {p_value(test.p_value)}; {other}."


def _wins(losses: pd.DataFrame) -> list[dict[str, Any]]:
    counts = win_draw_loss(losses.to_numpy())
    return [
        {
            "method": method,
            "cells": [
                None if row == column else "/".join(str(number) for number in counts[row, column])
                for column in range(len(losses.columns))
            ],
        }
        for row, method in enumerate(losses.columns)
    ]


def _sentence(ranks: dict[str, Any] | None, firsts: dict[str, int], datasets: int) -> str:
    """The result over all data sets in words."""
    if ranks is None:
        winners = sorted((m for m in firsts if firsts[m]), key=lambda method: -firsts[method])
        parts = [f"{method} on {firsts[method]}" for method in winners]
        return f"Best mean by number of data sets, of {datasets}: {listed(parts)}."
    first = ranks["first"]
    text = f"Over {count(ranks['datasets'], 'data set')}, {first} has the best average rank, "
    text += f"{ranks['by_method'][first]} among {len(ranks['by_method'])} methods. "
    if not ranks["differ"]:
        return text + f"The methods do not differ significantly ({ranks['evidence']})."
    if not ranks["near"]:
        return text + "Nemenyi's test finds all others significantly worse."
    text += f"Nemenyi's test cannot tell it from {listed(ranks['near'])}"
    if not ranks["rest"]:
        return text + "."
    return text + f"; {listed(ranks['rest'])} {'is' if len(ranks['rest']) == 1 else 'are'} significantly worse."
