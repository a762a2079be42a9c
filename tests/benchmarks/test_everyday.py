"""The benchmark of users' tables runs, and its tables are what they say."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import everyday, tables

SMALL = ["images", "terrain", "categories", "sensors", "integers-256", "zipf-300"]


@pytest.mark.parametrize("name", SMALL)
def test_tables_have_their_shapes(name):
    table, again = tables.make_table(name, 0.02), tables.make_table(name, 0.02)
    np.testing.assert_array_equal(table.numbers, again.numbers)
    assert len(table.X) == len(table.numbers) == len(table.y)
    assert np.isfinite(table.numbers).all()
    if name == "images":
        assert table.X.shape[1] == 784
        assert (table.numbers == 0).mean() > 0.6
    if name in ("categories", "zipf-300"):
        assert 0.05 < table.X.isna().to_numpy().mean() < 0.25
    if name == "terrain":
        assert sum(table.X[column].nunique() <= 2 for column in table.X) == 44


def test_the_command_measures_and_tells(capsys):
    everyday.main(["pixels", "zipf-3", "--share", "0.02", "--repeats", "2", "--peers", "scikit-learn"])
    told = capsys.readouterr().out
    assert "- scikit-learn: fit" in told
    assert "| zipf-3 (" in told
    with pytest.raises(SystemExit):
        everyday.main(["no-such-table"])
