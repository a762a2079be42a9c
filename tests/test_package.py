import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import conjunto
from conjunto import _core


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_is_light():
    heavy = "sorted({name.split('.')[0] for name in sys.modules} & {'sklearn', 'scipy', 'pandas', 'numpy', 'joblib'})"
    assert run(f"import sys, conjunto; print({heavy})") == "[]"


def test_names_are_found_lazily():
    assert run("import conjunto; print(conjunto.Votes.__module__)") == "conjunto.votes"
    assert run("from conjunto import *; print(BaggingClassifier.__name__)") == "BaggingClassifier"


def test_every_public_name_exists():
    for name in conjunto.__all__:
        assert getattr(conjunto, name) is not None
    assert set(conjunto.__all__) <= set(dir(conjunto))
    with pytest.raises(AttributeError, match="module 'conjunto' has no attribute 'Bagging'"):
        conjunto.Bagging  # noqa: B018


@pytest.mark.parametrize("name", sorted(set(conjunto.__all__) - {"__version__"}))
def test_every_public_class_is_documented(name):
    doc = inspect.getdoc(getattr(conjunto, name))
    assert "Examples\n--------" in doc


def stub():
    path = Path(importlib.util.find_spec("conjunto").submodule_search_locations[0]) / "_core.pyi"
    if not path.is_file():
        path = Path(__file__).resolve().parents[1] / "src" / "conjunto" / "_core.pyi"
    return ast.parse(path.read_text())


def test_the_stub_lists_the_names_of_the_binary():
    listed = {node.name for node in stub().body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert listed == {name for name in dir(_core) if not name.startswith("_")}


def test_the_stub_lists_the_members_of_each_class():
    for node in stub().body:
        if isinstance(node, ast.ClassDef):
            listed = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            listed |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
            # The members of an enumeration.
            listed |= {part.targets[0].id for part in node.body if isinstance(part, ast.Assign)}
            real = {name for name in vars(getattr(_core, node.name)) if not name.startswith("_")}
            assert {name for name in listed if not name.startswith("_")} == real, node.name


def test_the_stub_tells_the_values_of_enumerations():
    for node in stub().body:
        if isinstance(node, ast.ClassDef) and node.bases:
            listed = {part.targets[0].id: part.value.value for part in node.body if isinstance(part, ast.Assign)}
            assert listed == {member.name: member.value for member in getattr(_core, node.name)}
