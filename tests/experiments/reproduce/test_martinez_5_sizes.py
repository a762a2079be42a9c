"""Cuadros 5.4 and 5.5: minima as published are found where they were put, and judged to agree."""

import numpy as np
import pandas as pd
import pytest

from conjunto.experiments import Experiment, Protocol, Source, run
from conjunto.experiments.reproduce import martinez_5_sizes as sizes
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.results import Results

RUNS = 10
TABLES = {"diabetes": ("martinez-5.4", sizes.table_5_4), "waveform": ("martinez-5.5", sizes.table_5_5)}


def as_if_published(name, moved=0, **changed):
    """Curves that fall to the printed minimum and rise after it; runs go up and down together."""
    rows = []
    for row in read_published(TABLES[name][0]):
        initial = int(row["initial_size"])
        label = sizes._label(row["method"], initial)
        least = changed.get(label, float(row["min_test_error_pct"]))
        for size in (size for size in sizes.SIZES if size <= initial):
            error = least + 0.05 * abs(size - int(row["n_classifiers"]) - moved)
            rows += [
                {
                    "dataset": name,
                    "repetition": repetition,
                    "method": label,
                    "size": size,
                    "status": "done",
                    "error": (error + 0.01 * (-1) ** repetition) / 100,
                }
                for repetition in range(RUNS)
            ]
    whole = sizes.experiment()
    return Results(pd.DataFrame(rows), whole.as_dict(), {name: {"task": "classification"}})


def test_every_published_minimum_lies_on_a_size_that_is_measured():
    for key, _ in TABLES.values():
        assert {int(row["n_classifiers"]) for row in read_published(key)} <= set(sizes.SIZES)


@pytest.mark.parametrize("name", TABLES)
def test_published_minima_agree_with_themselves(name):
    lines, conclusions = TABLES[name][1](as_if_published(name), [name], {})
    assert len(lines) == 66
    assert {line.verdict for line in lines} == {"agrees"}
    assert all(line.ours == pytest.approx(line.published) for line in lines if line.column.endswith("trees"))
    assert [conclusion.holds for conclusion in conclusions] == [True] * 4


def test_others_do_not():
    lines, _ = sizes.table_5_5(as_if_published("waveform", moved=4), ["waveform"], {})
    apart = [line.verdict for line in lines if line.column == "margin distance of 1000, trees"]
    assert apart == ["differs"]
    deep = {sizes._label(key, 1000): 10.0 for key in sizes.KEYS}
    lines, conclusions = sizes.table_5_5(as_if_published("waveform", **deep), ["waveform"], {})
    assert {line.verdict for line in lines if line.column.endswith("of 1000, error")} == {"better"}
    # The fall from 251 to 1000 trees is now the larger one.
    assert [conclusion.holds for conclusion in conclusions] == [True, True, True, False]


def test_an_order_of_few_trees_is_of_the_first_of_many(tmp_path):
    """The members that two methods share are the same, so that one member alone has the same error on its own."""
    whole = sizes.experiment()
    chosen = [method for method in whole.methods if method.label.endswith((" 11", " 25"))]
    assert {method.seed_as for method in chosen} == {"bagging"}
    bagging = whole.method("bagging")
    assert bagging.parameters["n_estimators"] == 1000
    small = Experiment(
        (Source("waveform", train=60, test=200),),
        (type(bagging)("bagging", parameters={**bagging.parameters, "n_estimators": 25}, sizes=(11,)), *chosen),
        Protocol("holdout", 2),
        whole.measures,
    )
    results = run(small, tmp_path / "store.sqlite")
    assert results.failures().empty
    first = results.scores("waveform", "error", 11)
    # All eleven in any order are the first eleven of twenty-five.
    np.testing.assert_array_equal(first["reduce-error of 11"], first["bagging"])
    lines, conclusions = sizes.table_5_5(results, ["waveform"], {})
    assert {line.verdict for line in lines if " of 51" in line.column} == {"not run"}
    assert {line.runs for line in lines if " of 25," in line.column} == {2}
    assert conclusions[-1].holds is None
