"""The verdict, by the formula and by simulation: a true replication agrees in about 95 % of cases."""

import numpy as np
import pytest

from conjunto.experiments.reproduce.verdicts import conclude, judge


def test_the_formula():
    values = [10.0, 12.0, 14.0, 16.0]
    sd = np.std(values, ddof=1)
    line = judge("d", "c", 12.0, values, published_runs=100, rounding=0.05)
    # Of four runs: Student's 3.182 with 3 degrees of freedom in place of 2.
    own = (3.182446 / 2 * sd) ** 2 / 4
    assert line.standard_error == pytest.approx(np.sqrt(own + sd**2 / 100))
    given = judge("d", "c", 12.0, values, published_runs=100, rounding=0.05, published_sd=3.0)
    assert given.standard_error == pytest.approx(np.sqrt(own + 9 / 100))
    many = np.tile(values, 50)
    assert judge(
        "d", "c", 12.0, many, published_runs=100, rounding=0.05, published_sd=0.0
    ).standard_error == pytest.approx(many.std(ddof=1) / np.sqrt(200))


@pytest.mark.parametrize(
    ("published", "verdict"), [(10.0, "worse"), (10.9, "agrees"), (12.1, "agrees"), (13.0, "better")]
)
def test_the_direction(published, verdict):
    values = np.tile([11.0, 12.0], 20)
    # Two standard errors of the difference, with ours for both sides, are 0.19; rounding adds 0.5.
    assert judge("d", "c", published, values, published_runs=100, rounding=0.5).verdict == verdict


def test_too_few_runs_are_not_judged():
    assert judge("d", "c", 10.0, [], published_runs=100, rounding=0.05).verdict == "not run"
    one = judge("d", "c", 10.0, [10.0], published_runs=100, rounding=0.05)
    assert one.verdict == "not run"
    assert "two runs" in one.reason


def test_a_true_replication_agrees():
    random = np.random.default_rng(0)
    agreed = 0
    for _ in range(500):
        published = round(random.normal(20, 2, 100).mean(), 1)
        line = judge("d", "c", published, random.normal(20, 2, 20), published_runs=100, rounding=0.05)
        agreed += line.verdict == "agrees"
    assert 0.92 < agreed / 500 < 0.99


def test_a_statement_that_other_runs_might_turn_is_not_told():
    random = np.random.default_rng(0)

    def less(means):
        return bool(means[0][0] < means[0][1])

    clear = np.stack([random.normal(10, 1, 30), random.normal(15, 1, 30)], axis=1)
    assert conclude("s", less, [clear], "").holds is True
    assert conclude("s", less, [clear[:, ::-1]], "").holds is False
    close = np.stack([random.normal(10, 3, 5), random.normal(10, 3, 5)], axis=1)
    assert conclude("s", less, [close], "").holds is None
    assert conclude("s", less, [clear, np.full((5, 2), np.nan)], "").holds is None
    assert conclude("s", less, [clear[:1]], "").holds is None
