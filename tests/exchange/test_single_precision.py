"""Thresholds between doubles and floats, against the comparison itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjunto.exchange.single_precision import for_doubles, rounded_down

DOUBLES = st.floats(-3e38, 3e38, allow_nan=False)


@given(DOUBLES, st.floats(-(2.0**127), 2.0**127, width=32, allow_nan=False))
def test_floats_take_the_same_branch_of_a_threshold_that_was_rounded_down(threshold, value):
    (rounded,) = rounded_down(np.array([threshold]))
    assert np.float32(rounded) == rounded
    assert (value <= rounded) == (value <= threshold)


@given(DOUBLES, st.integers(-3, 3), st.floats(-1, 1))
def test_doubles_take_the_branch_of_the_float_that_they_round_to(threshold, steps, share):
    # Values near the threshold, and in the middle between floats, are the ones that could go wrong.
    near = np.float32(threshold)
    for _ in range(abs(steps)):
        near = np.nextafter(near, np.float32(np.copysign(np.inf, steps)))
    after = np.nextafter(near, np.float32(np.inf))
    (moved,) = for_doubles(np.array([threshold]))
    middle = float(near) / 2 + float(after) / 2
    for value in (
        float(near),
        middle,
        np.nextafter(middle, np.inf),
        float(near) + share * (float(after) - float(near)),
    ):
        if abs(value) < 3e38:
            assert (value <= moved) == (float(np.float32(value)) <= threshold)


def test_the_largest_threshold_holds_everything():
    most = np.array([np.finfo(np.float64).max])
    assert rounded_down(most)[0] == np.finfo(np.float32).max
    assert for_doubles(most)[0] == most[0]
