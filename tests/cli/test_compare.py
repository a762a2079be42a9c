"""`compare`, from a file to a model that predicts."""

import hashlib
import io
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from conjunto.datasets import load
from conjunto.experiments import Experiment, Results, Store
from conjunto.model_file import ModelFileError, load_model


@pytest.fixture
def glass(tmp_path):
    data = load("glass")
    data.X.assign(target=data.y).to_csv(tmp_path / "glass.csv", index=False)
    return data


METHODS = "cart,bagging:n_estimators=10,random-forest:n_estimators=10"


def test_a_file_becomes_a_leaderboard_a_page_and_a_model(cli, glass, tmp_path):
    code, out, err = cli("compare", "glass.csv", "--methods", METHODS, "--protocol", "2x3", "--jobs", 1)
    assert code == 0, err
    folder = tmp_path / "conjunto-glass"
    assert sorted(path.name for path in folder.iterdir()) == ["model.skops", "report.html", "results.sqlite"]
    assert "random-forest:n_estimators=10" in out
    assert "report: conjunto-glass/report.html" in out
    with Store(folder / "results.sqlite") as store:
        frame = store.frame()
        assert store.command.startswith("conjunto compare glass.csv --methods")
    whole = frame[frame["size"] == 0]
    assert len(whole) == 18
    assert (whole["status"] == "done").all()
    means = whole.groupby("method")["error"].mean()
    model = load_model(folder / "model.skops")
    assert model.about["method"] == means.idxmin()
    assert np.mean(model.estimator.predict(model.arrange(glass.X)) == glass.y) > 0.95


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.parametrize("names", [("glass.csv",), ("glass.csv", "other.csv")])
def test_files_are_opened_parsed_and_hashed_once_and_boards_computed_once(
    cli, glass, tmp_path, monkeypatch, names, more
):
    (tmp_path / "other.csv").write_bytes((tmp_path / "glass.csv").read_bytes())
    contents = {(tmp_path / name).read_bytes() for name in names}
    calls = Counter()

    def count(owner, name, what=lambda *_, **__: True):
        original = getattr(owner, name)

        def counted(*arguments, **settings):
            calls[name] += bool(what(*arguments, **settings))
            return original(*arguments, **settings)

        monkeypatch.setattr(owner, name, counted)

    count(io, "open", lambda file, *_, **__: str(file).endswith(".csv"))
    monkeypatch.setattr("builtins.open", io.open)
    count(pd, "read_csv")
    count(hashlib, "sha256", lambda content=b"", **_: content in contents)
    count(hashlib, "file_digest")
    count(Results, "leaderboard")
    count(Experiment, "__post_init__")
    options = ("--methods", METHODS, "--protocol", "2x3", "--jobs", 1, "--out", "out", *more)
    code, _, err = cli("compare", *names, "--target", "target", *options)
    assert code == 0, err
    each = len(names)
    # The digest is that of the model, by which the same command will know it.
    expected = dict.fromkeys(("open", "read_csv", "sha256", "leaderboard", "file_digest"), each)
    assert calls == Counter(expected | {"__post_init__": 1})


