"""Bad input: one line that says what is wrong and what to do, exit code 2 (1 where a file cannot be read)."""

import io
import os
import sys

import numpy as np
import pandas as pd
import pytest

from conjunto.cli import main

ROWS = "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(40))

BAD = {
    "empty file": ("", [], "data.csv is empty"),
    "one column": ("y\n1\n2\n", [], "no more than the column"),
    "target not found": ("a,b,y\n" + ROWS, ["--target", "z"], "no column 'z'; known are a, b, y"),
    "constant target": ("a,y\n1,p\n2,p\n", [], "nothing to learn"),
    "all-missing column": ("a,b,y\n1,,p\n2,,q\n", [], "column 'b' is empty: leave it out (drop)"),
    "duplicate column names": ("a,a,y\n1,2,p\n", [], "two columns named 'a'"),
    "10,000 texts": (
        "t,y\n" + "".join(f"text {i},{i % 2}\n" for i in range(10_000)),
        [],
        "10,000 different texts",
    ),
    "malformed": ("a,y\n1,p\n2,q,r,s\n", [], "not a well-formed table"),
    "unknown method": ("a,b,y\n" + ROWS, ["--methods", "baging"], "unknown method 'baging'; did you mean 'bagging'?"),
    "unknown parameter": (
        "a,b,y\n" + ROWS,
        ["--methods", "bagging:n_estimator=5"],
        "no parameter 'n_estimator'; did you mean 'n_estimators'?",
    ),
    "unknown protocol": ("a,b,y\n" + ROWS, ["--protocol", "tenfold"], "none of 10x10"),
    "one fold": ("a,b,y\n" + ROWS, ["--protocol", "1-fold"], "folds must be a whole number of at least 2"),
    "more folds than rows": ("a,b,y\n" + ROWS, ["--protocol", "41-fold"], "folds: 41 folds need at least as many rows"),
    "endless protocol": ("a,b,y\n" + ROWS, ["--protocol", "100000000x10"], "at most 1,000,000 can be run"),
    "too many digits": ("a,b,y\n" + ROWS, ["--protocol", f"holdout:{'9' * 5000}"], "--protocol: 'holdout:"),
    "10^30 members": ("a,b,y\n" + ROWS, ["--methods", f"cart,bagging:n_estimators={10**30}"], "at most 1,000,000, got"),
    "10^30 rounds": ("a,b,y\n" + ROWS, ["--methods", "adaboost:n_estimators=1e30"], "n_estimators must be at most"),
    "unknown measure": ("a,b,y\n" + ROWS, ["--measures", "eror"], "did you mean 'error'?"),
    "regression of text": ("a,b,y\n" + ROWS, ["--task", "regression"], "regression needs numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_compare(cli, tmp_path, name):
    text, options, message = BAD[name]
    (tmp_path / "data.csv").write_text(text)
    code, out, err = cli("compare", "data.csv", *options)
    assert code == 2
    assert out == ""
    errors = [line for line in err.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


def test_files_that_cannot_be_read(cli, tmp_path):
    for name in ("none.csv", "folder/none.csv"):
        code, _, err = cli("compare", name)
        assert code == 1
        assert err == f"Error: {name} does not exist\n"
    code, _, err = cli("compare", tmp_path)
    assert code == 1
    assert "is a folder" in err


TOML = """
[protocol]
kind = "k-fold"
repetitions = 1
folds = 2
[[datasets]]
name = "wine"
[[methods]]
name = "cart"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("folds", "fold", "protocol: unknown key 'fold'; did you mean 'folds'?"),
        ("[[methods]]", "[[method]]", "unknown key 'method'; did you mean 'methods'?"),
        ('name = "cart"', 'nam = "cart"', "methods: unknown key 'nam'; did you mean 'name'?"),
        ('"cart"', '"carrt"', "unknown method 'carrt'; did you mean 'cart'?"),
        ("k-fold", "kfold", "kind must be one of"),
        ("= 2", "=", "spec.toml"),
        ('"wine"', '"whine"', "no data set 'whine'; did you mean 'wine'?"),
    ],
)
def test_toml(cli, tmp_path, right, wrong, message):
    (tmp_path / "spec.toml").write_text(TOML.replace(right, wrong, 1))
    code, _, err = cli("compare", "spec.toml", "--out", "out")
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_class_with_one_example_is_handled_with_a_warning(cli, tmp_path):
    random = np.random.default_rng(0)
    y = ["a"] * 30 + ["b"] * 30 + ["rare"]
    pd.DataFrame({"x": random.normal(size=61), "y": y}).to_csv(tmp_path / "data.csv", index=False)
    code, out, err = cli("compare", "data.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1)
    assert code == 0, err
    assert "Warning: data: fewer examples than the 3 folds: rare;" in err
    assert "cart" in out


def test_another_experiment_in_the_folder(cli):
    base = ("compare", "wine", "--protocol", "2-fold", "--jobs", 1, "--out", "out")
    assert cli(*base, "--methods", "cart")[0] == 0
    for other, why in ((("--seed", 3), "another protocol or seed"), (("--protocol", "3-fold"), "another protocol")):
        code, _, err = cli(*base, "--methods", "cart", *other)
        assert code == 2
        assert "results of another experiment" in err
        assert why in err
        assert "choose another" in err
    assert cli(*base, "--methods", "cart")[0] == 0


def test_names_take_no_table_options(cli):
    code, _, err = cli("compare", "wine", "--target", "y")
    assert code == 2
    assert "--target is for files" in err


@pytest.mark.skipif(os.name == "nt", reason="names of files are bytes elsewhere only")
def test_names_of_files_that_are_no_utf_8(cli, tmp_path, monkeypatch):
    data, out = os.fsdecode(b"d\xff.csv"), os.fsdecode(b"o\xff")
    (tmp_path / data).write_text("a,b,y\n" + ROWS)
    line = ["compare", data, "--methods", "cart", "--protocol", "2-fold", "--jobs", "1"]
    code, said, err = cli(*line)
    assert code == 0, err
    assert "d\N{REPLACEMENT CHARACTER}: error" in said
    assert (tmp_path / "conjunto-d\N{REPLACEMENT CHARACTER}" / "report.html").is_file()
    # A path is printed as the bytes that it is, so that it can be used.
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, "utf-8", write_through=True))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace"))
    monkeypatch.setattr(sys, "argv", ["conjunto", *line, "--out", out])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert b"report: o\xff/report.html\n" in screen.getvalue()
    assert sorted(path.name for path in (tmp_path / out).iterdir()) == ["model.skops", "report.html", "results.sqlite"]


def test_a_folder_in_place_of_a_file_and_the_other_way_round(cli, tmp_path):
    (tmp_path / "data.csv").write_text("a,b,y\n" + ROWS)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").touch()
    assert cli("train", "data.csv", "--method", "bagging:n_estimators=2")[0] == 0
    before = sorted(tmp_path.rglob("*"))
    for line in (
        ("train", "data.csv", "--out", "folder.csv"),
        ("train", "data.csv", "--out", ""),
        ("predict", "model.skops", "data.csv", "--out", "folder.csv"),
        ("prune", "model.skops", "data.csv", "--out", "folder.csv"),
        ("prune", "model.skops", "data.csv", "--curve", "folder.csv"),
    ):
        code, _, err = cli(*line)
        assert code == 1, line
        assert "is a folder, and a file is needed: add a name\n" in err
        assert "Dataset" not in err  # nothing was read
    for line in (("compare", "data.csv"), ("reproduce", "martinez-4.2")):
        for out in ("file", "file/inside"):
            code, _, err = cli(*line, "--out", out)
            assert code == 2
            assert "Error: --out: file is a file, and a folder is needed\n" in err
    assert sorted(tmp_path.rglob("*")) == before
