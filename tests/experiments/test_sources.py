"""Data sets are opened once, and the hash is that of the rows that were read."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from conjunto.datasets import Dataset
from conjunto.experiments import DataChangedError, Experiment, Method, Protocol, Source, SpecError, open_source, run
from conjunto.experiments.cells import Bench
from conjunto.experiments.sources import Sources
from conjunto.experiments.spec import Cell, source_hash

FOLDS = Protocol("k-fold", repetitions=1, folds=2)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text("grams,skin,fruit\n" + "150,smooth,apple\n160,rough,orange\n" * 6)
    return path


def change(file):
    file.write_text(file.read_text().replace("150", "151", 1))


def trial_of(file, *methods):
    return Experiment((Source("fruit", path=str(file)),), methods or ("cart",), FOLDS)


def test_the_hash_is_that_of_the_file(file):
    opened = open_source(Source("fruit", path=str(file)))
    assert opened.content == hashlib.sha256(file.read_bytes()).hexdigest()
    assert opened.data.name == "fruit"
    assert opened.data.X.shape == (12, 2)


@pytest.mark.parametrize("name", ["wine", "sonar", "waveform", "tic-tac-toe"])
def test_opening_and_not_opening_give_the_same_hash(name):
    assert open_source(Source(name)).content == source_hash(Source(name))


def test_a_file_of_a_folder_is_known_by_its_content(tmp_path, monkeypatch):
    monkeypatch.setenv("CONJUNTO_DATA", str(tmp_path))
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(270, 13))).assign(disease=["no", "yes"] * 135)
    frame.to_csv(tmp_path / "heart.csv", index=False)
    expected = hashlib.sha256((tmp_path / "heart.csv").read_bytes()).hexdigest()
    assert open_source(Source("heart")).content == source_hash(Source("heart")) == expected


def test_hashes_that_are_known_give_the_same_fingerprint(file):
    data = Dataset("mine", pd.DataFrame({"a": [1.0, 2.0]}), pd.Series(["p", "q"]), "classification")
    trial = Experiment((Source("fruit", path=str(file)), Source("mine", data=data), Source("sonar")), ("cart",))
    sources = Sources(trial, [open_source(source) for source in trial.datasets])
    assert sources.contents() == Sources(trial).contents()
    assert trial.fingerprint(sources.contents()) == trial.fingerprint()
    assert trial.as_dict(sources.contents()) == trial.as_dict()
    change(file)
    assert trial.fingerprint(sources.contents()) != trial.fingerprint()


def test_a_data_set_is_opened_once(file):
    sources = Sources(trial_of(file))
    first = sources.open("fruit")
    change(file)
    assert sources.open("fruit") is first
    assert sources.contents() == {"fruit": first.content}


def test_the_seed_of_the_experiment_draws():
    one, same, other = (open_source(Source("waveform"), seed).data.X for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_what_was_opened_for_another_experiment_is_refused(file):
    trial = trial_of(file)
    for opened in (
        open_source(trial.datasets[0], seed=1),
        open_source(Source("fruit", path=str(file), drop=("skin",))),
    ):
        with pytest.raises(ValueError, match="'fruit' was opened for another experiment"):
            Sources(trial, [opened])


def test_a_file_that_changed_is_not_opened(file):
    trial = trial_of(file)
    contents = Sources(trial).contents()
    Sources(trial, contents=contents).open("fruit")
    change(file)
    with pytest.raises(DataChangedError, match=r"fruit\.csv has changed since the run began"):
        Sources(trial, contents=contents).open("fruit")
    file.write_text("grams\n")
    with pytest.raises(DataChangedError, match=r"fruit\.csv could be read when the run began, and cannot be now"):
        Sources(trial, contents=contents).open("fruit")
    file.unlink()
    with pytest.raises(DataChangedError, match=r"fruit\.csv could be read when the run began.*does not exist"):
        Sources(trial, contents=contents).open("fruit")


def test_a_change_ends_the_bench_and_is_no_failed_cell(file):
    trial = trial_of(file)
    bench = Bench(trial, Sources(trial, contents=Sources(trial).contents()))
    change(file)
    with pytest.raises(DataChangedError):
        bench.run(Cell("fruit", 0, "cart"))


def test_helpers_find_that_a_file_changed(file, tmp_path):
    """This process has the rows, its helpers have to read them again."""
    bagging = Method("bagging", parameters={"n_estimators": 2})
    trial = trial_of(file, "cart", bagging)
    opened = [open_source(trial.datasets[0])]
    change(file)
    with pytest.raises(DataChangedError, match=r"^\S*fruit\.csv has changed since the run began: [^\n]*$"):
        run(trial, tmp_path / "two.sqlite", n_jobs=2, opened=opened)
    assert (run(trial, tmp_path / "one.sqlite", n_jobs=1, opened=opened).frame["status"] == "done").all()


@pytest.mark.parametrize(
    ("source", "protocol", "message"),
    [
        (Source("labor"), Protocol("k-fold", 1, 58), "protocol, labor: folds: 58 folds need .* there are 57"),
        (Source("labor", train=50, test=8), Protocol("holdout", 1), r"50 \+ 8 rows asked for, and there are 57"),
        (Source("twonorm", train=0.9, test=0.5), Protocol("holdout", 1), r"270 \+ 150 rows asked for"),
    ],
)
def test_rows_that_are_not_enough_are_seen_before_anything_runs(source, protocol, message, tmp_path):
    with pytest.raises(SpecError, match=message):
        run(Experiment(("wine", source), ("cart",), protocol), tmp_path / "results.sqlite")
    assert not list(tmp_path.iterdir())
