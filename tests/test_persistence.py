"""Stored models may be damaged or hostile: a forest is refused, or it predicts without leaving its arrays."""

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from conjunto import BaggingClassifier, RandomForestClassifier, RandomForestRegressor, _core


def frame(n=80):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": random.normal(size=n),
            "b": random.choice(list("uvwxyz"), n),
            "c": random.normal(size=n),
            "d": random.choice([f"k{i}" for i in range(40)], n),
        }
    )


def forests():
    X = frame()
    y = np.arange(80) % 3
    for model in (
        RandomForestClassifier(n_estimators=3, max_depth=4, random_state=0),
        RandomForestClassifier(n_estimators=3, max_depth=4, splits="combination", random_state=0),
        RandomForestRegressor(n_estimators=3, max_depth=4, random_state=0),
        RandomForestRegressor(n_estimators=3, max_depth=4, splits="combination", random_state=0),
    ):
        yield model.fit(X, y)._panel.members.forest.arrays()


FORESTS = list(forests())
NUMBERS = ("format", "columns", "classes")
ARRAYS = [name for name in FORESTS[0] if name not in NUMBERS]


def rows(columns):
    random = np.random.default_rng(1)
    X = np.floor(random.normal(scale=20, size=(40, columns)))
    X[random.random(X.shape) < 0.1] = np.nan
    X[0], X[1], X[2] = 1e308, -1e308, 5e-324
    return X


def walk(forest):
    """Everything that follows an index."""
    X = rows(forest.columns)
    leaves = forest.leaves(X)
    assert leaves.shape == (len(X), len(forest))
    assert len(forest) == 0 or ((leaves >= 0) & (leaves < forest.leaf_counts())).all()
    if forest.classes:
        labels = forest.labels(X, 2)
        assert ((labels >= 0) & (labels < forest.classes)).all()
        assert forest.vote_counts(X).sum() == labels.size
        assert forest.share_sums(X).shape == (len(X), forest.classes)
    else:
        assert forest.values(X).shape == (len(forest), len(X))
        assert forest.value_sums(X).shape == (len(X),)
    forest.depths()
    forest.importances()
    numbers = np.split(forest.leaf_numbers(), np.cumsum(forest.leaf_counts())[:-1])
    for tree, leaves_of_tree in enumerate(numbers[: len(forest)]):
        nodes = forest.unfold(tree, _core.Criterion.gini if forest.classes else _core.Criterion.variance)
        np.testing.assert_array_equal(np.sort(leaves_of_tree), np.flatnonzero(nodes["left"] < 0))
    taken = forest.take(np.arange(len(forest), dtype=np.int64))
    np.testing.assert_array_equal(taken.leaves(X), leaves)
    taken.append(forest)
    assert len(taken) == 2 * len(forest)
    np.testing.assert_array_equal(taken.leaves(X), np.hstack([leaves, leaves]))


@pytest.mark.parametrize("arrays", FORESTS)
def test_the_arrays_rebuild_the_forest(arrays):
    forest = _core.Forest(arrays)
    again = forest.arrays()
    assert list(again) == list(arrays)
    for name in arrays:
        np.testing.assert_array_equal(again[name], arrays[name])
    walk(forest)


def interesting(dtype):
    if dtype.kind == "f":
        return st.sampled_from([0.0, -1.0, 1.0, 2.5, 31.0, 32.0, 1e9, 4e9, 1e300, -1e300, np.nan, np.inf, -np.inf])
    info = np.iinfo(dtype)
    return st.sampled_from([0, 1, 2, 3, 5, 31, 32, 255, 257, info.max, info.max - 1, info.min]) | st.integers(
        max(info.min, -70), 70
    )


OTHER_TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint32, np.uint8, np.bool_, np.complex128, object]


