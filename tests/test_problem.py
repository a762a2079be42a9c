import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from conjunto import BaggingClassifier, CARTClassifier
from conjunto.problem import is_frame, read_columns, read_problem, read_rows, read_weights, select

Y = np.array(["b", "a", "b", "a"])


def problem_of(X, y=Y, weight=None, classification=True):
    return read_problem(BaseEstimator(), X, y, weight, classification=classification)


def test_arrays():
    X = np.arange(12).reshape(4, 3)
    problem = problem_of(X)
    np.testing.assert_array_equal(problem.X, X)
    assert problem.X.dtype == np.float64
    assert problem.X.flags.c_contiguous
    assert problem.classes.tolist() == ["a", "b"]
    assert problem.y.tolist() == [1, 0, 1, 0]
    assert problem.y.dtype == np.int32
    assert (problem.n, problem.m, problem.n_classes) == (4, 3, 2)
    assert problem.weights is None
    assert problem.columns.codes == (None, None, None)
    assert not problem.columns.categorical


def test_regression():
    problem = problem_of(np.eye(4), [1, 2, 3, 4], classification=False)
    assert problem.classes is None
    assert problem.n_classes == 0
    assert problem.y.dtype == np.float64


FRAMES = {
    "pandas": pd.DataFrame(
        {
            "text": ["x", None, "y", "x"],
            "kind": pd.Categorical(["p", "q", None, "q"], categories=["q", "p", "never"]),
            "flag": [True, False, True, True],
            "number": [1.5, np.nan, 2, 3],
            "whole": [1, 2, 3, 4],
            "mixed": pd.Series([1, "one", 1, np.nan], dtype=object),
        }
    ),
    "polars": pl.DataFrame(
        {
            "text": ["x", None, "y", "x"],
            "kind": pl.Series(["p", "q", None, "q"], dtype=pl.Enum(["q", "p", "never"])),
            "flag": [True, False, True, True],
            "number": [1.5, None, 2, 3],
            "whole": [1, 2, 3, 4],
            "mixed": pl.Series([1, "one", 1, None], dtype=pl.Object),
        }
    ),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames(library):
    problem = problem_of(FRAMES[library])
    expected = [
        [0, 0, 1, 1.5, 1, 0],
        [np.nan, 1, 0, np.nan, 2, 1],
        [1, np.nan, 1, 2, 3, 0],
        [0, 1, 1, 3, 4, np.nan],
    ]
    np.testing.assert_array_equal(problem.X, expected)
    assert [mapping is not None for mapping in problem.columns.codes] == [True, True, True, False, False, True]
    assert problem.columns.codes[0] == {"x": 0, "y": 1}
    assert problem.columns.counts.tolist() == [2, 2, 2, 0, 0, 2]
    assert problem.source is FRAMES[library]


def test_rows_are_read_as_the_training_data_were():
    estimator = BaseEstimator()
    columns = read_problem(estimator, FRAMES["pandas"], Y, None, classification=True).columns
    new = FRAMES["pandas"].iloc[[0]].assign(text="unseen", number=7)
    np.testing.assert_array_equal(read_rows(estimator, new, columns), [[np.nan, 0, 1, 7, 1, 0]])


@pytest.mark.parametrize(
    "column",
    [
        pd.array(["x", None, "y", "x"], dtype="string"),
        pd.array([True, None, False, True], dtype="boolean"),
        pd.Series(["x", pd.NA, "y", "x"], dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_nullable_columns(column):
    assert np.isnan(problem_of(pd.DataFrame({"a": column})).X[:, 0]).tolist() == [False, True, False, False]


def test_nullable_numbers():
    frame = pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int64")})
    np.testing.assert_array_equal(problem_of(frame).X[:, 0], [1, np.nan, 3, 4])
    frame["b"] = ["u", "v", "u", "v"]
    np.testing.assert_array_equal(problem_of(frame).X[:, 0], [1, np.nan, 3, 4])


@pytest.mark.parametrize("library", [pd, pl])
def test_many_categories_share_the_last_code(library):
    """256 codes: with more categories the 255 most frequent have their own, all others one together."""
    names = [f"n{i:03}" for i in range(300)]
    values = names + names[45:]
    columns = read_columns(library.DataFrame({"a": values}))
    (codes,) = columns.codes
    assert columns.counts.tolist() == [256]
    assert [codes[name] for name in names[:45]] == [255] * 45
    assert [codes[name] for name in names[45:]] == list(range(255))
    assert max(read_columns(library.DataFrame({"a": names[:256]})).codes[0].values()) == 255


def test_many_categories_are_learned():
    names = [f"n{i:03}" for i in range(400)] * 3
    frame = pd.DataFrame({"a": names})
    y = np.array([int(name[-1]) % 2 == 0 for name in names])
    model = CARTClassifier().fit(frame, y)
    # 255 of 400 names are told apart; the others share the answer of their majority.
    assert model.score(frame, y) > 0.75


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.date_range("2020-01-01", periods=4)),
        pd.Series(pd.date_range("2020-01-01", periods=4, tz="UTC")),
        pd.Series(pd.period_range("2020-01", periods=4, freq="M")),
        pl.Series([1, 2, 3, 4]).cast(pl.Date),
        pl.Series([1, 2, 3, 4]).cast(pl.Datetime),
        pl.Series([1, 2, 3, 4]).cast(pl.Duration),
        pl.Series([1, 2, 3, 4]).cast(pl.Time),
    ],
    ids=lambda column: str(column.dtype),
)
def test_dates_are_refused(column):
    frame = pd.DataFrame({"when": column}) if hasattr(column, "iloc") else pl.DataFrame({"when": column})
    with pytest.raises(ValueError, match="column 'when' holds dates: replace it by numbers"):
        problem_of(frame)


@pytest.mark.parametrize("weight", [[1, 0, 2, 3], np.array([0.5, 0, 0, 0]), [True, False, True, True], 2, 2.5])
def test_weights(weight):
    np.testing.assert_array_equal(read_weights(weight, 4), np.broadcast_to(weight, 4))
    assert read_weights(None, 4) is None


def test_equal_weights_are_no_weights():
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    plain = BaggingClassifier(random_state=0).fit(X, y)
    for weight in (1, 3, 0.25, np.full(50, 7.5)):
        weighted = BaggingClassifier(random_state=0).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(weighted.predict_proba(X), plain.predict_proba(X))


def test_is_frame():
    assert is_frame(pd.DataFrame())
    assert is_frame(pl.DataFrame())
    assert not is_frame(pd.Series([1]))
    assert not is_frame(np.eye(2))


@pytest.mark.parametrize("X", [np.arange(12).reshape(4, 3), *(FRAMES[k][["flag", "number", "whole"]] for k in FRAMES)])
def test_select(X):
    rows, columns = np.array([2, 0, 2]), np.array([2, 0])
    picked = select(X, rows, columns)
    assert type(picked) is type(X)
    assert picked.shape == (3, 2)
    np.testing.assert_array_equal(np.asarray(picked), np.asarray(X)[rows][:, columns])
    assert select(X) is X


def test_misaligned_memory_is_read_all_the_same():
    X = np.random.default_rng(0).normal(size=(50, 3))
    shifted = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    shifted[:] = X
    assert not shifted.flags.aligned
    model = CARTClassifier(random_state=0).fit(shifted, X[:, 0] > 0)
    np.testing.assert_array_equal(model.predict(shifted), X[:, 0] > 0)
    with pytest.raises(ValueError, match="aligned"):
        model.forest_.labels(shifted)


def test_a_problem_pickles_without_its_native_table():
    problem = read_problem(CARTClassifier(), np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1], None, classification=True)
    problem.table()
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.X, problem.X)
    assert again.prepared == []
    # Prepared once more where it is needed, and shared by the same problem with other labels.
    assert again.table().rows == 6
    assert replace(again, y=again.y[::-1].copy()).table() is again.table()
    assert replace(again, X=again.X.copy()).table() is not again.table()


