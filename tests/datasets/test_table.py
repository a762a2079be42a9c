"""A user's file: what is read equals what was written, every decision is said, and what cannot be used is refused."""

import gzip
import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conjunto import CARTClassifier
from conjunto.datasets import TableError, read_frame, read_table

FRAME = pd.DataFrame(
    {
        "age": [31.0, np.nan, 45.0, 52.0],
        "town": ["Lugo", "Vigo", None, "Lugo"],
        "smokes": [True, False, True, True],
        "label": ["yes", "no", "no", "yes"],
    }
)


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet"])
def test_what_was_written_is_read(tmp_path, ending):
    path = tmp_path / f"people{ending}"
    if ending == ".parquet":
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    data = read_table(path)
    assert data.name == "people"
    assert data.task == "classification"
    assert data.y.tolist() == ["yes", "no", "no", "yes"]
    np.testing.assert_array_equal(data.X["age"], FRAME["age"])
    assert data.X["town"].isna().tolist() == [False, False, True, False]
    assert data.X["smokes"].tolist() == ["True", "False", "True", "True"]
    assert data.checksum == hashlib.sha256(path.read_bytes()).hexdigest()


def test_arff(tmp_path):
    path = write(
        tmp_path / "labor.arff",
        "@relation labor\n@attribute wage numeric\n@attribute pension {none,full}\n@attribute class {bad,good}\n"
        "@data\n2.5,none,bad\n?,?,good\n4,full,good\n",
    )
    data = read_table(path)
    assert data.X["wage"].isna().tolist() == [False, True, False]
    assert data.X["pension"].isna().tolist() == [False, True, False]
    assert data.y.tolist() == ["bad", "good", "good"]


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([1, 2, 3] * 20, "classification"),
        ([0.0, 1.0] * 30, "classification"),
        ([0.5, 1.5] * 30, "regression"),
        (list(range(60)), "regression"),
        (list(range(15)) * 4, "regression"),
        ([1, 2] * 3, "classification"),
    ],
)
def test_the_target_decides(tmp_path, values, task):
    path = tmp_path / "data.csv"
    pd.DataFrame({"x": range(len(values)), "y": values}).to_csv(path, index=False)
    data = read_table(path)
    assert data.task == task
    assert any(note.startswith(task) for note in data.notes)


