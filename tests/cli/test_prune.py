"""`prune`: the saved model is the one that `conjunto.prune` gives, and the table is its report."""

import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier as Foreign

import conjunto
from conjunto import BaggingClassifier, Budget, PrunedClassifier, RandomForestClassifier
from conjunto.cli.prune import parse_keep, parse_selection
from conjunto.datasets import load
from conjunto.model_file import Model, column_kinds, load_model, save_model
from conjunto.ordering import ORDERINGS


@pytest.fixture
def colic(cli, tmp_path):
    """A table with categories and missing values in two files, and bagging that was trained on the first."""
    data = load("horse-colic")
    frame = data.X.assign(outcome=data.y)
    frame.head(250).to_csv(tmp_path / "old.csv", index=False)
    frame.tail(118).to_csv(tmp_path / "new.csv", index=False)
    assert cli("train", "old.csv", "--method", "bagging:n_estimators=20", "--jobs", 1)[0] == 0
    return load_model(tmp_path / "model.skops")


def rows(model, path):
    frame = pd.read_csv(path)
    return model.arrange(frame), frame["outcome"].to_numpy()


def test_the_file_is_what_prune_gives(cli, colic, tmp_path):
    code, out, err = cli("prune", "model.skops", "old.csv", "--test", "new.csv")
    assert code == 0, err
    (X, y), (new, truth) = rows(colic, tmp_path / "old.csv"), rows(colic, tmp_path / "new.csv")
    expected = conjunto.prune(colic.estimator, X, y, evaluate=(new, truth))
    saved = load_model(tmp_path / "model-pruned.skops")
    assert type(saved.estimator) is BaggingClassifier
    assert len(saved.estimator) == 4
    np.testing.assert_array_equal(saved.estimator.predict(new), expected.predict(new))
    np.testing.assert_array_equal(saved.estimator.order_, expected.order_)
    for name in ("members", "train", "oob", "test"):
        np.testing.assert_array_equal(saved.estimator.curve_[name], expected.curve_[name])
    assert saved.estimator.pruning_report_["error"] == expected.pruning_report_["error"]
    assert (saved.columns, saved.target, saved.task) == (colic.columns, "outcome", "classification")
    assert saved.about["pruned"] == "margin_distance, 4 of 20 members"
    assert saved.about["method"] == colic.about["method"]
    lines = {line[:20].strip(): line for line in out.splitlines()}
    assert lines["members"].split()[1:] == ["20", "4", "\N{MINUS SIGN}80", "%"]
    for name, word in (("train", "optimistic"), ("oob", ""), ("test", "")):
        found = expected.pruning_report_["error"][name]
        line = next(line for line in out.splitlines() if line.startswith(f"error, {name}"))
        assert f"{100 * found['before']:.2f}\N{NO-BREAK SPACE}%" in line
        assert f"{100 * found['after']:.2f}\N{NO-BREAK SPACE}%" in line
        assert f"{100 * found['difference']:.2f}".replace("-", "\N{MINUS SIGN}") in line
        assert f"{100 * found['difference_high']:.2f}".replace("-", "\N{MINUS SIGN}") in line
        assert ("optimistic" in line) == bool(word)
    assert "not known" not in out
    assert out.splitlines()[-1].startswith("model-pruned.skops (")


def test_the_pruned_model_predicts(cli, colic, tmp_path):
    assert cli("prune", "model.skops", "old.csv", "--keep", 3)[0] == 0
    code, out, err = cli("predict", "model-pruned.skops", "new.csv")
    assert code == 0, err
    expected = load_model(tmp_path / "model-pruned.skops").estimator.predict(rows(colic, "new.csv")[0])
    assert out.split()[1:] == expected.tolist()


@pytest.mark.parametrize("method", [*ORDERINGS, "reduce-error"])
def test_every_order_can_be_named(cli, colic, tmp_path, method):
    code, _, err = cli("prune", "model.skops", "old.csv", "--method", method, "--keep", 2, "--out", "small.skops")
    assert code == 0, err
    X, y = rows(colic, "old.csv")
    expected = conjunto.order(colic.estimator, X, y, method=method.replace("-", "_"), random_state=0)
    np.testing.assert_array_equal(load_model("small.skops").estimator.order_, expected)


