"""The orders' own rules for where to cut, against their definitions."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from conjunto.ordering import boosting_size, orientation_size

from . import oracles
from .cases import class_cases


# Small cases often have no direction, and none of them is skipped in vain: the others are enough.
@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much])
@given(class_cases())
def test_orientation_keeps_the_angles_below_the_mean_of_the_acute_ones(case):
    case = replace(case, labels=np.maximum(case.labels, 0))
    assume(oracles.has_direction(case))
    c = oracles.correctness(case)
    reference = oracles.reference(np.average(c, axis=0, weights=case.w), case.v)
    cosines = (c * case.v) @ reference / np.sqrt(case.v.sum() * (case.v @ reference**2))
    angles = np.arccos(np.clip(cosines.round(12), -1, 1))
    acute = angles[angles < np.pi / 2 - 1e-10]
    assume(not len(acute) or (np.abs(angles - acute.mean()) > 1e-8).all() or np.ptp(acute) == 0)
    expected = max(1, int((angles < acute.mean() - 1e-9).sum())) if len(acute) else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert orientation_size(case.votes, case.y, sample_weight=case.sample_weight) == expected


def test_without_angles_a_fifth_is_kept():
    with pytest.warns(UserWarning, match="individual_error"):
        assert orientation_size(np.ones((20, 5), dtype=int), np.ones(5, dtype=int)) == 4


@settings(max_examples=200)
@given(class_cases())
def test_boosting_stops_at_the_first_weighted_error_of_one_half(case):
    c = oracles.correctness(case)
    b = case.v / case.v.sum()
    left, size = list(range(len(case))), 0
    while left:
        judged = np.array([b[c[t] != 0].sum() for t in left])
        wrong = np.array([b[c[t] < 0].sum() for t in left])
        errors = np.where(judged > 0, wrong / np.where(judged > 0, judged, 1), 0.5)
        best = int((errors <= errors.min() + 1e-10).argmax())
        if errors[best] >= 0.5 - 1e-10:
            break
        member, error, size = left.pop(best), errors[best], size + 1
        if error > 1e-10:
            b = b / np.select([c[member] < 0, c[member] > 0], [2 * error, 2 * (1 - error)], 1.0)
            b = b / b.sum()
    assert boosting_size(case.votes, case.y, sample_weight=case.sample_weight) == max(1, size)
