"""The class with the largest count: the formula in numpy is the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import _core


def formula(counts):
    enough = counts.max(axis=1) - 1e-10 * np.abs(counts).max(axis=1)
    return (counts >= enough[:, None]).argmax(axis=1)


@pytest.mark.parametrize("classes", [1, 2, 3, 7, 8, 9, 26, 32, 33, 1000])
@pytest.mark.parametrize("rows", [0, 1, 5, 300])
def test_random_counts(rows, classes):
    rng = np.random.default_rng([rows, classes])
    whole = rng.integers(-3, 4, (rows, classes)).astype(float)
    rounded = whole * (1 + rng.choice([0, 1e-16, -1e-11, 1e-11, 9.9e-11, 1.01e-10, 1e-8], whole.shape))
    for counts in (whole, rounded, -np.abs(whole), rng.normal(size=whole.shape), np.zeros_like(whole)):
        found = _core.leaders(counts)
        assert found.dtype == np.intp
        np.testing.assert_array_equal(found, formula(counts) if rows else np.zeros(0))


VALUES = st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-10, 1 + 2e-10, 1 - 1e-10, -1.0, 1e300, -1e300, 5e-324, 0.1 + 0.2, 0.3])


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 12)), elements=VALUES | st.floats(-9, 9)))
def test_any_counts(counts):
    np.testing.assert_array_equal(_core.leaders(counts), formula(counts))


def test_the_bound_is_the_largest_absolute_count():
    """A large negative count makes what counts as rounding larger."""
    assert _core.leaders(np.array([[1.0, 1.0 + 1e-9, 0.0]])).tolist() == [1]
    assert _core.leaders(np.array([[1.0, 1.0 + 1e-9, -100.0]])).tolist() == [0]


def test_arrays_in_any_order():
    counts = np.random.default_rng(0).integers(0, 3, (40, 20)).astype(float)
    for given_ in (np.asfortranarray(counts), counts[::2, ::3], counts[::-1], counts.T):
        np.testing.assert_array_equal(_core.leaders(given_), formula(given_))


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="a column per class"):
        _core.leaders(np.zeros((3, 0)))
    for wrong in (np.zeros(3), np.zeros((1, 2, 3)), np.array([["a"]]), None):
        with pytest.raises(TypeError):
            _core.leaders(wrong)