@pytest.mark.parametrize(
    ("keep", "selection", "members"),
    [
        ("0.5", "train", 10),
        ("7", "train", 7),
        ("1.0", "train", 20),
        ("1", "train", 1),
        ("auto", "train", None),
        ("min-oob", "train", None),
        ("min-oob", "oob", None),
        ("min-selection", "oob", None),
        ("min-selection", "0.5", None),
    ],
)
def test_ways_to_cut(cli, colic, keep, selection, members):
    # A share is of rows that the model has not seen.
    data = "new.csv" if selection == "0.5" else "old.csv"
    code, _, err = cli("prune", "model.skops", data, "--keep", keep, "--selection", selection, "--seed", 4)
    assert code == 0, err
    X, y = rows(colic, data)
    expected = conjunto.prune(
        colic.estimator, X, y, keep=parse_keep(keep), selection=parse_selection(selection), random_state=4
    )
    saved = load_model("model-pruned.skops").estimator
    np.testing.assert_array_equal(saved.order_, expected.order_)
    assert len(saved) == len(expected) == (members or len(expected))


def test_budgets_are_kept(cli, colic):
    cli("prune", "model.skops", "old.csv", "--keep", "7")
    limit = Path("model-pruned.skops").stat().st_size
    code, _, err = cli("prune", "model.skops", "old.csv", "--keep", f"{limit / 1000}kB")
    assert code == 0, err
    kept = len(load_model("model-pruned.skops").estimator)
    assert 5 <= kept < 20
    # What the command notes about the model, and digits of what is measured, are not known before.
    assert Path("model-pruned.skops").stat().st_size <= limit * 1.02
    cli("prune", "model.skops", "old.csv", "--keep", str(kept + 2))
    assert Path("model-pruned.skops").stat().st_size > limit * 0.99
    code, _, err = cli("prune", "model.skops", "old.csv", "--keep", "1000000ms")
    assert code == 0, err
    assert len(load_model("model-pruned.skops").estimator) == 20
    code, _, err = cli("prune", "model.skops", "old.csv", "--keep", "10B")
    assert code == 2
    assert "one member alone costs more" in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.2", 0.2),
        ("50", 50),
        ("1", 1),
        ("1.0", 1.0),
        (" auto ", "auto"),
        ("2MB", Budget(bytes=2_000_000)),
        ("500kB", Budget(bytes=500_000)),
        ("1.5 GB", Budget(bytes=1_500_000_000)),
        ("300b", Budget(bytes=300)),
        ("3ms", Budget(milliseconds_per_1000_rows=3.0)),
        ("0.25 ms", Budget(milliseconds_per_1000_rows=0.25)),
        ("0.2ms/row", Budget(milliseconds_per_row=0.2)),
        ("2MB,3ms", Budget(bytes=2_000_000, milliseconds_per_1000_rows=3.0)),
    ],
)
def test_what_can_be_kept_is_parsed(text, expected):
    found = parse_keep(text)
    assert found == expected
    assert type(found) is type(expected)


def test_curves_as_table_and_pictures(cli, colic, tmp_path):
    code, out, err = cli("prune", "model.skops", "old.csv", "--curve", "curve.csv")
    assert code == 0, err
    assert "curve.csv" in out.splitlines()
    table = pd.read_csv("curve.csv")
    assert list(table.columns) == ["members", "train", "oob"]
    saved = load_model("model-pruned.skops").estimator
    for name in table.columns:
        np.testing.assert_allclose(table[name], saved.curve_[name])
    assert cli("prune", "model.skops", "old.csv", "--curve", "curve.svg")[0] == 0
    assert "training rows (optimistic)" in (tmp_path / "curve.svg").read_text()
    assert cli("prune", "model.skops", "old.csv", "--curve", "curve.png")[0] == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_not_known_is_said(cli, colic):
    _, out, _ = cli("prune", "model.skops", "old.csv")
    assert "not known: the error on new rows: --test FILE gives some" in out
    assert "out of bag:" not in out
    _, out, _ = cli("prune", "model.skops", "new.csv")
    assert "not known: the error out of bag: BaggingClassifier was fitted on 250 rows" in out
    _, out, _ = cli("prune", "model.skops", "new.csv", "--selection", "0.5")
    assert "not known: the errors on training rows and out of bag" in out
    assert "error, selection" in out
    assert "error, test" in out
    assert "error on new rows" not in out
    cli("train", "old.csv", "--method", "class-switching:n_estimators=9", "--out", "switched.skops")
    _, out, _ = cli("prune", "switched.skops", "old.csv")
    assert "not known: the error out of bag: " in out


