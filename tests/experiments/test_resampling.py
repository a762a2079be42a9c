"""Areas of weighted rows against scikit-learn's, and the size of the paired bootstrap by simulation."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from conjunto.experiments.resampling import Ranked, areas, average_precisions, paired_p_value, resampled_areas


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("ours", "theirs"), [(average_precisions, average_precision_score), (areas, roc_auc_score)])
def test_weighted_areas_with_ties_are_those_of_scikit_learn(seed, ours, theirs):
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 8, 60) / 8, rng.random(60) < 0.3
    weights = rng.poisson(1, (4, 60)).astype(float)
    expected = [theirs(positive, scores, sample_weight=row) for row in weights]
    np.testing.assert_allclose(ours(Ranked.of(scores, positive), weights), expected)


def test_a_resample_without_the_class_is_no_number():
    ranked = Ranked.of(np.array([0.1, 0.9]), np.array([True, False]))
    weights = np.array([[0.0, 2.0]])
    assert np.isnan(areas(ranked, weights)).all()
    assert np.isnan(average_precisions(ranked, weights)).all()


def test_equal_methods_are_seldom_told_apart_and_unequal_ones_often():
    """60 tables each: at level 0.05 not more than 8 false alarms (p < 0.01 if the size were right)."""
    rng = np.random.default_rng(0)
    alarms = {0.0: 0, 2.0: 0}
    for better in alarms:
        for _ in range(60):
            positive = rng.random(200) < 0.3
            one = positive + rng.normal(size=200) + better * positive
            other = positive + rng.normal(size=200)
            pair = [resampled_areas("auc", [(0, positive, scores)]) for scores in (one, other)]
            alarms[better] += paired_p_value(*pair) < 0.05
    assert alarms[0.0] <= 8
    assert alarms[2.0] >= 55


def test_p_values_are_never_zero_and_one_where_nothing_differs():
    same = np.linspace(0, 1, 99)
    assert paired_p_value(same, same) == 1
    assert paired_p_value(same + 1, same) == pytest.approx(2 / 100)
    assert np.isnan(paired_p_value(np.array([np.nan]), same))
