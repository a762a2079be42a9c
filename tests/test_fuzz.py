"""Any array that scikit-learn would take: no crash, labels that are known, values that are finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import (
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    DoubleBaggingClassifier,
    ECOCClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RoundRobinClassifier,
)

# scikit-learn's check for infinity adds all values up, and 1e308 - 1e308 overflows on the way.
pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered in (reduce|dot):RuntimeWarning")

EXTREME = [
    0.0,
    -0.0,
    1e308,
    -1e308,
    1.7976931348623157e308,
    5e-324,
    -5e-324,
    1e-300,
    1.0,
    np.nextafter(1.0, 2.0),
    np.nan,
]
SINGLE = [0.0, 1.0, -1.0, 1.5, float(np.float32(3e38)), float(np.float32(-3e38)), float(np.float32(1e-45)), np.nan]
ELEMENTS = {
    np.float64: st.sampled_from(EXTREME) | st.floats(-10, 10),
    np.float32: st.sampled_from(SINGLE) | st.floats(-10, 10, width=32),
    np.int64: st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1]) | st.integers(-5, 5),
    np.uint8: st.integers(0, 255),
    np.bool_: st.booleans(),
}


@st.composite
def matrices(draw):
    dtype = draw(st.sampled_from(sorted(ELEMENTS, key=lambda kind: kind.__name__)))
    shape = draw(st.tuples(st.integers(1, 40), st.integers(1, 6)))
    X = draw(hnp.arrays(dtype, shape, elements=ELEMENTS[dtype]))
    way = draw(st.sampled_from(["C", "F", "rows", "columns", "backwards", "apart", "read-only", "unaligned"]))
    if way == "F":
        return np.asfortranarray(X)
    if way == "rows":
        return np.repeat(X, 2, axis=0)[::2]
    if way == "columns":
        return np.repeat(X, 3, axis=1)[:, ::3]
    if way == "backwards":
        return X[::-1, ::-1]
    if way == "apart":
        room = np.zeros((X.shape[0], X.shape[1] + 3), dtype=X.dtype)
        room[:, 2:-1] = X
        return room[:, 2:-1]
    if way == "read-only":
        X.flags.writeable = False
    if way == "unaligned":
        room = np.zeros(X.nbytes + 1, dtype=np.uint8)
        view = room[1:].view(X.dtype).reshape(X.shape)
        view[...] = X
        return view
    return X


WEIGHTS = st.sampled_from([0.0, 1.0, 2.0, 255.0, 256.0, 1e-12, 1e12, 0.3]) | st.floats(1e-3, 10)


def weights_for(data, n):
    if data.draw(st.booleans()):
        return None
    weights = data.draw(hnp.arrays(np.float64, n, elements=WEIGHTS))
    return weights if weights.any() else None


def classifier(draw):
    criterion = draw(st.sampled_from(["gini", "entropy"]))
    leaf = draw(st.sampled_from([1, 3, 0.2]))
    tree = CARTClassifier(criterion=criterion, min_samples_leaf=leaf, random_state=0)
    return draw(
        st.sampled_from(
            [
                tree,
                BaggingClassifier(tree, n_estimators=3, random_state=0),
                BaggingClassifier(tree, n_estimators=2, max_samples=0.5, max_features=0.5, n_jobs=2, random_state=0),
                RandomForestClassifier(n_estimators=3, criterion=criterion, min_samples_leaf=leaf, random_state=0),
                RandomForestClassifier(n_estimators=3, splits="combination", random_state=0),
                RandomForestClassifier(n_estimators=3, max_leaf_nodes=5, class_weight="balanced", random_state=0),
                DoubleBaggingClassifier(tree, 3, random_state=0),
                ECOCClassifier(tree, 3, random_state=0),
                RoundRobinClassifier(tree, random_state=0),
            ]
        )
    )


@settings(max_examples=300)
@given(matrices(), st.data())
def test_classifiers(X, data):
    labels = data.draw(st.sampled_from([np.array([0, 1]), np.array(["a", "b", "c"]), np.array([-3, 2**40])]))
    y = labels[data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, len(labels) - 1)))]
    weight = weights_for(data, len(X))
    model = classifier(data.draw).fit(X, y, sample_weight=weight)
    new = X[::-1]
    said = model.predict(new)
    assert set(said.tolist()) <= set(y.tolist())
    shares = model.predict_proba(new)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_array_equal(model.predict(np.array(new, dtype=np.float64, order="C")), said)


@settings(max_examples=300)
@given(matrices(), st.data())
def test_regressors(X, data):
    scale = data.draw(st.sampled_from([1.0, 1e-150, 1e150]))
    y = scale * data.draw(hnp.arrays(np.float64, len(X), elements=st.floats(-10, 10, allow_subnormal=False)))
    weight = weights_for(data, len(X))
    model = data.draw(
        st.sampled_from(
            [
                CARTRegressor(random_state=0),
                RandomForestRegressor(n_estimators=3, random_state=0),
                RandomForestRegressor(n_estimators=3, splits="combination", max_features=0.5, random_state=0),
            ]
        )
    ).fit(X, y, sample_weight=weight)
    said = model.predict(X[::-1])
    assert np.isfinite(said).all()
    # A mean of targets lies between them, up to rounding.
    room = 1e-6 * np.abs(y).max()
    assert y.min() - room <= said.min()
    assert said.max() <= y.max() + room


@given(matrices(), st.data())
def test_a_grown_tree_tells_distinct_rows_apart(X, data):
    """Truth: rows with equal values share the majority of their labels, so only those may be wrong."""
    y = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 2)))
    doubles = np.array(X, dtype=np.float64)
    groups = {}
    for row, label in zip(doubles + 0.0, y, strict=True):
        key = tuple("nan" if np.isnan(value) else float(value) for value in row)
        groups.setdefault(key, []).append(label)
    least = sum(len(labels) - np.bincount(labels).max() for labels in groups.values())
    assert (CARTClassifier(random_state=0).fit(X, y).predict(X) != y).sum() == least


@pytest.mark.parametrize("weight", [1e308, 5e-324, 1e-310])
@pytest.mark.parametrize("model", [CARTClassifier, BaggingClassifier, RandomForestClassifier])
def test_equal_weights_of_any_size_are_no_weights(model, weight):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    weighted = model(random_state=0).fit(X, y, sample_weight=np.full(40, weight))
    np.testing.assert_array_equal(weighted.predict(X), model(random_state=0).fit(X, y).predict(X))
    assert weighted.score(X, y) > 0.9
