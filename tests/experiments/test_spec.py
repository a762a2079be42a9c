import dataclasses
import importlib
import pickle
import re
import subprocess
import sys
import textwrap
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from conjunto.datasets import Dataset
from conjunto.experiments import Cell, Experiment, Method, Protocol, Source, SpecError, read_experiment
from conjunto.experiments.spec_file import experiment_from_dict

WHOLE = """
seed = 7
measures = ["error", "auc"]

[protocol]
kind = "k-fold"
repetitions = 2
folds = 5

[[datasets]]
path = "data/fruit.csv"
target = "fruit"
drop = ["number"]

[[datasets]]
name = "small twonorm"
load = "twonorm"
parameters = {n_samples = 50}
train = 30

[[methods]]
name = "bagging"
label = "bagging of 5"
parameters = {n_estimators = 5}
sizes = [1, 3, 0.5]

[[methods]]
name = "cart"
"""
CSV = "grams,skin,number,fruit\n" + "150,smooth,1,apple\n140,rough,2,orange\n" * 10


def write(folder, text, name="trial.toml"):
    (folder / "data").mkdir(exist_ok=True, parents=True)
    (folder / "data" / "fruit.csv").write_text(CSV)
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_a_file_says_what_python_says(tmp_path):
    found = read_experiment(write(tmp_path, WHOLE))
    expected = Experiment(
        (
            Source("fruit", path=str(tmp_path / "data" / "fruit.csv"), target="fruit", drop=("number",)),
            Source("small twonorm", load="twonorm", parameters={"n_samples": 50}, train=30),
        ),
        (Method("bagging", "bagging of 5", {"n_estimators": 5}, (1, 3, 0.5)), Method("cart")),
        Protocol("k-fold", 2, 5),
        ("error", "auc"),
        7,
        "trial",
    )
    assert found == expected
    assert found.keys() == expected.keys()


def test_cells_are_the_product_with_the_methods_of_a_partition_together(tmp_path):
    cells = read_experiment(write(tmp_path, WHOLE)).cells()
    assert len(cells) == len(set(cells)) == 2 * (2 * 5) * 2
    assert cells[:3] == [Cell("fruit", 0, "bagging of 5"), Cell("fruit", 0, "cart"), Cell("fruit", 1, "bagging of 5")]


def test_names_are_enough(tmp_path):
    path = write(tmp_path, 'datasets = ["wine", "iris"]\nmethods = ["cart"]\n')
    assert read_experiment(path) == Experiment(("wine", "iris"), ("cart",), name="trial")
    assert Experiment(["wine"], ["cart"]) == Experiment((Source("wine"),), (Method("cart"),))


