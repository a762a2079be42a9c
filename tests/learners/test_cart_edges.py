"""Data at the edge: what must hold is plain from each case."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conjunto import CARTClassifier, CARTRegressor

BOTH = pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])


@BOTH
@pytest.mark.parametrize("copies", [1, 5, 300])
def test_xor_needs_a_split_that_gains_nothing(make, copies):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * copies, dtype=float)
    y = np.array([0, 1, 1, 0] * copies)
    model = make().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.get_n_leaves() == 4


def test_three_way_parity():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    y = X.sum(axis=1) % 2
    assert CARTClassifier(random_state=0).fit(X, y).score(X, y) == 1
    assert CARTRegressor(random_state=0).fit(X, y).score(X, y) == 1


def test_duplicates_with_different_labels_end_in_a_mixed_leaf():
    X = np.array([[0.0]] * 4 + [[1.0]] * 2)
    y = np.array(["a", "a", "b", "c", "b", "b"])
    model = CARTClassifier().fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), [[0.5, 0.25, 0.25], [0, 1, 0]])
    assert list(model.predict([[0.0], [1.0]])) == ["a", "b"]
    weighted = CARTClassifier().fit(X, y, [1, 0, 5, 2, 1, 1])
    np.testing.assert_allclose(weighted.predict_proba([[0.0]]), [[1 / 8, 5 / 8, 2 / 8]])
    assert CARTRegressor().fit(X, [1, 2, 3, 6, 0, 0]).predict([[0.0]]) == [3.0]


@BOTH
def test_constant_columns_and_single_rows(make):
    model = make().fit(np.ones((9, 3)), np.arange(9) % 2)
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    np.testing.assert_array_equal(model.feature_importances_, [0, 0, 0])
    if make is CARTClassifier:
        np.testing.assert_allclose(model.predict_proba([[5.0, np.nan, 0.0]]), [[5 / 9, 4 / 9]])
    else:
        assert model.predict([[5.0, np.nan, 0.0]])[0] == pytest.approx(4 / 9)
    with_varying = make(max_features=1, random_state=0).fit(np.c_[np.ones((8, 5)), np.arange(8)], np.arange(8) // 4)
    assert with_varying.get_n_leaves() == 2


@BOTH
def test_one_row_and_one_class(make):
    assert make().fit([[3.0, np.nan]], [7]).predict([[0.0, 1.0], [np.nan, np.nan]]).tolist() == [7, 7]
    model = make().fit(np.arange(10.0)[:, None], np.full(10, 4))
    assert model.predict([[100.0]]) == [4]
    assert model.get_n_leaves() == 1


def test_three_hundred_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(300), 3)
    X = np.c_[y + rng.uniform(0, 0.5, 900), rng.normal(size=900)]
    for w in (None, rng.integers(1, 4, 900), rng.uniform(0.5, 1, 900)):
        model = CARTClassifier(random_state=0).fit(X, y, w)
        assert model.score(X, y) == 1
        assert model.predict_proba(X).shape == (900, 300)
    assert CARTClassifier(max_depth=1).fit(X, y).predict_proba(X).sum(axis=1) == pytest.approx(1)


@BOTH
def test_far_more_columns_than_rows(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 5000)), rng.integers(0, 2, 50)
    X[:, 4321] = y * 3 + rng.uniform(size=50)
    model = make(random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert model.feature_importances_.argmax() == 4321
    np.testing.assert_array_equal(model.predict(X), y)


@BOTH
@pytest.mark.parametrize(
    "low", [1.0, 1e300, 1.7976931348623155e308, 5e-324, 0.0, -1.0, 1e-310, -1.7976931348623157e308, 123456789.125]
)
@pytest.mark.parametrize("copies", [1, 400])
def test_neighbouring_doubles_stay_apart(make, low, copies):
    X = np.array([[low], [np.nextafter(low, np.inf)]] * copies)
    y = np.array([0, 1] * copies)
    model = make().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


@BOTH
def test_huge_values_do_not_overflow_the_midpoint(make):
    X = np.array([[-1.7e308], [-1.6e308], [1.6e308], [1.7e308]])
    y = np.array([0, 1, 0, 1])
    np.testing.assert_array_equal(make().fit(X, y).predict(X), y)
    halves = make(max_depth=1).fit(X, [0, 0, 1, 1])
    assert halves.predict([[-1.0], [1.0]]).tolist() == [0, 1]


@BOTH
def test_denormals(make):
    X = np.array([[0.0], [5e-324], [1e-323], [-5e-324]])
    y = np.array([0, 1, 0, 1])
    np.testing.assert_array_equal(make().fit(X, y).predict(X), y)


@BOTH
def test_minus_zero_is_zero(make):
    model = make().fit([[-0.0], [0.0], [-0.0], [0.0]], [0, 1, 0, 1])
    assert model.get_n_leaves() == 1
    model = make().fit([[-0.0], [0.0], [1.0]], [0, 0, 1])
    assert model.predict([[0.0], [-0.0]]).tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore:invalid value|overflow:RuntimeWarning")  # scikit-learn's own sum over X
def test_combinations_of_huge_values_can_be_stored():
    """A sum of products may be infinite; a threshold must not be, or the model cannot be read back."""
    X = np.random.default_rng(0).uniform(-1, 1, (60, 3)) * 1.5e308
    y = np.arange(60) % 2
    for seed in range(10):
        model = CARTClassifier(combination_features=3, max_features=2, random_state=seed).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.forest_.labels(X), model.forest_.labels(X))


def test_limits_beyond_any_number_of_rows():
    X, y = np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1]
    assert CARTClassifier(min_samples_leaf=2**40).fit(X, y).get_n_leaves() == 1
    assert CARTClassifier(min_samples_split=2**40).fit(X, y).get_n_leaves() == 1
    assert CARTClassifier(max_depth=2**40, max_leaf_nodes=2**40).fit(X, y).get_n_leaves() == 6
    assert CARTClassifier(k_best=2**40, random_state=0).fit(X, y).score(X, y) == 1


@BOTH
def test_a_tree_deeper_than_ten_thousand(make):
    """Alternating labels: the best cut always splits off one row at an end."""
    n = 10_500
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    model = make().fit(X, y)
    assert model.get_depth() > 10_000
    assert model.get_n_leaves() == n
    np.testing.assert_array_equal(model.predict(X[::37]), y[::37])
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict([[3.2]]) == [1]
    assert copy.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.slow
@BOTH
def test_a_million_rows(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = make(min_samples_leaf=50).fit(X, y)
    assert np.mean(np.round(model.predict(X)) == y) > 0.99
    unlimited = make().fit(X[:200_000], y[:200_000])
    np.testing.assert_array_equal(unlimited.predict(X[:200_000]), y[:200_000])


def test_a_tie_in_a_leaf_goes_to_the_class_of_the_parent():
    """Right of the cut one row of each class: the root's majority decides, not the lowest class."""
    X = np.array([[0.0]] * 5 + [[1.0]] * 2)
    y = np.array(["b", "b", "b", "b", "b", "a", "b"])
    model = CARTClassifier().fit(X, y)
    assert model.predict([[1.0]]) == ["b"]
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.5, 0.5]])
    # The parent's class takes no part in the tie: then the lowest of those that do.
    X = np.array([[0.0]] * 5 + [[1.0]] * 2)
    assert CARTClassifier().fit(X, ["c"] * 5 + ["b", "a"]).predict([[1.0]]) == ["a"]
    # Without a parent the lowest.
    assert CARTClassifier().fit([[0.0], [0.0]], ["z", "k"]).predict([[0.0]]) == ["k"]
    for w in ([1, 1, 1, 1, 1, 3, 3], [1.5, 1, 1, 1, 1, 0.25, 0.25]):
        assert CARTClassifier().fit(X, y, w).predict([[1.0]]) == ["b"]


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-5, 10], [0.0, 2.0], [False, True], [np.str_("x"), np.str_("ñandú")]],
    ids=["strings", "ints", "floats", "bools", "unicode"],
)
def test_labels_of_any_type(labels):
    X = np.arange(20.0)[:, None]
    y = np.array(labels)[np.arange(20) // 10]
    model = CARTClassifier().fit(X, y)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.predict(X).dtype == y.dtype


COLOURS = ["red", "green", "blue", "red", "green", "blue", "red", "green"]
WARM = [1, 0, 0, 1, 0, 0, 1, 0]
FRAMES = {
    "pandas object": lambda values: pd.DataFrame({"c": pd.Series(values, dtype=object)}),
    "pandas str": lambda values: pd.DataFrame({"c": values}),
    "pandas string": lambda values: pd.DataFrame({"c": pd.array(values, dtype="string")}),
    "pandas category": lambda values: pd.DataFrame({"c": pd.Categorical(values)}),
    "polars string": lambda values: pl.DataFrame({"c": pl.Series(values, dtype=pl.String)}),
    "polars categorical": lambda values: pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)}),
}


