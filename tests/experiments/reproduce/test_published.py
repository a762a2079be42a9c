"""The published numbers in the package are those of the reference tables, digit by digit."""

from pathlib import Path

import pytest

from conjunto.experiments.reproduce.published import read_published, rounding

TABLES = Path(__file__).parents[4] / "shared" / "reference" / "tables"
KEYS = ("3.6", "4.1", "4.2", "4.3", "4.5", "4.6")


@pytest.mark.skipif(not TABLES.is_dir(), reason="the reference tables are not beside the project")
@pytest.mark.parametrize("key", KEYS)
def test_equal_to_the_reference(key):
    from importlib.resources import files

    ours = (files("conjunto.experiments.reproduce") / "published" / f"martinez-{key}.csv").read_text()
    assert ours == (TABLES / f"martinez_munoz_2006_cuadro_{key.replace('.', '_')}.csv").read_text()


@pytest.mark.parametrize(
    ("key", "rows"), [("3.6", 9), ("4.1", 15), ("4.2", 165), ("4.3", 110), ("4.5", 30), ("4.6", 40)]
)
def test_sizes(key, rows):
    assert len(read_published(f"martinez-{key}")) == rows


def test_rounding_is_half_the_last_digit():
    assert rounding("14.8") == pytest.approx(0.05)
    assert rounding("0.80") == pytest.approx(0.005)
    assert rounding("26") == 0.5