def test_paths_are_relative_to_the_file_or_absolute(tmp_path, monkeypatch):
    path = write(tmp_path / "deep", WHOLE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert read_experiment("../deep/trial.toml").datasets[0].path == "../deep/data/fruit.csv"
    whole = tmp_path / "deep" / "data" / "fruit.csv"
    path.write_text(f'methods = ["cart"]\n[[datasets]]\npath = "{whole}"\n')
    assert read_experiment(path).datasets[0].path == str(whole)


def test_plain_data_and_back(tmp_path):
    experiment = read_experiment(write(tmp_path, WHOLE))
    again = experiment_from_dict(experiment.as_dict())
    assert again == experiment
    assert again.keys() == experiment.keys()


def test_measures_of_a_task():
    mixed = Experiment(("wine",), ("cart",), measures=("f1", "rmse", "mean-leaves"))
    assert mixed.measures_of("classification") == ("f1", "mean-leaves")
    assert mixed.measures_of("regression") == ("rmse", "mean-leaves")
    assert Experiment(("wine",), ("cart",)).measures_of("regression")[0] == "rmse"
    with pytest.raises(SpecError, match="rmse cannot be taken of a classification"):
        Experiment(("wine",), ("cart",), measures=("rmse",)).measures_of("classification")


BASE = 'datasets = ["wine"]\nmethods = ["cart"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # A misspelt word at each level, and the right one.
        (BASE + "sead = 1", ("trial.toml", "'sead'", "did you mean 'seed'?")),
        ('dataset = ["wine"]\nmethods = ["cart"]', ("trial.toml", "'dataset'", "did you mean 'datasets'?")),
        (BASE + "[protocol]\nfold = 3", ("trial.toml: protocol", "'fold'", "did you mean 'folds'?")),
        (
            'methods = ["cart"]\n[[datasets]]\nname = "wine"\ntraget = "x"',
            ("trial.toml: datasets", "'traget'", "did you mean 'target'?"),
        ),
        (
            'datasets = ["wine"]\n[[methods]]\nname = "cart"\nparametres = {}',
            ("trial.toml: methods", "did you mean 'parameters'?"),
        ),
        ('datasets = ["wine"]\nmethods = ["baging"]', ("trial.toml: methods", "'baging'", "did you mean 'bagging'?")),
        (BASE + 'measures = ["eror"]', ("trial.toml: measures", "'eror'", "did you mean 'error'?")),
        (
            'datasets = ["wine"]\n[[methods]]\nname = "bagging"\nparameters = {n_estimator = 3}',
            ("trial.toml: methods: bagging", "'n_estimator'", "did you mean 'n_estimators'?"),
        ),
        (BASE + '[protocol]\nkind = "kfold"', ("trial.toml: protocol", "kind", "'k-fold'")),
        # Keys that exist in Python only.
        ('methods = ["cart"]\n[[datasets]]\nname = "x"\ndata = "y"', ("trial.toml: datasets", "'data'")),
        ('datasets = ["wine"]\n[[methods]]\nname = "x"\nestimator = "y"', ("trial.toml: methods", "'estimator'")),
        # Something twice.
        ('datasets = ["wine", "wine"]\nmethods = ["cart"]', ("trial.toml: datasets", "'wine'", "twice", "name")),
        ('datasets = ["wine"]\nmethods = ["cart", "cart"]', ("trial.toml: methods", "'cart'", "twice", "label")),
        (BASE + 'measures = ["error", "error"]', ("trial.toml: measures", "'error'", "twice")),
        (
            'datasets = ["wine"]\nmethods = ["cart", {name = "bagging", label = "cart"}]',
            ("trial.toml: methods", "'cart'", "twice"),
        ),
        # Nothing where something is needed.
        ("", ("trial.toml", "datasets")),
        ('datasets = ["wine"]', ("trial.toml", "methods")),
        ('datasets = []\nmethods = ["cart"]', ("trial.toml", "datasets")),
        ('datasets = ["wine"]\nmethods = []', ("trial.toml", "methods")),
        ('methods = ["cart"]\n[[datasets]]\ntarget = "x"', ("trial.toml: datasets", "name or a path")),
        ('datasets = ["wine"]\n[[methods]]\nlabel = "x"', ("trial.toml: methods", "name")),
        ('datasets = [""]\nmethods = ["cart"]', ("trial.toml: datasets", "name")),
        # Wrong types.
        ('datasets = 3\nmethods = ["cart"]', ("trial.toml", "datasets")),
        ('datasets = "wine"\nmethods = ["cart"]', ("trial.toml", "datasets")),
        ('datasets = [3]\nmethods = ["cart"]', ("trial.toml: datasets", "3")),
        ('datasets = ["wine"]\nmethods = 3', ("trial.toml", "methods")),
        ('datasets = ["wine"]\nmethods = [3]', ("trial.toml: methods", "3")),
        ('datasets = ["wine"]\nmethods = [["cart"]]', ("trial.toml: methods", "cart")),
        (BASE + 'seed = "a"', ("trial.toml", "seed", "'a'")),
        (BASE + "seed = -1", ("trial.toml", "seed", "-1")),
        (BASE + "seed = 1.0", ("trial.toml", "seed")),
        (BASE + "seed = true", ("trial.toml", "seed")),
        (BASE + "name = 3", ("trial.toml", "name", "3")),
        (BASE + "protocol = []", ("trial.toml", "protocol")),
        (BASE + 'protocol = "k-fold"', ("trial.toml", "protocol")),
        (BASE + "[protocol]\nfolds = 1", ("trial.toml: protocol", "folds", "1")),
        (BASE + '[protocol]\nfolds = "5"', ("trial.toml: protocol", "folds", "'5'")),
        (BASE + "[protocol]\nrepetitions = 0", ("trial.toml: protocol", "repetitions")),
        (BASE + '[protocol]\nkind = "holdout"\ntrain = 2.5', ("trial.toml: protocol", "train", "2.5")),
        (BASE + '[protocol]\nkind = "holdout"\ntrain = "half"', ("trial.toml: protocol", "train", "'half'")),
        (BASE + "[protocol]\nkind = []", ("trial.toml: protocol", "kind")),
        (BASE + '[protocol]\nstratify = "no"', ("trial.toml: protocol", "stratify", "'no'")),
        (BASE + "measures = 3", ("trial.toml: measures", "3")),
        (BASE + 'measures = "error"', ("trial.toml: measures", "list", "'error'")),
        (BASE + "measures = [3]", ("trial.toml: measures", "3")),
        (BASE + 'measures = [["error"]]', ("trial.toml: measures", "error")),
        *[
            (f'datasets = ["wine"]\n[[methods]]\nname = "bagging"\n{line}', ("trial.toml: methods", *words))
            for line, words in [
                ("sizes = [0]", ("sizes", "0")),
                ("sizes = [-1]", ("sizes", "-1")),
                ("sizes = [1.5]", ("sizes", "1.5")),
                ("sizes = [true]", ("sizes", "True")),
                ('sizes = ["ten"]', ("sizes", "'ten'")),
                ("sizes = 5", ("sizes", "5")),
                ('sizes = "all"', ("sizes", "'all'")),
                ("label = 3", ("label", "3")),
                ("label = 0", ("label", "0")),
                ("parameters = 3", ("parameters", "3")),
                ('parameters = "n_estimators"', ("parameters", "n_estimators")),
                ("parameters = [1]", ("parameters",)),
            ]
        ],
        ('datasets = ["wine"]\n[[methods]]\nname = 3', ("trial.toml: methods", "name", "3")),
        ('datasets = ["wine"]\n[[methods]]\nname = ["cart"]', ("trial.toml: methods", "name")),
        *[
            (f'methods = ["cart"]\n[[datasets]]\nname = "wine"\n{line}', ("trial.toml: datasets", *words))
            for line, words in [
                ("path = 3", ("path", "3")),
                ("target = 3", ("target", "3")),
                ('task = "clasification"', ("task", "clasification", "'classification'")),
                ("task = 1", ("task", "1")),
                ('drop = "grams"', ("drop", "list", "grams")),
                ("drop = [1]", ("drop", "1")),
                ("categorical = true", ("categorical", "True")),
                ("load = 1", ("load", "1")),
                ("parameters = [1]", ("parameters",)),
                ("train = 2.5", ("train", "2.5")),
                ('test = "rest"', ("test", "'rest'")),
                ("test = 0", ("test", "0")),
            ]
        ],
        ('methods = ["cart"]\n[[datasets]]\npath = 3', ("trial.toml: datasets", "path", "3")),
        ('methods = ["cart"]\n[[datasets]]\nname = 3', ("trial.toml: datasets", "name", "3")),
        # No TOML at all.
        ("datasets = [", ("trial.toml", "Invalid value")),
        ("seed = 1\nseed = 2\n", ("trial.toml", "line 2")),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, words):
    with pytest.raises(SpecError) as caught:
        read_experiment(write(tmp_path, text))
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)
    assert str(caught.value).startswith("trial.toml")


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "trial.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match=r"trial\.toml"):
        read_experiment(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        read_experiment(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"datasets": "wine"}, "datasets must be a list"),
        ({"datasets": None}, "datasets must be a list"),
        ({"datasets": ()}, "datasets: give at least one"),
        ({"datasets": (3,)}, "datasets: 3 is neither"),
        ({"datasets": (Method("cart"),)}, "datasets: .* is neither a name nor a Source"),
        ({"methods": "cart"}, "methods must be a list"),
        ({"methods": ()}, "methods: give at least one"),
        ({"methods": (DecisionTreeClassifier(),)}, "methods: .* is neither a name nor a Method"),
        ({"methods": (Method("bagging", seed_as="baging"),)}, "seed_as of 'bagging' .* did you mean 'bagging'"),
        ({"methods": ("zzz",)}, "methods: unknown method 'zzz'; known are cart"),
        ({"protocol": "k-fold"}, "protocol must be a Protocol"),
        ({"protocol": None}, "protocol must be a Protocol"),
        ({"measures": "error"}, "measures must be a list"),
        ({"measures": None}, "measures must be a list"),
        ({"measures": ("exactness",)}, "measures: unknown measure 'exactness'"),
        ({"seed": None}, "seed must be"),
        ({"name": None}, "name must be"),
    ],
)
def test_python_is_checked_too(arguments, match):
    with pytest.raises(ValueError, match=match):
        Experiment(**{"datasets": ("wine",), "methods": ("cart",), **arguments})