def test_a_data_set_by_name(cli, tmp_path):
    cli("train", "wine", "--method", "random-forest:n_estimators=10")
    code, out, err = cli("prune", "model.skops", "wine", "--selection", "oob")
    assert code == 0, err
    assert "error, oob" in out
    assert len(load_model("model-pruned.skops").estimator) == 2
    code, _, err = cli("prune", "model.skops", "wine", "--target", "x")
    assert code == 2
    assert "--target is for files" in err


def test_a_model_that_was_pruned_can_be_pruned_again(cli, colic):
    assert cli("prune", "model.skops", "old.csv", "--keep", 10)[0] == 0
    code, _, err = cli("prune", "model-pruned.skops", "old.csv", "--keep", 5, "--selection", "oob")
    assert code == 0, err
    assert len(load_model("model-pruned-pruned.skops").estimator) == 5
    X, y = rows(colic, "old.csv")
    itself = PrunedClassifier(BaggingClassifier(n_estimators=20, random_state=0), keep=10).fit(X, y)
    save_model("itself.skops", Model(itself, colic.columns, "outcome", "classification"))
    code, _, err = cli("prune", "itself.skops", "old.csv", "--keep", 5)
    assert code == 0, err
    saved = load_model("itself-pruned.skops").estimator
    expected = conjunto.prune(itself.estimator_, X, y, keep=5)
    np.testing.assert_array_equal(saved.predict(X), expected.predict(X))


def test_another_target_column_and_another_order_of_columns(cli, colic, tmp_path):
    cli("prune", "model.skops", "old.csv", "--out", "a.skops")
    frame = pd.read_csv("old.csv").rename(columns={"outcome": "end"})
    frame.assign(more=1)[["end", "more", *frame.columns[-2::-1]]].to_csv("turned.csv", index=False)
    code, _, err = cli("prune", "model.skops", "turned.csv", "--target", "end", "--out", "b.skops")
    assert code == 0, err
    one, other = load_model("a.skops"), load_model("b.skops")
    np.testing.assert_array_equal(one.estimator.order_, other.estimator.order_)
    assert other.target == "outcome"
    code, _, err = cli("prune", "model.skops", "turned.csv")
    assert code == 2
    assert "there is no column 'outcome', the model's target; --target names another" in err


def test_rows_without_a_target_are_left_out(cli, colic):
    cli("prune", "model.skops", "old.csv", "--out", "a.skops")
    frame = pd.read_csv("old.csv")
    frame = pd.concat([frame, frame.head(3).assign(outcome=None)], ignore_index=True)
    frame.to_csv("gaps.csv", index=False)
    code, _, err = cli("prune", "model.skops", "gaps.csv", "--out", "b.skops")
    assert code == 0, err
    assert "gaps.csv: 3 rows without a target were left out" in err
    np.testing.assert_array_equal(load_model("a.skops").estimator.order_, load_model("b.skops").estimator.order_)


def test_labels_that_look_like_numbers_stay_text(cli, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=90), "y": random.choice(["1", "2", "none"], 90)})
    frame.to_csv("all.csv", index=False)
    frame[frame["y"] != "none"].to_csv("two.csv", index=False)
    cli("train", "all.csv", "--method", "bagging:n_estimators=10")
    code, _, err = cli("prune", "model.skops", "all.csv", "--test", "two.csv")
    assert code == 0, err


def test_a_regression(cli, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 2))
    pd.DataFrame(X, columns=["a", "b"]).assign(y=X @ [1, 2]).to_csv("d.csv", index=False)
    cli("train", "d.csv", "--method", "bagging:n_estimators=10")
    code, out, err = cli("prune", "model.skops", "d.csv", "--selection", "oob", "--method", "reduce-error")
    assert code == 0, err
    line = next(line for line in out.splitlines() if line.startswith("mean squared error, oob"))
    assert "%" not in line
    assert "optimistic" in line
    code, _, err = cli("prune", "model.skops", "d.csv", "--method", "kappa")
    assert code == 2
    assert "kappa needs votes on classes" in err


def test_pickles(cli, colic, tmp_path):
    X, y = load("iris").X, load("iris").y.to_numpy()
    forest = Foreign(n_estimators=10, random_state=0).fit(X, y)
    save_model("forest.pkl", Model(forest, column_kinds(X), "target", "classification"), allow_pickle=True)
    code, _, err = cli("prune", "forest.pkl", "iris")
    assert code == 2
    assert "allow-pickle" in err
    code, out, err = cli("prune", "forest.pkl", "iris", "--allow-pickle")
    assert code == 0, err
    assert out.splitlines()[-1].startswith("forest-pruned.skops")
    safe = load_model("forest-pruned.skops").estimator
    assert type(safe) is RandomForestClassifier
    assert len(safe) == 2
    assert sorted(safe.order_) == list(range(10))
    assert cli("prune", "forest.pkl", "iris", "--allow-pickle", "--out", "small.pkl")[0] == 0
    small = load_model("small.pkl", allow_pickle=True).estimator
    assert type(small) is Foreign
    np.testing.assert_allclose(safe.predict_proba(X), small.predict_proba(X), atol=1e-12)
    assert cli("prune", "model.skops", "old.csv", "--out", "m.pkl")[0] == 2
    assert not (tmp_path / "m.pkl").exists()


