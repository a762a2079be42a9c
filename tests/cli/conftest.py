"""The command line in this process: `cli(*arguments)` returns exit code, output and errors."""

import pytest

from conjunto.cli.app import run


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONJUNTO_DATA", raising=False)

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