def test_what_is_left_empty_is_no_part_of_the_facts():
    """So that a store that was made before a field existed stays that of its experiment."""
    trial = Experiment(("wine",), (Method("bagging"), Method("cart", seed_as="bagging")))
    assert trial.as_dict()["methods"] == [
        {"name": "bagging", "label": "bagging"},
        {"name": "cart", "label": "cart", "seed_as": "bagging"},
    ]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Method("mine", estimator=3), "estimator of 'mine'"),
        (lambda: Method("bagging", sizes=None), "sizes must be a list"),
        (lambda: Method("bagging", sizes=(np.nan,)), "sizes: nan"),
        (lambda: Method("bagging", parameters=None), "parameters must be a table"),
        (lambda: Method("bagging", parameters={1: 2}), "parameters must be a table"),
        (lambda: Method("bagging", seed_as=3), "seed_as must be a text"),
        (lambda: Method(3), "name must be a text"),
        (lambda: Source(None), "name must be a text"),
        (lambda: Source("x", data=pd.DataFrame()), "data must be a Dataset"),
        (lambda: Source("x", drop=None), "drop must be a list"),
    ],
)
def test_parts_are_checked(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_parameters_of_a_foreign_estimator_are_checked():
    method = Method("tree", estimator=DecisionTreeClassifier(), parameters={"max_dept": 3})
    with pytest.raises(ValueError, match="methods: tree has no parameter 'max_dept'; did you mean 'max_depth'"):
        Experiment(("wine",), (method,))


FILE = Experiment(
    (Source("fruit", path="fruit.csv", target="fruit"), Source("wine")),
    (Method("bagging", parameters={"n_estimators": 5}, sizes=(1,)), Method("cart")),
    Protocol("holdout", 2),
    ("error",),
    3,
    "one",
)


def source(**changes):
    first = dataclasses.replace(FILE.datasets[0], **changes)
    return dataclasses.replace(FILE, datasets=(first, *FILE.datasets[1:]))


def method(**changes):
    first = dataclasses.replace(FILE.methods[0], **changes)
    return dataclasses.replace(FILE, methods=(first, *FILE.methods[1:]))


def test_the_keys_are_of_what_decides_the_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(CSV)
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "other.csv").write_text(CSV)
    same = FILE.keys()
    equal = {
        "copy": dataclasses.replace(FILE),
        "name": dataclasses.replace(FILE, name="two"),
        "path": source(path=str(tmp_path / "fruit.csv")),
        "another file": source(path="moved/other.csv"),
        "measures": dataclasses.replace(FILE, measures=("error", "auc")),
        "repetitions": dataclasses.replace(FILE, protocol=Protocol("holdout", 3)),
    }
    assert all(experiment.keys() == same for experiment in equal.values())
    changed = {
        "frame": {
            "seed": dataclasses.replace(FILE, seed=4),
            "kind": dataclasses.replace(FILE, protocol=Protocol("k-fold", 2)),
            "protocol train": dataclasses.replace(FILE, protocol=Protocol("holdout", 2, train=0.5)),
        },
        "datasets": {
            "target": source(target="skin"),
            "task": source(task="classification"),
            "drop": source(drop=("number",)),
            "categorical": source(categorical=("number",)),
            "train": source(train=5),
            "test": source(test=5),
            "groups": source(groups="skin"),
            "generator": dataclasses.replace(FILE, datasets=(FILE.datasets[0], Source("wine", load="twonorm"))),
            "generator's parameters": dataclasses.replace(
                FILE, datasets=(FILE.datasets[0], Source("wine", load="twonorm", parameters={"n_samples": 9}))
            ),
        },
        "methods": {
            "method": method(name="pasting", label="bagging"),
            "parameters": method(parameters={"n_estimators": 6}),
            "sizes": method(sizes=(1, 2)),
            "seed_as": method(seed_as="bagging"),
            "estimator": method(estimator=DecisionTreeClassifier(), parameters={}),
            "estimator's parameters": method(estimator=DecisionTreeClassifier(max_depth=3), parameters={}),
        },
    }
    for part, experiments in changed.items():
        found = [getattr(experiment.keys(), part) for experiment in experiments.values()]
        assert all(found.count(keys) == 1 and keys != getattr(same, part) for keys in found)
        for experiment in experiments.values():
            others = {"frame", "datasets", "methods"} - {part}
            assert all(getattr(experiment.keys(), other) == getattr(same, other) for other in others)
    assert dataclasses.replace(FILE, datasets=FILE.datasets[:1]).keys().methods == same.methods
    (tmp_path / "fruit.csv").write_text(CSV.replace("150", "151", 1))
    assert FILE.keys().datasets["fruit"] != same.datasets["fruit"]
    assert FILE.keys().datasets["wine"] == same.datasets["wine"]