@pytest.mark.parametrize("kind", FRAMES)
@BOTH
def test_categories_in_frames(make, kind):
    frame = FRAMES[kind]
    model = make().fit(frame(COLOURS), WARM)
    assert model.get_n_leaves() == 2
    assert model.predict(frame(["blue", "red", "green"])).tolist() == [0, 1, 0]
    # Unseen and missing values follow the heavier side.
    assert model.predict(frame(["violet", None, "red"])).tolist() == [0, 0, 1]


@pytest.mark.parametrize("kind", FRAMES)
@BOTH
def test_missing_categories_in_training(make, kind):
    """What is missing carries the label: it must be learnt, whatever the frame calls it."""
    values = [None if colour == "red" else colour for colour in COLOURS]
    model = make().fit(FRAMES[kind](values), WARM)
    assert model.predict(FRAMES[kind](["blue", None, "green"])).tolist() == [0, 1, 0]


def test_categories_unknown_to_a_node_go_where_missing_values_go():
    frame = pd.DataFrame({"c": COLOURS * 4, "x": np.arange(32) % 2})
    y = (frame["c"] == "red") * 2 + (frame["x"] == 1)
    model = CARTClassifier(random_state=0).fit(frame, y)
    assert model.score(frame, y) == 1
    new = pd.DataFrame({"c": ["violet", None], "x": [1, 1]})
    assert len(set(model.predict(new))) == 1


