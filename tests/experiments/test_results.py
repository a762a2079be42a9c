import json
import math
import re
import statistics

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from conjunto.datasets import Dataset
from conjunto.experiments import Experiment, Method, Protocol, Results, Source, Store, StoreError, run
from conjunto.experiments.cells import Outcome


def results_of(tmp_path, trial, outcomes, facts):
    with Store(tmp_path / "results.sqlite", trial) as store:
        for outcome in outcomes:
            store.save(outcome)
        for name, about in facts.items():
            store.describe_dataset(name, about)
        return Results.read(store)


def made_up(
    tmp_path, scores, measure="error", task="classification", failed=(), n_train=90, n_test=10, rows=100, **trial
):
    """Results of a data set "d" with these scores by method; None is a cell that is not done."""
    repetitions = len(next(iter(scores.values())))
    methods = tuple(Method("cart", label) for label in scores)
    experiment = Experiment(
        (Source("d", load="wine"), Source("e", load="iris")), methods, Protocol("holdout", repetitions), **trial
    )
    outcomes = []
    for label, values in scores.items():
        for repetition, value in enumerate(values):
            cell = next(c for c in experiment.cells() if c == ("d", repetition, label))
            if (label, repetition) in failed:
                outcomes.append(Outcome(cell, "failed", traceback="Traceback\n  line\nValueError: two\nlines\n"))
            elif value is not None:
                outcomes.append(
                    Outcome(
                        cell,
                        "done",
                        {measure: value},
                        fit_seconds=1.0 + repetition,
                        predict_seconds=0.5,
                        model_bytes=100,
                        members=3,
                        n_train=n_train,
                        n_test=n_test,
                    )
                )
    return results_of(tmp_path, experiment, outcomes, {"d": {"task": task, "rows": rows}})


def corrected_p(a, b, ratio):
    """Nadeau & Bengio by hand."""
    d = [x - y for x, y in zip(a, b, strict=True)]
    t = statistics.mean(d) / math.sqrt((1 / len(d) + ratio) * statistics.variance(d))
    return 2 * scipy.stats.t.sf(abs(t), len(d) - 1)


GOOD = [0.10, 0.12, 0.11, 0.13, 0.10]
NEAR = [0.11, 0.12, 0.13, 0.12, 0.12]
POOR = [0.30, 0.33, 0.29, 0.31, 0.32]


def test_the_leaderboard_by_hand(tmp_path):
    results = made_up(tmp_path, {"poor": POOR, "good": GOOD, "near": NEAR})
    board = results.leaderboard("d").set_index("method")
    assert board.index.tolist() == ["good", "near", "poor"]
    for label, values in (("good", GOOD), ("near", NEAR), ("poor", POOR)):
        assert board.loc[label, "mean"] == pytest.approx(statistics.mean(values))
        assert board.loc[label, "sd"] == pytest.approx(statistics.stdev(values))
        assert board.loc[label, "n"] == 5
        assert board.loc[label, "fit_seconds"] == pytest.approx(3.0)
        assert board.loc[label, "predict_seconds"] == pytest.approx(0.5)
        assert (board.loc[label, "model_bytes"], board.loc[label, "members"], board.loc[label, "failed"]) == (100, 3, 0)
    assert math.isnan(board.loc["good", "p_value"])
    assert board.loc["near", "p_value"] == pytest.approx(corrected_p(NEAR, GOOD, 10 / 90))
    assert board.loc["poor", "p_value"] == pytest.approx(corrected_p(POOR, GOOD, 10 / 90))
    assert board["verdict"].tolist() == ["best", "tied", "worse"]
    assert board.loc["near", "p_value"] > 0.05 > board.loc["poor", "p_value"]


def test_the_share_of_test_rows_decides_the_p_value(tmp_path):
    results = made_up(tmp_path, {"good": GOOD, "near": NEAR}, n_train=50, n_test=100)
    board = results.leaderboard("d").set_index("method")
    assert board.loc["near", "p_value"] == pytest.approx(corrected_p(NEAR, GOOD, 2))


def test_problems_drawn_afresh_have_the_plain_test(tmp_path):
    board = made_up(tmp_path, {"good": GOOD, "near": NEAR}, rows=None).leaderboard("d").set_index("method")
    assert board.loc["near", "p_value"] == pytest.approx(scipy.stats.ttest_rel(NEAR, GOOD).pvalue)


@pytest.mark.parametrize(("n", "verdict"), [(2, "too few runs to tell"), (9, "too few runs to tell"), (10, "worse")])
def test_the_same_difference_every_time_needs_ten_times(tmp_path, n, verdict):
    board = made_up(tmp_path, {"good": [0.25] * n, "poor": [0.5] * n}).leaderboard("d").set_index("method")
    assert board.loc["poor", "verdict"] == verdict
    assert math.isnan(board.loc["poor", "p_value"]) == (n < 10)


