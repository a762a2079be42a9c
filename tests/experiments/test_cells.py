import dataclasses
import pickle
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import conjunto.experiments
from conjunto import BaggingClassifier, BaggingRegressor, CARTClassifier, prune
from conjunto import RandomForestClassifier as OurForest
from conjunto.datasets import Dataset, load, make_twonorm
from conjunto.evaluation import error_curve
from conjunto.experiments import Cell, Experiment, Method, Protocol, Source, SpecError
from conjunto.experiments.cells import Bench, build, cell_seed, resolve_sizes
from conjunto.experiments.measures.scored import rows_for
from conjunto.votes import Votes

WINE = load("wine")
FOLDS = Protocol("k-fold", repetitions=2, folds=4)


class Moody(ClassifierMixin, BaseEstimator):
    """Fails, warns, or answers in a column: what other people's estimators do."""

    def __init__(self, mood="calm"):
        self.mood = mood

    def fit(self, X, y):
        if self.mood == "fails":
            raise RuntimeError("I will not")
        if self.mood == "warns":
            for _ in range(3):
                warnings.warn("I would rather not", UserWarning, stacklevel=1)
            warnings.warn("old hat", DeprecationWarning, stacklevel=1)
        self.classes_ = np.unique(y)
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(X, y)
        return self

    def predict(self, X):
        said = self.tree_.predict(X)
        return said[:, None] if self.mood == "column" else said