BOOLS = [True, False, None, True, False, None, True, False]
BOOL_FRAMES = {
    "pandas boolean": lambda values: pd.DataFrame({"c": pd.array(values, dtype="boolean")}),
    "pandas object": lambda values: pd.DataFrame({"c": pd.Series(values, dtype=object)}),
    "polars": lambda values: pl.DataFrame({"c": pl.Series(values, dtype=pl.Boolean)}),
}


@pytest.mark.parametrize("kind", BOOL_FRAMES)
def test_booleans_with_missing_values(kind):
    frame = BOOL_FRAMES[kind]
    y = ["t" if value else "n" if value is None else "f" for value in BOOLS]
    model = CARTClassifier().fit(frame(BOOLS), y)
    assert model.predict(frame([True, False, None])).tolist() == ["t", "f", "n"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_plain_booleans(frame):
    model = CARTClassifier().fit(frame({"c": [True, False, True, False]}), [1, 0, 1, 0])
    assert model.predict(frame({"c": [False, True]})).tolist() == [0, 1]


NUMBERS = [1, 2, None, 1, 2, None]
NUMBER_FRAMES = {
    "pandas Int64": lambda values: pd.DataFrame({"x": pd.array(values, dtype="Int64")}),
    "pandas Float64": lambda values: pd.DataFrame({"x": pd.array(values, dtype="Float64")}),
    "pandas float": lambda values: pd.DataFrame({"x": pd.Series(values, dtype=float)}),
    "polars int": lambda values: pl.DataFrame({"x": pl.Series(values, dtype=pl.Int32)}),
    "polars float": lambda values: pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}),
}


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside categories"])
@pytest.mark.parametrize("kind", NUMBER_FRAMES)
def test_nullable_numbers(kind, beside):
    def frame(values):
        out = NUMBER_FRAMES[kind](values)
        if not beside:
            return out
        names = ["a"] * len(values)
        return out.assign(c=names) if hasattr(out, "assign") else out.with_columns(c=pl.Series(names))

    model = CARTClassifier().fit(frame(NUMBERS), ["1", "2", "n", "1", "2", "n"])
    assert model.predict(frame([2, None, 1])).tolist() == ["2", "n", "1"]


