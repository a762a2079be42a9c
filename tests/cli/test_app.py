"""The door of the command line: help at once, exit codes, errors in one line."""

import subprocess
import sys

import pytest

from conjunto.experiments import METHODS


def command(*arguments, **options):
    line = [sys.executable, "-m", "conjunto.cli", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from conjunto.cli.app import run; code = run(['--help']); "
        "heavy = {'sklearn', 'pandas', 'numpy', 'scipy', 'matplotlib', 'rich'} & set(sys.modules); "
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "conjunto compare data.csv --target y" in done.stdout


@pytest.mark.parametrize("name", ["compare", "train", "predict", "prune", "datasets", "methods", "report", "reproduce"])
def test_every_command_has_help_with_an_example(cli, name):
    code, out, _ = cli(name, "--help")
    assert code == 0
    assert f"conjunto {name}" in out.split("\n", 1)[1]


def test_exit_codes(cli):
    assert cli("--version")[0] == 0
    assert cli("nonsense")[0] == 2
    assert cli("compare", "--nonsense", "x")[0] == 2
    assert cli("compare", "none.csv")[0] == 1
    code, out, err = cli("datasets", "gemran")
    assert code == 2
    assert out == ""
    assert err == "Error: there is no data set 'gemran'; did you mean 'german'?\n"


def test_ctrl_c_is_130(cli, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("conjunto.cli.datasets.datasets.callback", interrupted)
    code, _, err = cli("datasets")
    assert code == 130
    assert err.strip() == "interrupted"


def test_a_lack_of_memory_is_no_traceback(cli, monkeypatch):
    def greedy(**_):
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("conjunto.cli.datasets.datasets.callback", greedy)
    code, _, err = cli("datasets")
    assert code == 2
    assert err == "Error: there is not enough memory for this: fewer members, rows or columns may fit\n"


def test_a_closed_pipe_is_no_error(tmp_path):
    line = f"{sys.executable} -m conjunto.cli datasets | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("name")
    assert done.stderr == ""


def test_missing_extras_are_named(tmp_path):
    code = "import sys; sys.modules['click'] = None; sys.argv = ['conjunto']; from conjunto.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'conjunto[cli]'" in done.stderr


def test_methods_are_listed_and_described(cli):
    code, out, _ = cli("methods")
    assert code == 0
    ours, rivals = (part.splitlines() for part in out.split("\nof other libraries:\n"))
    assert {line.split()[0] for line in rivals} == {name for name, method in METHODS.items() if method.rival}
    lines = {line.split()[0]: line for line in [*ours, *rivals]}
    assert set(lines) == set(METHODS)
    assert "classification* and regression*" in lines["bagging"]
    assert "*" not in lines["arc-x4"]
    code, out, _ = cli("methods", "adaboost:algorithm=mh")
    assert code == 0
    assert "algorithm='mh'" in out
    assert "estimator__max_depth=3" in out
    code, _, err = cli("methods", "adabost")
    assert code == 2
    assert "did you mean 'adaboost'" in err


def test_a_comma_between_parameters_is_explained(cli):
    code, _, err = cli("train", "iris", "--method", "adaboost:algorithm=mh,n_estimators=20")
    assert code == 2
    assert "parameters follow theirs with colons" in err