def test_the_order_of_keys_does_not_matter(tmp_path):
    one = write(tmp_path, 'seed = 1\ndatasets = ["wine"]\nmethods = [{name = "bagging", label = "b", sizes = [1]}]\n')
    two = write(
        tmp_path,
        'methods = [{sizes = [1], label = "b", name = "bagging"}]\ndatasets = ["wine"]\nseed = 1\n',
        "other.toml",
    )
    assert read_experiment(one).keys() == read_experiment(two).keys()


def dataset(**changes):
    X = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0], "b": ["x", None, "y", "x"]})
    y = pd.Series(["p", "q", "p", "q"])
    return dataclasses.replace(Dataset("mine", X, y, "classification"), **changes)


def print_of(data):
    return Experiment((Source("mine", data=data),), ("cart",)).keys().datasets["mine"]


def test_the_content_of_data_in_memory_decides():
    original = dataset()
    assert print_of(original) == print_of(dataset())
    shuffled_index = dataset(X=original.X.set_axis([9, 8, 7, 6]), y=original.y.set_axis([9, 8, 7, 6]))
    assert print_of(original) == print_of(shuffled_index)
    changed = [
        dataset(X=original.X.assign(a=[1.0, 2.0, 3.0, 4.0])),
        dataset(X=original.X.assign(b=["x", None, "y", "y"])),
        dataset(X=original.X.rename(columns={"a": "c"})),
        dataset(X=original.X[["b", "a"]]),
        dataset(X=original.X.iloc[::-1]),
        dataset(y=pd.Series(["p", "q", "q", "q"])),
        dataset(task="regression"),
    ]
    assert len({print_of(original), *map(print_of, changed)}) == len(changed) + 1


