import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from conjunto import BaggingClassifier, BaggingRegressor, CARTClassifier
from conjunto.experiments import MEASURES, Experiment, Method, Protocol, run
from conjunto.experiments.measures import Measure, Scored, default_measures
from conjunto.report import write_report

CLASSES = np.array(["ant", "bee", "cat", "dog"])


class Oracle:
    """A model that says what it was told to."""

    def __init__(self, classes, proba):
        self.classes_, self._proba = classes, proba

    def predict_proba(self, X):
        return self._proba


def scored(y, predicted, proba=None, known=None, classes=CLASSES):
    model = SimpleNamespace() if proba is None else Oracle(classes if known is None else known, proba)
    return Scored(model, None, np.asarray(y), np.asarray(predicted), classes)


def measure(name, case):
    return MEASURES[name].of(case)


def random_case(seed, n=60, k=4, decimals=1):
    """Labels, predictions and probabilities with many ties; the first class is rare."""
    rng = np.random.default_rng(seed)
    classes = CLASSES[:k]
    y = rng.choice(classes, n, p=np.array([1, *[3] * (k - 1)]) / (3 * k - 2))
    predicted = np.where(rng.random(n) < 0.5, y, rng.choice(classes, n))
    proba = rng.dirichlet(np.ones(k), n)
    if decimals is not None:
        proba = np.round(proba * 10**decimals) / 10**decimals
        proba[:, -1] = 1 - proba[:, :-1].sum(axis=1)
        proba = np.abs(np.round(proba, decimals))
    return y, predicted, proba, classes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_label_measures_are_those_of_scikit_learn(seed, k):
    y, predicted, _, classes = random_case(seed, k=k)
    case = scored(y, predicted, classes=classes)
    assert measure("error", case) == pytest.approx(1 - metrics.accuracy_score(y, predicted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class that is predicted and not there
        assert measure("balanced-error", case) == pytest.approx(1 - metrics.balanced_accuracy_score(y, predicted))
    assert measure("f1", case) == pytest.approx(metrics.f1_score(y, predicted, average="macro", zero_division=0))
    assert measure("mcc", case) == pytest.approx(metrics.matthews_corrcoef(y, predicted))
    weighted = metrics.precision_recall_fscore_support(y, predicted, average="weighted", zero_division=0)
    assert measure("weighted-precision", case) == pytest.approx(weighted[0])
    assert measure("weighted-f1", case) == pytest.approx(weighted[2])
    macro = metrics.precision_score(y, predicted, average="macro", zero_division=0)
    assert measure("precision", case) == pytest.approx(macro)
    assert measure("accuracy", case) == pytest.approx(metrics.accuracy_score(y, predicted))
    assert measure("recall", case) == pytest.approx(metrics.recall_score(y, predicted, average="macro"))
    assert measure("jaccard", case) == pytest.approx(metrics.jaccard_score(y, predicted, average="macro"))
    assert measure("kappa", case) == pytest.approx(metrics.cohen_kappa_score(y, predicted))
    rarer = min(classes, key=lambda label: ((y == label).sum(), -classes.tolist().index(label)))
    f1 = metrics.f1_score(y, predicted, pos_label=rarer) if k == 2 else np.nan
    assert measure("positive-f1", case) == pytest.approx(f1, nan_ok=True)
    recalls = metrics.recall_score(y, predicted, average=None, labels=np.unique(y))
    assert measure("geometric-mean", case) == pytest.approx(np.prod(recalls) ** (1 / len(recalls)))


TWO_CLASSES = ("sensitivity", "specificity", "positive-predictive-value", "negative-predictive-value")


def test_rates_of_two_classes_by_hand():
    """Of 3 bees 2 are found, of 5 ants 4; of 3 answers "bee" 2 are right, of 5 answers "ant" 4."""
    y = ["bee"] * 3 + ["ant"] * 5
    predicted = ["bee", "bee", "ant", "bee", "ant", "ant", "ant", "ant"]
    case = scored(y, predicted, classes=CLASSES[:2])
    assert [measure(name, case) for name in TWO_CLASSES] == pytest.approx([2 / 3, 4 / 5, 2 / 3, 4 / 5])
    never = scored(y, ["ant"] * 8, classes=CLASSES[:2])
    np.testing.assert_allclose([measure(name, never) for name in TWO_CLASSES], [0, 1, np.nan, 5 / 8])
    more = scored(y, predicted, classes=CLASSES[:3])
    assert np.isnan([measure(name, more) for name in TWO_CLASSES]).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("decimals", [None, 1])
def test_probability_measures_are_those_of_scikit_learn(seed, k, decimals):
    y, predicted, proba, classes = random_case(seed, k=k, decimals=decimals)
    assert set(y) == set(classes)
    proba = proba / proba.sum(axis=1, keepdims=True)
    case = scored(y, predicted, proba, classes=classes)
    assert measure("log-loss", case) == pytest.approx(metrics.log_loss(y, proba, labels=classes), rel=1e-9)
    if k == 2:
        expected = metrics.roc_auc_score(y, proba[:, 1])
    else:
        expected = metrics.roc_auc_score(y, proba, multi_class="ovo", average="macro")
    assert measure("auc", case) == pytest.approx(expected, rel=1e-12)
    truth = (y[:, None] == classes).astype(float)
    rarer = [int(np.argmin(truth.sum(axis=0)[::-1]))] if k == 2 else range(k)
    rarer = [k - 1 - rarer[0]] if k == 2 else rarer
    precisions = [metrics.average_precision_score(truth[:, one], proba[:, one]) for one in rarer]
    assert measure("average-precision", case) == pytest.approx(np.mean(precisions))
    given = (y, proba) if k > 2 else (y == classes[1], proba[:, 1])
    brier = metrics.brier_score_loss(*given, labels=classes if k > 2 else None)
    assert measure("brier", case) == pytest.approx(brier)
    if k > 2:
        codes = np.searchsorted(classes, y)
        if decimals is None:  # scikit-learn lets the order of classes decide ties otherwise
            top = metrics.top_k_accuracy_score(codes, proba, k=2, labels=np.arange(k))
            assert measure("top-2-accuracy", case) == pytest.approx(top)


def test_calibration_error_by_hand():
    """Two bins: sure by 0.9 of four rows of which three are, by 0.2 of one that is not: (|3 - 3.6| + |0 - 0.2|) / 5."""
    proba = np.array([0.9, 0.9, 0.9, 0.9, 0.2])
    y = ["bee", "bee", "bee", "ant", "ant"]
    case = Scored(None, None, np.array(y), np.array(y), CLASSES[:2], np.column_stack([1 - proba, proba]), rarer=1)
    assert measure("calibration-error", case) == pytest.approx(0.8 / 5)


def test_the_positive_class_is_the_rarer_one_or_the_one_that_is_said():
    """Of four ants one is found, of two bees both."""
    y = np.array(["ant"] * 4 + ["bee"] * 2)
    predicted = np.array(["ant", "bee", "bee", "bee", "bee", "bee"])
    assert measure("sensitivity", scored(y, predicted, classes=CLASSES[:2])) == 1
    said = Scored(None, None, y, predicted, CLASSES[:2], rarer=0)
    assert measure("sensitivity", said) == 1 / 4
    equal = scored(y[2:], predicted[2:], classes=CLASSES[:2])
    assert equal.positive == 1


def test_auc_by_hand_with_ties():
    """Wins of positives over negatives, ties half: (1 + 1 + 1/2 + 0) / 4."""
    proba = np.array([0.9, 0.4, 0.4, 0.6])
    case = scored(["bee", "bee", "ant", "ant"], ["bee"] * 4, np.column_stack([1 - proba, proba]), classes=CLASSES[:2])
    assert measure("auc", case) == pytest.approx(2.5 / 4)


def test_a_class_that_training_missed_has_probability_nothing():
    known = CLASSES[[0, 2]]
    y = np.array(["ant", "bee", "cat", "cat"])
    proba = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9], [1.0, 0.0]])
    case = scored(y, known[proba.argmax(axis=1)], proba, known, CLASSES[:3])
    full = np.array([[0.8, 0, 0.2], [0.5, 0, 0.5], [0.1, 0, 0.9], [1, 0, 0]])
    assert np.array_equal(case.proba, full)
    eps = np.finfo(float).eps
    assert measure("log-loss", case) == pytest.approx(-np.log([0.8, eps, 0.9, eps]).mean())
    assert measure("log-loss", case) == pytest.approx(metrics.log_loss(y, full, labels=CLASSES[:3]))
    assert measure("auc", case) == pytest.approx(metrics.roc_auc_score(y, full, multi_class="ovo", average="macro"))
    assert measure("error", case) == 0.5
    assert measure("balanced-error", case) == pytest.approx((0 + 1 + 0.5) / 3)
    assert measure("geometric-mean", case) == 0


