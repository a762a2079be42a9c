"""Data sets by name: shape and classes are those of the catalogue, wherever the set comes from."""

from pathlib import Path

import pandas as pd
import pytest

import conjunto.datasets.loading as loading
from conjunto.datasets import ENTRIES, GENERATORS, Dataset, DatasetNotFoundError, describe, load, names

HERE = [name for name in ENTRIES if ENTRIES[name].home != "external"]
REFERENCE = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize("name", HERE)
def test_the_catalogue_is_right(name):
    data, entry = load(name), ENTRIES[name]
    assert data.X.shape == (entry.rows, entry.columns)
    assert data.y.nunique() == entry.classes
    assert data.task == "classification"
    assert data.source
    assert data.licence
    assert data.citation


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_by_name(name):
    if name == "tic-tac-toe":
        assert load(name).X.shape == (958, 9)
        return
    data = load(name, n_samples=50, random_state=3)
    assert data.X.shape == (50, GENERATORS[name].columns)
    pd.testing.assert_frame_equal(data.X, load(name, n_samples=50, random_state=3).X)


def test_names_and_describe():
    assert set(names()) == {*ENTRIES, *GENERATORS}
    assert list(describe().index) == names()
    assert load("breast_w").name == load("Breast-W").name == "breast-w"


def test_categories_and_missing_values_are_kept():
    colic = load("horse-colic")
    assert colic.X.isna().to_numpy().sum() == 1925
    assert set(colic.X["surgery"].dropna()) == {"no", "yes"}
    assert isinstance(colic, Dataset)
    assert {str(kind) for kind in colic.X.dtypes} == {"category", "float64"}
    with pytest.raises(AttributeError):
        colic.name = "other"


def test_an_unknown_name_suggests():
    with pytest.raises(DatasetNotFoundError, match="did you mean 'german'"):
        load("gerrman")
    with pytest.raises(TypeError, match="takes no 'n_samples'"):
        load("german", n_samples=3)


def test_from_a_folder(tmp_path, monkeypatch):
    frame = pd.DataFrame({f"x{i}": range(270) for i in range(13)}).assign(target=["a", "b"] * 135)
    frame.to_csv(tmp_path / "heart.csv", index=False)
    assert load("heart", folder=tmp_path).X.shape == (270, 13)
    monkeypatch.setenv("CONJUNTO_DATA", str(tmp_path))
    assert load("heart").y.nunique() == 2
    frame.head(5).to_csv(tmp_path / "heart.csv", index=False)
    with pytest.raises(DatasetNotFoundError, match="another version"):
        load("heart")


def test_offline_says_what_to_do(monkeypatch):
    def unreachable(**_):
        raise OSError("no network")

    monkeypatch.delenv("CONJUNTO_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(DatasetNotFoundError, match=r"put heart\.csv .* set CONJUNTO_DATA"):
        load("heart")
    with pytest.raises(DatasetNotFoundError, match=r"OpenML has no copy: put ann-thyroid\.csv"):
        load("ann-thyroid")


def test_openml_is_asked_for_the_pinned_id(monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        frame = pd.DataFrame({f"x{i}": range(270) for i in range(13)})
        return type("Bunch", (), {"data": frame, "target": pd.Series(["a", "b"] * 135)})

    monkeypatch.delenv("CONJUNTO_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    assert load("heart").X.shape == (270, 13)
    assert asked["data_id"] == ENTRIES["heart"].openml


def test_a_damaged_bundle_is_refused(monkeypatch):
    monkeypatch.setattr(loading, "_index", lambda: {"glass": {"sha256": "0", "provenance": ""}})
    with pytest.raises(OSError, match="damaged"):
        load("glass")


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data are not beside the project")
@pytest.mark.parametrize("name", ["adult", "australian", "heart", "ann-thyroid", "mnist5k"])
def test_external_sets_from_the_reference_folder(name):
    data = load(name, folder=REFERENCE)
    assert data.X.shape == (ENTRIES[name].rows, ENTRIES[name].columns)
    assert data.y.nunique() == ENTRIES[name].classes


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data are not beside the project")
def test_prices_of_cars_are_a_regression():
    data = load("vw", folder=REFERENCE)
    assert (data.task, data.X.shape) == ("regression", (15157, 8))
