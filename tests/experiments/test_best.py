import dataclasses

import numpy as np
import pytest

from conjunto import BaggingClassifier
from conjunto.datasets import load
from conjunto.experiments import (
    Experiment,
    Method,
    Protocol,
    Results,
    Source,
    Store,
    make,
    open_source,
    run,
    save_best,
)
from conjunto.experiments.best import judge_holdout, model_file_name
from conjunto.experiments.cells import cell_seed
from conjunto.model_file import load_model

BAGGING = Method("bagging", "ten trees", {"n_estimators": 10})


def test_the_best_is_fitted_on_all_rows_with_a_seed_of_its_own(tmp_path):
    trial = Experiment(("wine", "iris"), ("three-boost", BAGGING), Protocol("k-fold", 1, 3), seed=4)
    opened = [open_source(source, trial.seed) for source in trial.datasets]
    results = run(trial, tmp_path / "results.sqlite", opened=opened)
    for item in opened:
        name, data = item.source.name, item.data
        saved = save_best(trial, item, results, tmp_path)
        scores = results.scores(name).mean()
        assert (saved.method, saved.file, saved.passed_over) == (scores.idxmin(), f"model-{name}.skops", {})
        found = load_model(tmp_path / saved.file)
        assert found.about == {
            "method": scores.idxmin(),
            "data": name,
            "measure": "error",
            "estimate": f"{scores.min():.6g}",
        }
        method = trial.method(scores.idxmin())
        seed = cell_seed(4, name, "all", method.label)
        expected = make(method.name, "classification", method.parameters, seed).fit(data.X, data.y)
        assert np.array_equal(found.estimator.predict_proba(data.X), expected.predict_proba(data.X))


def test_the_same_model_is_not_fitted_again(tmp_path, monkeypatch):
    trial = Experiment(("wine",), (BAGGING,), Protocol("k-fold", 1, 3))
    opened = open_source(trial.datasets[0])
    results = run(trial, tmp_path / "results.sqlite", opened=[opened])
    first = save_best(trial, opened, results, tmp_path)
    fits = []
    monkeypatch.setattr(BaggingClassifier, "fit", lambda *_: fits.append(1))
    assert save_best(trial, opened, Results.read(results.path), tmp_path) == first
    assert not fits
    monkeypatch.undo()
    # A file that is another is made again.
    (tmp_path / first.file).write_bytes(b"something else")
    assert save_best(trial, opened, results, tmp_path) == first
    assert len(load_model(tmp_path / first.file).estimator) == 10


def test_what_has_no_safe_format_is_passed_over_with_the_reason(tmp_path):
    """Three classes are too many for a stump, which is saved in place of what histograms have grown."""
    few = Method("hist-gradient-boosting", parameters={"max_iter": 5})
    trial = Experiment(("wine",), (few, Method("cart", "stump", {"max_depth": 1}), "constant"), Protocol("holdout", 2))
    opened = open_source(trial.datasets[0])
    results = run(trial, tmp_path / "results.sqlite", opened=[opened])
    assert results.boards["wine"]["method"].iloc[0] == "hist-gradient-boosting"
    saved = save_best(trial, opened, results, tmp_path)
    assert saved.method == load_model(tmp_path / saved.file).about["method"] == "stump"
    assert list(saved.passed_over) == ["hist-gradient-boosting"]
    assert "safe" in saved.passed_over["hist-gradient-boosting"]


def test_the_hold_out_is_judged_once_for_each_model(tmp_path):
    data = load("german")
    part = [
        dataclasses.replace(data, X=data.X.iloc[rows], y=data.y.iloc[rows]) for rows in (slice(700), slice(700, 1000))
    ]
    part[1] = dataclasses.replace(part[1], checksum="of the test rows", source="test.csv")
    trial = Experiment((Source("g", data=part[0]),), ("cart", "constant"), Protocol("k-fold", 1, 3))
    opened = open_source(trial.datasets[0])
    results = run(trial, tmp_path / "results.sqlite", opened=[opened])
    saved = save_best(trial, opened, results, tmp_path)
    for _ in range(2):
        judge_holdout(opened, results, saved, tmp_path, part[1])
        with Store(results.path) as store:
            facts = store.remarked("g", "holdout")
        assert (facts["file"], facts["rows"], facts["method"], facts["looks"]) == ("test.csv", 300, "cart", 1)
    model = load_model(tmp_path / saved.file).estimator
    error = np.mean(model.predict(part[1].X) != part[1].y)
    value, low, high = facts["measures"]["error"]
    assert value == pytest.approx(error)
    assert low < value < high
    assert facts["constant"]["error"] == pytest.approx(np.mean(part[1].y != "good"))
    more = dataclasses.replace(trial, methods=("cart", "constant", Method("bagging")))
    results = run(more, results.path, opened=[opened])
    saved = save_best(more, opened, results, tmp_path)
    judge_holdout(opened, results, saved, tmp_path, part[1])
    with Store(results.path) as store:
        assert store.remarked("g", "holdout")["looks"] == (2 if saved.method == "bagging" else 1)


@pytest.mark.parametrize(
    ("source", "method"),
    [(Source("twonorm", train=30, test=30), BAGGING), (Source("wine"), Method("bagging", "x", {"n_estimators": 0}))],
)
def test_there_is_none_of_a_distribution_or_without_results(source, method, tmp_path):
    trial = Experiment((source,), (method,), Protocol("holdout", 2))
    results = run(trial, tmp_path / "results.sqlite")
    assert save_best(trial, open_source(source), results, tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == ["results.sqlite"]


def test_files_are_named_after_data_sets_where_there_are_several():
    assert model_file_name("wine", ["wine"]) == "model.skops"
    assert model_file_name("wine", ["wine", "iris"]) == "model-wine.skops"
