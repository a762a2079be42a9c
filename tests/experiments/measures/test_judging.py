"""Intervals of measures: closed forms by hand, the normal approximation, coverage, and the quick ways against calls."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.measures.judging import _resampled, _take, best_constant, judge, wilson
from conjunto.experiments.measures.scored import Scored

CLASSIFICATION = [name for name, known in MEASURES.items() if known.of_answers and known.task == "classification"]
REGRESSION = [name for name, known in MEASURES.items() if known.of_answers and known.task == "regression"]


def classified(n, k=2, seed=0, decimals=2):
    """Codes whose probabilities are true, up to rounding that makes ties."""
    random = np.random.default_rng(seed)
    proba = random.dirichlet(np.ones(k), n).round(decimals)
    proba[:, -1] = 1 - proba[:, :-1].sum(axis=1)
    y = (random.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return Scored(None, None, y, proba.argmax(axis=1), np.arange(k), proba)


def valued(n, seed=0):
    random = np.random.default_rng(seed)
    y = random.gamma(2, size=n)
    return Scored(None, None, y, y + random.normal(0, 0.01, n) + 0.2)


def test_wilson_by_hand():
    # 3 of 10 at z = 1.96: (0.3 + 0.19207 ± 1.96 √(0.021 + 0.0096036)) / 1.384146.
    z = norm.ppf(0.975)
    middle, reach = 0.3 + z * z / 20, z * math.sqrt(0.3 * 0.7 / 10 + z * z / 400)
    expected = (middle - reach) / (1 + z * z / 10), (middle + reach) / (1 + z * z / 10)
    assert wilson(3, 10) == pytest.approx(expected)
    assert wilson(3, 10) == pytest.approx((0.1078, 0.6032), abs=1e-4)  # Newcombe 1998, by his calculator
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=1e-4)
    assert wilson(20, 20)[1] == 1
    assert all(map(math.isnan, wilson(0, 0)))


def test_the_error_and_other_shares_have_wilsons_interval():
    scored = classified(80)
    found = judge(scored, ["error", "accuracy", "sensitivity", "specificity"])
    wrong = int((scored.y != scored.predicted).sum())
    assert found["error"] == pytest.approx((wrong / 80, *wilson(wrong, 80)))
    assert found["accuracy"] == pytest.approx((1 - wrong / 80, *wilson(80 - wrong, 80)))
    rows = scored.y == scored.positive
    right = int((scored.predicted[rows] == scored.positive).sum())
    assert found["sensitivity"] == pytest.approx((right / rows.sum(), *wilson(right, rows.sum())))


def test_a_mean_has_nearly_the_normal_interval():
    scored = classified(2000, decimals=6)
    value, low, high = judge(scored, ["brier"], resamples=4000)["brier"]
    losses = MEASURES["brier"].losses(scored)
    reach = 1.96 * losses.std() / math.sqrt(len(losses))
    assert value == pytest.approx(losses.mean())
    assert (value - low, high - value) == pytest.approx((reach, reach), rel=0.06)


@pytest.mark.parametrize(("scored", "names"), [(classified(60), CLASSIFICATION), (classified(90, 4), CLASSIFICATION)])
def test_quick_ways_are_the_measures(scored, names):
    """Every resample of every measure, against a call with the same rows."""
    names = [name for name in names if math.isfinite(MEASURES[name].of(scored))]
    quick = _resampled(scored, names, 12, seed=5)
    drawn = np.random.default_rng(5).integers(len(scored.y), size=(12, len(scored.y)))
    for name in names:
        called = [MEASURES[name].of(_take(scored, rows)) for rows in drawn]
        np.testing.assert_allclose(quick[name], called, atol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore:A single label was found")
def test_few_rows_that_lack_classes_are_the_measures_too():
    scored = classified(5, 3, seed=3)
    names = ["balanced-error", "f1", "geometric-mean", "mcc", "auc", "average-precision"]
    quick = _resampled(scored, names, 40, seed=1)
    drawn = np.random.default_rng(1).integers(5, size=(40, 5))
    for name in names:
        called = [MEASURES[name].of(_take(scored, rows)) for rows in drawn]
        np.testing.assert_allclose(quick[name], called, atol=1e-12, err_msg=name)


def test_every_measure_of_values_has_an_interval_around_it():
    found = judge(valued(300), REGRESSION, resamples=200)
    for name, (value, low, high) in found.items():
        if name == "max-error":  # no resample says how large an error can be
            assert math.isnan(low)
        else:
            assert low <= value <= high, name
            assert low < high, name


def test_the_same_seed_gives_the_same_interval():
    scored = classified(100)
    assert judge(scored, ["auc", "log-loss"]) == judge(scored, ["log-loss", "auc"])
    assert judge(scored, ["auc"]) != judge(scored, ["auc"], seed=1)
    narrow, wide = (judge(scored, ["auc"], level=level)["auc"] for level in (0.5, 0.99))
    assert wide[1] < narrow[1] < narrow[2] < wide[2]


def test_labels_and_codes_are_judged_alike():
    coded = classified(100)
    labels = np.array(["bad", "good"], dtype=object)
    named = Scored(None, None, labels[coded.y], labels[coded.predicted], labels, coded.proba)
    by_code, by_name = (judge(scored, CLASSIFICATION, resamples=50) for scored in (coded, named))
    np.testing.assert_array_equal(list(by_code.values()), list(by_name.values()))


def test_intervals_cover_the_truth():
    """Of 200 tables: two normal distributions that are one apart, whose error and AUC are known."""
    error, auc = norm.cdf(-0.5), norm.cdf(1 / math.sqrt(2))
    covered = np.zeros(2)
    random = np.random.default_rng(0)
    for seed in range(200):
        y = random.integers(2, size=150)
        x = random.normal(y)
        p = 1 / (1 + np.exp(0.5 - x))
        scored = Scored(None, None, y, (p > 0.5).astype(int), np.arange(2), np.stack([1 - p, p], axis=1), 1)
        found = judge(scored, ["error", "auc"], resamples=250, seed=seed)
        covered += [found[name][1] <= true <= found[name][2] for name, true in (("error", error), ("auc", auc))]
    assert (covered >= 180).all()
    assert (covered <= 198).all()


def test_what_cannot_be_taken_is_nan():
    alone = Scored(None, None, np.zeros(20, dtype=int), np.zeros(20, dtype=int), np.arange(2), np.full((20, 2), 0.5))
    assert all(map(math.isnan, judge(alone, ["auc"])["auc"]))
    no_proba = Scored(None, None, np.arange(20) % 2, np.zeros(20, dtype=int), np.arange(2))
    assert math.isnan(judge(no_proba, ["log-loss"])["log-loss"][0])
    # One row of a class is in 63 % of the resamples: no interval.
    rare = Scored(None, None, np.arange(20) // 19, np.zeros(20, dtype=int), np.arange(2), np.full((20, 2), 0.5))
    value, low, high = judge(rare, ["auc"])["auc"]
    assert value == 0.5
    assert math.isnan(low)
    assert math.isnan(high)


def test_many_classes_and_rows_have_fewer_resamples(monkeypatch):
    monkeypatch.setattr("conjunto.experiments.measures.judging.MOST_DRAWN", 100 * 150 * 3)
    assert len(_resampled(classified(100, 4), ["auc"], 1000, 0)["auc"]) == 150
    assert len(_resampled(classified(1000, 4), ["auc"], 1000, 0)["auc"]) == 100


def test_the_best_constant():
    scored = classified(90, 3)
    counts = np.bincount(scored.y)
    constant = best_constant(scored)
    assert MEASURES["error"].of(constant) == pytest.approx(1 - counts.max() / 90)
    shares = counts / 90
    assert MEASURES["log-loss"].of(constant) == pytest.approx(-(shares * np.log(shares)).sum())
    assert MEASURES["auc"].of(constant) == 0.5
    values = valued(50)
    assert MEASURES["rmse"].of(best_constant(values)) == pytest.approx(values.y.std())


def test_bad_arguments():
    scored = classified(10)
    for names, message in (
        (["eror"], "did you mean 'error'"),
        (["rmse"], "not for classification"),
        (["training-error"], "not one of new rows"),
    ):
        with pytest.raises(ValueError, match=message):
            judge(scored, names)
    with pytest.raises(ValueError, match="no rows"):
        judge(valued(0), ["rmse"])
    with pytest.raises(ValueError, match="level must be"):
        judge(scored, ["auc"], level=95)
