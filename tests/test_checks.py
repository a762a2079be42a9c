import math

import numpy as np
import pytest

from conjunto.checks import (
    check_choice,
    check_count,
    check_number,
    check_optional_count,
    check_row_limit,
    check_share_or_count,
    resolve_max_features,
)


@pytest.mark.parametrize("value", [1, 5, np.int64(3), np.uint8(2)])
def test_counts(value):
    assert check_count("n", value) == value
    assert type(check_count("n", value)) is int
    assert check_optional_count("n", value) == value


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "3", None, math.nan, np.array([1, 2])])
def test_no_counts(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
        check_count("n", value)


def test_no_limit():
    assert check_optional_count("n", None) is None


def test_numbers():
    assert check_number("x", 1, 0, 1) == 1.0
    assert check_number("x", np.float32(0.5), 0, 1) == 0.5
    for value in (-0.1, 1.1, math.nan, True, "0", None):
        with pytest.raises(ValueError, match=r"x must be a number in \[0, 1\], got"):
            check_number("x", value, 0, 1)
    with pytest.raises(ValueError, match=r"x must be a number in \[0, 1\), got 1"):
        check_number("x", 1.0, 0, 1, open_high=True)


def test_choices():
    assert check_choice("x", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match="x must be one of 'a', 'b', got 'c'"):
        check_choice("x", "c", ("a", "b"))


@pytest.mark.parametrize(("value", "count"), [(1, 1), (10, 10), (1.0, 10), (0.5, 5), (0.59, 5), (0.001, 1)])
def test_shares_or_counts(value, count):
    assert check_share_or_count("x", value, 10) == count


@pytest.mark.parametrize("value", [0, 11, 0.0, 1.1, -0.5, True, "x", None, math.nan])
def test_no_shares_or_counts(value):
    with pytest.raises(ValueError, match=r"x must be an int in \[1, 10\] or a float in \(0, 1\], got"):
        check_share_or_count("x", value, 10)


@pytest.mark.parametrize(("value", "rows"), [(2, 2), (7, 7), (0.1, 2), (0.25, 3), (1.0, 10)])
def test_row_limits(value, rows):
    assert check_row_limit("x", value, 10, 2) == rows


@pytest.mark.parametrize("value", [1, 0.0, 1.5, True, "x", None, math.nan])
def test_no_row_limits(value):
    with pytest.raises(
        ValueError, match=r"'x' parameter must be an int in the range \[2, inf\) or a float in the range"
    ):
        check_row_limit("x", value, 10, 2)


@pytest.mark.parametrize(
    ("value", "columns", "count"),
    [
        (None, 9, 9),
        ("sqrt", 9, 3),
        ("sqrt", 10, 3),
        ("sqrt", 1, 1),
        ("log2", 9, 3),
        ("log2", 1, 1),
        (0.5, 9, 4),
        (4, 9, 4),
    ],
)
def test_max_features(value, columns, count):
    assert resolve_max_features(value, columns) == count