@pytest.mark.parametrize(("measure", "task"), [("r2", "regression"), ("auc", "classification")])
def test_where_greater_is_better_the_greatest_comes_first(tmp_path, measure, task):
    results = made_up(tmp_path, {"good": GOOD, "poor": POOR}, measure, task, measures=(measure,))
    assert results.leaderboard("d")["method"].tolist() == ["poor", "good"]
    assert results.leaderboard("d").equals(results.leaderboard("d", measure))
    assert results.measures("d") == [measure]


def test_equal_means_keep_the_order_of_the_experiment(tmp_path):
    results = made_up(tmp_path, {"b": GOOD, "c": GOOD, "a": GOOD})
    board = results.leaderboard("d")
    assert board["method"].tolist() == ["b", "c", "a"]
    assert board["verdict"].tolist() == ["best", "tied", "tied"]


def test_means_that_differ_by_rounding_keep_the_order_of_the_experiment(tmp_path):
    scores = {"b": [0.19, 0.4, 0.13], "a": [0.13, 0.19, 0.4]}
    assert sum(scores["b"]) > sum(scores["a"])
    assert made_up(tmp_path, scores).leaderboard("d")["method"].tolist() == ["b", "a"]


def test_failed_and_missing_cells(tmp_path):
    """The p-value is over the repetitions that both finished; failures have no sizes and no times."""
    results = made_up(
        tmp_path,
        {"good": [*GOOD[:4], None], "poor": [0.0, *POOR[1:]], "broken": [1.0] * 5, "absent": [None] * 5},
        failed={("poor", 0), *(("broken", r) for r in range(5))},
    )
    scores = results.scores("d")
    assert scores.columns.tolist() == ["good", "poor", "broken", "absent"]
    assert scores["poor"].isna().tolist() == [True, False, False, False, False]
    assert scores[["broken", "absent"]].isna().all(axis=None)
    board = results.leaderboard("d").set_index("method")
    assert board.index[:2].tolist() == ["good", "poor"]
    assert board["n"].to_dict() == {"good": 4, "poor": 4, "broken": 0, "absent": 0}
    assert board["failed"].to_dict() == {"good": 0, "poor": 1, "broken": 5, "absent": 0}
    assert board.loc["poor", "mean"] == pytest.approx(statistics.mean(POOR[1:]))
    assert board.loc["poor", "fit_seconds"] == pytest.approx(statistics.mean([2, 3, 4, 5]))
    assert board.loc["poor", "p_value"] == pytest.approx(corrected_p(POOR[1:4], GOOD[1:4], 10 / 90))
    assert board["verdict"].to_dict()["broken"] == "failed"
    assert board["verdict"].to_dict()["absent"] == "not run yet"
    assert board.loc[["broken", "absent"], "mean"].isna().all()
    failures = results.failures()
    assert len(failures) == 6
    assert set(failures["reason"]) == {"lines"}
    assert failures["method"].value_counts().to_dict() == {"broken": 5, "poor": 1}


def test_nothing_but_failures(tmp_path):
    results = made_up(tmp_path, {"a": [1.0, 1.0], "b": [1.0, 1.0]}, failed={(m, r) for m in "ab" for r in (0, 1)})
    board = results.leaderboard("d")
    assert board["failed"].tolist() == [2, 2]
    assert board["mean"].isna().all()
    assert board["verdict"].tolist() == ["failed", "failed"]
    assert results.curve("d").empty


def test_one_repetition_has_no_spread_and_no_test(tmp_path):
    board = made_up(tmp_path, {"a": [0.1], "b": [0.9]}).leaderboard("d")
    assert board["sd"].isna().all()
    assert board["p_value"].isna().all()
    assert board["verdict"].tolist() == ["best", "too few runs to tell"]


def test_who_finished_fewer_repetitions_stands_below(tmp_path):
    board = made_up(tmp_path, {"whole": POOR, "lucky": [0.0, 0.0, *[None] * (len(POOR) - 2)]}).leaderboard("d")
    assert board["method"].tolist() == ["whole", "lucky"]


def test_an_empty_store(tmp_path):
    results = made_up(tmp_path, {"a": [None], "b": [None]})
    assert results.frame.empty
    assert results.failures().empty
    assert results.leaderboard("d")["n"].tolist() == [0, 0]
    assert results.means("error").isna().all(axis=None)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    line = Dataset("line", X, pd.Series(X["a"] + rng.normal(size=60), name="y"), "regression", notes=("mine",))
    trial = Experiment(
        ("wine", Source("line", data=line), Source("drawn", load="twonorm", train=30, test=40)),
        (
            Method("bagging", parameters={"n_estimators": 6}, sizes=(2, 1, 6)),
            Method("cart"),
            Method("pasting", "fails", {"max_samples": -1}),
        ),
        Protocol("holdout", 3),
        measures=("error", "auc", "rmse"),
    )
    path = tmp_path_factory.mktemp("real") / "results.sqlite"
    return trial, run(trial, path), path


