"""Cuadro 5.10: growth as published is judged to agree; no time of this machine is judged."""

import pandas as pd

from conjunto.experiments import Experiment, Protocol, run
from conjunto.experiments.reproduce import martinez_5_time as times
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.results import Results


def results_with(seconds):
    rows = [
        {
            "dataset": "waveform",
            "repetition": r,
            "method": label,
            "size": 0,
            "status": "done",
            "ordering-seconds": value,
        }
        for label, value in seconds.items()
        for r in range(4)
    ]
    return Results(pd.DataFrame(rows), times.experiment().as_dict(), {"waveform": {"task": "classification"}})


def published(power=1.0):
    rows = read_published("martinez-5.10")
    return {times._label(row["method"], int(row["T"])): 1e-3 * float(row["time_s"]) ** power for row in rows}


def test_published_growth_agrees_with_itself():
    lines, conclusions = times.table_5_10(results_with(published()), ["waveform"], {})
    assert len(lines) == 10
    assert {line.verdict for line in lines} == {"agrees"}
    assert [conclusion.holds for conclusion in conclusions] == [True, True]


def test_another_growth_differs():
    lines, conclusions = times.table_5_10(results_with(published(power=2)), ["waveform"], {})
    assert lines[-1].verdict == "differs"
    assert [conclusion.holds for conclusion in conclusions] == [False, False]


def test_a_small_run_is_judged(tmp_path):
    whole = times.experiment()
    small = Experiment(whole.datasets, whole.methods[:2], Protocol("holdout", 2), whole.measures)
    results = run(small, tmp_path / "store.sqlite")
    assert results.failures().empty
    assert (results.scores("waveform", "ordering-seconds") > 0).all(axis=None)
    assert set(results.frame["members"]) == {50, 100}
    assert results.scores("waveform", "error").to_numpy().max() < 0.5
