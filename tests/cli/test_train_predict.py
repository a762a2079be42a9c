"""`train` and `predict`: what the command predicts is what the estimator predicts."""

import io
import os
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from conjunto import RandomForestClassifier
from conjunto.datasets import load
from conjunto.model_file import Model, column_kinds, save_model


@pytest.fixture
def colic(tmp_path):
    data = load("horse-colic")
    frame = data.X.assign(outcome=data.y)
    frame.head(250).to_csv(tmp_path / "old.csv", index=False)
    frame.tail(118).to_csv(tmp_path / "new.csv", index=False)
    return frame


def test_the_predictions_are_those_of_the_estimator(cli, colic, tmp_path):
    code, out, err = cli("train", "old.csv", "--method", "random-forest:n_estimators=20", "--seed", 3)
    assert code == 0, err
    assert out.startswith("model.skops (")
    old, new = pd.read_csv(tmp_path / "old.csv"), pd.read_csv(tmp_path / "new.csv")
    forest = RandomForestClassifier(20, random_state=3).fit(old.iloc[:, :-1], old["outcome"])
    code, out, err = cli("predict", "model.skops", "new.csv", "--probabilities", "--out", "p.csv")
    assert code == 0, err
    assert "not used: outcome" in err
    said = pd.read_csv(tmp_path / "p.csv")
    assert list(said.columns) == ["outcome", *(f"p({label})" for label in forest.classes_)]
    assert said["outcome"].tolist() == forest.predict(new.iloc[:, :-1]).tolist()
    np.testing.assert_allclose(said.iloc[:, 1:], forest.predict_proba(new.iloc[:, :-1]))


def test_columns_in_another_order_and_more_of_them(cli, colic, tmp_path):
    cli("train", "old.csv", "--method", "bagging:n_estimators=5")
    _, straight, _ = cli("predict", "model.skops", "new.csv")
    new = pd.read_csv(tmp_path / "new.csv")
    new.assign(more=1)[["more", *new.columns[::-1]]].to_csv(tmp_path / "turned.csv", index=False)
    _, turned, err = cli("predict", "model.skops", "turned.csv")
    assert turned == straight
    assert "not used: more, outcome" in err


def test_columns_that_are_missing_or_changed(cli, colic, tmp_path):
    cli("train", "old.csv", "--method", "cart")
    new = pd.read_csv(tmp_path / "new.csv")
    numeric = new.select_dtypes("number").columns[0]
    new.drop(columns=[numeric]).to_csv(tmp_path / "less.csv", index=False)
    code, out, err = cli("predict", "model.skops", "less.csv")
    assert (code, out) == (2, "")
    assert f"lack 1 column of the model: {numeric}" in err
    new.assign(**{numeric: "high"}).to_csv(tmp_path / "text.csv", index=False)
    code, _, err = cli("predict", "model.skops", "text.csv")
    assert code == 2
    assert f"column '{numeric}' held numbers when the model was trained, and holds 'high' in row 1" in err


def test_numbers_in_a_text_column_are_texts(cli, tmp_path):
    rows = "".join(f"{'1' if i % 2 else 'x'},{i % 2}\n" for i in range(40))
    (tmp_path / "d.csv").write_text("code,y\n" + rows)
    cli("train", "d.csv", "--method", "cart")
    (tmp_path / "n.csv").write_text("code\n1\n1\n")
    _, out, _ = cli("predict", "model.skops", "n.csv")
    assert out.split() == ["y", "1", "1"]


def test_files_that_are_no_models(cli, colic, tmp_path):
    assert cli("predict", "none.skops", "new.csv")[0] == 1
    (tmp_path / "m.skops").write_bytes(b"PK\x03\x04 broken")
    code, _, err = cli("predict", "m.skops", "new.csv")
    assert code == 2
    assert "Traceback" not in err
    (tmp_path / "m.pkl").write_bytes(pickle.dumps({"format": 1}))
    code, _, err = cli("predict", "m.pkl", "new.csv")
    assert code == 2
    assert "was not read" in err
    assert cli("predict", "m.pkl", "new.csv", "--allow-pickle")[0] == 2
    cli("train", "old.csv", "--method", "cart", "--out", "t.pkl", "--allow-pickle")
    assert cli("predict", "t.pkl", "new.csv", "--allow-pickle")[0] == 0


def test_bad_methods(cli, colic, tmp_path):
    for method, message in (
        ("baging", "did you mean 'bagging'"),
        ("bagging:n_estimators=-1", "n_estimators must be"),
        ("bagging:n_estimator=1", "did you mean 'n_estimators'"),
        ("output-smearing", "does not do classification"),
        ("cart,bagging", "one method"),
    ):
        code, _, err = cli("train", "old.csv", "--method", method)
        assert code == 2
        assert message in err
    assert not (tmp_path / "model.skops").exists()
    assert cli("train", "old.csv", "--out", "nowhere/m.skops")[0] == 1


def test_a_regression_has_no_probabilities(cli, tmp_path):
    pd.DataFrame({"a": np.arange(50.0), "y": np.arange(50) / 7}).to_csv(tmp_path / "d.csv", index=False)
    cli("train", "d.csv", "--method", "cart")
    code, _, err = cli("predict", "model.skops", "d.csv", "--probabilities")
    assert code == 2
    assert "regression" in err


