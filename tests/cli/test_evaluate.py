"""`evaluate`: the numbers are scikit-learn's of what `predict` predicts; what does not fit is said in one line."""

import io
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import metrics
from sklearn.datasets import dump_svmlight_file
from sklearn.tree import DecisionTreeClassifier

from conjunto import RandomForestClassifier, RandomForestRegressor
from conjunto.datasets import load
from conjunto.experiments.measures.judging import wilson
from conjunto.model_file import Model, column_kinds, load_model, save_model


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Models and rows, made once: horse colic (texts, missing values) and a regression."""
    folder = tmp_path_factory.mktemp("evaluate")
    data = load("horse-colic")
    frame = data.X.assign(outcome=data.y)
    frame.tail(118).to_csv(folder / "new.csv", index=False)
    X, y = data.X.head(250), data.y.head(250)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    about = {"method": "random-forest"}
    save_model(folder / "model.skops", Model(forest, column_kinds(X), "outcome", "classification", about=about))
    random = np.random.default_rng(0)
    values = pd.DataFrame(random.normal(size=(150, 2)), columns=["a", "b"])
    y = values["a"] * 3 + random.normal(size=150)
    regressor = RandomForestRegressor(10, random_state=0).fit(values.head(100), y.head(100))
    save_model(folder / "values.skops", Model(regressor, column_kinds(values), "y", "regression"))
    values.assign(y=y, site=np.arange(150) % 3).tail(50).to_csv(folder / "values.csv", index=False)
    return folder


@pytest.fixture
def files(home, tmp_path):
    for file in home.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return pd.read_csv(tmp_path / "new.csv")


def said(model, frame):
    loaded = load_model(model)
    X = loaded.arrange(frame)
    return loaded.estimator, loaded.estimator.predict(X), loaded.estimator.predict_proba(X)


def facts(cli, *arguments):
    code, out, err = cli("evaluate", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_the_numbers_are_those_of_the_predictions(cli, files, tmp_path):
    forest, predicted, proba = said(tmp_path / "model.skops", files)
    y = files["outcome"].to_numpy()
    found = facts(cli, "model.skops", "new.csv", "--measures", "error,log-loss,balanced-accuracy,f1,kappa,auc")
    values = {name: numbers["value"] for name, numbers in found["measures"].items()}
    assert values == pytest.approx(
        {
            "error": 1 - metrics.accuracy_score(y, predicted),
            "log-loss": metrics.log_loss(y, proba, labels=forest.classes_),
            "balanced-accuracy": metrics.balanced_accuracy_score(y, predicted),
            "f1": metrics.f1_score(y, predicted, average="macro"),
            "kappa": metrics.cohen_kappa_score(y, predicted),
            "auc": metrics.roc_auc_score(y, proba[:, 1]),
        }
    )
    for name, numbers in found["measures"].items():
        assert numbers["low"] < numbers["value"] < numbers["high"], name
    assert found["confusion"] == metrics.confusion_matrix(y, predicted).tolist()
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(y, predicted)
    assert [line["label"] for line in found["classes"]] == forest.classes_.tolist()
    assert [line["precision"]["value"] for line in found["classes"]] == pytest.approx(precision)
    assert [line["recall"]["value"] for line in found["classes"]] == pytest.approx(recall)
    assert [line["f1"] for line in found["classes"]] == pytest.approx(f1)
    assert [line["rows"] for line in found["classes"]] == rows.tolist()
    frequent = pd.Series(y).value_counts()
    assert found["measures"]["error"]["constant"] == pytest.approx(1 - frequent.iloc[0] / len(y))
    assert found["positive"] == frequent.index[-1]


def test_the_table(cli, files, tmp_path):
    _, predicted, _ = said(tmp_path / "model.skops", files)
    code, out, err = cli("evaluate", "model.skops", "new.csv")
    assert (code, err) == (0, "")
    wrong = int((predicted != files["outcome"]).sum())
    low, high = (f"{100 * end:.2f}" for end in wilson(wrong, 118))
    assert out.startswith("model.skops (random-forest) on 118 rows of new.csv\n")
    assert re.search(rf"^error +{100 * wrong / 118:.2f}\s% +{low} to {high} ", out, flags=re.MULTILINE)
    assert "the rarer of these rows" in out
    assert "area under the ROC curve" in out
    assert "best constant: always" in out


def test_a_rare_class_has_other_measures(cli, files, tmp_path):
    labels = files["outcome"].value_counts()
    rare = pd.concat([files[files["outcome"] == labels.index[0]], files[files["outcome"] == labels.index[1]].head(4)])
    rare.to_csv(tmp_path / "rare.csv", index=False)
    assert next(iter(facts(cli, "model.skops", "rare.csv")["measures"])) == "average-precision"


def test_a_threshold(cli, files, tmp_path):
    forest, _, proba = said(tmp_path / "model.skops", files)
    found = facts(cli, "model.skops", "new.csv", "--threshold", 0.2, "--measures", "error,sensitivity,auc")
    positive = forest.classes_.tolist().index(found["positive"])
    predicted = np.where(proba[:, positive] >= 0.2, forest.classes_[positive], forest.classes_[1 - positive])
    y = files["outcome"].to_numpy()
    assert found["measures"]["error"]["value"] == pytest.approx(np.mean(predicted != y))
    recall = metrics.recall_score(y, predicted, pos_label=found["positive"])
    assert found["measures"]["sensitivity"]["value"] == pytest.approx(recall)
    assert found["confusion"] == metrics.confusion_matrix(y, predicted).tolist()
    assert cli("evaluate", "model.skops", "new.csv", "--threshold", 1.5)[0] == 2
    code, _, err = cli("evaluate", "values.skops", "values.csv", "--threshold", 0.5)
    assert (code, "is for two classes" in err) == (2, True)


def test_within_the_values_of_a_column(cli, files, tmp_path):
    _, predicted, _ = said(tmp_path / "model.skops", files)
    files["site"] = np.where(np.arange(118) < 40, 10.0, 2.0)
    files.loc[100:, "site"] = np.nan
    files.to_csv(tmp_path / "sites.csv", index=False)
    parts = facts(cli, "model.skops", "sites.csv", "--by", "site")["parts"]
    assert [(part["name"], part["rows"]) for part in parts] == [("2", 60), ("10", 40), ("(missing)", 18)]
    wrong = (predicted != files["outcome"]).to_numpy()
    assert [part["value"] for part in parts] == pytest.approx(
        [wrong[40:100].mean(), wrong[:40].mean(), wrong[100:].mean()]
    )
    code, out, err = cli("evaluate", "model.skops", "sites.csv", "--by", "site")
    assert "not used" not in err
    assert re.search(r"^site +rows +error \(%\)", out, flags=re.MULTILINE)
    files.assign(site=np.arange(118)).to_csv(tmp_path / "many.csv", index=False)
    code, _, err = cli("evaluate", "model.skops", "many.csv", "--by", "site")
    assert (code, "'site' has 118 values" in err) == (2, True)
    assert "did you mean 'site'" in cli("evaluate", "model.skops", "many.csv", "--by", "sit")[2]


def test_values(cli, files, tmp_path):
    frame = pd.read_csv(tmp_path / "values.csv")
    predicted = load_model(tmp_path / "values.skops").estimator.predict(frame[["a", "b"]])
    found = facts(cli, "values.skops", "values.csv", "--by", "site")
    values = {name: numbers["value"] for name, numbers in found["measures"].items()}
    assert values == pytest.approx(
        {
            "rmse": metrics.root_mean_squared_error(frame["y"], predicted),
            "mae": metrics.mean_absolute_error(frame["y"], predicted),
            "r2": metrics.r2_score(frame["y"], predicted),
        }
    )
    assert found["measures"]["rmse"]["constant"] == pytest.approx(frame["y"].std(ddof=0))
    assert len(found["parts"]) == 3
    assert "classes" not in found
    code, out, _ = cli("evaluate", "values.skops", "values.csv", "--measures", "max-error", "--out", "page.html")
    assert code == 0
    assert "always the mean" in out
    assert (tmp_path / "page.html").read_text().count("<svg") == 2


def test_rows_and_answers_that_are_missing(cli, files, tmp_path):
    whole = facts(cli, "model.skops", "new.csv")
    more = pd.concat([files, files.head(7).assign(outcome=None)])
    more.to_csv(tmp_path / "more.csv", index=False)
    found = facts(cli, "model.skops", "more.csv")
    assert (found["rows"], found["left_out"]) == (118, 7)
    assert found["measures"] == whole["measures"]
    assert "7 rows without an answer left out" in cli("evaluate", "model.skops", "more.csv")[1]
    files.assign(outcome=None).to_csv(tmp_path / "none.csv", index=False)
    code, _, err = cli("evaluate", "model.skops", "none.csv")
    assert (code, "holds no value" in err) == (2, True)
    files.head(0).to_csv(tmp_path / "header.csv", index=False)
    code, _, err = cli("evaluate", "model.skops", "header.csv")
    assert (code, "no rows" in err) == (2, True)
    files.head(1).to_csv(tmp_path / "one.csv", index=False)
    assert facts(cli, "model.skops", "one.csv", "--out", "page.html")["measures"]["auc"]["value"] is None


def test_what_does_not_fit(cli, files, tmp_path):
    files.loc[4, "outcome"] = "stolen"
    files.to_csv(tmp_path / "label.csv", index=False)
    code, out, err = cli("evaluate", "model.skops", "label.csv", "--out", "page.html")
    assert (code, out) == (2, "")
    assert "the target 'outcome' of label.csv holds 'stolen' in row 5, which is no class of the model" in err
    assert not (tmp_path / "page.html").exists()
    numeric = files.select_dtypes("number").columns[0]
    files.drop(columns=numeric).to_csv(tmp_path / "less.csv", index=False)
    files.drop(columns="outcome").to_csv(tmp_path / "unanswered.csv", index=False)
    pd.read_csv(tmp_path / "values.csv").assign(y="high").to_csv(tmp_path / "high.csv", index=False)
    for arguments, message in (
        (("model.skops", "unanswered.csv"), "unanswered.csv has no column 'outcome', the target of the model"),
        (("model.skops", "new.csv", "--target", "outcom"), "did you mean 'outcome'"),
        (("model.skops", "new.csv", "--measures", "eror"), "--measures: there is none named 'eror'; did you mean"),
        (("model.skops", "new.csv", "--measures", "rmse"), "'rmse' is not for classification"),
        (("model.skops", "new.csv", "--out", "page.txt"), "must end in .html"),
        (("values.skops", "high.csv"), "holds 'high' in row 1, and the model predicts finite numbers"),
    ):
        code, out, err = cli("evaluate", *arguments)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1 + err.count("not used")
    files["outcome"] = files["outcome"].replace("stolen", files["outcome"].iloc[0])
    files.drop(columns=numeric).to_csv(tmp_path / "less.csv", index=False)
    code, _, err = cli("evaluate", "model.skops", "less.csv")
    assert (code, f"lack 1 column of the model: {numeric}" in err) == (2, True)
    assert cli("evaluate", "model.skops", "nowhere.csv")[0] == 1
    assert cli("evaluate", "model.skops", "new.csv", "--out", "nowhere/page.html")[0] == 1


def test_the_page_holds_the_numbers(cli, files, tmp_path):
    files["site <b>"] = np.where(np.arange(118) < 40, "<script>", "b & c")
    files.to_csv(tmp_path / "new.csv", index=False)
    arguments = ("evaluate", "model.skops", "new.csv", "--by", "site <b>", "--out", "page.html")
    code, out, err = cli(*arguments)
    assert code == 0, err
    assert out.endswith("\npage.html\n")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert page.count("<svg") == 3
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert len(re.findall(r'\bid="([^"]*)"', page)) == len(set(re.findall(r'\bid="([^"]*)"', page)))
    found = facts(cli, *arguments[1:-2])
    for name, decimals, factor in (("error", 2, 100), ("auc", 4, 1)):
        for end in ("value", "low", "high", "constant"):
            assert f"{factor * found['measures'][name][end]:.{decimals}f}" in page
    for row in found["confusion"]:
        for number in row:
            assert f">{number}</td>" in page
    cli(*arguments)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert not list(tmp_path.glob(".*.part"))


def test_many_classes(cli, files, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=300), "y": [f"c{i % 30:02}" for i in range(300)]})
    tree = RandomForestClassifier(2, random_state=0).fit(frame[["a"]], frame["y"])
    save_model(tmp_path / "many.skops", Model(tree, {"a": "number"}, "y", "classification"))
    frame.head(60).to_csv(tmp_path / "many.csv", index=False)
    code, out, err = cli(
        "evaluate", "many.skops", "many.csv", "--out", "page.html", "--measures", "error,top-2-accuracy"
    )
    assert code == 0, err
    assert "and 5 more classes" in out
    assert "positive class" not in out
    assert "of 30" in (tmp_path / "page.html").read_text()


def test_classes_that_are_numbers_or_look_like_them(cli, tmp_path):
    a = np.arange(40.0)
    for classes, name in (
        (np.array([1, 2]), "numbers"),
        (np.array(["1", "2"]), "texts"),
        (np.array([True, False]), "b"),
    ):
        y = classes[(a > 20).astype(int)]
        forest = RandomForestClassifier(5, random_state=0).fit(pd.DataFrame({"a": a}), y)
        save_model(tmp_path / f"{name}.skops", Model(forest, {"a": "number"}, "y", "classification"))
        pd.DataFrame({"a": a, "y": y}).to_csv(tmp_path / f"{name}.csv", index=False)
        assert facts(cli, f"{name}.skops", f"{name}.csv")["measures"]["error"]["value"] < 0.1


def test_a_model_of_another_library(cli, files, tmp_path):
    frame = pd.read_csv(tmp_path / "values.csv")
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(frame[["a", "b"]].to_numpy(), frame["y"] > 0)
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(tree))
    frame.assign(y=frame["y"] > 0).to_csv(tmp_path / "signs.csv", index=False)
    arguments = ("tree.pkl", "signs.csv", "--target", "y", "--by", "site")
    assert cli("evaluate", *arguments)[0] == 2
    found = facts(cli, *arguments, "--allow-pickle")
    expected = 1 - tree.score(frame[["a", "b"]].to_numpy(), frame["y"] > 0)
    assert found["measures"]["error"]["value"] == pytest.approx(expected)


def test_rows_come_through_a_pipe(cli, files, tmp_path, monkeypatch):
    expected = facts(cli, "model.skops", "new.csv")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "new.csv").read_bytes())))
    assert facts(cli, "model.skops", "-")["measures"] == expected["measures"]


def test_rows_of_mostly_zeros(cli, tmp_path):
    X = sp.random(120, 60, density=0.1, random_state=0, format="csr")
    y = (np.asarray(X[:, :10].sum(axis=1)).ravel() > 0.4).astype(int)
    forest = RandomForestClassifier(10, random_state=0).fit(X[:80], y[:80])
    save_model(tmp_path / "model.skops", Model(forest, {}, "y", "classification"))
    dump_svmlight_file(X[80:], y[80:], str(tmp_path / "new.svm"))
    error = facts(cli, "model.skops", "new.svm")["measures"]["error"]["value"]
    assert error == pytest.approx(1 - forest.score(X[80:], y[80:]))
    sp.save_npz(tmp_path / "rows.npz", X)
    for arguments, message in (
        (("rows.npz",), "has no array 'y' of answers"),
        (("new.svm", "--by", "x"), "have no names"),
        (("new.svm", "--target", "x"), "have no names"),
    ):
        code, _, err = cli("evaluate", "model.skops", *arguments)
        assert (code, message in err) == (2, True)


def test_a_model_of_several_targets_is_refused(cli, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    Y = np.where(frame.to_numpy() > 0, "up", "down")
    forest = RandomForestClassifier(3, random_state=0).fit(frame, Y)
    save_model(tmp_path / "two.skops", Model(forest, column_kinds(frame), "t", "classification"))
    frame.assign(t="up").to_csv(tmp_path / "rows.csv", index=False)
    code, _, err = cli("evaluate", "two.skops", "rows.csv")
    assert (code, "several targets" in err) == (2, True)


def test_help_has_an_example(cli):
    assert "conjunto evaluate model.skops new.csv" in cli("evaluate", "--help")[1]