def test_the_task_can_be_asked_for(tmp_path):
    path = write(tmp_path / "data.csv", "x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(60)))
    assert read_table(path).task == "classification"
    assert read_table(path, task="regression").task == "regression"
    text = write(tmp_path / "text.csv", "x,y\n1,a\n2,b\n")
    with pytest.raises(TableError, match="regression needs numbers"):
        read_table(text, task="regression")


def test_target_drop_and_categorical(tmp_path):
    path = write(tmp_path / "data.csv", "y,code,id,x\na,01,p,1\nb,02,q,2\na,01,r,3\n")
    data = read_table(path, "y", drop=["id"], categorical=["code"])
    assert list(data.X.columns) == ["code", "x"]
    assert data.X["code"].tolist() == ["01", "02", "01"]
    assert data.y.tolist() == ["a", "b", "a"]


def test_columns_set_aside_are_no_attributes_whatever_they_hold(tmp_path):
    """An identifier of thousands, a date, free text and an infinite number, none of which an attribute may be."""
    n = 3000
    frame = pd.DataFrame(
        {
            "id": [f"id{i}" for i in range(n)],
            "day": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "x": range(n),
            "y": [None, *["a", "b", "c"] * 999, "a", "b"],
            "number": [np.inf, *range(1, n)],
        }
    )
    for path in (tmp_path / "data.csv", tmp_path / "data.parquet"):
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        data = read_table(path, aside=["day", "number", "id"])
        assert list(data.X.columns) == ["x"]
        # The last column that is left is the target, as where others are dropped.
        assert data.y.name == "y"
        # The first row has no target; the others are side by side.
        assert data.X["x"].tolist() == data.aside["number"].tolist() == list(range(1, n))
        assert list(data.aside.columns) == ["day", "number", "id"]
        assert data.aside["id"].tolist() == frame["id"][1:].tolist()
        assert data.aside["day"].iloc[0] == "2020-01-02"
        assert "not attributes: day, number, id" in data.notes
    assert read_table(path, "x", task="regression", aside=["id", "day", "number"]).aside.shape == (n, 3)
    assert read_table(path, "y", drop=["id", "day", "number"]).aside is None


def test_the_purpose_of_a_column_set_aside_is_said(tmp_path):
    path = write(tmp_path / "data.csv", "customer,x,y\np,1,a\nq,2,b\n")
    assert "not attributes: customer (groups)" in read_table(path, aside={"customer": "groups"}).notes
    with pytest.raises(TableError, match="groups: there is no column 'custmer'; did you mean 'customer'"):
        read_table(path, aside={"custmer": "groups"})
    with pytest.raises(TableError, match=r"^time: 'y' is the target"):
        read_table(path, "y", aside={"y": "time"})
    with pytest.raises(TableError, match=r"^aside: 'x' is left out \(drop\)"):
        read_table(path, drop=["x"], aside=["x"])
    with pytest.raises(TableError, match="no more than the column 'y'"):
        read_table(path, aside=["x", "customer"])
    with pytest.raises(TableError, match=r"aside: 'x' names a column, and those of rows\.svmlight have no names"):
        read_table(tmp_path / "rows.svmlight", aside=["x"])


def test_rows_without_a_target_are_left_out_and_said(tmp_path):
    data = read_table(write(tmp_path / "data.csv", "x,y\n1,a\n2,\n3,b\n"))
    assert data.X["x"].tolist() == [1, 3]
    assert "1 rows without a target were left out" in data.notes


def test_semicolons_decimal_commas_and_latin_1(tmp_path):
    path = tmp_path / "datos.csv"
    path.write_bytes("año;precio;ciudad;y\r\n1990;1,5;León;sí\r\n1991;-2,25;A Coruña;no\r\n".encode("latin-1"))
    data = read_table(path)
    assert data.X["precio"].tolist() == [1.5, -2.25]
    assert data.X["ciudad"].tolist() == ["León", "A Coruña"]
    assert data.y.tolist() == ["sí", "no"]
    assert {"fields are separated by semicolons", "not in UTF-8: read as Latin-1"} <= set(data.notes)


def test_a_mark_at_the_start_and_a_nameless_index(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(b"\xef\xbb\xbf,x,y\n0,5,a\n1,6,b\n")
    data = read_table(path)
    assert list(data.X.columns) == ["x"]
    assert any("numbers the rows and was left out" in note for note in data.notes)


def test_what_counts_as_missing(tmp_path):
    path = write(tmp_path / "d.csv", "x,t,y\n1,None,a\n?,NA,b\nnan,w,a\n")
    data = read_table(path)
    assert data.X["x"].isna().tolist() == [False, True, True]
    assert data.X["t"].tolist()[0] == "None"
    assert data.X["t"].isna().tolist() == [False, True, False]


def test_a_late_text_keeps_the_whole_column_as_written(tmp_path):
    """A reader that guesses by chunks would make 1.5 of some and 1.50 of other rows."""
    path = tmp_path / "d.csv"
    rows = ["1.50,a"] * 300_000 + ["x,b"]
    path.write_text("v,y\n" + "\n".join(rows) + "\n")
    assert set(read_table(path).X["v"]) == {"1.50", "x"}


def test_types_of_parquet_become_text_or_numbers(tmp_path):
    frame = pd.DataFrame(
        {
            "flag": pd.array([True, False, None, True], dtype="boolean"),
            "level": pd.Categorical(["low", "mid", "high", "low"], ["low", "mid", "high"], ordered=True),
            "n": pd.array([1, None, 3, 4], dtype="Int64"),
            "y": pd.Categorical(["low", "mid", "high", "low"], ["low", "mid", "high", "none"], ordered=True),
        }
    )
    frame.to_parquet(tmp_path / "d.parquet")
    data = read_table(tmp_path / "d.parquet")
    assert data.X["flag"].tolist()[:2] == ["True", "False"]
    assert data.X["n"].isna().tolist() == [False, True, False, False]
    assert data.y.tolist() == ["low", "mid", "high", "low"]


BAD = {
    "empty": ("", "is empty"),
    "header only": ("x,y\n", "no rows"),
    "one column": ("y\n1\n2\n", "no more than the column"),
    "constant target": ("x,y\n1,a\n2,a\n", "only the value 'a'"),
    "target without values": ("x,y\n1,\n2,\n", "no value"),
    "empty column": ("x,z,y\n1,,a\n2,,b\n", "column 'z' is empty"),
    "duplicate names": ("x,x,y\n1,2,a\n2,3,b\n", "two columns named 'x'"),
    "no name": ("x,,y\n1,2,a\n2,3,b\n", "column 2 has no name"),
    "too many fields": ("x,y\n1,a\n2,b,c,d\n", "not a well-formed table"),
    "too few fields": ("a,b,y\n1,2,p\n3,q\n", "line 3 has 2 fields, the first line 3"),
    "more fields in every row": ("a,y\n1,p,x\n2,q,x\n", "line 2 has 3 fields, the first line 2"),
    "infinite target": ("x,y\n1,0.5\n2,inf\n3,1.5\n", "the target 'y' holds an infinite number"),
    "open quote": ('x,y\n1,"a\n2,b\n', "not a well-formed table"),
    "dates": ("d,y\n2024-01-31,a\n2024-02-01,b\n", "column 'd' holds dates"),
    "dates of the other kind": ("d,y\n31/01/2024 10:00,a\n01/02/2024,b\n", "column 'd' holds dates"),
    "several": ("d,e,y\n2024-01-31,,a\n2024-02-01,,b\n", "column 'd' holds dates.*; column 'e' is empty"),
    "infinity": ("x,y\n1,a\ninf,b\n", "column 'x' holds an infinite number"),
    "texts": ("t,y\n" + "".join(f"id{i},{i % 2}\n" for i in range(10_000)), "10,000 different texts"),
    "target of texts": ("t,y\n" + "".join(f"{i},id{i}\n" for i in range(100)), "not classes"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_refused(tmp_path, name):
    text, message = BAD[name]
    path = write(tmp_path / "data.csv", text)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_tables(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="unknown kind of file"):
        read_table(write(tmp_path / "data.xls", "x"))
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(TableError):
        read_table(binary)
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"x,y\n1,a\n2,b\n" * 1000)[:60])
    with pytest.raises(TableError, match="not a well-formed table"):
        read_table(cut)
    for ending in (".parquet", ".arff"):
        with pytest.raises(TableError, match="not a readable"):
            read_table(write(tmp_path / f"data{ending}", "neither"))


@pytest.mark.parametrize("argument", ["target", "drop", "categorical", "aside"])
def test_a_column_that_is_not_there(tmp_path, argument):
    path = write(tmp_path / "data.csv", "price,year,label\n1,2,a\n3,4,b\n")
    value = "prise" if argument == "target" else ["prise"]
    with pytest.raises(TableError, match=f"{argument}: there is no column 'prise'; did you mean 'price'"):
        read_table(path, **{argument: value})
    with pytest.raises(TableError, match="known are price, year, label"):
        read_table(path, "zzzzzz")


def test_texts_can_be_named_categorical_or_left_out(tmp_path):
    path = tmp_path / "data.csv"
    pd.DataFrame({"t": [f"id{i}" for i in range(3000)], "x": range(3000), "y": [0, 1] * 1500}).to_csv(path, index=False)
    assert read_table(path, categorical=["t"]).X["t"].nunique() == 3000
    assert list(read_table(path, drop=["t"]).X.columns) == ["x"]


AWKWARD = (
    ';whole;real;decimal;text;"quoted; name";gaps;large\n1;1;1.5;1,5;a;"x; ""y""";;99999999999999999999\n\n'
    '2; 2;2e3;;b ;"two\nlines";?;1\n3;-3;-.5;-2,25;"";01;NA;2\n'
)


@pytest.mark.parametrize("texts", [(), ("whole",)])
def test_a_wide_table_is_read_as_a_long_one_is(texts, monkeypatch):
    frames = []
    for limit in (10**9, 0):
        monkeypatch.setattr("conjunto.datasets.files.WIDE", limit)
        frames.append(read_frame(Path("a.csv"), texts, AWKWARD.encode()))
    pd.testing.assert_frame_equal(frames[0][0], frames[1][0])
    assert frames[0][1] == frames[1][1]
    frame = frames[0][0]
    assert frame["whole"].tolist() == (["1", " 2", "-3"] if texts else [1, 2, -3])
    assert frame["decimal"].tolist()[::2] == [1.5, -2.25]
    assert frame["quoted; name"].tolist() == ['x; "y"', "two\nlines", "01"]
    assert frame["large"].tolist() == ["99999999999999999999", "1", "2"]


def test_the_columns_of_a_wide_table_are_not_taken_one_by_one(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    width = 1500
    frame = pd.DataFrame(random.normal(size=(30, width)), columns=[f"x{i}" for i in range(width)])
    frame.assign(count=range(30), y=["a", "b"] * 15).to_csv(tmp_path / "wide.csv", index=False)
    calls = Counter()

    def count(name):
        original = getattr(pd.DataFrame, name)

        def counted(*given, **named):
            calls[name] += 1
            return original(*given, **named)

        monkeypatch.setattr(pd.DataFrame, name, counted)

    for name in ("__getitem__", "__setitem__", "_ixs"):
        count(name)
    data = read_table(tmp_path / "wide.csv")
    CARTClassifier(max_depth=1).fit(data.X, data.y)
    assert calls.total() < 100
    np.testing.assert_array_equal(data.X.iloc[:, :width], frame)
    assert "'count' numbers the rows: leave it out (drop) if it means nothing" in data.notes
