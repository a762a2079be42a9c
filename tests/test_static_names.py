"""What a user's type checker knows of `from conjunto import …`: mypy and pyright on two scripts, run as users do."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import conjunto

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path(conjunto.__file__).resolve().parent.parent
NAMES = sorted(set(conjunto.__all__) - {"__version__"})
ESTIMATORS = [name for name in NAMES if hasattr(getattr(conjunto, name), "fit")]


def models(name):
    """What an estimator cannot be made without: the models that it combines."""
    parameters = inspect.signature(getattr(conjunto, name)).parameters.values()
    return ", ".join("[]" for parameter in parameters if parameter.default is parameter.empty)


@pytest.fixture
def scripts(tmp_path):
    """A script that uses the names well, and one that uses each of them wrongly, from its second line on."""
    (tmp_path / "right.py").write_text(
        f"from conjunto import __version__, {', '.join(NAMES)}\n"
        "version: str = __version__\n"
        "model: BaggingClassifier = BaggingClassifier(n_estimators=3)\n"
        "share: Budget = Budget(bytes=1000)\n" + "".join(f"{name}({models(name)})\n" for name in ESTIMATORS)
    )
    (tmp_path / "wrong.py").write_text(
        f"from conjunto import {', '.join(NAMES)}\n"
        + "".join(f"{name}(n_estimatorz=3)\n" for name in NAMES)
        + "from conjunto import BagingClassifier\n"
    )
    return tmp_path


def check(command, folder, **environment):
    """Every line of the wrong script is refused, and nothing else is."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)
    found = re.findall(r"(\w+)\.py:(\d+)\S* (?:- )?error: (.*)", done.stdout)
    said = {(script, int(line)): message for script, line, message in found}
    assert set(said) == {("wrong", line) for line in range(2, len(NAMES) + 3)}, done.stdout + done.stderr
    assert "n_estimatorz" in said["wrong", NAMES.index("BaggingClassifier") + 2]


def test_mypy_knows_the_names(scripts):
    pytest.importorskip("mypy")
    # A cache that outlasts the run: reading numpy's types takes seconds.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    command += ["--cache-dir", str(ROOT / ".mypy_cache" / "users"), "right.py", "wrong.py"]
    # An editable install is found by a hook, which type checkers do not run.
    path = {} if SOURCES.name == "site-packages" else {"MYPYPATH": str(SOURCES)}
    check(command, scripts, **path)


def test_pyright_knows_the_names(scripts):
    pytest.importorskip("basedpyright")
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(SOURCES)]}
    (scripts / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "right.py", "wrong.py"]
    check(command, scripts)


def test_the_imports_are_those_of_the_table():
    done = subprocess.run([sys.executable, "tools/write_names.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