def test_the_keys_are_the_same_in_another_process(tmp_path, monkeypatch):
    """Functions and objects among an estimator's parameters have another address there."""
    (tmp_path / "others.py").write_text(
        "waste = [[] for _ in range(12345)]\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import FunctionTransformer\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "from conjunto.experiments import Experiment, Method\n"
        "def double(X):\n    return 2 * X\n"
        "model = make_pipeline(FunctionTransformer(double), DecisionTreeClassifier())\n"
        "found = Experiment(('wine',), (Method('piped', estimator=model),)).keys().methods['piped']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    others = importlib.import_module("others")
    command = [sys.executable, "-c", "import others; print(others.found, hex(id(others.double)))"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout.split()
    monkeypatch.delitem(sys.modules, "others")
    assert said[1] != hex(id(others.double))
    assert said[0] == others.found


def test_another_function_is_another_experiment():
    def of(function):
        return Experiment(("wine",), (Method("f", estimator=FunctionTransformer(function)),)).keys()

    assert of(np.log1p) != of(np.sqrt)
    assert of(textwrap.dedent) != of(textwrap.indent)


def test_parameters_are_copied_into_what_can_be_pickled():
    given = {"n_estimators": 5}
    method = Method("bagging", parameters=MappingProxyType(given))
    given["n_estimators"] = 7
    assert pickle.loads(pickle.dumps(method)).parameters == {"n_estimators": 5}


@pytest.mark.parametrize("path", ["/somewhere/prices.csv", "prices.parquet", "folder\\prices.csv"])
def test_a_path_in_place_of_a_name_is_told_where_it_belongs(path):
    with pytest.raises(ValueError, match=re.escape(f"a file is Source('prices', path={path!r})")):
        Experiment((path,), ("cart",))
    assert Source("prices", path=path).path == path