def frame_of_kinds(n=40):
    random = np.random.default_rng(3)
    letters = np.array(["a", "b", "c", None], dtype=object)[random.integers(0, 4, n)]
    return pd.DataFrame(
        {
            "whole": random.integers(0, 9, n),
            "real": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
            "text": letters,
            "category": pd.Categorical(letters),
            "yes": random.random(n) < 0.5,
            "nullable": pd.array(random.integers(0, 3, n), dtype="Int64"),
            "single": random.normal(size=n).astype(np.float32),
        }
    )


@pytest.mark.parametrize("without", [[], ["yes"], ["yes", "text", "category"], ["yes", "text", "category", "nullable"]])
def test_a_few_rows_are_read_as_many_are(without):
    X = frame_of_kinds().drop(columns=without)
    X.loc[1, X.columns[-1]] = np.nan
    model = CARTClassifier().fit(X, np.arange(40) % 2)
    many = read_rows(model, X, model._columns)
    for first in range(0, 40, 3):
        few = read_rows(model, X.iloc[first : first + 3], model._columns)
        np.testing.assert_array_equal(few, many[first : first + 3])
        assert few.flags.aligned
        assert few.flags.forc
    if "nullable" in X and "text" in X:
        frame = pl.DataFrame(X.drop(columns=["nullable", "category"]).to_dict("list"), strict=False)
        model = CARTClassifier().fit(frame, np.arange(40) % 2)
        many = read_rows(model, frame, model._columns)
        np.testing.assert_array_equal(read_rows(model, frame[5:7], model._columns), many[5:7])


def test_a_few_rows_are_checked_as_many_are():
    X = frame_of_kinds().drop(columns="yes")
    model = CARTClassifier().fit(X, np.arange(40) % 2)
    for change, message in (
        ({"real": np.inf}, "infinity"),
        ({"whole": "seven"}, "held numbers when the model was fitted"),
        ({"text": 5}, "now holds other numbers"),
        ({"real": pd.Timestamp("2026-01-01")}, "holds dates"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X.iloc[:1].assign(**change))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.iloc[:1, ::-1])
    unseen = X.iloc[:1].assign(text="never seen")
    assert np.isnan(read_rows(model, unseen, model._columns)[0, 2])
