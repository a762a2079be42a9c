import math

import numpy as np
import pytest

from conjunto.experiments.remaining import seconds_left


def test_costs_of_pairs_that_were_run_are_added_up():
    costs = [("a", "fast", 1.0, 3), ("a", "slow", 10.0, 3)]
    assert seconds_left(costs, {("a", "fast"): 7, ("a", "slow"): 7}, 1) == pytest.approx(77)
    assert seconds_left(costs, {("a", "fast"): 7, ("a", "slow"): 7}, 2) == pytest.approx(38.5)


def test_nobody_can_help_with_the_last_cell():
    assert seconds_left([("a", "slow", 10.0, 3)], {("a", "slow"): 1}, 4) == pytest.approx(10)


def test_nothing_done_is_not_known_and_nothing_left_is_nothing():
    assert math.isnan(seconds_left([], {("a", "m"): 1}, 2))
    assert seconds_left([("a", "m", 1.0, 1)], {}, 2) == 0


def test_pairs_that_were_not_run_are_foretold_from_products():
    """What data sets and methods cost multiplies; all of it but one pair is known."""
    data, methods = {"small": 1.0, "large": 20.0, "huge": 300.0}, {"fast": 0.1, "slow": 3.0}
    costs = [(d, m, data[d] * methods[m], 1) for d in data for m in methods if (d, m) != ("huge", "slow")]
    assert seconds_left(costs, {("huge", "slow"): 2}, 1) == pytest.approx(2 * 900, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_after_a_tenth_the_estimate_is_right_within_30_percent(seed):
    """A run of methods whose costs differ by a thousand, with noise, two at a time, repetition by repetition."""
    rng = np.random.default_rng(seed)
    means = {(d, m): 10 ** rng.uniform(-2, 1) for d in "abc" for m in "pqrst"}
    cells = [(pair, cost * rng.lognormal(0, 0.3)) for _ in range(20) for pair, cost in means.items()]
    tenth = len(cells) // 10
    done, pending = cells[:tenth], cells[tenth:]
    costs = []
    for pair in means:
        seconds = [cost for other, cost in done if other == pair]
        costs.append((*pair, float(np.mean(seconds)), len(seconds)))
    counts = {pair: sum(other == pair for other, _ in pending) for pair in means}
    ends = [0.0, 0.0]
    for _, cost in pending:
        ends[int(np.argmin(ends))] += cost
    assert seconds_left(costs, counts, 2) == pytest.approx(max(ends), rel=0.3)


def test_methods_that_were_not_run_cost_what_is_usual():
    """Of three methods one is done; the others cost ten times and a tenth of it, as usual."""
    usual = {"slow": 20.0, "fast": 0.2, "done": 2.0}
    left = seconds_left([("a", "done", 3.0, 1)], {("a", "slow"): 1, ("a", "fast"): 10}, 1, usual)
    assert left == pytest.approx(30 + 10 * 0.3)