def test_columns_can_be_kept(cli, colic, tmp_path):
    cli("train", "old.csv", "--method", "cart")
    new = pd.read_csv(tmp_path / "new.csv").assign(horse=[f"h{i}" for i in range(118)])
    new.to_csv(tmp_path / "named.csv", index=False)
    _, out, _ = cli("predict", "model.skops", "named.csv", "--keep", "horse")
    assert out.splitlines()[0] == "horse,outcome"
    assert out.splitlines()[1].startswith("h0,")
    assert "did you mean 'horse'" in cli("predict", "model.skops", "named.csv", "--keep", "hourse")[2]


def test_an_infinite_number_is_refused(cli, colic, tmp_path):
    cli("train", "old.csv", "--method", "cart")
    new = pd.read_csv(tmp_path / "new.csv")
    numeric = new.select_dtypes("number").columns[0]
    new.assign(**{numeric: np.inf}).to_csv(tmp_path / "inf.csv", index=False)
    code, _, err = cli("predict", "model.skops", "inf.csv")
    assert code == 2
    assert f"column '{numeric}' holds an infinite number" in err


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
def test_rows_come_through_a_pipe(cli, colic, tmp_path, monkeypatch):
    cli("train", "old.csv", "--method", "cart")
    _, expected, _ = cli("predict", "model.skops", "new.csv")
    content = (tmp_path / "new.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert cli("predict", "model.skops", "-")[:2] == (0, expected)
    # As a shell makes one for <(zcat new.csv.gz).
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    assert cli("predict", "model.skops", "pipe")[:2] == (0, expected)
    writer.join()


def test_what_comes_through_a_pipe_is_checked_like_a_file(cli, colic, monkeypatch):
    cli("train", "old.csv", "--method", "cart")
    for text, message in ((b"", "standard-input.csv is empty"), (b"a,b\n1\n", "line 2 has 1 field, the first line 2")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        code, out, err = cli("predict", "model.skops", "-")
        assert (code, out) == (2, "")
        assert message in err


def test_rows_of_mostly_zeros(cli, tmp_path):
    """Trained, compared, pruned and predicted from files whose columns have no names."""
    X = sp.random(120, 60, density=0.1, random_state=0, format="csr")
    y = (np.asarray(X[:, :10].sum(axis=1)).ravel() > 0.4).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "old.svmlight"))
    dump_svmlight_file(X[:30, :40], y[:30], str(tmp_path / "new.svm"))
    sp.save_npz(tmp_path / "wide.npz", sp.hstack([X, X[:, :3]]).tocsr())
    code, _, err = cli("train", "old.svmlight", "--method", "random-forest:n_estimators=20", "--seed", 3)
    assert code == 0, err
    forest = RandomForestClassifier(20, random_state=3).fit(X, y)
    _, narrow, err = cli("predict", "model.skops", "new.svm")
    padded = sp.csr_matrix((X[:30, :40].data, X[:30, :40].indices, X[:30, :40].indptr), (30, 60))
    assert pd.read_csv(io.StringIO(narrow))["y"].tolist() == forest.predict(padded).tolist()
    _, wide, err = cli("predict", "model.skops", "wide.npz", "--probabilities")
    assert "not used: columns from 60 on" in err
    np.testing.assert_allclose(pd.read_csv(io.StringIO(wide)).iloc[:, 1:], forest.predict_proba(X))
    code, out, err = cli("prune", "model.skops", "old.svmlight", "--out", "small.skops", "--keep", "5")
    assert code == 0, err
    assert cli("predict", "small.skops", "new.svm")[0] == 0
    code, out, err = cli("compare", "old.svmlight", "--methods", "cart,bagging:n_estimators=5", "--protocol", "1x2")
    assert code == 0, err
    assert "60 attributes" in err + out
    code, _, err = cli("predict", "model.skops", "new.svm", "--keep", "id")
    assert code == 2
    assert "have no names" in err
    pd.DataFrame(X.toarray()).assign(y=y).rename(columns=str).to_csv(tmp_path / "named.csv", index=False)
    cli("train", "named.csv", "--method", "cart", "--out", "named.skops")
    code, _, err = cli("predict", "named.skops", "wide.npz")
    assert code == 2
    assert "knows its columns by name" in err


def test_a_model_of_several_targets(cli, colic, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.stack([np.where(X[:, 0] > 0, "up", "down"), np.where(X[:, 1] > 0, "a", "b")], axis=1)
    frame = pd.DataFrame(X, columns=[*"xyz"])
    forest = RandomForestClassifier(10, random_state=0).fit(frame, Y)
    save_model(tmp_path / "two.skops", Model(forest, column_kinds(frame), "t", "classification"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    code, out, err = cli("predict", "two.skops", "rows.csv", "--probabilities")
    assert code == 0, err
    said = pd.read_csv(io.StringIO(out))
    assert list(said.columns) == ["t_0", "t_1", "p(t_0=down)", "p(t_0=up)", "p(t_1=a)", "p(t_1=b)"]
    assert said[["t_0", "t_1"]].to_numpy().tolist() == forest.predict(frame).tolist()
    np.testing.assert_allclose(said.iloc[:, 2:], np.hstack(forest.predict_proba(frame)))