class ColumnOfMeans(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full((len(X), 1), self.mean_)


CALLS = Counter()


class Rows:
    """What `Reader.read` makes of a table."""

    def __init__(self, X):
        self.X = X


class Foreign(ClassifierMixin, BaseEstimator):
    """Three members that give the first, second or third class for all rows; takes tables alone."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.zeros(self._n_rows(X), dtype=int)]

    def predict_proba(self, X):
        return np.tile([0.5, 0.3, 0.2], (self._n_rows(X), 1))

    def staged_predict(self, X):
        yield from [self.predict(X)] * 3

    def votes(self, X):
        return Votes(labels=np.tile([[0], [1], [2]], self._n_rows(X)))

    def _n_rows(self, X):
        return len(X)

    def __len__(self):
        return 3


class Reader(Foreign):
    """The same with a door: it checks and encodes rows in `read` alone; counts what it is asked with."""

    def read(self, X):
        CALLS["read"] += 1
        return Rows(X)

    def _n_rows(self, X):
        CALLS["asked with what was read" if isinstance(X, Rows) else "asked with a table"] += 1
        return len(X.X)


def experiment(methods, datasets=("wine",), protocol=FOLDS, **more):
    return Experiment(datasets, methods, protocol, **more)


def run(trial, dataset, repetition, method):
    return Bench(trial).run(Cell(dataset, repetition, method))


def regression_data(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return Dataset("line", X, pd.Series(X["a"] * 2 + rng.normal(size=n), name="y"), "regression")


@pytest.mark.parametrize("repetition", [0, 3, 5])
def test_a_cell_is_what_one_would_do_by_hand(repetition):
    parameters = {"n_estimators": 9, "max_samples": 0.5}
    trial = experiment((Method("bagging", "half bagging", parameters), "cart"), seed=11)
    found = run(trial, "wine", repetition, "half bagging")
    bench = Bench(trial)
    part = bench.partition("wine", repetition)
    seed = cell_seed(11, "wine", repetition, "half bagging")
    half = {"n_estimators": 9, "max_samples": 0.5, "n_jobs": bench.threads}
    model = BaggingClassifier(**half, random_state=seed).fit(part.X_train, part.y_train)
    said, proba = model.predict(part.X_test), model.predict_proba(part.X_test)
    assert found.status == "done"
    assert found.seed == seed
    assert found.measures == {
        "error": pytest.approx(1 - accuracy_score(part.y_test, said)),
        "balanced-error": pytest.approx(1 - balanced_accuracy_score(part.y_test, said)),
        "auc": pytest.approx(roc_auc_score(part.y_test, proba, multi_class="ovo")),
        "log-loss": pytest.approx(log_loss(part.y_test, proba)),
    }
    matrix = np.zeros((3, 3), dtype=int)
    for true, predicted, count in found.confusion:
        matrix[true, predicted] = count
    assert np.array_equal(matrix, confusion_matrix(part.y_test, said))
    assert (found.n_train, found.n_test, found.members) == (len(part.y_train), len(part.y_test), 9)
    assert found.model_bytes == len(pickle.dumps(model, protocol=5))
    assert 0 < found.fit_seconds < 10
    assert 0 < found.predict_seconds < 10
    assert (found.warnings, found.traceback) == ((), "")


def test_the_partition_is_one_of_the_protocol():
    trial = experiment(("cart",), seed=5)
    bench = Bench(trial)
    tested = np.concatenate([bench.partition("wine", fold).X_test.index for fold in range(4)])
    assert sorted(tested) == list(range(len(WINE.y)))
    for fold in range(8):
        part = bench.partition("wine", fold)
        assert sorted([*part.X_train.index, *part.X_test.index]) == list(range(len(WINE.y)))
        assert list(part.y_test) == list(WINE.y[part.X_test.index])
        assert list(part.y_train) == list(WINE.y[part.X_train.index])
    other = Bench(experiment(("cart",), seed=6)).partition("wine", 0)
    assert list(other.X_test.index) != list(bench.partition("wine", 0).X_test.index)


def test_all_methods_see_the_same_rows_and_names_make_them_differ():
    """Whoever runs, in whatever order: the partition depends on seed, data set and repetition."""
    trial = experiment(("cart", "bagging"), ("wine", Source("again", load="wine")))
    orders = []
    for cells in (trial.cells()[:6], trial.cells()[:6][::-1]):
        bench, seen = Bench(trial), {}
        for cell in cells:
            seen[cell] = list(bench.partition(cell.dataset, cell.repetition).X_test.index)
        orders.append(seen)
    assert orders[0] == orders[1]
    for repetition in range(3):
        assert orders[0][Cell("wine", repetition, "cart")] == orders[0][Cell("wine", repetition, "bagging")]
    again = Bench(trial).partition("again", 0)
    assert list(again.X_test.index) != orders[0][Cell("wine", 0, "cart")]


def test_outcomes_do_not_depend_on_the_order_of_cells():
    trial = experiment((Method("bagging", parameters={"n_estimators": 3}), "cart"), ("wine", "iris"))
    one, other = Bench(trial), Bench(trial)
    cells = trial.cells()
    forward = {cell: one.run(cell).measures for cell in cells}
    shuffled = [cells[i] for i in np.random.default_rng(0).permutation(len(cells))]
    assert forward == {cell: other.run(cell).measures for cell in shuffled}
    assert len({run(trial, *cell).seed for cell in cells}) == len(cells)


def test_members_differ_by_label_data_set_and_repetition():
    seeds = {cell_seed(s, d, r, m) for s in (0, 1) for d in ("a", "b") for r in range(3) for m in ("x", "y")}
    assert len(seeds) == 24
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert cell_seed(0, "a", 1, "b") == cell_seed(0, "a", 1, "b")
    # Names that would read the same when strung together.
    assert cell_seed(0, "ab", 1, "c") != cell_seed(0, "a", 1, "bc")


def test_nested_sizes_are_the_errors_of_the_first_members():
    sizes = (1, 2, 7, 0.5, 20, 1.0, 21, 500)
    trial = experiment((Method("bagging", parameters={"n_estimators": 20}, sizes=sizes),), ("sonar",))
    found = run(trial, "sonar", 2, "bagging")
    part = Bench(trial).partition("sonar", 2)
    model = BaggingClassifier(n_estimators=20, random_state=found.seed).fit(part.X_train, part.y_train)
    curve = error_curve(model.votes(part.X_test), part.y_test)
    assert sorted(found.nested) == [1, 2, 7, 10, 20]
    assert len({curve[size - 1] for size in found.nested}) > 2
    for size, measures in found.nested.items():
        assert measures["error"] == pytest.approx(curve[size - 1])
        # What needs probabilities is not staged.
        assert set(measures) == {"error", "balanced-error"}
    assert found.nested[20]["error"] == found.measures["error"]


def test_nested_sizes_of_committees_count_their_members():
    method = Method("igp-committees", parameters={"n_committees": 4, "committee_size": 3}, sizes=(0.5, 1.0))
    outcome = run(experiment((method,), ("sonar",)), "sonar", 0, "igp-committees")
    assert outcome.members == 12
    assert outcome.nested[12]["error"] == outcome.measures["error"]
    assert set(outcome.nested) == {6, 12}


def test_nested_sizes_of_a_soft_vote_and_of_a_regression():
    """A warm start or a smaller ensemble has the same first members."""
    soft = Method("random-forest", parameters={"n_estimators": 12, "vote": "soft"}, sizes=(3,))
    trial = experiment((soft,))
    found = run(trial, "wine", 1, "random-forest")
    part = Bench(trial).partition("wine", 1)
    small = OurForest(n_estimators=3, vote="soft", random_state=found.seed).fit(part.X_train, part.y_train)
    assert found.nested[3]["error"] == pytest.approx((small.predict(part.X_test) != part.y_test).mean())

    bagging = Method("bagging", parameters={"n_estimators": 12}, sizes=(4,))
    trial = experiment((bagging,), (Source("line", data=regression_data()),))
    found = run(trial, "line", 1, "bagging")
    part = Bench(trial).partition("line", 1)
    small = BaggingRegressor(n_estimators=4, random_state=found.seed).fit(part.X_train, part.y_train)
    assert found.nested[4]["rmse"] == pytest.approx(np.sqrt(np.mean((small.predict(part.X_test) - part.y_test) ** 2)))
    assert found.confusion == []


def test_orderings_that_share_a_seed_act_on_the_same_members():
    """By hand: one ensemble, ordered twice; the errors of its prefixes on training and test rows."""
    few = {"n_estimators": 20, "estimator__max_depth": 3}
    orderings = ("reduce_error", "margin_distance")
    methods = [
        Method("bagging", name, {**few, "pruning__method": name, "pruning__keep": 1.0}, (0.2,), seed_as="bagging")
        for name in orderings
    ]
    measures = ("error", "training-error")
    trial = experiment((Method("bagging", parameters=few), *methods), ("sonar",), measures=measures)
    whole = run(trial, "sonar", 1, "bagging")
    part = Bench(trial).partition("sonar", 1)
    model = build(trial.method("bagging"), "classification", whole.seed).fit(part.X_train, part.y_train)
    found = [run(trial, "sonar", 1, name) for name in orderings]
    for name, outcome in zip(orderings, found, strict=True):
        assert outcome.seed == whole.seed
        # All members in another order are the same ensemble.
        assert outcome.measures == whole.measures
        small = prune(model, part.X_train, part.y_train, method=name, keep=4)
        assert outcome.nested == {
            4: {
                "error": np.mean(small.predict(part.X_test) != part.y_test),
                "training-error": np.mean(small.predict(part.X_train) != part.y_train),
            }
        }
    assert found[0].nested[4]["training-error"] < found[1].nested[4]["training-error"]


def test_the_training_error_is_that_of_the_rows_of_the_fit():
    methods = (Method("bagging", parameters={"n_estimators": 5, "max_samples": 0.3}, sizes=(2,)),)
    for protocol in (FOLDS, Protocol("bootstrap-632", repetitions=2)):
        trial = experiment(methods, ("sonar",), protocol, measures=("error", "training-error"))
        found = run(trial, "sonar", 1, "bagging")
        part = Bench(trial).partition("sonar", 1)
        model = build(methods[0], "classification", found.seed).fit(part.X_train, part.y_train)
        curve = error_curve(model.votes(part.X_train), part.y_train)
        assert found.measures["training-error"] == pytest.approx(curve[4])
        assert found.nested[2]["training-error"] == pytest.approx(curve[1])
        assert 0 < found.measures["training-error"] < found.measures["error"]


def test_a_single_model_has_no_sizes():
    assert run(experiment((Method("cart", sizes=(1, 5)),)), "wine", 0, "cart").nested == {}


@pytest.mark.parametrize(
    ("sizes", "members", "expected"),
    [
        ((1, 5, 10, 11), 10, [1, 5, 10]),
        ((0.5, 5), 10, [5]),
        ((0.01,), 10, [1]),
        ((1.0, 0.25), 100, [25, 100]),
        ((1,), 1, [1]),
        ((), 5, []),
        ((1.0,), 1, [1]),
    ],
)
def test_sizes_resolve(sizes, members, expected):
    assert resolve_sizes(sizes, members) == expected


def test_the_632_estimate_by_hand():
    """0.632 of the error outside the sample and 0.368 of the apparent error, of a model of all rows on them."""
    parameters = {"n_estimators": 3, "max_samples": 0.2}
    trial = experiment(
        (Method("bagging", parameters=parameters, sizes=(2,)),),
        ("sonar",),
        Protocol("bootstrap-632", repetitions=2),
        measures=("error", "log-loss"),
    )
    found = run(trial, "sonar", 1, "bagging")
    part = Bench(trial).partition("sonar", 1)
    assert len(part.y_train) == 208
    assert found.n_train == len(set(part.X_train.index)) == 208 - found.n_test
    assert not set(part.X_train.index) & set(part.X_test.index)
    data = load("sonar")
    seed = cell_seed(0, "sonar", "all", "bagging")
    one = BaggingClassifier(**parameters, random_state=found.seed).fit(part.X_train, part.y_train)
    whole = BaggingClassifier(**parameters, random_state=seed).fit(data.X, data.y.to_numpy())
    judged = ((one, part.X_test, part.y_test), (whole, data.X, data.y.to_numpy()))
    errors = [np.mean(model.predict(X) != y) for model, X, y in judged]
    assert errors[0] > errors[1] > 0
    assert found.measures["error"] == pytest.approx(0.632 * errors[0] + 0.368 * errors[1])
    losses = [log_loss(y, model.predict_proba(X)) for model, X, y in judged]
    assert found.measures["log-loss"] == pytest.approx(0.632 * losses[0] + 0.368 * losses[1])
    curves = [error_curve(model.votes(X), y)[1] for model, X, y in judged]
    assert found.nested[2]["error"] == pytest.approx(0.632 * curves[0] + 0.368 * curves[1])
    bench = Bench(trial)
    assert bench.run(Cell("sonar", 0, "bagging")).measures != bench.run(Cell("sonar", 1, "bagging")).measures
    assert len(bench._apparent) == 1
    # The matrix is that of the rows outside.
    assert sum(count for *_, count in found.confusion) == len(part.y_test)


def test_a_failure_is_kept_and_the_others_go_on():
    trial = experiment((Method("moody", estimator=Moody("fails")), "cart"))
    bench = Bench(trial)
    outcomes = [bench.run(cell) for cell in trial.cells()[:4]]
    assert [outcome.status for outcome in outcomes] == ["failed", "done"] * 2
    assert "RuntimeError: I will not" in outcomes[0].traceback
    assert "test_cells.py" in outcomes[0].traceback
    assert (outcomes[0].measures, outcomes[0].nested) == ({}, {})
    assert np.isnan(outcomes[0].fit_seconds)
    assert outcomes[0].seed == cell_seed(0, "wine", 0, "moody")


def test_data_that_cannot_be_cut_fail_in_their_cells():
    trial = experiment(("cart",), protocol=Protocol("holdout", 1, train=500))
    found = run(trial, "wine", 0, "cart")
    assert found.status == "failed"
    assert "500" in found.traceback


def test_a_method_of_another_task_fails_in_its_cells():
    trial = experiment(("flipping", "cart"), (Source("line", data=regression_data()),))
    assert "flipping does not do regression" in run(trial, "line", 0, "flipping").traceback
    assert run(trial, "line", 0, "cart").status == "done"


def test_warnings_are_captured_once_each():
    trial = experiment((Method("moody", estimator=Moody("warns")), "cart"))
    found = run(trial, "wine", 0, "moody")
    assert found.status == "done"
    assert found.warnings == ("UserWarning: I would rather not", "DeprecationWarning: old hat")
    assert run(trial, "wine", 0, "cart").warnings == ()


def test_answers_in_a_column_are_answers():
    """(n, 1) against (n,) would be compared row with every row."""
    trial = experiment((Method("calm", estimator=Moody()), Method("column", estimator=Moody("column"))))
    calm, column = (run(trial, "wine", 0, method) for method in ("calm", "column"))
    assert calm.measures["error"] == column.measures["error"] > 0
    assert calm.confusion == column.confusion
    data = regression_data()
    found = run(experiment((Method("m", estimator=ColumnOfMeans()),), (Source("line", data=data),)), "line", 0, "m")
    part = Bench(experiment(("cart",), (Source("line", data=data),))).partition("line", 0)
    assert found.measures["rmse"] == pytest.approx(np.sqrt(np.mean((part.y_test - part.y_train.mean()) ** 2)))


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(max_features=1),
        make_pipeline(FunctionTransformer(), DecisionTreeClassifier(max_features=1)),
        RandomForestClassifier(5, n_jobs=1),
        BaggingClassifier(estimator=CARTClassifier(max_features=1), n_estimators=3),
    ],
)
def test_foreign_estimators_are_seeded_and_left_alone(estimator):
    before = repr(estimator.get_params())
    trial = experiment((Method("mine", estimator=estimator), Method("twin", estimator=estimator)), ("sonar",))
    outcomes = [[run(trial, "sonar", r, m).measures for r in range(4)] for m in ("mine", "mine", "twin")]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0] != outcomes[2]
    assert repr(estimator.get_params()) == before
    built = build(trial.method("mine"), "classification", 123).get_params()
    seeds = [value for name, value in built.items() if name.endswith("random_state")]
    assert None not in seeds
    assert len(set(seeds)) == len(seeds)


def test_members_of_a_foreign_ensemble_have_seeds_of_their_own():
    trees = [(f"t{i}", ExtraTreeClassifier(max_features=1)) for i in range(4)]
    method = Method("vote", estimator=VotingClassifier(trees))
    model = build(method, "classification", 5).fit(*load_iris(return_X_y=True))
    depths = {(tree.get_depth(), tree.tree_.node_count) for tree in model.estimators_}
    assert len(depths) > 1


def test_parameters_of_a_foreign_estimator_are_set():
    method = Method(
        "tree", estimator=make_pipeline(DecisionTreeClassifier()), parameters={"decisiontreeclassifier__max_depth": 1}
    )
    found = run(experiment((method,), measures=("mean-leaves", "error")), "wine", 0, "tree")
    assert found.status == "done"
    assert found.members == 1
    assert build(method, "classification", 0)[-1].max_depth == 1


def test_generated_problems_are_drawn_afresh_and_equal_over_methods():
    source = Source("twonorm", parameters={"class_shares": [0.3, 0.7]}, train=40, test=100)
    trial = experiment(("cart", "bagging"), (source,), Protocol("holdout", repetitions=3), seed=2)
    parts = [Bench(trial).partition("twonorm", repetition) for repetition in range(3)]
    assert [(len(part.y_train), len(part.y_test)) for part in parts] == [(40, 100)] * 3
    rows = np.concatenate([np.concatenate([part.X_train, part.X_test]) for part in parts])
    assert len(np.unique(rows, axis=0)) == 3 * 140
    again = Bench(trial)
    for cell in trial.cells():
        part = again.partition(cell.dataset, cell.repetition)
        assert np.array_equal(part.X_train, parts[cell.repetition].X_train)
        assert np.array_equal(part.y_test, parts[cell.repetition].y_test)
    shares = np.mean([part.y_test.mean() for part in parts])
    assert shares == pytest.approx(0.7, abs=5 * np.sqrt(0.21 / 300))
    other = Bench(dataclasses.replace(trial, seed=3)).partition("twonorm", 0)
    assert not np.array_equal(other.X_train, parts[0].X_train)


def test_sizes_of_generated_problems_as_shares():
    source = Source("a", load="twonorm", parameters={"n_samples": 90})
    part = Bench(experiment(("cart",), (source,), Protocol("holdout", 1))).partition("a", 0)
    assert (len(part.y_train), len(part.y_test)) == (60, 30)


def test_generated_problems_in_folds_are_one_sample():
    source = Source("a", load="twonorm", parameters={"n_samples": 60})
    bench = Bench(experiment(("cart",), (source,), Protocol("k-fold", 1, 3)))
    tested = np.concatenate([bench.partition("a", fold).X_test for fold in range(3)])
    assert len(np.unique(tested, axis=0)) == 60
    # Drawn by our generator: the means of the two classes are apart by 2 a in every coordinate, a = 2 / sqrt(20).
    X, _ = make_twonorm(60, random_state=0)
    assert tested.shape == X.shape


def test_a_file_is_read_as_its_source_says(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{'xy'[i % 2]},{i % 3},{['no', 'yes'][i % 2]}" for i in range(30)]
    path.write_text("\n".join(["number,letter,grade,answer", *rows]))
    source = Source("t", path=str(path), target="answer", drop=("number",), categorical=("grade",))
    trial = experiment(("cart",), (source,), Protocol("k-fold", 1, 3))
    part = Bench(trial).partition("t", 0)
    assert list(part.X_train.columns) == ["letter", "grade"]
    assert part.X_train["grade"].map(type).eq(str).all()
    assert run(trial, "t", 0, "cart").measures["error"] == 0


def test_training_that_misses_a_class_is_judged_over_all_classes():
    X = pd.DataFrame({"a": np.arange(31.0)})
    data = Dataset("rare", X, pd.Series(["p"] * 15 + ["q"] * 15 + ["r"]), "classification")
    trial = experiment(("cart",), (Source("rare", data=data),), Protocol("k-fold", 1, 3))
    outcomes = [run(trial, "rare", fold, "cart") for fold in range(3)]
    hit = [outcome for outcome in outcomes if any(true == 2 for true, *_ in outcome.confusion)]
    assert len(hit) == 1
    # A class of probability 0: the loss of that row alone is -log(eps), about 36.
    assert hit[0].measures["log-loss"] > 36 / 11 - 1e-9
    assert hit[0].measures["balanced-error"] >= 1 / 3


def test_wrong_parameters_of_a_generator_are_refused_before_the_run(tmp_path):
    for parameters in ({"n": 3}, {"class_shares": [0.7, 0.7]}, {"n_samples": -1}):
        experiment = Experiment((Source("twonorm", parameters=parameters),), ("cart",))
        with pytest.raises(SpecError, match="parameters of twonorm"):
            conjunto.experiments.run(experiment, tmp_path / "results.sqlite")
    assert not list(tmp_path.iterdir())


MANY = ("error", "auc", "log-loss", "members-worse-than-chance", "training-error")


@pytest.mark.parametrize(
    ("protocol", "measures", "reads"),
    [
        (FOLDS, MANY[:4], 1),  # the test rows
        (FOLDS, MANY, 2),  # and the training rows
        (Protocol("bootstrap-632", 2), MANY, 3),  # and all rows, once for all repetitions
    ],
)
def test_rows_are_read_once_and_asked_about_often(protocol, measures, reads):
    CALLS.clear()
    methods = (Method("reader", estimator=Reader(), sizes=(1, 2)), Method("foreign", estimator=Foreign(), sizes=(1, 2)))
    bench = Bench(experiment(methods, protocol=protocol, measures=measures))
    found, expected = (bench.run(Cell("wine", 0, name)) for name in ("reader", "foreign"))
    assert (found.status, found.traceback) == ("done", "")
    assert found.measures == expected.measures
    assert found.nested == expected.nested
    assert set(found.nested) == {1, 2}
    assert CALLS["read"] == reads
    assert CALLS["asked with a table"] == 0
    assert CALLS["asked with what was read"] >= 4
    bench.run(Cell("wine", 1, "reader"))
    assert CALLS["read"] == 2 * reads - (reads == 3)


def test_models_without_a_door_get_the_table():
    X = [[1.0], [2.0]]
    assert rows_for(Foreign(), X) is X
    assert rows_for(make_pipeline(Reader()), X) is X
    assert rows_for(Reader(), X).X is X
