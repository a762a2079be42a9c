"""Further questions to a finished store, splits and hold-outs, from the command line."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from conjunto.datasets import load
from conjunto.experiments import Results, Store
from conjunto.experiments.cells import Bench
from conjunto.model_file import load_model

FEW = "cart,bagging:n_estimators=5"


@pytest.fixture
def counted(monkeypatch):
    """The cells that are run in this process."""
    ran = []
    original = Bench.run
    monkeypatch.setattr(Bench, "run", lambda self, cell: (ran.append(cell), original(self, cell))[1])
    return ran


def test_a_store_grows_and_nothing_is_run_twice(cli, tmp_path, counted):
    base = ("compare", "wine", "--out", "out", "--jobs", 1, "--no-explain")
    code, _, err = cli(*base, "--methods", FEW, "--protocol", "1x3")
    assert code == 0, err
    assert len(counted) == 6
    assert "each model may use" in err
    # One more method, on the partitions that are there.
    code, out, err = cli(*base, "--methods", "logistic-regression")
    assert code == 0, err
    assert [cell.method for cell in counted[6:]] == ["logistic-regression"] * 3
    assert all(name in out for name in (*FEW.split(","), "logistic-regression"))
    # One more repetition, of everything.
    code, _, err = cli(*base, "--protocol", "2x3")
    assert code == 0, err
    assert "9 of 18 cells were done before, 9 to run" in err
    assert len(counted) == len(set(counted)) == 18
    # Another measure.
    code, out, err = cli(*base, "--measures", "kappa,error")
    assert code == 0, err
    assert len(counted) == 18
    assert "wine: Cohen's kappa" in out
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("conjunto compare wine") == 4


def test_questions_to_a_finished_store(cli, tmp_path, counted):
    cli("compare", "german", "--methods", FEW, "--protocol", "3-fold", "--out", "out", "--jobs", 1, "--no-explain")
    del counted[:]
    code, out, err = cli("report", "out", "--measures", "average-precision,brier", "--export", "t.tex")
    assert code == 0, err
    assert "german: average precision" in out
    assert "toprule" in (tmp_path / "t.tex").read_text()
    code, out, _ = cli("report", "out", "--measures", "sensitivity", "--threshold", "0.2")
    assert code == 0
    found = re.search(r"bagging:n_estimators=5 +([\d.]+)", out.replace("\N{NO-BREAK SPACE}", " "))
    results = Results.read(tmp_path / "out" / "results.sqlite")
    hits = [
        (answers.proba[tested.truth == 0, 0] >= np.float32(0.2)).mean()
        for method, _, tested, answers in results.answers("german")
        if method == "bagging:n_estimators=5"
    ]
    assert float(found[1]) == pytest.approx(100 * np.mean(hits), abs=0.006)
    assert not counted
    assert cli("report", "out", "--measures", "brir")[0] == 2
    assert cli("report", "out", "--threshold", "2")[0] == 2


def test_combine_from_the_store_alone(cli, tmp_path, counted):
    cli("compare", "german", "--methods", FEW, "--protocol", "3-fold", "--out", "out", "--jobs", 1, "--no-explain")
    del counted[:]
    code, out, err = cli("combine", "out")
    assert code == 0, err
    assert not counted
    for label in ("+ vote of all", "+ stacking of all", "+ greedy selection of all", "+ all, ordered and cut"):
        assert label in out
    assert "judged on rows that had no part in learning them" in err
    assert "stacking of all" in (tmp_path / "out" / "report.html").read_text()
    code, out, _ = cli("combine", "out", "--ways", "stacking", "--json")
    board = json.loads(out)["datasets"][0]["leaderboard"]
    assert {row["method"] for row in board if row["combined"]} >= {"stacking of all"}
    # The best that is saved is a method, not a combination.
    code, out, err = cli("compare", "german", "--out", "out", "--jobs", 1, "--no-explain")
    assert code == 0, err
    assert load_model(tmp_path / "out" / "model.skops").about["method"] in FEW.split(",")
    code, _, err = cli("combine", "out", "--ways", "staking")
    assert code == 2
    assert "--ways: there is no combination 'staking'; did you mean 'stacking'" in err


@pytest.fixture
def visits(tmp_path):
    """What a visit is like tells the patient, and the patient is sick or not by a toss."""
    rng = np.random.default_rng(0)
    patient = rng.integers(0, 40, 400)
    sick = rng.random(40) < 0.5
    frame = pd.DataFrame({"patient": [f"p{number}" for number in patient], "like": patient * 1.0})
    frame["when"] = pd.date_range("2024-01-01", periods=400, freq="D").astype(str)
    frame["sick"] = np.where(sick[patient], "yes", "no")
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return frame


def test_groups_do_not_leak(cli, visits, tmp_path):
    """A column that identifies the group is worth nothing once groups are kept together."""
    options = ("--methods", "cart", "--jobs", 1, "--protocol", "5-fold", "--no-explain", "--json")
    _, out, err = cli("compare", "visits.csv", "--drop", "patient", "--drop", "when", *options, "--out", "leaks")
    assert json.loads(out)["datasets"][0]["leaderboard"][0]["mean"] < 0.01
    _, out, err = cli("compare", "visits.csv", "--groups", "patient", "--drop", "when", *options, "--out", "honest")
    assert json.loads(out)["datasets"][0]["leaderboard"][0]["mean"] > 0.3
    assert "groups kept together" in err
    model = load_model(tmp_path / "honest" / "model.skops")
    assert list(model.columns) == ["like"]
    assert "groups" in (tmp_path / "honest" / "report.html").read_text()


def test_time_goes_forward(cli, visits, tmp_path):
    shuffled = visits.sample(frac=1, random_state=0)
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    options = ("--time", "when", "--drop", "patient", "--methods", "cart", "--jobs", 1, "--no-explain", "--out", "out")
    code, _, err = cli("compare", "shuffled.csv", *options)
    assert code == 0, err
    assert "forward chaining, 5 blocks" in err
    whens = pd.to_datetime(shuffled["when"]).to_numpy()
    with Store(tmp_path / "out" / "results.sqlite") as store:
        blocks = [whens[store.tested("shuffled", number).rows] for number in range(5)]
    assert all(one.max() < other.min() for one, other in pairwise(blocks))


def test_a_hold_out_is_judged_at_the_end(cli, tmp_path):
    data = load("german")
    frame = data.X.assign(risk=data.y)
    frame.iloc[:700].to_csv(tmp_path / "old.csv", index=False)
    frame.iloc[700:].to_csv(tmp_path / "new.csv", index=False)
    options = ("--methods", FEW, "--protocol", "3-fold", "--jobs", 1, "--no-explain", "--out", "out")
    code, out, err = cli("compare", "old.csv", "--test", "new.csv", *options)
    assert code == 0, err
    assert "test: 300 rows of new.csv, judged once, at the end" in err
    model = load_model(tmp_path / "out" / "model.skops")
    error = np.mean(model.estimator.predict(model.arrange(frame.iloc[700:])) != frame["risk"].iloc[700:])
    assert "on new.csv, 300 rows that had no part in anything" in out
    assert f"{100 * error:.2f}" in out
    assert "new.csv" in (tmp_path / "out" / "report.html").read_text()


def test_the_best_ensemble_stands_beside_its_pruned_self(cli, tmp_path, counted):
    options = ("--methods", "cart,bagging:n_estimators=10", "--protocol", "3-fold", "--jobs", 1, "--no-explain")
    code, out, err = cli("compare", "wine", *options, "--prune-best", "0.3")
    assert code == 0, err
    assert "bagging:n_estimators=10, pruned to 30 %" in out
    assert len(counted) == 9
    code, _, err = cli("compare", "wine", "--methods", "cart", "--protocol", "3-fold", "--prune-best", "--out", "x")
    assert code == 2
    assert "--prune-best: none of the methods can be pruned" in err


def test_the_same_command_goes_on_with_pruned_ensembles_and_another_seed(cli, counted):
    base = ("compare", "wine", "--jobs", 1, "--no-explain", "--out", "out", "--prune")
    named = ("--methods", "bagging:n_estimators=10", "--protocol", "3-fold", "--seed", 3)
    assert cli(*base, *named)[0] == 0
    for arguments in ((*base, *named), base):
        code, _, err = cli(*arguments)
        assert code == 0, err
    assert len(counted) == 6


def test_a_rare_class_is_noticed_and_ranked_by(cli, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame["y"] = np.where(frame["a"] + 0.3 * rng.normal(size=600) > 2, "fraud", "fine")
    frame.to_csv(tmp_path / "rare.csv", index=False)
    options = ("--methods", FEW, "--protocol", "3-fold", "--jobs", 1, "--no-explain")
    code, out, err = cli("compare", "rare.csv", *options)
    assert code == 0, err
    assert re.search(r"rare: 'fraud' is rare, \d+ rows, [\d.]+ %", err)
    assert "ranked by average precision" in err
    assert "rare: average precision" in out
    page = (tmp_path / "conjunto-rare" / "report.html").read_text()
    assert "recision-recall" in page or "recision and recall" in page


def test_a_winner_that_is_no_better_than_the_constant(cli, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    frame["y"] = rng.choice(["no", "yes"], 200, p=[0.7, 0.3])
    frame.to_csv(tmp_path / "noise.csv", index=False)
    code, out, _ = cli("compare", "noise.csv", "--methods", "cart", "--protocol", "5-fold", "--jobs", 1, "--no-explain")
    assert code == 0
    said = "No method is better than to answer always 'no'"
    assert said in out
    page = (tmp_path / "conjunto-noise" / "report.html").read_text()
    assert said.replace("'", "&#39;") in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--drop", "when", "--groups", "patent"), "groups: there is no column 'patent'; did you mean 'patient'"),
        (("--drop", "when", "--time", "patient"), "holds 'p"),
        (("--groups", "patient", "--time", "when"), "groups and time cannot be given both"),
        (("--time", "when", "--protocol", "10x10"), "would repeat the same blocks"),
        (("--drop", "when", "--test", "nowhere.csv"), "nowhere.csv"),
        (("--drop", "when", "--test", "other.csv"), "test: "),
        (("--drop", "when", "--methods", "forest:x"), "forest"),
        (("--drop", "when", "--methods", "sklearn.svm:LinearSVCC"), "did you mean"),
    ],
)
def test_what_cannot_be_used_is_said(cli, visits, tmp_path, arguments, message):
    visits.rename(columns={"like": "unlike"}).to_csv(tmp_path / "other.csv", index=False)
    code, _, err = cli("compare", "visits.csv", "--jobs", 1, "--out", "out", *arguments)
    assert code in (1, 2)
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_a_store_of_another_release(cli, tmp_path):
    import sqlite3
    from contextlib import closing

    base = ("compare", "wine", "--methods", "cart", "--protocol", "2-fold", "--jobs", 1, "--no-explain", "--out", "out")
    assert cli(*base)[0] == 0
    with closing(sqlite3.connect(tmp_path / "out" / "results.sqlite")) as connection:
        connection.execute("UPDATE experiment SET format = 1")
        connection.commit()
    for command in (base, ("report", "out"), ("combine", "out")):
        code, _, err = cli(*command)
        assert code == 2
        assert "has format 1, this release reads format 2" in err


def test_the_list_of_measures(cli):
    code, out, _ = cli("measures")
    assert code == 0
    assert re.search(r"average-precision +classification +higher is better +average precision", out)
    assert re.search(r"mean-leaves +both run", out)