@st.composite
def damaged(draw):
    arrays = dict(draw(st.sampled_from(FORESTS)))
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(["columns", "classes", *ARRAYS]))
        if name in NUMBERS:
            arrays[name] = draw(st.integers(-2, 70) | st.sampled_from([2**31, 2**32, 2**64, 1.5, "x", None]))
            continue
        array = np.array(arrays[name])
        way = draw(
            st.sampled_from(["entry", "entry", "entry", "cut", "longer", "type", "shape", "strides", "swap", "bits"])
        )
        if way == "entry" and array.size and array.dtype.kind in "iuf":
            place, value = draw(st.integers(0, array.size - 1)), draw(interesting(array.dtype))
            with np.errstate(all="ignore"):
                array.flat[place] = np.asarray(value).astype(array.dtype)
        elif way == "bits" and array.size and array.dtype == np.uint32:
            array.flat[draw(st.integers(0, array.size - 1))] ^= array.dtype.type(1 << draw(st.integers(26, 31)))
        elif way == "cut" and array.ndim:
            array = array[: draw(st.integers(0, max(0, len(array) - 1)))]
        elif way == "longer" and array.ndim:
            array = np.concatenate([array, array[: draw(st.integers(1, 3))]])
        elif way == "type" and array.dtype != object:
            with np.errstate(all="ignore"):
                array = array.astype(draw(st.sampled_from([kind for kind in OTHER_TYPES if kind is not object])))
        elif way == "shape":
            array = array[..., None]
        elif way == "strides" and array.ndim:
            array = array[::-1]
        elif way == "swap":
            array = arrays[draw(st.sampled_from(ARRAYS))]
        arrays[name] = array
    return arrays


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@settings(max_examples=600)
@given(damaged())
def test_damage_is_refused_or_harmless(arrays):
    try:
        forest = _core.Forest(arrays)
    except (ValueError, TypeError):
        return
    walk(forest)


@pytest.mark.parametrize("format", [0, 1, 99])
def test_another_format_is_named(format):
    with pytest.raises(ValueError, match=rf"stored in format {format}; this version of conjunto reads format 4"):
        _core.Forest(FORESTS[0] | {"format": format})


@pytest.mark.parametrize(("kind", "format"), [(_core.Forest, 4), (_core.C45Forest, 2)])
def test_a_file_of_format_1_is_named(kind, format):
    """It gave the arrays as arguments, the format first."""
    assert format == kind.FORMAT
    with pytest.raises(ValueError, match=f"stored in format 1; this version of conjunto reads format {format}"):
        kind(1, *list(FORESTS[0].values())[1:])
    with pytest.raises(TypeError, match="as one dictionary"):
        kind(format, *list(FORESTS[0].values())[1:])


@pytest.mark.parametrize("name", FORESTS[0])
def test_a_missing_name_is_told(name):
    arrays = {other: array for other, array in FORESTS[0].items() if other != name}
    with pytest.raises(ValueError, match=f"corrupt forest: {name} is missing"):
        _core.Forest(arrays)


@pytest.mark.parametrize("name", ["leaf_lable", "", "\ud800", "left\0", 3, None, ("left",), b"left"])
def test_an_unknown_name_is_told(name):
    with pytest.raises(ValueError, match="corrupt forest: there is no array "):
        _core.Forest(FORESTS[0] | {name: np.zeros(3)})


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_another_type_are_refused(name):
    """Converting could wrap an index."""
    sound = FORESTS[0][name]
    room = np.zeros(sound.nbytes + 1, dtype=np.uint8)[1:]
    for wrong in (
        sound.astype(np.complex128),
        sound.astype(np.int8),
        sound.astype(sound.dtype.newbyteorder()),
        np.repeat(sound, 2)[::2] if len(sound) > 1 else np.zeros((2, 2)),
        sound[None],
        sound.tolist(),
        None,
        "x",
    ):
        with pytest.raises(TypeError, match=f"corrupt forest: {name} is no contiguous array"):
            _core.Forest(FORESTS[0] | {name: wrong})
    if sound.dtype.alignment > 1 and len(sound):
        with pytest.raises(ValueError, match="aligned"):
            _core.Forest(FORESTS[0] | {name: room.view(sound.dtype)})


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("wrong", [-(2**70), 2**70, 1.0, "2", None, np.zeros(1)])
def test_numbers_of_another_type_are_refused(name, wrong):
    with pytest.raises(TypeError, match=f"corrupt forest: {name} is no whole number"):
        _core.Forest(FORESTS[0] | {name: wrong})


