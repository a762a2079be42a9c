"""The published numbers in the package are those of the reference tables, digit by digit."""

from importlib.resources import files
from pathlib import Path

import pytest

from conjunto.experiments.reproduce.published import read_published, rounding

TABLES = Path(__file__).parents[4] / "shared" / "reference" / "tables"
COPIES = {
    f"martinez-{key}": f"martinez_munoz_2006_cuadro_{key.replace('.', '_')}"
    for key in ("3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "4.1", "4.2", "4.3", "4.5", "4.6")
}
COPIES |= {f"recarey-3.{number}": f"recarey_2021_tabla_3_{number}" for number in (3, 4, 5)}
COPIES |= {"bourel-II": "bourel_2012_tabla_II", "notes-1": "apuntes_combinacion_tabla_1"}


@pytest.mark.skipif(not TABLES.is_dir(), reason="the reference tables are not beside the project")
@pytest.mark.parametrize(("ours", "reference"), COPIES.items())
def test_equal_to_the_reference(ours, reference):
    folder = files("conjunto.experiments.reproduce") / "published"
    assert (folder / f"{ours}.csv").read_text() == (TABLES / f"{reference}.csv").read_text()


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("martinez-3.1", 5),
        ("martinez-3.2", 5),
        ("martinez-3.3", 60),
        ("martinez-3.4", 15),
        ("martinez-3.5", 20),
        ("martinez-3.6", 9),
        ("martinez-3.7", 5),
        ("martinez-4.1", 15),
        ("martinez-4.2", 165),
        ("martinez-4.3", 110),
        ("martinez-4.5", 30),
        ("martinez-4.6", 40),
        ("bourel-II", 24),
        ("notes-1", 5),
        ("recarey-2.4", 1),
        ("recarey-3.3", 143),
        ("recarey-3.4", 88),
        ("recarey-3.5", 9),
    ],
)
def test_sizes(key, rows):
    assert len(read_published(key)) == rows


def test_rounding_is_half_the_last_digit():
    assert rounding("14.8") == pytest.approx(0.05)
    assert rounding("0.80") == pytest.approx(0.005)
    assert rounding("26") == 0.5