def test_means_are_those_of_the_frame(real):
    _, results, _ = real
    means = results.means("error")
    assert means.index.tolist() == ["wine", "line", "drawn"]
    assert means.columns.tolist() == ["bagging", "cart", "fails"]
    frame = results.frame
    for dataset in ("wine", "drawn"):
        for method in ("bagging", "cart"):
            rows = frame[(frame["dataset"] == dataset) & (frame["method"] == method) & (frame["size"] == 0)]
            assert len(rows) == 3
            assert means.loc[dataset, method] == pytest.approx(rows["error"].mean())
    assert means.loc["line"].isna().all()
    assert means["fails"].isna().all()
    assert results.means("rmse").loc["line", "cart"] > 0


def test_curves_are_means_by_size(real):
    _, results, _ = real
    curve = results.curve("wine")
    assert curve.index.tolist() == [1, 2, 6]
    assert curve.columns.tolist() == ["bagging"]
    frame = results.frame
    for size in (1, 2, 6):
        rows = frame[(frame["dataset"] == "wine") & (frame["size"] == size)]
        assert curve.loc[size, "bagging"] == pytest.approx(rows["error"].mean())
    assert curve.loc[6, "bagging"] == pytest.approx(results.means("error").loc["wine", "bagging"])
    assert results.curve("line").index.tolist() == [1, 2, 6]
    # What needs probabilities has no curve.
    assert results.curve("wine", "auc").empty
    assert results.curve("wine", "no-such-measure").empty


def test_measures_follow_the_task(real):
    _, results, _ = real
    assert results.measures("wine") == ["error", "auc"]
    assert results.measures("line") == ["rmse"]
    assert results.task("line") == "regression"
    assert results.leaderboard("line")["method"].tolist()[-1] == "fails"


def test_scores_line_up(real):
    _, results, _ = real
    scores = results.scores("wine")
    assert scores.index.tolist() == [0, 1, 2]
    for repetition in range(3):
        row = results.frame.query("dataset == 'wine' and method == 'cart' and size == 0 and repetition == @repetition")
        assert scores.loc[repetition, "cart"] == row["error"].item()
    at_two = results.scores("wine", size=2)
    assert at_two["bagging"].notna().all()
    assert at_two["cart"].isna().all()


def test_facts_of_data_sets(real):
    trial, results, path = real
    wine = results.facts["wine"]
    assert (wine["task"], wine["rows"], wine["attributes"]) == ("classification", 178, 13)
    assert (wine["categorical"], wine["missing"]) == (0, 0)
    assert dict(zip(wine["classes"], wine["counts"], strict=True)) == {"class_0": 59, "class_1": 71, "class_2": 48}
    line = results.facts["line"]
    assert (line["task"], line["rows"], line["target"], line["notes"]) == ("regression", 60, "y", ["mine"])
    assert "classes" not in line
    # A distribution has no number of rows.
    assert results.facts["drawn"]["rows"] is None
    assert json.loads(json.dumps(results.facts)) == results.facts
    with Store(path) as store:
        again = Results.read(store)
    assert again.facts == results.facts
    assert again.datasets == [source.name for source in trial.datasets]
    assert again.methods == ["bagging", "cart", "fails"]


def test_gaps_and_categories_are_counted(tmp_path):
    X = pd.DataFrame({"a": [1.0, np.nan] * 6, "b": ["x", "y", None] * 4, "c": [True, False] * 6})
    data = Dataset("gaps", X, pd.Series(["p"] * 9 + ["q"] * 3), "classification")
    trial = Experiment((Source("gaps", data=data),), ("cart",), Protocol("k-fold", 1, 4))
    facts = run(trial, tmp_path / "r.sqlite").facts["gaps"]
    assert facts["categorical"] == 2
    assert facts["missing"] == pytest.approx((6 + 4) / 36)
    # Three rows of q and four folds.
    assert any("q" in note and "4 folds" in note for note in facts["warnings"])


def test_a_file_is_read_and_says_what_it_holds(real, tmp_path):
    _, results, path = real
    again = Results.read(str(path))
    pd.testing.assert_frame_equal(again.frame, results.frame)
    # One of three methods fails on each of 3 data sets x 3 partitions.
    assert repr(again) == (
        "<Results of experiment: 3 data sets (wine, line, drawn) x 3 methods (bagging, cart, fails), "
        "18 of 27 cells done, 9 failed>"
    )
    damaged = bytearray(path.read_bytes())
    # Behind the first page, which holds the tables' names, SQLite finds nothing that it knows.
    damaged[4096:] = b"x" * len(damaged[4096:])
    (tmp_path / "damaged.sqlite").write_bytes(damaged)
    (tmp_path / "text.sqlite").write_text("hello")
    errors = {"none.sqlite": OSError, "": OSError, "text.sqlite": StoreError, "damaged.sqlite": StoreError}
    for name, kind in errors.items():
        with pytest.raises(kind, match=re.escape(str(tmp_path / name))):
            Results.read(tmp_path / name)
