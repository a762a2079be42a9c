"""Chapter 5 of the thesis: numbers as published are judged to agree, and what its text counts is counted."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from conjunto.experiments import run
from conjunto.experiments.reproduce import martinez_5
from conjunto.experiments.reproduce.published import dataset_name, read_published
from conjunto.experiments.results import Results

RUNS = 100
NAMES = [source.name for source in martinez_5.experiment().datasets]


def rows_of(row, measure, mean, sd, noise):
    label = "bagging" if row["method"] == "bagging" else martinez_5.ORDERINGS[row["method"]][0]
    size = 0 if row["method"] == "bagging" else 2 * int(row["size_pct"])
    return [
        {
            "dataset": dataset_name(row["dataset"]),
            "repetition": repetition,
            "method": label,
            "size": size,
            "status": "done",
            measure: mean + sd * noise[repetition],
        }
        for repetition in range(len(noise))
    ]


def noise_of(runs, seed):
    """Of mean 0 and standard deviation 1, exactly."""
    noise = np.random.default_rng(seed).normal(size=runs)
    return (noise - noise.mean()) / noise.std(ddof=1)


def results_of(frame):
    whole = martinez_5.experiment()
    facts = {source.name: {"task": "classification"} for source in whole.datasets}
    return Results(frame, whole.as_dict(), facts)


def as_if_published(shift=None):
    """Results that have the printed means of cuadros 5.7 and 5.8; runs go up and down together."""
    shift = shift or {}
    frames = []
    for key, measure in (("martinez-5.7", "training-error"), ("martinez-5.8", "error")):
        rows = []
        for row in read_published(key):
            mean = float(row["error_pct"]) / 100 + shift.get((row["method"], row["size_pct"]), 0)
            rows += rows_of(row, measure, mean, 0.0005, noise_of(RUNS, 1))
        frames.append(pd.DataFrame(rows))
    keys = ["dataset", "repetition", "method", "size", "status"]
    return results_of(frames[0].merge(frames[1], on=keys, validate="one_to_one"))


def with_published_differences(runs, shift=0.0):
    """Results in which the differences to bagging have exactly the effect of the printed p-values."""
    printed = {
        (row["dataset"], row["method"], row["size_pct"]): row["error_pct"] for row in read_published("martinez-5.8")
    }
    rows = []
    for seed, row in enumerate(read_published("martinez-5.9")):
        bagging, ours = (printed[row["dataset"], *of] for of in (("bagging", "100"), (row["method"], row["size_pct"])))
        effect = stats.t.isf(float(row["p_value"]) / 2, RUNS - 1) / math.sqrt(RUNS)
        sign = 1 if float(bagging) >= float(ours) else -1
        rows += rows_of(row, "error", 0.2 - 0.01 * sign * effect + shift, 0.01, noise_of(runs, seed))
        if row["method"] == "angle" and row["size_pct"] == "40":
            rows += rows_of({**row, "method": "bagging"}, "error", 0.2, 0.0, np.zeros(runs))
    return results_of(pd.DataFrame(rows))


def test_the_experiment_is_that_of_the_thesis():
    whole = martinez_5.experiment()
    sizes = {source.name: (source.train, source.test) for source in whole.datasets}
    assert len(sizes) == 18
    assert sizes["audiology"] == (140, 86)
    assert sizes["waveform"] == (300, 5000)
    assert whole.protocol.repetitions == 100
    assert [method.label for method in whole.methods] == [
        "bagging", "reduce-error", "complementarity", "margin distance", "orientation", "boosting-based",
    ]  # fmt: skip
    # All orders are orders of the same trees.
    assert {method.seed_as or method.label for method in whole.methods} == {"bagging"}
    assert {method.parameters["n_estimators"] for method in whole.methods} == {200}


def test_published_means_agree_with_themselves():
    results = as_if_published()
    for table in (martinez_5.table_5_7, martinez_5.table_5_8):
        lines, conclusions = table(results, NAMES, {})
        assert len(lines) == 18 * 16
        assert {line.verdict for line in lines} == {"agrees"}
        assert [conclusion.holds for conclusion in conclusions] == [True] * len(conclusions)
    lines, _ = martinez_5.table_5_8(as_if_published({("angle", "40"): 0.01}), NAMES, {})
    assert {line.verdict for line in lines if line.column == "orientation, 40 %"} == {"worse"}
    lines, _ = martinez_5.table_5_8(results, ["heart"], {"wine": "it is not here"})
    assert {(line.dataset, line.verdict) for line in lines} == {("heart", "agrees"), ("wine", "not run")}


def test_best_results_are_counted_as_the_text_counts_them():
    """Of 18 problems: margin distance 10, boosting-based 5, orientation 4, complementarity 4, reduce-error 3."""
    samples = martinez_5.samples_of(as_if_published(), NAMES, "error")
    assert martinez_5.best_counts([sample.mean(axis=0) for sample in samples]) == {
        "margin distance": 10, "boosting-based": 5, "orientation": 4, "complementarity": 4, "reduce-error": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "place", "shift"),
    [
        ("table_5_7", 0, {("reduce_error", "10"): 0.02}),
        ("table_5_7", 1, {("margin_distance", "40"): 0.01}),
        ("table_5_8", 0, {("complementarity", "20"): 0.03}),
        ("table_5_8", 1, {("margin_distance", "20"): 0.01}),
        ("table_5_8", 2, {("margin_distance", size): 0.01 for size in ("10", "20", "40")}),
    ],
)
def test_conclusions_can_fail(table, place, shift):
    _, conclusions = getattr(martinez_5, table)(as_if_published(shift), NAMES, {})
    assert conclusions[place].holds is False


@pytest.mark.parametrize("runs", [12, 100])
def test_published_p_values_agree_with_themselves_in_any_number_of_runs(runs):
    lines, conclusions = martinez_5.table_5_9(with_published_differences(runs), NAMES, {})
    assert len(lines) == 270
    assert {line.verdict for line in lines} == {"agrees"}
    assert all(line.ours == pytest.approx(line.published) for line in lines)
    if runs == RUNS:
        assert [conclusion.holds for conclusion in conclusions] == [True] * 4
    else:
        # Twelve runs of the published effects are too few for small differences, which refutes nothing.
        assert [conclusion.holds for conclusion in conclusions][-2:] == [None, None]


def test_bagging_that_wins_refutes_the_text():
    _, conclusions = martinez_5.table_5_9(with_published_differences(100, shift=0.05), NAMES, {})
    assert [conclusion.holds for conclusion in conclusions] == [False, True, False, False]


def test_a_small_run_is_judged(tmp_path):
    whole = martinez_5.experiment()
    cells = [cell for cell in whole.cells() if cell.dataset in ("labor", "new-thyroid") and cell.repetition < 2]
    results = run(whole, tmp_path / "store.sqlite", cells=cells)
    assert results.failures().empty
    for table, count in ((martinez_5.table_5_7, 32), (martinez_5.table_5_8, 32), (martinez_5.table_5_9, 30)):
        lines, _ = table(results, ["labor", "new-thyroid"], {})
        assert len(lines) == count
        assert {line.runs for line in lines} == {2}
    training = results.scores("new-thyroid", "training-error", 20)
    assert (training["reduce-error"] <= results.scores("new-thyroid", "training-error")["bagging"]).all()
