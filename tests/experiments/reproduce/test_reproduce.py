"""Published tables, run again: the tables from our own numbers are those of the document where the document says so."""

import numpy as np
import pandas as pd
import pytest

from conjunto.experiments.reproduce import TABLES, ReproduceError, WorkedExample, bourel, martinez_4, reproduce
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.results import Results


def as_if_published(noise=0.0):
    """Results whose errors are the printed means of cuadro 4.2, in ten runs."""
    random = np.random.default_rng(0)
    whole = martinez_4.experiment()
    rows = []
    for row in read_published("martinez-4.2"):
        label = martinez_4._label(row["method"], row["p_hat"])
        for repetition in range(10):
            error = float(row["error_pct"]) / 100 + noise * random.normal()
            rows.append(
                {
                    "dataset": row["dataset"].replace("_", "-"),
                    "repetition": repetition,
                    "method": label,
                    "size": 0,
                    "status": "done",
                    "error": error,
                    "members-worse-than-chance": 0.0,
                }
            )
    facts = {source.name: {"task": "classification"} for source in whole.datasets}
    return Results(pd.DataFrame(rows), whole.as_dict(), facts), [source.name for source in whole.datasets]


def test_the_published_means_agree_with_themselves():
    results, names = as_if_published(noise=0.001)
    lines, conclusions = martinez_4.table_4_2(results, names)
    assert len(lines) == 165
    assert all(line.verdict == "agrees" for line in lines)
    statements = {conclusion.statement: conclusion for conclusion in conclusions}
    assert statements["class-switching 3/5 wins against bagging in at least 12 of 15"].holds


def test_wins_draws_and_losses_of_the_published_means_are_cuadro_4_3():
    results, names = as_if_published()
    lines, _ = martinez_4.table_4_3(results, names)
    found = {(line.dataset, line.column): line for line in lines}
    assert len(found) == 110
    for row in read_published("martinez-4.3"):
        one = martinez_4._label(row["method"], row["p_hat"])
        other = martinez_4._label(row["versus_method"], row["versus_p_hat"])
        line = found[one, f"against {other}"]
        assert line.ours_text == line.published_text == f"{row['wins']}/{row['draws']}/{row['losses']}"
        assert line.verdict == "agrees"


def test_worse_numbers_are_called_worse():
    results, names = as_if_published(noise=0.001)
    worse = results.frame.assign(error=results.frame["error"] + 0.02)
    lines, _ = martinez_4.table_4_2(Results(worse, results.spec, results.facts), names)
    assert {line.verdict for line in lines} == {"worse"}
    switching = results.frame["method"] == martinez_4.BEST
    shifted = results.frame.assign(error=results.frame["error"] + 0.5 * switching)
    _, conclusions = martinez_4.table_4_2(Results(shifted, results.spec, results.facts), names)
    assert not any(conclusion.holds for conclusion in conclusions)


@pytest.mark.parametrize("key", TABLES)
def test_every_table_can_be_described(key):
    table = TABLES[key]
    assert isinstance(table, WorkedExample) or table.experiment().cells()
    assert table.cost
    assert table.departures


def test_a_small_run_goes_on_and_is_judged(tmp_path):
    first = reproduce("martinez-3.6", tmp_path, runs=2, datasets=["waveform 50", "sonar"], n_jobs=1)
    assert first.runs == 2
    assert first.published_runs == 10
    assert "not in this table" in first.skipped["sonar"]
    more = reproduce("martinez-3.6", tmp_path, runs=3, datasets=["waveform 50", "waveform 100"], n_jobs=1)
    assert {line.runs for line in more.lines} == {3}
    again = reproduce("martinez-3.6", tmp_path, runs=2, datasets=["waveform 50"], n_jobs=1)
    assert again.lines == first.lines


def test_what_cannot_be_run(tmp_path):
    with pytest.raises(ReproduceError, match=r"did you mean 'martinez-4\.2'"):
        reproduce("martinez-42", tmp_path)
    with pytest.raises(ReproduceError, match="none of the data sets"):
        reproduce("martinez-4.2", tmp_path, datasets=["sonar"])
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_cuadro_4_6_in_full(tmp_path):
    compared = reproduce("martinez-4.6", tmp_path, n_jobs=2)
    assert all(conclusion.holds for conclusion in compared.conclusions)
    assert compared.counts()["not run"] == 0


def test_data_sets_that_cannot_be_had_are_lines_that_were_not_run():
    results, names = as_if_published(noise=0.001)
    lines, _ = martinez_4.table_4_2(results, [name for name in names if name != "heart"], {"heart": "not here"})
    heart = [line for line in lines if line.dataset == "heart"]
    assert len(heart) == 11
    assert {(line.verdict, line.reason) for line in heart} >= {("not run", "not here")}
    assert len(lines) == 165


def test_few_runs_cannot_show_that_two_methods_are_equal():
    results, names = as_if_published(noise=0.001)
    _, conclusions = martinez_4.table_4_2(results, names)
    (equal,) = [conclusion for conclusion in conclusions if "equals" in conclusion.statement]
    assert equal.holds is None
    with pytest.raises(ReproduceError, match="runs must be from 2 to 10"):
        reproduce("martinez-3.6", ".", runs=11)


def test_failed_runs_are_not_verdicts():
    results, names = as_if_published(noise=0.001)
    broken = results.frame.assign(
        status=results.frame["status"].where(results.frame["method"] != "bagging", "failed"),
    )
    lines, conclusions = martinez_4.table_4_2(Results(broken, results.spec, results.facts), names)
    assert {(line.verdict, line.reason) for line in lines if line.column == "bagging"} == {
        ("not run", "its runs failed")
    }
    assert conclusions[0].holds is None


def test_printed_fractions_keep_their_digits():
    assert [bourel._percent(printed) for printed in ("0.042", "0.33", "0.41")] == ["4.2", "33", "41"]


def test_bourels_table_in_two_runs(tmp_path):
    compared = reproduce("bourel-II", tmp_path, runs=2, n_jobs=1)
    assert len(compared.lines) == 23
    assert {line.column for line in compared.lines if line.verdict == "not run"} == {"stacking of densities"}
    assert ("breast-w", "SAMME") not in {(line.dataset, line.column) for line in compared.lines}
    assert len(compared.conclusions) == 4


def test_boosted_stumps_beat_a_large_tree_on_chi_squared(tmp_path):
    compared = reproduce("recarey-2.4", tmp_path, runs=3, n_jobs=1)
    assert [line.verdict for line in compared.lines] == ["agrees"]
    assert all(conclusion.holds for conclusion in compared.conclusions)


def test_every_column_of_cuadro_4_2_is_run(tmp_path):
    compared = reproduce("martinez-4.2", tmp_path, runs=2, datasets=["wine"], n_jobs=2)
    assert {line.column for line in compared.lines} >= {"C4.5", "boosting", "bagging", "class-switching 3/5"}
    assert {line.runs for line in compared.lines} == {2}