def test_auc_of_the_classes_that_the_test_rows_have():
    y, predicted, proba, classes = random_case(1, k=3, decimals=None)
    rows = y != classes[0]
    case = scored(y[rows], predicted[rows], proba[rows], classes=classes)
    pair = [
        metrics.roc_auc_score(y[rows] == classes[1], proba[rows, 1]),
        metrics.roc_auc_score(y[rows] == classes[2], proba[rows, 2]),
    ]
    assert measure("auc", case) == pytest.approx(np.mean(pair))


def test_one_class_in_the_test_rows():
    case = scored(["bee"] * 3, ["bee", "bee", "ant"], np.tile([0.25, 0.75], (3, 1)), classes=CLASSES[:2])
    assert measure("error", case) == pytest.approx(1 / 3)
    assert measure("balanced-error", case) == pytest.approx(1 / 3)
    assert measure("geometric-mean", case) == pytest.approx(2 / 3)
    assert np.isnan(measure("auc", case))
    assert measure("log-loss", case) == pytest.approx(-np.log(0.75))
    assert measure("mcc", case) == 0
    right = scored(["bee"], ["bee"], np.array([[0.0, 1.0]]), classes=CLASSES[:2])
    assert [measure(name, right) for name in ("error", "balanced-error", "geometric-mean", "f1")] == [0, 0, 1, 1]
    assert measure("log-loss", right) == pytest.approx(0, abs=1e-15)