BAD = {
    "unknown order": (["--method", "margin"], "did you mean"),
    "orders are listed": (["--method", "xyz"], "known are reduce-error, complementarity, margin-distance"),
    "keep nothing": (["--keep", "0"], "keep must be a share in (0, 1]"),
    "keep too many": (["--keep", "21"], "a number of members from 1 to 20"),
    "keep too large a share": (["--keep", "1.5"], "keep must be a share in (0, 1]"),
    "keep less than nothing": (["--keep", "-3"], "keep must be a share"),
    "keep no number": (["--keep", "nan"], "keep must be a share"),
    "keep a word": (["--keep", "most"], "--keep: 'most' is none of a share (0.2)"),
    "a rule that has a near name": (["--keep", "min_oob"], "auto, min-oob, min-selection"),
    "two sizes": (["--keep", "2MB,3kB"], "sets bytes twice"),
    "no bytes": (["--keep", "0kB"], "bytes must be a whole number of at least 1"),
    "no time": (["--keep", "0ms"], "milliseconds_per_1000_rows must be a number"),
    "unknown selection": (["--selection", "test"], "--selection: 'test' is none of train, oob, or a share"),
    "selection out of range": (["--selection", "1"], "--selection: '1' is none of"),
    "min-oob of a share": (["--selection", "0.4", "--keep", "min-oob"], "keep='min-oob' needs the training data"),
    "unknown column": (["--target", "outcom"], "there is no column 'outcom', did you mean 'outcome'?"),
    "the model itself": (["--out", "model.skops"], "is the model itself"),
    "unknown picture": (["--curve", "curve.pdf"], "--curve: curve.pdf must end in .csv, .svg or .png"),
    "no processors": (["--jobs", "0"], "0 does no work"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options(cli, colic, tmp_path, name):
    before = sorted(path.name for path in tmp_path.iterdir())
    options, message = BAD[name]
    code, out, err = cli("prune", "model.skops", "old.csv", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_data_that_do_not_fit_the_model(cli, colic, tmp_path):
    old = pd.read_csv("old.csv")
    old.assign(outcome="risen").to_csv("risen.csv", index=False)
    numeric = old.select_dtypes("number").columns[0]
    old.drop(columns=[numeric]).to_csv("less.csv", index=False)
    for arguments, message in (
        (("risen.csv",), "y has the label 'risen', which the ensemble does not know; it knows"),
        (("old.csv", "--test", "risen.csv"), "y has the label 'risen'"),
        (("less.csv",), f"lack 1 column of the model: {numeric}"),
        (("new.csv", "--selection", "oob"), "was fitted on 250 rows"),
        (("wine",), "the data lack"),
        (("whine",), "did you mean 'wine'?"),
    ):
        code, _, err = cli("prune", "model.skops", *arguments)
        assert code == 2, arguments
        assert message in err
        assert "Traceback" not in err
    assert not (tmp_path / "model-pruned.skops").exists()


def test_models_that_cannot_be_pruned(cli, colic, tmp_path):
    cli("train", "old.csv", "--method", "cart", "--out", "tree.skops")
    code, _, err = cli("prune", "tree.skops", "old.csv")
    assert code == 2
    assert "CARTClassifier cannot be taken apart into voters" in err
    cli("train", "old.csv", "--method", "bagging:n_estimators=1", "--out", "one.skops")
    code, _, err = cli("prune", "one.skops", "old.csv")
    assert code == 2
    assert "there is nothing to order or prune" in err
    save_model("raw.skops", Model(BaggingClassifier(), colic.columns, "outcome", "classification"))
    code, _, err = cli("prune", "raw.skops", "old.csv")
    assert code == 2
    assert "not fitted yet" in err
    (tmp_path / "broken.skops").write_bytes((tmp_path / "model.skops").read_bytes()[:500])
    assert cli("prune", "broken.skops", "old.csv")[0] == 2


def test_files_that_cannot_be_read_or_written(cli, colic, tmp_path):
    for arguments in (
        ("none.skops", "old.csv"),
        ("model.skops", "none.csv"),
        ("model.skops", "old.csv", "--test", "none.csv"),
        ("model.skops", "old.csv", "--out", "nowhere/m.skops"),
        ("model.skops", "old.csv", "--curve", "nowhere/c.csv"),
    ):
        code, out, err = cli("prune", *arguments)
        assert (code, out) == (1, ""), err
    assert not (tmp_path / "model-pruned.skops").exists()


def test_nothing_is_left_where_the_model_cannot_be_saved(cli, colic, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("disk full")

    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr("conjunto.model_file.save_model", fail)
    code, _, err = cli("prune", "model.skops", "old.csv", "--curve", "curve.csv")
    assert code == 1
    assert "disk full" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("fitted_on", ["frame", "array"])
def test_a_forest_of_scikit_learn_as_joblib_and_pickle_write_it(cli, tmp_path, fitted_on):
    data = load("glass")
    frame = data.X.assign(kind=data.y)
    frame.to_csv("glass.csv", index=False)
    X = data.X if fitted_on == "frame" else data.X.to_numpy()
    forest = Foreign(10, random_state=0).fit(X, data.y)
    expected = conjunto.prune(forest, X, data.y, keep=4).predict(X)
    joblib.dump(forest, "plain.joblib")
    joblib.dump(forest, "zlib.joblib", compress=3)
    joblib.dump(forest, "packed.pkl.gz")
    joblib.dump(forest, "packed.joblib.xz")
    (tmp_path / "p.pkl").write_bytes(pickle.dumps(forest))
    for name, result in (
        ("plain.joblib", "plain-pruned.skops"),
        ("zlib.joblib", "zlib-pruned.skops"),
        ("packed.pkl.gz", "packed-pruned.skops"),
        ("packed.joblib.xz", "packed-pruned.skops"),
        ("p.pkl", "p-pruned.skops"),
    ):
        code, _, err = cli("prune", name, "glass.csv", "--allow-pickle", "--keep", 4)
        assert code == 0, err
        np.testing.assert_array_equal(load_model(result).estimator.predict(X), expected)
        # What came as an estimator alone is one again in a pickle, for whoever reads it without conjunto.
        assert cli("prune", name, "glass.csv", "--allow-pickle", "--keep", 4, "--out", "alone.joblib")[0] == 0
        pruned = joblib.load("alone.joblib")
        assert type(pruned) is Foreign
        np.testing.assert_array_equal(pruned.predict(X), expected)
        code, _, err = cli("prune", name, "glass.csv")
        assert code == 2
        assert f"{name} is a pickle, which can execute anything" in err
    data.X.to_csv("new.csv", index=False)
    code, out, err = cli("predict", "p-pruned.skops", "new.csv")
    assert code == 0, err
    assert out.splitlines() == ["kind", *expected]


def test_pickles_that_are_no_models(cli, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 1.0], "y": ["p", "q", "p", "q"]})
    frame.to_csv("d.csv", index=False)
    forest = Foreign(3, random_state=0).fit(frame[["a"]], frame["y"])
    cases = {
        "empty.joblib": (b"", "empty.joblib is empty"),
        "text.pkl": (b"hello, world", "neither conjunto nor pickle.dump nor joblib.dump wrote it"),
        "cut.joblib": (pickle.dumps(forest)[:-100], "cut.joblib is a pickle that cannot be read"),
        "gone.pkl": (b"\x80\x04cnowhere\nThing\n.", "needs code that is not here: ModuleNotFoundError: No module"),
        "list.pkl": (pickle.dumps([1, 2]), "list.pkl holds no classifier or regressor but a list"),
        "unfitted.pkl": (pickle.dumps(Foreign()), "RandomForestClassifier that is not fitted: fit it"),
        # Two columns could be the target.
        "f.pkl": (pickle.dumps(forest), "--target: d.csv has 2 columns that the model does not take"),
        "array.pkl": (pickle.dumps(Foreign(3).fit(frame[["a"]].to_numpy(), frame["y"])), "an array of 1 columns"),
    }
    for name, (content, message) in cases.items():
        (tmp_path / name).write_bytes(content)
        code, _, err = cli("prune", name, "d.csv", "--allow-pickle")
        assert (code, message in err) == (2, True), err
    assert cli("prune", "f.pkl", "d.csv", "--target", "y", "--allow-pickle", "--keep", 2)[0] == 0
