"""The errors of `run` are those of scikit-learn's `cross_val_score` for the same pipelines, folds and seeds."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from conjunto.experiments import Experiment, Method, Protocol, Source, make, open_source, run
from conjunto.experiments.cells import cell_seed
from conjunto.experiments.sources import seeds_of

SHARED = Path(__file__).parents[3] / "shared" / "data" / "adult.csv.gz"
OURS = ("cart", "bagging", "random-forest", "boosting", "class-switching:200")
RIVALS = ("logistic-regression", "naive-bayes", "lda", "hist-gradient-boosting", "lightgbm")


def method(name):
    name, _, members = name.partition(":")
    return Method(name, parameters={"n_estimators": int(members)} if members else {})


def check(source, names, path, folds):
    methods = tuple(map(method, names))
    trial = Experiment((source,), methods, Protocol("k-fold", 1, folds), ("accuracy",))
    opened = open_source(source)
    scores = run(trial, path, opened=[opened], n_jobs=2).scores(source.name)
    X, y = opened.data.X, opened.data.y.to_numpy()
    for each in methods:
        for fold in range(folds):
            split = trial.protocol.split(y, fold, seeds_of(0, source.name))
            seed = cell_seed(0, source.name, fold, each.label)
            model = make(each.name, "classification", each.parameters, seed)
            (expected,) = cross_val_score(model, X, y, cv=[split], scoring="accuracy")
            assert scores.loc[fold, each.label] == pytest.approx(expected, abs=1e-12), (each.label, fold)
    return scores


def test_on_a_table_of_text_and_numbers(tmp_path):
    check(Source("german"), ("bagging", "logistic-regression", "naive-bayes", "lda"), tmp_path / "r.sqlite", 3)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_file(), reason="adult is too large to ship")
def test_five_rivals_and_five_of_ours_on_adult(tmp_path):
    pytest.importorskip("lightgbm")
    source = Source("adult", path=os.fspath(SHARED), target="target")
    scores = check(source, (*OURS, *RIVALS), tmp_path / "r.sqlite", 3)
    assert np.isfinite(scores.to_numpy()).all()
