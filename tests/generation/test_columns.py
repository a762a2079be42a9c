import numpy as np
import pytest
from scipy.stats import chisquare

from conjunto.generation.columns import column_subset
from conjunto.streams import Stream


@pytest.mark.parametrize(("m", "size"), [(1, 1), (10, 3), (10, 10)])
def test_subset_is_sorted_and_without_repeats(m, size):
    for t in range(30):
        columns = column_subset(Stream((1, 2), t), m, size)
        assert len(columns) == size
        assert (np.diff(columns) > 0).all()
        assert 0 <= columns.min() <= columns.max() < m


def test_columns_are_drawn_alike():
    drawn = np.concatenate([column_subset(Stream((1, 2), t), 10, 3) for t in range(1000)])
    assert chisquare(np.bincount(drawn, minlength=10)).pvalue > 1e-6


def test_replacement_repeats_columns():
    drawn = [column_subset(Stream((1, 2), t), 10, 10, replace=True) for t in range(50)]
    assert all((np.diff(columns) >= 0).all() for columns in drawn)
    assert any(len(np.unique(columns)) < 10 for columns in drawn)
