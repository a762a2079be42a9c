import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunto.experiments.statistics import mean_and_error


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_the_standard_library_agrees(values):
    found = mean_and_error(values)
    sd = statistics.stdev(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert found.sd == pytest.approx(sd, rel=1e-9, abs=1e-9)
    assert found.error == pytest.approx(sd / math.sqrt(len(values)), rel=1e-9, abs=1e-9)
    assert found.n == len(values)


def test_one_value_has_no_spread():
    found = mean_and_error([0.3])
    assert (found.mean, found.n) == (0.3, 1)
    assert math.isnan(found.sd)
    assert math.isnan(found.error)


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "values is empty"), ([1, math.nan], "values holds NaN"), ([[1, 2]], "values must be 1-dimensional")],
)
def test_errors_name_the_argument(values, message):
    with pytest.raises(ValueError, match=message):
        mean_and_error(values)