def test_nobody_is_infinitely_sure():
    case = scored(["ant"], ["bee"], np.array([[0.0, 1.0]]), classes=CLASSES[:2])
    assert measure("log-loss", case) == pytest.approx(-np.log(np.finfo(float).eps))
    assert measure("log-loss", case) == pytest.approx(metrics.log_loss(["ant"], [[0.0, 1.0]], labels=list(CLASSES[:2])))


def test_geometric_mean_by_hand():
    """Recalls 2/4, 3/3 and 1/2: the cube root of 1/4."""
    y = ["ant"] * 4 + ["bee"] * 3 + ["cat"] * 2
    predicted = ["ant", "ant", "bee", "cat", "bee", "bee", "bee", "cat", "ant"]
    assert measure("geometric-mean", scored(y, predicted)) == pytest.approx(0.25 ** (1 / 3))


@pytest.mark.parametrize("name", ["log-loss", "auc", "members-worse-than-chance"])
def test_what_cannot_be_measured_is_nan(name):
    assert np.isnan(measure(name, scored(["ant", "bee"], ["ant", "ant"])))


@given(st.integers(0, 10_000), st.integers(2, 40))
def test_regression_measures_are_those_of_scikit_learn(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
    predicted = y + rng.normal(size=n)
    case = scored(y, predicted, classes=None)
    assert measure("mse", case) == pytest.approx(metrics.mean_squared_error(y, predicted))
    assert measure("rmse", case) == pytest.approx(metrics.root_mean_squared_error(y, predicted))
    assert measure("mae", case) == pytest.approx(metrics.mean_absolute_error(y, predicted))
    assert measure("r2", case) == pytest.approx(metrics.r2_score(y, predicted), rel=1e-9, abs=1e-9)
    same = {
        "median-absolute-error": metrics.median_absolute_error,
        "max-error": metrics.max_error,
        "mape": metrics.mean_absolute_percentage_error,
        "explained-variance": metrics.explained_variance_score,
        "d2-absolute-error": metrics.d2_absolute_error_score,
    }
    for name, theirs in same.items():
        assert measure(name, case) == pytest.approx(theirs(y, predicted), rel=1e-9, abs=1e-9)
    above = scored(np.abs(y) + 0.1, np.abs(predicted) + 0.1, classes=None)
    for name, theirs in {
        "rmsle": metrics.root_mean_squared_log_error,
        "poisson-deviance": metrics.mean_poisson_deviance,
        "gamma-deviance": metrics.mean_gamma_deviance,
    }.items():
        assert measure(name, above) == pytest.approx(theirs(above.y, above.predicted), rel=1e-9, abs=1e-9)
    assert np.isnan(measure("gamma-deviance", scored(y - y.min(), predicted, classes=None)))


def test_r2_of_one_value_is_nan():
    assert np.isnan(measure("r2", scored([2.0, 2.0], [1.0, 3.0], classes=None)))


def test_whole_numbers_do_not_overflow():
    y = np.array([0, 255], dtype=np.uint8)
    case = scored(y, np.array([1.0, 250.0]), classes=None)
    assert measure("mse", case) == pytest.approx((1 + 25) / 2)


def test_members_worse_than_chance_by_brute_force():
    """Deep noise: trees on three rows each, judged one by one."""
    X, y = make_classification(200, n_features=6, n_informative=3, n_classes=3, flip_y=0.3, random_state=0)
    y = CLASSES[y]
    model = BaggingClassifier(n_estimators=60, max_samples=4, random_state=0).fit(X[:30], y[:30])
    X, y = X[30:], y[30:]
    worse = [(model.classes_[member.predict(X)] != y).mean() > 2 / 3 for member in model.estimators_]
    assert 0 < np.mean(worse) < 1
    case = Scored(model, X, y, model.predict(X), CLASSES[:3])
    assert measure("members-worse-than-chance", case) == pytest.approx(np.mean(worse))
    # Chance has as many sides as the data have classes, not as many as the training rows showed.
    four = [(model.classes_[member.predict(X)] != y).mean() > 3 / 4 for member in model.estimators_]
    assert measure("members-worse-than-chance", Scored(model, X, y, model.predict(X), CLASSES)) == np.mean(four)


def test_members_that_missed_a_class_are_decoded():
    X, y = make_classification(90, n_features=5, n_informative=3, n_classes=3, random_state=1)
    y = CLASSES[y]
    seen = y != "ant"
    model = BaggingClassifier(n_estimators=10, random_state=0).fit(X[seen], y[seen])
    case = Scored(model, X, y, model.predict(X), CLASSES[:3])
    assert measure("error", case) >= (~seen).mean()
    said = np.array([[str(label) for label in model.classes_[row]] for row in model.votes(X).labels])
    assert measure("members-worse-than-chance", case) == ((said != y).mean(axis=1) > 2 / 3).mean()


def test_mean_leaves_of_trees_and_of_ensembles():
    X, y = make_classification(100, random_state=0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert measure("mean-leaves", Scored(tree, X, y, y, np.unique(y))) == tree.get_n_leaves()
    ours = CARTClassifier().fit(X, y)
    assert measure("mean-leaves", Scored(ours, X, y, y, np.unique(y))) == len(np.unique(ours.apply(X)))
    for model in (
        RandomForestClassifier(5, random_state=0).fit(X, y),
        BaggingClassifier(n_estimators=5, random_state=0).fit(X, y),
    ):
        expected = np.mean([member.get_n_leaves() for member in model.estimators_])
        assert measure("mean-leaves", Scored(model, X, y, y, np.unique(y))) == pytest.approx(expected)
    boosted = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y)
    expected = np.mean([member.get_n_leaves() for member in boosted.estimators_.ravel()])
    assert measure("mean-leaves", Scored(boosted, X, y, y, np.unique(y))) == pytest.approx(expected)
    X, y = make_regression(50, 4, random_state=0)
    model = BaggingRegressor(n_estimators=3, random_state=0).fit(X, y)
    assert measure("mean-leaves", Scored(model, X, y, y)) > 1


def test_what_has_no_leaves_is_nan():
    X, y = make_classification(50, random_state=0)
    for model in (LogisticRegression().fit(X, y), make_pipeline(LogisticRegression()).fit(X, y)):
        assert np.isnan(measure("mean-leaves", Scored(model, X, y, y, np.unique(y))))


@pytest.mark.parametrize("name", sorted({*MEASURES} - {"mean-leaves", "members-worse-than-chance", "top-2-accuracy"}))
def test_the_table_says_which_way_is_better(name):
    """A perfect model against one that is wrong wherever it can be."""
    if MEASURES[name].task == "regression":
        y = np.array([1.0, 2.0, 4.0])
        good, bad = scored(y, y, classes=None), scored(y, y[::-1], classes=None)
    else:
        y, other = np.array(["ant", "bee"] * 3), np.array(["bee", "ant"] * 3)
        right = (y[:, None] == CLASSES[:2]) * 0.8 + 0.1
        good, bad = scored(y, y, right, classes=CLASSES[:2]), scored(y, other, 1 - right, classes=CLASSES[:2])
    better = measure(name, good) > measure(name, bad)
    assert better == MEASURES[name].greater_is_better
    if not MEASURES[name].staged:
        return
    # Staged measures need predictions alone.
    assert measure(name, Scored(None, None, good.y, good.predicted, good.classes)) == measure(name, good)


def test_defaults_exist_and_fit_their_task():
    for task in ("classification", "regression"):
        assert all(MEASURES[name].task == task for name in default_measures(task))


def test_a_measure_joins_by_a_line_in_the_table(monkeypatch, tmp_path):
    """Cells, stages, tables and the page take it from there."""
    never = Measure("share of rows never right", "classification", lambda scored: 0.25, percent=True, short="never")
    monkeypatch.setitem(MEASURES, "never", never)
    bagging = Method("bagging", parameters={"n_estimators": 3}, sizes=(1, 2))
    trial = Experiment(("iris",), ("cart", bagging), Protocol("k-fold", 1, 3), measures=("never", "error"))
    results = run(trial, tmp_path / "results.sqlite")
    assert results.leaderboard()["mean"].tolist() == [0.25, 0.25]
    assert results.curve("iris")["bagging"].tolist() == [0.25, 0.25]
    page = write_report(tmp_path / "results.sqlite", tmp_path / "report.html", results=results).read_text()
    assert "never (%)" in page
    assert "share of rows never right" in page