def test_a_file_that_changes_while_it_is_compared(cli, glass, tmp_path, monkeypatch):
    """The command has the rows; the processes that it starts have to read the file again."""
    original = Store.describe_dataset

    def change(self, name, facts):
        original(self, name, facts)
        with open(tmp_path / "glass.csv", "a") as file:
            file.write((tmp_path / "glass.csv").read_text().splitlines()[1] + "\n")

    monkeypatch.setattr(Store, "describe_dataset", change)
    code, _, err = cli("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 2)
    assert code == 2
    assert "Error: glass.csv has changed since the run began" in err
    assert "Traceback" not in err


def test_json_is_the_only_output(cli, glass):
    code, out, _ = cli("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1, "--json")
    assert code == 0
    facts = json.loads(out)
    (line,) = facts["datasets"][0]["leaderboard"]
    assert line["method"] == "cart"
    assert line["n"] == 3
    assert facts["report"].endswith("report.html")


def test_a_second_call_runs_nothing_again(cli, glass, tmp_path):
    arguments = ("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1, "--out", "out")
    _, first, _ = cli(*arguments)
    with Store(tmp_path / "out" / "results.sqlite") as store:
        before = store.frame()
    _, second, _ = cli(*arguments)
    with Store(tmp_path / "out" / "results.sqlite") as store:
        pd.testing.assert_frame_equal(before, store.frame())
    assert first == second


def test_several_data_sets(cli, tmp_path):
    code, out, err = cli(
        "compare", "wine", "iris", "--methods", METHODS, "--protocol", "3-fold", "--out", "o", "--jobs", 2
    )
    assert code == 0, err
    assert "wine: error" in out
    assert "iris: error" in out
    assert (tmp_path / "o" / "model-wine.skops").is_file()


def test_regression(cli, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=random.choice(["p", "q"], 120))
    frame.assign(price=X[:, 0] + (frame["kind"] == "p")).to_csv(tmp_path / "d.csv", index=False)
    code, out, err = cli(
        "compare", "d.csv", "--target", "price", "--methods", METHODS, "--protocol", "3-fold", "--jobs", 1
    )
    assert code == 0, err
    assert "regression: 'price' holds 120 different numbers" in err
    assert "root mean squared error" in out


def test_an_experiment_file(cli, glass, tmp_path):
    (tmp_path / "small.toml").write_text(
        'measures = ["mcc", "error"]\n[protocol]\nkind = "holdout"\nrepetitions = 3\n'
        '[[datasets]]\npath = "glass.csv"\n[[methods]]\nname = "bagging"\nsizes = [1, 0.5]\n'
        "parameters = { n_estimators = 6 }\n"
    )
    code, out, err = cli("compare", "small.toml", "--jobs", 1)
    assert code == 0, err
    assert "Matthews correlation" in out
    with Store(tmp_path / "conjunto-small" / "results.sqlite") as store:
        assert sorted(store.frame()["size"].unique()) == [0, 1, 3]
    assert cli("compare", "small.toml", "--methods", "cart")[0] == 2


def test_a_method_that_fails_is_said_and_the_rest_goes_on(cli, glass):
    options = ("--methods", "cart,bagging:n_estimators=0", "--protocol", "3-fold", "--jobs", 1)
    code, out, err = cli("compare", "glass.csv", *options)
    assert code == 0
    assert "failed" in out
    assert "n_estimators must be a whole number of at least 1, got 0" in err
    code, _, err = cli(
        "compare", "glass.csv", "--methods", "bagging:n_estimators=0", "--protocol", "3-fold", "--out", "x"
    )
    assert code != 0
    assert "n_estimators must be" in err


def test_report_and_export(cli, glass, tmp_path):
    cli("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1, "--out", "out")
    page = (tmp_path / "out" / "report.html").read_bytes()
    (tmp_path / "out" / "report.html").unlink()
    code, out, _ = cli("report", "out", "--rows", "rows.csv", "--export", "table.csv")
    assert code == 0
    assert out.split() == ["out/report.html", "table.csv", "rows.csv"]
    assert (tmp_path / "out" / "report.html").read_bytes() == page
    assert len(pd.read_csv("rows.csv")) == 3
    assert len(pd.read_csv("table.csv")) == 1
    for option, file, said in (
        ("--export", "t.xls", "--export: t.xls must end in .csv, .parquet or .tex"),
        ("--rows", "rows.tex", "--rows: rows.tex must end in .csv or .parquet"),
    ):
        code, _, err = cli("report", "out", option, file)
        assert code == 2
        assert said in err
    assert cli("report", "nowhere")[0] == 1
    (tmp_path / "no.sqlite").write_text("x" * 100)
    assert cli("report", "no.sqlite")[0] == 2


def test_guessing_is_shown_beside_the_methods(cli, glass):
    _, out, _ = cli("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1)
    most = glass.y.value_counts()
    found = re.search(rf"always '{most.index[0]}': ([\d.]+)", out)
    # The mean over three folds of nearly equal size.
    assert float(found[1]) == pytest.approx(100 * (1 - most.iloc[0] / 214), abs=0.1)


def test_a_resumed_run_says_what_was_done_before(cli, glass):
    options = ("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1)
    assert "done before" not in cli(*options)[2]
    assert "3 of 3 cells were done before" in cli(*options)[2]


def test_ensembles_stand_beside_their_pruned_selves(cli, glass, tmp_path):
    code, out, err = cli("compare", "glass.csv", "--methods", METHODS, "--protocol", "3-fold", "--jobs", 1, "--prune")
    assert code == 0, err
    pruned = ["bagging:n_estimators=10, pruned to 20 %", "random-forest:n_estimators=10, pruned to 20 %"]
    for label in pruned:
        assert label in out
    assert "cart, pruned" not in out
    folder = tmp_path / "conjunto-glass"
    with Store(folder / "results.sqlite") as store:
        frame = store.frame()
        assert "--prune 0.2" in store.command
    whole = frame[frame["size"] == 0]
    assert set(whole["method"]) == {*METHODS.split(","), *pruned}
    assert (whole["status"] == "done").all()
    facts = whole.groupby("method")[["members", "model_bytes", "seed"]].agg(lambda column: tuple(column))
    for label in pruned:
        other = label.partition(",")[0]
        assert set(facts.loc[label, "members"]) == {2}
        assert set(facts.loc[other, "members"]) == {10}
        assert max(facts.loc[label, "model_bytes"]) < min(facts.loc[other, "model_bytes"])
        assert facts.loc[label, "seed"] == facts.loc[other, "seed"]
    page = (folder / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert page.count(f">{pruned[0]}</th>") == 2  # in the leaderboard and among the methods


def test_the_share_kept_can_be_said_and_the_best_of_the_pruned_is_saved(cli, glass, tmp_path):
    options = ("--methods", "class-switching:n_estimators=12", "--protocol", "3-fold", "--jobs", 1, "--out", "out")
    code, out, err = cli("compare", "glass.csv", "--prune", "0.25", *options, "--json")
    assert code == 0, err
    board = {line["method"]: line for line in json.loads(out)["datasets"][0]["leaderboard"]}
    label = "class-switching:n_estimators=12, pruned to 25 %"
    assert board[label]["members"] == 3
    best = min(board, key=lambda method: board[method]["mean"])
    model = load_model(tmp_path / "out" / "model.skops")
    assert model.about["method"] == best
    assert len(model.estimator) == board[best]["members"]
    # The same command again is the same experiment.
    assert "3 of 3" not in err
    assert "6 of 6 cells were done before" in cli("compare", "glass.csv", "--prune", "0.25", *options)[2]


def test_what_cannot_be_pruned(cli, glass, tmp_path):
    (tmp_path / "s.toml").write_text('[[datasets]]\npath = "glass.csv"\n[[methods]]\nname = "cart"\n')
    for arguments, message in (
        (("glass.csv", "--methods", "cart,c45", "--prune"), "--prune: none of cart, c45 can be pruned"),
        (("glass.csv", "--methods", "pruned-bagging", "--prune"), "--prune: none of pruned-bagging can be pruned"),
        (("glass.csv", "--prune", "1.5"), "--prune"),
        (("glass.csv", "--prune", "0"), "--prune"),
        (("s.toml", "--prune"), "says everything itself"),
    ):
        code, _, err = cli("compare", *arguments)
        assert code == 2, arguments
        assert message in err


def test_options_that_contradict_the_data_or_the_file(cli, glass, tmp_path):
    (tmp_path / "s.toml").write_text('[[datasets]]\npath = "glass.csv"\n[[methods]]\nname = "cart"\n')
    for arguments, message in (
        (("glass.csv", "--measures", "error,mse"), "--measures: mse is not for classification"),
        (("glass.csv", "--methods", "output-smearing"), "output-smearing does not do classification"),
        (("glass.csv", "--out", "glass.csv"), "--out: glass.csv is a file"),
        (("glass.csv", "--jobs", "0"), "0 does no work"),
        (("s.toml", "--seed", "4"), "says everything itself"),
    ):
        code, _, err = cli("compare", *arguments)
        assert code == 2
        assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["glass.csv", "s.toml"]


@pytest.mark.parametrize(
    ("problem", "expected"), [(OSError("no space left"), 1), (ModelFileError("would not be read again"), 0)]
)
def test_a_model_that_cannot_be_saved_costs_no_results(cli, glass, tmp_path, monkeypatch, problem, expected):
    def fail(*_, **__):
        raise problem

    monkeypatch.setattr("conjunto.experiments.best.save_model", fail)
    line = ("compare", "glass.csv", "--methods", "cart", "--protocol", "3-fold", "--jobs", 1, "--out", "out")
    code, out, err = cli(*line)
    assert code == expected
    assert "glass: error" in out
    assert f"of glass was not saved, its results are complete: {type(problem).__name__}: {problem}" in err
    assert "model.skops" not in (tmp_path / "out" / "report.html").read_text()
    code, out, _ = cli(*line, "--json")
    assert code == expected
    facts = json.loads(out)
    assert facts["datasets"][0]["model"] is None
    assert facts["not_saved"] == {"glass": str(problem)}
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert cli(*line)[0] == 0
    assert "model.skops" in (tmp_path / "out" / "report.html").read_text()


def test_what_users_wrote_is_no_markup(cli, tmp_path):
    """Closing tags that open nothing end rich with an error; others vanish."""
    rows = "".join(f"{i},{'[/red]' if i % 2 else ':smile:'}\n" for i in range(30))
    (tmp_path / "d.csv").write_text("[bold]a,[/red]\n" + rows)
    (tmp_path / "odd.toml").write_text(
        'name = "[/red]"\n[protocol]\nkind = "holdout"\nrepetitions = 2\n[[datasets]]\nname = "[red]d:smile:"\n'
        'path = "d.csv"\n[[methods]]\nname = "cart"\nlabel = "[/red]"\n'
        '[[methods]]\nname = "cart"\nlabel = "#0a0b00 [bold]x :smile:"\n'
    )
    code, out, err = cli("compare", "odd.toml", "--jobs", 1, "--out", "out")
    assert code == 0, err
    for words in ("[red]d:smile:: error", "[/red]", "#0a0b00 [bold]x :smile:", "always '"):
        assert words in out
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("#0a0b00 [bold]x :smile:") >= 4
    assert "var(--c0) [bold]" not in page
