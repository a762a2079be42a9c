"""A file of test rows is read as the training table was: what is held back of a table comes back as it was."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from conjunto import CARTClassifier
from conjunto.datasets import Dataset, TableError
from conjunto.experiments import Source, open_source
from conjunto.experiments.splits.holdout import open_holdout

RANDOM = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "customer": [f"c{i % 12}" for i in range(N)],
        "note": [f"free text {i}" for i in range(N)],
        "grams": RANDOM.integers(100, 200, N),
        "price": RANDOM.normal(size=N).round(3),
        "code": [f"{i % 4:02}" for i in range(N)],
        "skin": ["smooth", "rough", None, "smooth"] * 15,
        "fruit": ["apple", "orange", "plum"] * 20,
    }
)
READING = {"target": "fruit", "drop": ("note",), "categorical": ("code",), "groups": "customer"}


def opened_of(folder, frame=FRAME[:40], ending=".csv", **reading):
    path = folder / f"train{ending}"
    frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
    return open_source(Source("train", path=str(path), **(reading or READING)))


def written(folder, frame, name="test.csv"):
    path = folder / name
    frame.to_csv(path, index=False) if name.endswith(".csv") else frame.to_parquet(path)
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_is_held_back_comes_back_as_it_was(tmp_path, ending):
    """The whole table, read at once, has the same rows; columns of the file stand in another order."""
    whole = opened_of(tmp_path, FRAME).data
    opened = opened_of(tmp_path)
    path = written(tmp_path, FRAME[40:][FRAME.columns[::-1]], f"test{ending}")
    data = open_holdout(path, opened)
    assert list(data.X.columns) == list(opened.data.X.columns)
    assert data.X.dtypes.tolist() == opened.data.X.dtypes.tolist()
    pd.testing.assert_frame_equal(data.X, whole.X[40:].reset_index(drop=True), check_categorical=False)
    assert data.y.tolist() == FRAME["fruit"][40:].tolist()
    assert (data.y.name, data.y.dtype) == ("fruit", opened.data.y.dtype)
    assert data.aside["customer"].tolist() == FRAME["customer"][40:].tolist()
    assert (data.name, data.task, data.notes) == ("test", "classification", ())
    assert data.checksum
    model = CARTClassifier(random_state=0).fit(opened.data.X, opened.data.y)
    np.testing.assert_array_equal(model.predict(data.X), model.predict(whole.X[40:]))


def test_columns_that_are_not_used_and_rows_without_a_target_are_said(tmp_path):
    frame = FRAME[40:].drop(columns=["customer", "note"]).assign(shop="north", size=1)
    frame.loc[[41, 45], "fruit"] = None
    data = open_holdout(written(tmp_path, frame), opened_of(tmp_path))
    assert data.notes == ("not used: shop, size", "2 rows without a target were left out")
    assert data.aside is None
    assert data.X["grams"].tolist() == FRAME["grams"][40:].drop([41, 45]).tolist()
    assert len(data.y) == 18


def test_categories_keep_their_codes_and_new_ones_follow(tmp_path):
    frame = FRAME[40:].assign(skin=["hairy", "rough", None, "smooth"] * 5, code=7)
    opened = opened_of(tmp_path)
    data = open_holdout(written(tmp_path, frame), opened)
    assert list(data.X["skin"].cat.categories) == [*opened.data.X["skin"].cat.categories, "hairy"]
    assert data.X["skin"].isna().sum() == 5
    assert set(data.X["code"]) == {"7"}


def test_numbers_with_gaps_stay_numbers(tmp_path):
    frame = FRAME[40:].astype({"grams": float})
    frame.loc[43, "grams"] = np.nan
    data = open_holdout(written(tmp_path, frame), opened_of(tmp_path))
    assert data.X["grams"].dtype == np.float64
    assert data.X["grams"].isna().sum() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="fruit").assign(fruits="apple"), "no column 'fruit', the target; did you mean 'frui"),
        (lambda f: f.drop(columns="grams").assign(gram=1), "lacks 1 attribute: 'grams'; did you mean 'gram'"),
        (lambda f: f.drop(columns=["grams", "skin"]), "lacks 2 attributes: 'grams', 'skin'$"),
        (lambda f: f.assign(price=["1.5"] * 2 + ["cheap"] * 18), "column 'price' .* holds 'cheap' in row 3, and numb"),
        (lambda f: f.assign(price=[np.inf] * 20), "column 'price' .* infinite number in row 1"),
        (lambda f: f.assign(fruit=["apple"] * 4 + ["pear"] * 16), "holds 'pear' in row 5, which is no class .*'apple'"),
        (lambda f: f.assign(fruit=[None] + ["pear"] * 19), "holds 'pear' in row 2"),
        (lambda f: f.assign(fruit=None), "target 'fruit' of test.csv holds no value"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, change, message):
    with pytest.raises(TableError, match=message) as caught:
        open_holdout(written(tmp_path, change(FRAME[40:])), opened_of(tmp_path))
    assert str(caught.value).startswith("test: ")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    opened = opened_of(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"^test: .*none.csv does not exist"):
        open_holdout(tmp_path / "none.csv", opened)
    (tmp_path / "empty.csv").write_text("grams,fruit\n")
    with pytest.raises(TableError, match=r"^test: empty\.csv has a header but no rows"):
        open_holdout(tmp_path / "empty.csv", opened)
    (tmp_path / "rows.svm").write_text("1 0:1\n")
    with pytest.raises(TableError, match=r"^test: rows\.svm has no names of columns"):
        open_holdout(tmp_path / "rows.svm", opened)


def test_the_field_that_is_no_number_is_named_among_decimal_commas(tmp_path):
    (tmp_path / "train.csv").write_text("x;y\n1,5;a\n2,5;b\n")
    (tmp_path / "test.csv").write_text("x;y\n1,5;a\n2,5;b\nx;a\n")
    opened = open_source(Source("train", path=str(tmp_path / "train.csv")))
    with pytest.raises(TableError, match="holds 'x' in row 3"):
        open_holdout(tmp_path / "test.csv", opened)
    (tmp_path / "test.csv").write_text("x;y\n1,5;a\n;b\n")
    assert open_holdout(tmp_path / "test.csv", opened).X["x"].tolist()[0] == 1.5


@pytest.mark.parametrize(
    ("training", "test", "found"),
    [
        # Whole numbers, and floats because a row has no answer.
        ([1, 2] * 10, [2, 1], [2, 1]),
        ([1, 2] * 10, [2.0, None], [2]),
        ([1.0, 2.0, None] * 10, [2, 1], [2.0, 1.0]),
        # Text in training because one class is no number, numbers alone in the test.
        (["1", "2", "x"] * 10, [2, 1], ["2", "1"]),
        (["1", "2", "x"] * 10, [2.0, None], ["2"]),
        ([True, False] * 10, [False, True], ["False", "True"]),
    ],
)
@pytest.mark.parametrize("name", ["test.csv", "test.parquet"])
def test_labels_read_as_numbers_or_as_text_are_the_same(tmp_path, training, test, found, name):
    opened = opened_of(tmp_path, pd.DataFrame({"x": range(len(training)), "y": training}), task="classification")
    data = open_holdout(written(tmp_path, pd.DataFrame({"x": [1, 2], "y": test}), name), opened)
    assert data.y.tolist() == found
    assert data.y.dtype == opened.data.y.dtype


def test_a_label_that_is_no_number_among_numbers(tmp_path):
    opened = opened_of(tmp_path, pd.DataFrame({"x": range(20), "y": [0, 1] * 10}), task="classification")
    with pytest.raises(TableError, match="holds 'none' in row 2, which is no class of the training data: these are 0"):
        open_holdout(written(tmp_path, pd.DataFrame({"x": [1, 2], "y": ["1", "none"]})), opened)
    with pytest.raises(TableError, match="holds '2' in row 2"):
        open_holdout(written(tmp_path, pd.DataFrame({"x": [1, 2], "y": [1, 2]})), opened)


def test_regression(tmp_path):
    opened = opened_of(tmp_path, pd.DataFrame({"x": range(40), "y": np.arange(40) / 3}), task="regression")
    data = open_holdout(written(tmp_path, pd.DataFrame({"x": [1, 2, 3], "y": [7, None, 9]})), opened)
    assert data.y.tolist() == [7.0, 9.0]
    assert data.task == "regression"
    with pytest.raises(TableError, match=r"the target 'y' of test\.csv holds 'much' in row 2, and numbers in training"):
        open_holdout(written(tmp_path, pd.DataFrame({"x": [1, 2], "y": [1, "much"]})), opened)


def test_categories_in_memory_that_are_no_text(tmp_path):
    X = pd.DataFrame({"flag": [True, False] * 5, "level": pd.Categorical([1, 2] * 5), "x": range(10)})
    opened = open_source(Source("d", data=Dataset("d", X, pd.Series(["a", "b"] * 5, name="y"), "classification")))
    frame = pd.DataFrame({"level": [2, 3], "flag": [False, True], "x": [1, 2], "y": ["b", "a"]})
    data = open_holdout(written(tmp_path, frame), opened)
    assert data.X["flag"].tolist() == [False, True]
    assert data.X["level"].tolist() == [2, "3"]
    model = CARTClassifier().fit(X[["flag"]], opened.data.y)
    assert model.predict(data.X[["flag"]]).tolist() == ["b", "a"]


def test_sparse_rows(tmp_path):
    X = sp.random(30, 8, density=0.4, random_state=0, format="csr")
    y = np.arange(30) % 3
    for name, rows in (("train.svm", slice(0, 20)), ("test.svm", slice(20, 30))):
        dump_svmlight_file(X[rows], y[rows], str(tmp_path / name), zero_based=True)
    opened = open_source(Source("train", path=str(tmp_path / "train.svm"), task="classification"))
    data = open_holdout(tmp_path / "test.svm", opened)
    assert data.X.shape == (10, opened.data.X.shape[1])
    np.testing.assert_allclose(data.X.toarray(), X[20:].toarray()[:, : data.X.shape[1]])
    assert data.y.tolist() == y[20:].tolist()
    with pytest.raises(TableError, match=r"^test: test\.csv is a table, and the training rows are sparse"):
        open_holdout(written(tmp_path, FRAME), opened)


def test_the_training_table_itself_is_said(tmp_path):
    opened = opened_of(tmp_path)
    assert "these are the rows that are trained on" in open_holdout(tmp_path / "train.csv", opened).notes
