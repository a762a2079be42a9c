import numpy as np
import pytest

from conjunto.experiments import Experiment, Method, Protocol, Source, make, open_source, run, save_best
from conjunto.experiments.best import model_file_name
from conjunto.experiments.cells import cell_seed
from conjunto.model_file import load_model

BAGGING = Method("bagging", "ten trees", {"n_estimators": 10})


def test_the_best_is_fitted_on_all_rows_with_a_seed_of_its_own(tmp_path):
    trial = Experiment(("wine", "iris"), ("three-boost", BAGGING), Protocol("k-fold", 1, 3), seed=4)
    opened = [open_source(source, trial.seed) for source in trial.datasets]
    results = run(trial, tmp_path / "results.sqlite", opened=opened)
    for item in opened:
        name, data = item.source.name, item.data
        file = save_best(trial, item, results, tmp_path)
        assert file == f"model-{name}.skops"
        scores = results.scores(name).mean()
        found = load_model(tmp_path / file)
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
