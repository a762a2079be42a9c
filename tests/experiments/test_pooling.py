"""Tests over rows, where partitions are few, and what a store answers without a fit."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn import metrics
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from conjunto.datasets import Dataset, load
from conjunto.experiments import Experiment, Method, Protocol, Results, Source, Store, run
from conjunto.experiments.answers import Answers, HeldOut
from conjunto.experiments.cells import Bench, Outcome
from conjunto.experiments.measures.resampled_ranks import auc
from conjunto.experiments.measures.scored import Scored
from conjunto.experiments.pooling import _draw, paired_p_value, rows_p_value
from conjunto.experiments.results import CONSTANT
from conjunto.experiments.statistics import mcnemar


def table(n=400, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    score = 2 * X["a"] + rng.normal(size=n)
    y = np.where(score > np.quantile(score, 1 - share), "hit", "miss")
    return Dataset("made", X, pd.Series(y, name="y"), "classification")


METHODS = (Method("linear", estimator=LogisticRegression()), Method("tree", estimator=DecisionTreeClassifier()))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("pooling") / "results.sqlite"
    return run(Experiment((Source("made", data=table()),), METHODS, Protocol("k-fold", 1, 5)), path)


@pytest.fixture(scope="module")
def said(results):
    """What one has by hand: truth, labels and probabilities of all rows, out of fold."""
    found = {}
    for method, _, tested, answers in results.answers("made"):
        whole = found.setdefault(method, {"truth": np.zeros(400, int), "label": np.zeros(400, int), "p": np.zeros(400)})
        whole["truth"][tested.rows], whole["label"][tested.rows] = tested.truth, answers.predicted
        whole["p"][tested.rows] = answers.proba[:, 0]
    return found


def test_the_answers_are_about_the_rows_of_the_table(said):
    assert np.array_equal(said["tree"]["truth"] == 0, table().y == "hit")


def test_errors_are_compared_by_mcnemars_test(results, said):
    wrong = {method: (of["label"] != of["truth"]).astype(int) for method, of in said.items()}
    only = [int((wrong[a] > wrong[b]).sum()) for a, b in (("tree", "linear"), ("linear", "tree"))]
    expected = scipy.stats.binomtest(only[0], sum(only)).pvalue
    assert rows_p_value(results, "made", "error", ("tree", "linear"), range(5)) == pytest.approx(expected)
    board = results.leaderboard("made").set_index("method")
    assert board.loc["tree", "p_rows"] == pytest.approx(expected)
    assert board.loc["tree", "verdict"] == ("worse" if expected < 0.05 else "tied")


def test_other_losses_are_compared_by_the_paired_t_test(results, said):
    losses = {}
    for method, of in said.items():
        p = np.where(of["truth"] == 0, of["p"], 1 - of["p"])
        losses[method] = (1 - p) ** 2
    expected = scipy.stats.ttest_rel(losses["tree"], losses["linear"]).pvalue
    assert rows_p_value(results, "made", "brier", ("tree", "linear"), range(5)) == pytest.approx(expected, rel=1e-3)


def test_areas_are_compared_by_resampling_and_other_measures_not(results):
    assert rows_p_value(results, "made", "auc", ("tree", "linear"), range(5)) < 0.05
    assert rows_p_value(results, "made", "average-precision", ("tree", "linear"), range(5)) < 0.05
    assert np.isnan(rows_p_value(results, "made", "mcc", ("tree", "linear"), range(5)))


def test_6_errors_against_52_are_not_tied(tmp_path):
    """Where one fold holds most of the trouble, the test over five folds has nothing to say; that over rows has."""
    trial = Experiment((Source("made", data=table(500)),), METHODS, Protocol("k-fold", 1, 5))
    wrong = {"linear": [2, 1, 1, 1, 1], "tree": [40, 5, 3, 2, 2]}
    with Store(tmp_path / "results.sqlite", trial) as store:
        store.describe_dataset("made", {"task": "classification", "rows": 500})
        for cell in trial.cells():
            rows = np.arange(100 * cell.repetition, 100 * cell.repetition + 100)
            truth = rows % 2
            said = np.where(np.arange(100) < wrong[cell.method][cell.repetition], 1 - truth, truth)
            error = {"error": float(np.mean(said != truth))}
            tested = HeldOut(rows, truth, np.array([0.5, 0.5]), 1)
            store.save(Outcome(cell, "done", error, n_train=400, n_test=100, tested=tested, answers=Answers(said)))
        results = Results.read(store)
    row = results.leaderboard("made").set_index("method").loc["tree"]
    assert row["p_value"] > 0.05
    assert row["p_rows"] < 1e-6
    assert row["verdict"] == "worse"
    assert mcnemar([1] * 6 + [0] * 52, [0] * 6 + [1] * 52).p_value == pytest.approx(
        2 * scipy.stats.binom.cdf(6, 58, 0.5)
    )


def test_many_partitions_need_no_test_over_rows(tmp_path):
    trial = Experiment((Source("made", data=table()),), METHODS, Protocol("k-fold", 3, 5))
    board = run(trial, tmp_path / "results.sqlite").leaderboard("made")
    assert board["p_rows"].isna().all()


def test_another_measure_needs_no_run(results, said, monkeypatch):
    monkeypatch.setattr(Bench, "run", lambda *_: pytest.fail("a cell was run"))
    asked = Results.read(results.path, measures=["kappa", "brier"])
    scores = asked.scores("made", "kappa")
    for method in ("linear", "tree"):
        parts = [t for m, _, t, _ in results.answers("made") if m == method]
        expected = [
            metrics.cohen_kappa_score(said[method]["truth"][part.rows], said[method]["label"][part.rows])
            for part in parts
        ]
        assert scores[method].tolist() == pytest.approx(expected)
    assert asked.measures("made") == ["kappa", "brier"]
    trial = Experiment((Source("made", data=table()),), METHODS, Protocol("k-fold", 1, 5), ("mcc",))
    assert run(trial, results.path).measures("made") == ["mcc"]


def test_asked_in_the_run_or_later_measures_are_the_same(results, tmp_path):
    measures = ("error", "auc", "average-precision", "log-loss", "brier", "calibration-error", "mcc", "positive-f1")
    trial = Experiment((Source("made", data=table()),), METHODS, Protocol("k-fold", 1, 5), measures)
    ran = run(trial, tmp_path / "results.sqlite")
    later = Results.read(results.path, measures=measures)
    for measure in measures:
        assert measure in ran.frame.columns
        pd.testing.assert_frame_equal(ran.scores("made", measure), later.scores("made", measure), check_exact=True)


def test_thresholds(results, said):
    """The rarer class wherever its probability reaches a fifth."""
    at = Results.read(results.path, measures=["sensitivity", "error"], threshold=0.2)
    for method in ("linear", "tree"):
        hit = said[method]["p"].astype(np.float32) >= np.float32(0.2)
        truth = said[method]["truth"] == 0
        rows = [t.rows for m, _, t, _ in results.answers("made") if m == method]
        expected = [hit[part][truth[part]].mean() for part in rows]
        assert at.scores("made")[method].tolist() == pytest.approx(expected)
    with pytest.raises(ValueError, match="threshold must be a probability, got 2"):
        Results.read(results.path, threshold=2)
    with pytest.raises(ValueError, match="unknown measure 'kapa'; did you mean 'kappa'"):
        Results.read(results.path, measures=["kapa"])


def test_the_constant_is_scikit_learns_dummy(results, tmp_path):
    bench = Bench(Experiment((Source("made", data=table()),), METHODS, Protocol("k-fold", 1, 5)))
    found = results.constant("made", "log-loss")
    for number in range(5):
        part = bench.partition("made", number)
        dummy = DummyClassifier().fit(part.X_train, part.y_train)
        expected = metrics.log_loss(part.y_test, dummy.predict_proba(part.X_test))
        assert found[number] == pytest.approx(expected, rel=1e-6)
    mean, verdict = results.against_constant("made")
    assert (mean, verdict.word) == (pytest.approx(0.2), "worse")
    X = pd.DataFrame({"x": np.arange(60.0)})
    noise = Dataset("noise", X, pd.Series(np.random.default_rng(0).normal(size=60), name="y"), "regression")
    trial = Experiment((Source("noise", data=noise),), ("cart",), Protocol("k-fold", 1, 5))
    useless = run(trial, tmp_path / "noise.sqlite")
    part = Bench(trial).partition("noise", 3)
    dummy = DummyRegressor().fit(part.X_train, part.y_train)
    expected = metrics.root_mean_squared_error(part.y_test, dummy.predict(part.X_test))
    assert useless.constant("noise")[3] == pytest.approx(expected)
    assert useless.against_constant("noise")[1].word == "best"
    assert CONSTANT not in useless.methods


def test_only_new_cells_are_run(tmp_path, monkeypatch):
    ran = []
    original = Bench.run
    monkeypatch.setattr(Bench, "run", lambda self, cell: (ran.append(cell), original(self, cell))[1])
    path = tmp_path / "results.sqlite"
    trial = Experiment(("wine",), ("cart",), Protocol("k-fold", 1, 3))
    run(trial, path)
    more = dataclasses.replace(trial, methods=("cart", "pasting"), protocol=Protocol("k-fold", 2, 3))
    results = run(dataclasses.replace(more, datasets=("wine", "iris")), path)
    assert len(ran) == len(set(ran)) == 2 * 2 * 6
    whole = run(dataclasses.replace(more, datasets=("wine", "iris")), tmp_path / "fresh.sqlite")
    for name in ("wine", "iris"):
        pd.testing.assert_frame_equal(results.scores(name), whole.scores(name), check_exact=True)
    del ran[:]
    run(dataclasses.replace(trial, measures=("mean-leaves", "error")), path)
    # What answers cannot tell has to be asked of models: of the cells that are asked for, and no others.
    assert sorted(ran) == sorted(trial.cells())
    del ran[:]
    run(dataclasses.replace(trial, measures=("kappa", "mean-leaves")), path)
    assert not ran


def test_without_answers_another_measure_runs_again(tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    trial = Experiment(("wine",), ("cart",), Protocol("k-fold", 1, 3))
    results = run(trial, path, keep_answers=False)
    assert list(results.answers("wine")) == []
    assert results.constant("wine").isna().all()
    assert results.against_constant("wine") is None
    again = run(dataclasses.replace(trial, measures=("kappa",)), path)
    assert again.scores("wine").notna().to_numpy().all()


def test_a_first_class_that_is_rarer_is_the_positive_one(tmp_path):
    data = load("breast-w")
    assert data.y.value_counts().index[-1] == sorted(data.y.unique())[1]
    swapped = dataclasses.replace(data, y=data.y.map({"benign": "b", "malignant": "a"}), name="swapped")
    trial = Experiment((Source("swapped", data=swapped),), ("cart",), Protocol("holdout", 1), ("sensitivity",))
    results = run(trial, tmp_path / "results.sqlite")
    ((_, _, tested, answers),) = results.answers("swapped")
    assert tested.positive == 0
    rows = tested.truth == 0
    assert results.scores("swapped").iloc[0, 0] == np.mean(answers.predicted[rows] == 0)


def test_equal_methods_are_seldom_told_apart_and_unequal_ones_often():
    """60 tables each: at level 0.05 not more than 8 false alarms (p < 0.01 if the size were right)."""
    rng = np.random.default_rng(0)
    alarms = {0.0: 0, 2.0: 0}
    for better in alarms:
        for _ in range(60):
            y = (rng.random(200) < 0.3).astype(int)
            pair = []
            for gain in (better, 0.0):
                p = 1 / (1 + np.exp(-(y + rng.normal(size=200) + gain * y)))
                scored = Scored(None, None, y, y, np.arange(2), np.column_stack([1 - p, p]), 1)
                # Tested in four repetitions, rows are no more than they are.
                pair.append(_draw([(auc(scored), np.arange(200))] * 4))
            alarms[better] += paired_p_value(*pair) < 0.05
    assert alarms[0.0] <= 8
    assert alarms[2.0] >= 55


def test_p_values_are_never_zero_and_one_where_nothing_differs():
    same = np.linspace(0, 1, 99)
    assert paired_p_value(same, same) == 1
    assert paired_p_value(same + 1, same) == pytest.approx(2 / 100)
    assert np.isnan(paired_p_value(np.full(99, np.nan), same))
