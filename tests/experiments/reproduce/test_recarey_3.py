"""Chapter 3 of Recarey (2021): numbers as published are judged to agree, and what is in doubt is not judged."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conjunto.datasets import Dataset, load
from conjunto.experiments.reproduce import TABLES, ReproduceError, recarey_3, recarey_3_cars, reproduce
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.reproduce.recarey_3_data import prepare_adult, prepare_cars, prepare_digits
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Method

REFERENCE = Path(__file__).parents[4] / "shared" / "data"
beside = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data are not beside the project")
# The measures behind the cells of tabla 3.3 and 3.4, and how a printed value is one.
BEHIND = {
    ("recall", "gt50k"): ("sensitivity", lambda value: value),
    ("recall", "lt50k"): ("specificity", lambda value: value),
    ("precision", "gt50k"): ("positive-predictive-value", lambda value: value),
    ("precision", "lt50k"): ("negative-predictive-value", lambda value: value),
    ("recall", "avg"): ("balanced-error", lambda value: 1 - value),
    ("accuracy", "w.avg"): ("error", lambda value: 1 - value),
    ("recall", "w.avg"): ("error", lambda value: 1 - value),
    ("precision", "avg"): ("precision", lambda value: value),
    ("precision", "w.avg"): ("weighted-precision", lambda value: value),
    ("f1", "avg"): ("f1", lambda value: value),
    ("f1", "w.avg"): ("weighted-f1", lambda value: value),
    ("mcc", "value"): ("mcc", lambda value: value),
}


def results_of(whole, dataset, means, task, *, runs, sd):
    """Results whose measures have exactly these means; runs of all methods go up and down together."""
    noise = np.random.default_rng(0).normal(size=runs)
    noise = sd * (noise - noise.mean()) / noise.std(ddof=1)
    rows = [
        {"dataset": dataset, "repetition": r, "method": label, "size": 0, "status": "done"}
        | {name: mean * (1 + noise[r]) for name, mean in measures.items()}
        for label, measures in means.items()
        for r in range(runs)
    ]
    return Results(pd.DataFrame(rows), whole.as_dict(), {dataset: {"task": task}})


def classification_as_published(key, whole, dataset):
    means = {label: {} for label in recarey_3.LABELS.values()}
    for row in read_published(key):
        if (row["metric"], row["level"]) in BEHIND:
            measure, of = BEHIND[row["metric"], row["level"]]
            means[recarey_3.LABELS[row["model"]]][measure] = of(float(row["value"]))
    return results_of(whole, dataset, means, "classification", runs=5, sd=0.004)


def cars_as_published():
    means = {
        recarey_3_cars.LABELS[row["model"]]: {name: float(row[name]) for name in recarey_3_cars.MEASURES}
        for row in read_published("recarey-3.5")
    }
    return results_of(recarey_3_cars.experiment(), "vw", means, "regression", runs=7, sd=0.01)


def verdicts_by_model(lines):
    found = {}
    for line in lines:
        found.setdefault(line.column.partition(",")[0], set()).add(line.verdict)
    return found


def test_the_panel_is_that_of_the_listing():
    adult, digits, cars = recarey_3.experiment_adult(), recarey_3.experiment_digits(), recarey_3_cars.experiment()
    assert [method.label for method in adult.methods] == list(recarey_3.LABELS.values())
    assert [method.label for method in cars.methods] == list(recarey_3_cars.LABELS.values())
    for whole, neighbours in ((adult, 20), (digits, 1)):
        stacked = dict(whole.method("stacking").estimator.estimators)
        assert list(stacked) == list(recarey_3.LABELS)[:7]
        assert stacked["knn"].n_neighbors == neighbours
        assert (stacked["svc"].C, stacked["svc"].gamma) == (5, "auto")
        assert whole.method("random forest").parameters == {"n_estimators": 1000}
    assert digits.method("AdaBoost").parameters == {"n_estimators": 100, "learning_rate": 0.5}
    assert [cars.method(label).parameters["n_estimators"] for label in ("random forest", "bagging")] == [700, 750]
    assert list(dict(cars.method("stacking").estimator.estimators)) == list(recarey_3_cars.LABELS)[:5]
    assert (cars.protocol.partitions, adult.protocol.train) == (7, 0.8)


def test_printed_numbers_of_incomes_agree_with_themselves():
    results = classification_as_published("recarey-3.3", recarey_3.experiment_adult(), "adult")
    lines, conclusions = recarey_3.table_3_3(results, ["adult"], {})
    assert len(lines) == len(read_published("recarey-3.3")) == 11 * 13
    found = verdicts_by_model(lines)
    for model in ("CART", "logistic regression", "LDA", "k-NN", "SVC"):
        assert found[model] == {"agrees"}, model
    for model in ("MLP", "AdaBoost", "stacking"):
        assert found[model] == {"not judged"}, model
    for model, count in (("Gaussian naive Bayes", 12), ("random forest", 1), ("bagging", 1)):
        doubted = [line for line in lines if line.column.startswith(model) and line.verdict == "not judged"]
        assert len(doubted) == count
        assert all(line.reason for line in doubted)
        assert found[model] == {"agrees", "not judged"}
    # In print stacking and SVC have the same accuracy, so that it is not better than each of its models.
    assert [conclusion.holds for conclusion in conclusions] == [True, True, False]


def test_printed_numbers_of_digits_are_shown():
    results = classification_as_published("recarey-3.4", recarey_3.experiment_digits(), "mnist5k")
    lines, conclusions = recarey_3.table_3_4(results, ["mnist5k"], {})
    assert len(lines) == 11 * 8
    assert {(line.verdict, line.reason) for line in lines} == {("not judged", recarey_3.OTHER_DIGITS)}
    (line,) = [line for line in lines if line.column == "random forest, f1 avg"]
    assert (line.published_text, line.ours_text[:5]) == ("0.94", "0.940")
    assert [conclusion.holds for conclusion in conclusions[:1]] == [True]


def test_printed_numbers_of_cars_agree_with_themselves():
    lines, conclusions = recarey_3_cars.table_3_5(cars_as_published(), ["vw"], {})
    assert len(lines) == 9 * 4
    found = verdicts_by_model(lines)
    for model in ("CART", "linear regression", "k-NN", "random forest", "bagging"):
        assert found[model] == {"agrees"}, model
    for model in ("MLP", "SVR", "AdaBoost", "stacking"):
        assert found[model] == {"not judged"}, model
    assert [conclusion.holds for conclusion in conclusions] == [True, True, True]


def test_what_is_missed_is_called_by_its_name():
    """A larger R² is better and a larger error worse, and accuracies of the classes do not hide behind their mean."""
    results = cars_as_published()
    forest = results.frame["method"] == "random forest"
    worse = results.frame.assign(rmse=results.frame["rmse"] * np.where(forest, 1.5, 1))
    worse["r2"] = worse["r2"] * np.where(worse["method"] == "CART", 1.2, 1)
    lines, conclusions = recarey_3_cars.table_3_5(Results(worse, results.spec, results.facts), ["vw"], {})
    found = {line.column: line.verdict for line in lines}
    assert found["random forest, rmse"] == "worse"
    assert found["CART, r2"] == "better"
    assert not any(conclusion.holds for conclusion in conclusions[:2])
    results = classification_as_published("recarey-3.3", recarey_3.experiment_adult(), "adult")
    shifted = results.frame.assign(sensitivity=results.frame["sensitivity"] - 0.1)
    lines, _ = recarey_3.table_3_3(Results(shifted, results.spec, results.facts), ["adult"], {})
    found = {line.column: line.verdict for line in lines}
    assert [found[f"CART, {cell}"] for cell in ("recall gt50k", "recall lt50k", "f1 gt50k")] == [
        "worse", "agrees", "worse",
    ]  # fmt: skip


def test_runs_that_failed_are_no_verdicts():
    results = cars_as_published()
    broken = results.frame["status"].where(results.frame["method"] != "SVR", "failed")
    lines, _ = recarey_3_cars.table_3_5(
        Results(results.frame.assign(status=broken), results.spec, results.facts), ["vw"], {}
    )
    assert {(line.verdict, line.reason) for line in lines if line.column.startswith("SVR")} == {
        ("not run", "its runs failed")
    }


def people(**columns):
    """Four people as the columns of adult have them."""
    rows = {
        "age": [30, 40, 30, 50],
        "workclass": ["Private"] * 4,
        "fnlwgt": [1, 2, 1, 3],
        "education": ["10th", "Prof-school", "10th", "Doctorate"],
        "education-num": [6, 15, 6, 16],
        "marital-status": ["Never-married", "Divorced", "Never-married", "Widowed"],
        "native-country": ["United-States"] * 4,
    }
    X = pd.DataFrame(rows | columns)
    texts = X.select_dtypes(exclude="number").columns
    return Dataset("adult", X.astype(dict.fromkeys(texts, "category")), pd.Series(list("abab"), name="y"), "")


def test_people_are_filtered_and_coded():
    data = people()
    ready = prepare_adult(data)
    assert list(ready.X.columns) == [
        "age",
        "workclass_Private",
        "education_Doctorate",
        "education_Masters",
        "education_dropout",
        "marital-status_NotMarried",
        "marital-status_Separated",
        "marital-status_Widowed",
    ]
    # The first and the third are one person.
    assert ready.y.tolist() == ["a", "b", "b"]
    assert ready.X.iloc[1].tolist() == [40, 1, 0, 1, 0, 0, 1, 0]
    abroad = people(**{"native-country": ["Cuba", "United-States", None, "United-States"]})
    assert prepare_adult(abroad).X["age"].tolist() == [40, 50]


def test_pixels_are_black_or_white():
    data = Dataset("mnist5k", pd.DataFrame({"a": [0, 3], "b": [255, 0]}), pd.Series([7, 8]), "classification")
    assert prepare_digits(data).X.to_numpy().tolist() == [[0, 1], [1, 0]]


def test_cars_are_coded_and_a_fifth_is_left_out():
    X = pd.DataFrame({"year": range(10), "fuel": pd.Categorical(["Petrol", "Diesel"] * 5)})
    ready = prepare_cars(Dataset("vw", X, pd.Series(range(10)), "regression"))
    assert ready.X.shape == (8, 3)
    np.testing.assert_array_equal(ready.X["year"], ready.y)
    np.testing.assert_array_equal(ready.X["fuel_Diesel"], ready.y % 2)
    assert ready.X.index.tolist() == list(range(8))


@beside
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "prepare", "shape"),
    [
        ("adult", prepare_adult, (41256, 48)),
        ("vw", prepare_cars, (12125, 39)),
        ("mnist5k", prepare_digits, (5000, 784)),
    ],
)
def test_the_data_have_the_rows_and_columns_that_the_listing_gives(name, prepare, shape):
    """41,256 people; the 40 variables of the cars are 39 and the price."""
    assert prepare(load(name, folder=REFERENCE)).X.shape == shape


def test_without_the_data_the_remedy_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("CONJUNTO_DATA", raising=False)
    with pytest.raises(ReproduceError, match=r"put vw\.csv"):
        reproduce("recarey-3.5", tmp_path)
    assert not list(tmp_path.iterdir())


def test_data_are_prepared_before_they_are_run(tmp_path, monkeypatch):
    """A made-up table of cars, a panel of one: folds of 7 count as runs, and a second process gets the same rows."""
    random = np.random.default_rng(0)
    year = random.integers(2000, 2020, 15157)
    frame = pd.DataFrame({"model": random.choice(["Golf", "Polo"], 15157), "year": year})
    frame = frame.assign(transmission="Manual", mileage=1, fuelType="Petrol", tax=1, mpg=1, engineSize=1)
    frame.assign(target=1000 * (year - 1999)).to_csv(tmp_path / "vw.csv", index=False)
    monkeypatch.setenv("CONJUNTO_DATA", str(tmp_path))
    whole = recarey_3_cars.experiment()
    small = replace(whole, methods=tuple(Method("cart", method.label, {"max_depth": 2}) for method in whole.methods))
    table = replace(TABLES["recarey-3.5"], experiment=lambda: small)
    monkeypatch.setitem(TABLES, "recarey-3.5", table)
    compared = reproduce("recarey-3.5", tmp_path / "one", runs=2, n_jobs=1)
    assert (compared.runs, compared.published_runs) == (2, 7)
    assert {line.runs for line in compared.lines} == {2}
    assert reproduce("recarey-3.5", tmp_path / "two", runs=2, n_jobs=2).lines == compared.lines


@beside
@pytest.mark.slow
def test_cars_in_two_folds(tmp_path, monkeypatch):
    monkeypatch.setenv("CONJUNTO_DATA", str(REFERENCE))
    compared = reproduce("recarey-3.5", tmp_path, runs=2, n_jobs=2)
    judged = [line for line in compared.lines if line.verdict != "not judged"]
    assert len(judged) == 20
    assert sum(line.verdict == "agrees" for line in judged) >= 15
