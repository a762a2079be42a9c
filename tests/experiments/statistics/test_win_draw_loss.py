import csv
import math
from pathlib import Path

import numpy as np
import pytest

from conjunto.experiments.statistics import win_draw_loss

TABLES = Path(__file__).parents[4] / "shared" / "reference" / "tables"


@pytest.mark.skipif(not TABLES.exists(), reason="the published tables are not here")
def test_cuadro_4_3_of_the_thesis_from_cuadro_4_2():
    with (TABLES / "martinez_munoz_2006_cuadro_4_2.csv").open(encoding="utf-8") as file:
        means = {(r["dataset"], (r["method"], r["p_hat"])): float(r["error_pct"]) for r in csv.DictReader(file)}
    datasets, methods = sorted({key[0] for key in means}), sorted({key[1] for key in means})
    counts = win_draw_loss([[means[d, m] for m in methods] for d in datasets], decimals=1)
    with (TABLES / "martinez_munoz_2006_cuadro_4_3.csv").open(encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    assert len(printed) == 110
    for record in printed:
        row = methods.index((record["method"], record["p_hat"]))
        column = methods.index((record["versus_method"], record["versus_p_hat"]))
        assert counts[row, column].tolist() == [int(record[name]) for name in ("wins", "draws", "losses")], record


@pytest.mark.parametrize("greater_is_better", [False, True])
def test_counting_one_pair_at_a_time(greater_is_better):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 6, (12, 5)).astype(float)
    table[rng.random(table.shape) < 0.2] = np.nan
    counts = win_draw_loss(table, greater_is_better=greater_is_better)
    assert counts.shape == (5, 5, 3)
    assert counts.dtype == np.int64
    for i in range(5):
        for j in range(5):
            tally = [0, 0, 0]
            for row in table.tolist():
                if math.isnan(row[i]) or math.isnan(row[j]):
                    continue
                better = row[i] > row[j] if greater_is_better else row[i] < row[j]
                tally[1 if row[i] == row[j] else 0 if better else 2] += 1
            assert counts[i, j].tolist() == tally


def test_one_wins_what_the_other_loses():
    table = np.random.default_rng(1).integers(0, 4, (20, 6))
    counts = win_draw_loss(table)
    np.testing.assert_array_equal(counts, counts.transpose(1, 0, 2)[:, :, ::-1])
    assert (counts.sum(axis=2) == 20).all()
    np.testing.assert_array_equal(counts[:, :, ::-1], win_draw_loss(table, greater_is_better=True))


def test_decimals_make_draws():
    assert win_draw_loss([[0.12, 0.14]]).tolist()[0][1] == [1, 0, 0]
    assert win_draw_loss([[0.12, 0.14]], decimals=1).tolist()[0][1] == [0, 1, 0]
    assert win_draw_loss([[0.4, 0.6]], decimals=0).tolist()[0][1] == [1, 0, 0]


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="table must be 2-dimensional"):
        win_draw_loss([1, 2])
    with pytest.raises(ValueError, match="decimals must be a whole number"):
        win_draw_loss([[1, 2]], decimals=-1)