@pytest.mark.parametrize("arrays", [None, [], (), "x", 2.0, list(FORESTS[0].items())])
def test_nothing_but_a_dictionary_is_read(arrays):
    with pytest.raises(TypeError):
        _core.Forest(arrays)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("left", 0),  # a child before its parent: an endless walk
        ("left", 2**31 - 1),
        ("right", -(2**31)),
        ("test", 4),
        ("test", 2**29 - 1),
        ("threshold", np.nan),
        ("leaf_label", 3),
        ("leaf_label", -(2**31)),
        ("node_start", 2**63),
        ("leaf_start", 1),
        ("categories", 257),
    ],
)
def test_wild_indices_are_refused(name, value):
    arrays = FORESTS[0] | {name: FORESTS[0][name].copy()}
    arrays[name][0] = value
    with pytest.raises(ValueError, match="corrupt forest"):
        _core.Forest(arrays)


def test_arrays_of_different_lengths_are_refused():
    arrays = FORESTS[0] | {"left": FORESTS[0]["left"][:-1]}
    with pytest.raises(ValueError, match="corrupt forest: node arrays differ in length"):
        _core.Forest(arrays)


def model():
    X, y = load_iris(return_X_y=True)
    return BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)


def bad_children(fitted):
    left = fitted._panel.members.forest.arrays()["left"]
    bad = left.copy()
    bad[0] = 2**31 - 1
    return left, bad


def test_a_damaged_pickle_is_refused():
    fitted = model()
    data = pickle.dumps(fitted)
    left, bad = bad_children(fitted)
    assert data.count(left.tobytes()) == 1
    with pytest.raises(ValueError, match=r"corrupt forest: a (leaf|child node)"):
        pickle.loads(data.replace(left.tobytes(), bad.tobytes()))


def test_a_damaged_skops_file_is_refused():
    fitted = model()
    left, bad = bad_children(fitted)
    damaged = io.BytesIO()
    changed = 0
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(fitted))) as old, zipfile.ZipFile(damaged, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            changed += left.tobytes() in content
            new.writestr(name, content.replace(left.tobytes(), bad.tobytes()))
    assert changed == 1
    trusted = skops.io.get_untrusted_types(data=damaged.getvalue())
    with pytest.raises(ValueError, match="corrupt forest"):
        skops.io.loads(damaged.getvalue(), trusted=trusted)


@pytest.mark.parametrize("members", [[5], [-1], [2**62]])
def test_there_is_no_such_member(members):
    with pytest.raises(ValueError, match=f"there is no member {members[0]}"):
        _core.Forest(FORESTS[0]).take(np.array(members, dtype=np.int64))


def test_forests_of_different_problems_do_not_join():
    with pytest.raises(ValueError, match="forests of different problems cannot be joined"):
        _core.Forest(FORESTS[0]).append(_core.Forest(FORESTS[2]))


def test_the_core_refuses_other_shapes_and_tasks():
    forest = _core.Forest(FORESTS[0])
    with pytest.raises(ValueError, match="X has 3 columns, the forest was grown on 4"):
        forest.labels(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a classification forest has no values"):
        forest.values(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="a regression forest has no classes"):
        _core.Forest(FORESTS[2]).labels(np.zeros((2, 4)))
    assert forest.labels(np.zeros((0, 4))).shape == (3, 0)
