"""Data sets are opened once, and the hash is that of the rows that were read."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from conjunto.datasets import Dataset, TableError, read_table
from conjunto.experiments import (
    DataChangedError,
    Experiment,
    Method,
    Protocol,
    Source,
    SpecError,
    open_source,
    read_experiment,
    run,
)
from conjunto.experiments.cells import Bench
from conjunto.experiments.keys import source_hash
from conjunto.experiments.sources import Sources
from conjunto.experiments.spec import Cell
from conjunto.experiments.splits.columns import read_times

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


def test_hashes_that_are_known_give_the_same_keys(file):
    data = Dataset("mine", pd.DataFrame({"a": [1.0, 2.0]}), pd.Series(["p", "q"]), "classification")
    trial = Experiment((Source("fruit", path=str(file)), Source("mine", data=data), Source("sonar")), ("cart",))
    sources = Sources(trial, [open_source(source) for source in trial.datasets])
    assert sources.contents() == Sources(trial).contents()
    assert trial.keys(sources.contents()) == trial.keys()
    assert trial.as_dict(sources.contents()) == trial.as_dict()
    change(file)
    assert trial.keys(sources.contents()) != trial.keys()


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


SALES = pd.DataFrame(
    {
        "customer": ["p", "q", "p ", "r", "q", "r"],
        "day": ["2024-03-01", "2024-01-31", "2024-02-10", "2024-02-10", "2024-05-01", "2024-04-01"],
        "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "z": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        "label": ["a", "b", "a", "b", "a", "b"],
    }
)


def sales(kind, folder, **split):
    """The same table from a file and in memory."""
    if kind == "file":
        SALES.to_csv(folder / "sales.csv", index=False)
        other = "day" if "groups" in split else "customer"
        return Source("sales", path=str(folder / "sales.csv"), drop=(other,), **split)
    column = next(iter(split.values()))
    X = SALES[[column, "x", "z"]]
    return Source("sales", data=Dataset("sales", X, SALES["label"], "classification"), **split)


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_groups_of_rows(kind, tmp_path):
    """Blanks around a name make no other group."""
    opened = open_source(sales(kind, tmp_path, groups="customer"))
    assert opened.groups.tolist() == [0, 1, 0, 2, 1, 2]
    assert opened.times is None
    assert list(opened.data.X.columns) == ["x", "z"]
    assert "not attributes: customer (groups)" in opened.data.notes
    trial = Experiment((opened.source,), ("cart",), Protocol("k-fold", 1, 3))
    assert opened.facts(trial)["groups"] == {"column": "customer", "count": 3}
    assert opened.facts(trial)["attributes"] == 2
    assert trial.describe_protocol() == "1 x 3-fold stratified cross-validation, groups kept together"


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_times_of_rows(kind, tmp_path):
    opened = open_source(sales(kind, tmp_path, time="day"))
    assert np.unique(opened.times, return_inverse=True)[1].tolist() == [2, 0, 1, 1, 4, 3]
    assert opened.groups is None
    trial = Experiment((opened.source,), ("cart",), Protocol("forward", folds=4))
    facts = opened.facts(trial)
    assert facts["time"] == {"column": "day", "first": "2024-01-31", "last": "2024-05-01"}
    assert "groups" not in facts
    # The first training row is the one of January, of class b.
    assert facts["warnings"] == [
        "no examples before the first block that is tested: a; what has not happened is not learned"
    ]


def test_columns_to_split_by_are_part_of_the_spec_and_of_the_hash(tmp_path):
    source = sales("file", tmp_path, groups="customer")
    assert Experiment((source,), ("cart",)).as_dict()["datasets"][0]["groups"] == "customer"
    memory = sales("memory", tmp_path, groups="customer")
    assert open_source(memory).content == source_hash(memory)


def test_a_column_that_was_set_aside_before_is_found_there(tmp_path):
    SALES.drop(columns="day").to_csv(tmp_path / "sales.csv", index=False)
    data = read_table(tmp_path / "sales.csv", aside=["customer"])
    assert open_source(Source("sales", data=data, groups="customer")).groups.tolist() == [0, 1, 0, 2, 1, 2]


def test_a_data_set_by_name_is_split_by_one_of_its_columns():
    opened = open_source(Source("wine", groups="alcohol"))
    assert opened.data.X.shape[1] == 12
    assert opened.groups.max() + 1 == open_source(Source("wine")).data.X["alcohol"].nunique()
    with pytest.raises(TableError, match="groups: there is no column 'alcohl'; did you mean 'alcohol'"):
        open_source(Source("wine", groups="alcohl"))
    with pytest.raises(SpecError, match="groups: the rows of twonorm are drawn"):
        open_source(Source("twonorm", groups="x1"))
    sparse = Dataset("s", csr_matrix(np.eye(4)), pd.Series([0, 1, 0, 1]), "classification")
    with pytest.raises(TableError, match="time: 'x' names a column, and those of sparse rows have no names"):
        open_source(Source("s", data=sparse, time="x"))


def test_classes_of_few_groups_are_said(tmp_path):
    frame = pd.DataFrame({"g": np.repeat(np.arange(6), 5), "x": np.arange(30.0), "y": ["a", "b"] * 10 + ["c"] * 10})
    frame.to_csv(tmp_path / "d.csv", index=False)
    trial = Experiment((Source("d", path=str(tmp_path / "d.csv"), groups="g"),), ("cart",), Protocol("k-fold", 1, 5))
    (warning,) = open_source(trial.datasets[0]).facts(trial)["warnings"]
    assert warning.startswith("fewer groups than the 5 folds: a, b, c; such a class")


@pytest.mark.parametrize(
    ("split", "protocol", "message"),
    [
        ({"groups": "customer"}, Protocol("k-fold", 1, 4), "protocol, sales: folds: 4 folds need .* groups.* are 3"),
        ({"time": "day"}, Protocol("forward", folds=5), "at least 6 different times, and there are 5"),
    ],
)
def test_too_few_groups_or_times_are_seen_before_anything_runs(split, protocol, message, tmp_path):
    trial = Experiment((sales("memory", tmp_path, **split),), ("cart",), protocol)
    with pytest.raises(SpecError, match=message):
        open_source(trial.datasets[0]).facts(trial)


@pytest.mark.parametrize(
    ("values", "order"),
    [
        ([3, 1, 2], [2, 0, 1]),
        ([2.5, -1.0, 2.0], [2, 0, 1]),
        (["2024-03-01", "2024-01-31", "2024-02-01"], [2, 0, 1]),
        (["2024-03-01T10:00:00Z", "2024-03-01T10:00:00+02:00", "2024-03-01 09:30"], [2, 0, 1]),
        (["13/02/2024", "01/12/2023", "01/02/2024"], [2, 0, 1]),
        (["2/13/2024", "12/1/2023 10:00", "2/1/2024"], [2, 0, 1]),
        (["1.3.2024", "2.1.2024", "1.2.2024"], [2, 0, 1]),
        (["Mar 1, 2024", "5 January 2024", "01-Feb-2024"], [2, 0, 1]),
        # Days and months alike: both readings are the same.
        (["05/05/2024", "03/03/2024", "04/04/2024 "], [2, 0, 1]),
        (pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-01"]), [2, 0, 1]),
        (pd.Categorical(["2024-03", "2024-01", "2024-02"]), [2, 0, 1]),
    ],
)
def test_times_are_read(values, order):
    times = read_times(pd.Series(values), "time: column 't'")
    assert np.argsort(np.argsort(times.keys)).tolist() == order


def test_times_as_they_are_written():
    def ends(values):
        times = read_times(pd.Series(values), "t")
        return times.first, times.last

    assert ends([2020, 1999]) == ("1999", "2020")
    assert ends([0.5, 2.0]) == ("0.5", "2")
    assert ends(["31/01/2024", "01/02/2024"]) == ("31/01/2024", "01/02/2024")
    assert ends(pd.to_datetime(["2024-02-01", "2024-01-31"])) == ("2024-01-31", "2024-02-01")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2024-01-31", "soon", "later"], "^time: column 't' holds 'soon' in row 2, which is neither a number nor a"),
        (["2024-01-31", "2024-02-30"], "holds '2024-02-30' in row 2"),
        (["31/01/2024", "01/31/2024", "30/01/2024"], "holds '01/31/2024' in row 2"),
        (["01/01/2024", "03/04/2024"], "holds '03/04/2024' in row 2, and no row tells whether the day or the month"),
        (["2024-01-31", None], "^time: column 't' is empty in row 2: fill it in"),
        ([1.0, np.nan, 2.0], "is empty in row 2"),
        ([1.0, 2.0, np.inf], "is infinite in row 3"),
    ],
)
def test_times_that_cannot_be_read(values, message):
    with pytest.raises(TableError, match=message):
        read_times(pd.Series(values), "time: column 't'")


def test_a_missing_group_names_its_row(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("g,x,y\np,1,a\n,2,b\nq,3,a\n")
    with pytest.raises(TableError, match=r"^groups: column 'g' is empty in row 2 of those with a target: fill"):
        open_source(Source("d", path=str(path), groups="g"))


@pytest.mark.parametrize(
    ("split", "protocol", "message"),
    [
        ({"time": "day"}, Protocol("k-fold", 1, 3), "protocol, sales: time: k-fold would train on rows that are later"),
        ({"time": "day"}, Protocol("holdout"), "protocol, sales: time: holdout would train"),
        ({}, Protocol("forward", folds=3), "protocol, sales: time: forward chaining needs to know which rows"),
        ({"groups": "customer"}, Protocol("forward", folds=3), "groups: forward chaining cuts by time"),
        ({"groups": "customer"}, Protocol("bootstrap-632"), "groups: a bootstrap draws single rows"),
    ],
)
def test_protocols_that_do_not_fit_the_columns_to_split_by(split, protocol, message):
    with pytest.raises(ValueError, match=message):
        Experiment((Source("sales", path="sales.csv", **split),), ("cart",), protocol)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ({"groups": "a", "time": "b"}, "groups and time cannot be given both"),
        ({"groups": "a", "target": "a"}, "groups: 'a' is the target, and must be a column of its own"),
        ({"time": "a", "drop": ("a",)}, r"time: 'a' is left out \(drop\)"),
        ({"groups": 3}, "groups must be a text, got 3"),
        ({"time": ""}, "time must be a text, got ''"),
    ],
)
def test_columns_to_split_by_that_cannot_be(split, message):
    with pytest.raises(ValueError, match=message):
        Source("sales", path="sales.csv", **split)


@pytest.mark.parametrize("split", [{"groups": "customer"}, {"time": "day"}])
def test_a_file_of_an_experiment_names_the_columns_to_split_by(split, tmp_path):
    source = sales("file", tmp_path, **split)
    ((key, column),) = split.items()
    protocol = 'kind = "forward"' if key == "time" else "repetitions = 1"
    (tmp_path / "trial.toml").write_text(
        f'methods = ["cart"]\n[protocol]\n{protocol}\nfolds = 2\n[[datasets]]\npath = "sales.csv"\n'
        f'{key} = "{column}"\ndrop = ["{source.drop[0]}"]\n'
    )
    trial = read_experiment(tmp_path / "trial.toml")
    assert trial.datasets == (source,)
    bench = Bench(trial)
    opened = open_source(source)
    for repetition in range(2):
        train, test = bench.partition("sales", repetition).X_train, bench.partition("sales", repetition).X_test
        inside, outside = (np.flatnonzero(opened.data.X["x"].isin(part["x"])) for part in (train, test))
        if key == "groups":
            assert not set(opened.groups[inside]) & set(opened.groups[outside])
        else:
            assert opened.times[inside].max() < opened.times[outside].min()
