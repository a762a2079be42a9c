"""The truth is figure 3.4 of the thesis: in half k wrong weights are divided by 2 e_k, right ones by 2 (1 - e_k)."""

import math

import numpy as np
import pytest

from conjunto import IGPBoostingClassifier
from conjunto.combination import FINISHES
from conjunto.ensembles._readings import READINGS
from conjunto.ensembles.rules.igp import IGP
from conjunto.problem import read_problem
from conjunto.streams import Stream


def make_rule(y, halves, first=None, weighted=False):
    y = np.asarray(y)
    rule = IGP(read_problem(IGPBoostingClassifier(), np.zeros((len(y), 1)), y, None, classification=True), weighted)
    rule.halves = np.asarray(halves, dtype=np.uint8)
    rule.start(np.full(len(y), 1 / len(y)) if first is None else first)
    return rule


def test_a_small_run_by_hand():
    """Half 1: weights 1, 2, 3, 4 of which 1 is wrong, e = 0.1; half 0: 2, 2, 6 of which 2 + 2 are wrong, e = 0.4."""
    rule = make_rule([0, 0, 1, 1, 0, 1, 1], [1, 1, 1, 1, 0, 0, 0])
    weights = np.array([1, 2, 3, 4, 2, 2, 6]) / 20
    said = np.array([[1, 0, 1, 1, 1, 0, 1]])
    new = rule.reweigh(weights, said, 1.0)
    expected = np.array([1 / 0.2, 2 / 1.8, 3 / 1.8, 4 / 1.8, 2 / 0.8, 2 / 0.8, 6 / 1.2]) / 20
    np.testing.assert_allclose(new, expected, rtol=1e-14)
    np.testing.assert_allclose([new[:4].sum(), new[4:].sum()], [0.5, 0.5])
    assert rule.error(weights, said) == pytest.approx(5 / 20)


@pytest.mark.parametrize("seed", range(20))
def test_halves_keep_their_weight_and_wrong_rows_get_half_of_it(seed):
    random = np.random.default_rng(seed)
    y, said, halves = random.integers(0, 3, 40), random.integers(0, 3, 40), random.integers(0, 2, 40)
    said = np.where(random.random(40) < 0.7, y, said)
    weights = random.exponential(size=40)
    weights /= weights.sum()
    first = random.exponential(size=40)
    rule = make_rule(y, halves, first)
    before = weights.copy()
    new = rule.reweigh(weights, said[None], 1.0)
    np.testing.assert_array_equal(weights, before)
    for half in (0, 1):
        mine, wrong = halves == half, said != y
        error = weights[mine & wrong].sum() / weights[mine].sum()
        if 0 < error < 0.5:
            assert new[mine].sum() == pytest.approx(weights[mine].sum())
            assert new[mine & wrong].sum() == pytest.approx(weights[mine].sum() / 2)
            assert new[mine & ~wrong].sum() == pytest.approx(weights[mine].sum() / 2)
        else:
            np.testing.assert_array_equal(new[mine], first[mine])


@pytest.mark.parametrize(
    ("wrong", "reset"),
    [([], True), ([0], False), ([0, 1], True), ([0, 1, 2, 3], True)],
    ids=["no error", "a quarter", "exactly half", "all"],
)
def test_a_half_goes_back_to_its_first_weights(wrong, reset):
    """The other half, one of four wrong, goes on."""
    y, halves = np.array([0, 1] * 4), np.repeat([0, 1], 4)
    first = np.arange(1, 9) / 36
    rule = make_rule(y, halves, first)
    weights = np.full(8, 1 / 8)
    said = y.copy()
    said[wrong] = 1 - said[wrong]
    said[4] = 1 - said[4]
    new = rule.reweigh(weights, said[None], 1.0)
    mine = np.array([1 / 4, 1 / 12, 1 / 12, 1 / 12])
    np.testing.assert_allclose(new[:4], first[:4] if reset else mine)
    np.testing.assert_allclose(new[4:], mine)


def test_an_error_of_one_half_may_be_rounded():
    """0.3 of 0.1 + 0.2 + 0.3 is wrong: exactly one half, but 0.49999999999999994 in doubles."""
    first = np.full(6, 1 / 6)
    rule = make_rule([0, 0, 0, 0, 0, 1], [1, 1, 1, 0, 0, 0], first)
    weights = np.array([0.1, 0.2, 0.3, 0.1, 0.1, 0.2])
    assert weights[2] / weights[:3].sum() < 0.5
    new = rule.reweigh(weights, np.array([[0, 0, 1, 0, 1, 1]]), 1.0)
    np.testing.assert_array_equal(new[:3], first[:3])
    np.testing.assert_allclose(new[3:], [0.1 / 1.5, 0.1 / 0.5, 0.2 / 1.5])


def test_votes():
    plain, weighted = (make_rule([0, 1], [0, 1], weighted=weighted) for weighted in (False, True))
    assert [plain.vote(error) for error in (1e-10, 0.2, 0.49)] == [1.0, 1.0, 1.0]
    assert weighted.vote(0.2) == pytest.approx(math.log(4))


def test_a_half_without_weight():
    rule = make_rule([0, 1, 0], [1, 1, 1])
    new = rule.reweigh(np.full(3, 1 / 3), np.array([[0, 1, 1]]), 1.0)
    np.testing.assert_allclose(new, [1 / 4, 1 / 4, 1 / 2])


def test_halves_come_from_the_stream_and_leave_out_rows_of_weight_zero():
    y = np.arange(20) % 2
    weights = (np.arange(20) % 5 > 0).astype(float)
    rule = IGP(read_problem(IGPBoostingClassifier(), np.zeros((20, 1)), y, weights, classification=True))
    rule.draw_once(Stream((1, 2), 3))
    np.testing.assert_array_equal(rule.halves, Stream((1, 2), 3).halves(y.astype(np.int32), weights > 0, 2))
    assert (rule.halves[weights > 0]).sum() == 8
    (view,) = rule.views(weights)
    np.testing.assert_array_equal(view.halves, rule.halves)


def test_decisions_are_shares_of_the_vote():
    scores = np.array([[3.0, 1.0], [0.0, 2.0]])
    finish = FINISHES[READINGS[IGP.reads].finish]
    np.testing.assert_allclose(finish.decision(scores, 4.0), [[0.75, 0.25], [0, 1]])
    np.testing.assert_allclose(finish.probabilities(scores, 4.0), [[0.75, 0.25], [0, 1]])
