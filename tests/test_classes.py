"""One codec of labels: what it finds is what a dictionary finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunto.classes import Classes

KINDS = {
    "numbers": (np.array([3, 7, 20]), [20, 3, 3, 7], 4),
    "floats": (np.array([0.5, 1.0]), [1, 0.5], 0.75),
    "text": (np.array(["ant", "bee"]), ["bee", "ant"], "be"),
    "booleans": (np.array([False, True]), [True, False], 2),
    "objects": (np.array(["a", 3], dtype=object), [3, "a"], "b"),
    "any order": (np.array(["yes", "no"]), ["no", "yes"], "maybe"),
}


@pytest.mark.parametrize(("labels", "known", "unknown"), KINDS.values(), ids=KINDS)
def test_codes_are_places(labels, known, unknown):
    classes = Classes(labels)
    expected = [labels.tolist().index(label) for label in known]
    for given_as in (np.array(known, dtype=object), np.array(known, dtype=labels.dtype)):
        codes = classes.encode(given_as)
        assert codes.dtype == np.int32
        assert codes.tolist() == expected
    beyond = np.array([*known, unknown], dtype=object)
    assert classes.encode(beyond, unknown="abstain").tolist() == [*expected, -1]
    with pytest.raises(ValueError, match=rf"y has the label {unknown!r}, which the ensemble does not know; it knows "):
        classes.encode(beyond)


@given(st.lists(st.integers(-5, 5), unique=True, min_size=1), st.lists(st.integers(-6, 6), min_size=1))
def test_against_a_dictionary(labels, y):
    table = {label: code for code, label in enumerate(labels)}
    codes = Classes(np.array(labels)).encode(y, unknown="abstain")
    assert codes.tolist() == [table.get(label, -1) for label in y]


def test_numbers_are_no_text_and_text_is_no_number():
    assert Classes(np.array(["1", "2"])).encode([1, 2], unknown="abstain").tolist() == [-1, -1]
    assert Classes(np.array([1, 2])).encode(["1", "2"], unknown="abstain").tolist() == [-1, -1]


def test_messages():
    classes = Classes(np.arange(30))
    with pytest.raises(ValueError, match=r"member 3 predicts the label 99, .* 7, 8, 9, …$"):
        classes.encode([99], who="member 3 predicts")
    with pytest.raises(ValueError, match="y has missing values: remove these rows"):
        classes.encode(np.array([1, None], dtype=object))
    with pytest.raises(ValueError, match="member 2 knows the label 31"):
        classes.places([0, 31], "member 2")