@pytest.mark.parametrize("n_categories", [256, 257, 400])
def test_many_categories(n_categories):
    """Up to 256 exactly; above, the 255 most frequent keep their names and the rest is one category."""
    names = np.array([f"c{i:03}" for i in range(n_categories)])
    codes = np.concatenate([np.arange(n_categories), np.tile(np.arange(200), 4)])
    frame = pd.DataFrame({"c": names[codes]})
    y = np.where(codes < 200, codes % 2, 2)
    model = CARTClassifier(random_state=0).fit(frame, y)
    assert model.score(frame, y) == 1
    rare = pd.DataFrame({"c": [names[-1], names[3], "never seen"]})
    assert model.predict(rare).tolist()[:2] == [2, 1]


def test_a_model_of_categories_refuses_plain_arrays():
    model = CARTClassifier().fit(pd.DataFrame({"c": COLOURS}), WARM)
    with pytest.raises(ValueError, match="DataFrame"):
        model.predict(np.zeros((2, 1)))
    numbers = CARTClassifier().fit(pd.DataFrame({"c": [1, 2], "d": ["a", "b"]}), [0, 1])
    with pytest.raises(ValueError, match="held numbers"):
        numbers.predict(pd.DataFrame({"c": ["1"], "d": ["a"]}))
    with pytest.raises(ValueError, match="dates"):
        CARTClassifier().fit(pd.DataFrame({"c": pd.to_datetime(["2020-01-01", "2020-01-02"])}), [0, 1])


@BOTH
def test_infinity_is_refused_in_training_and_prediction(make):
    with pytest.raises(ValueError, match="infinity"):
        make().fit([[1.0], [np.inf]], [0, 1])
    model = make().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.array([[-np.inf]]))


@BOTH
def test_missing_values_everywhere(make):
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, np.nan], [np.nan, 3.0]])
    y = np.array([0, 0, 1, 0])
    model = make().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.predict([[5.0, np.nan], [np.nan, 1e9]]).tolist() == [1, 0]


@pytest.mark.parametrize("n", [30, 2000])
@pytest.mark.parametrize("K", [2, 3])
def test_least_weight_of_a_leaf_with_equal_values(n, K):
    """No cut between equal values, whatever the weights allow; a depth limit keeps a failure from running on."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, K, n)
    model = CARTClassifier(min_weight_fraction_leaf=0.01, max_depth=40, random_state=0).fit(X, y)
    assert model.get_n_leaves() <= 9
    leaf = model.forest_.leaves(X)[:, 0]
    assert np.bincount(leaf, minlength=model.get_n_leaves()).min() >= 0.01 * n


def test_class_weights_are_sample_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)).round(1), rng.integers(0, 3, 200)
    by_class = CARTClassifier(class_weight={0: 2.5, 1: 1, 2: 1}, max_depth=4, random_state=0).fit(X, y)
    by_row = CARTClassifier(max_depth=4, random_state=0).fit(X, y, np.where(y == 0, 2.5, 1.0))
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    plain = CARTClassifier(max_depth=4, random_state=0).fit(X, y)
    assert not np.array_equal(plain.predict_proba(X), by_row.predict_proba(X))


def test_rows_of_weight_zero_are_not_there():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    w = np.where(np.arange(100) < 60, 1.0, 0.0)
    for make in (CARTClassifier, CARTRegressor):
        a = make(random_state=0, min_samples_leaf=3).fit(X, y, w).predict(X)
        b = make(random_state=0, min_samples_leaf=3).fit(X[:60], y[:60]).predict(X)
        np.testing.assert_array_equal(a, b)


def test_no_warnings_from_log_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
        np.testing.assert_array_equal(model.predict_log_proba([[0.0]]), [[0.0, -np.inf]])
