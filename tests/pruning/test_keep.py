import itertools
import pickle

import numpy as np
import pytest
import sklearn.ensemble
from scipy.sparse import coo_matrix

from conjunto import AdaBoostClassifier, BaggingClassifier, Budget, CARTClassifier, RandomForestClassifier, prune
from conjunto.datasets import make_waveform
from conjunto.model_file import Model, save_model
from conjunto.problem import as_rows
from conjunto.pruning import budgeting, measuring
from conjunto.pruning.measuring import cpu_milliseconds, file_bytes, stored_bytes, thousand_rows

X, y = make_waveform(150, random_state=0)


def test_bytes_are_those_of_a_pickle():
    for model in (BaggingClassifier(n_estimators=5).fit(X, y), {"a": np.zeros(100_000)}, "text"):
        assert stored_bytes(model) == len(pickle.dumps(model, protocol=5))


def test_bytes_are_those_of_the_file(tmp_path):
    names = {f"x{column}": "number" for column in range(X.shape[1])}
    for model in (CARTClassifier(), BaggingClassifier(n_estimators=20), AdaBoostClassifier(n_estimators=5)):
        save_model(tmp_path / "model.skops", Model(model.fit(X, y), names, "class", "classification"))
        assert file_bytes(model) == pytest.approx((tmp_path / "model.skops").stat().st_size, rel=0.01)
    forest = sklearn.ensemble.RandomForestClassifier(5).fit(X, y)
    assert file_bytes(forest) == len(pickle.dumps(forest, protocol=5))


@pytest.mark.parametrize("report", [False, True])
def test_the_most_members_that_fit_the_bytes(tmp_path, report):
    """Truth: the file as it is written, with all that prune notes on the model."""
    bag = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y)
    names = {f"x{column}": "number" for column in range(X.shape[1])}

    def written(keep):
        pruned = prune(bag, X, y, keep=keep, report=report)
        save_model(tmp_path / "model.skops", Model(pruned, names, "y", "classification"))
        return len(pruned), (tmp_path / "model.skops").stat().st_size

    for members in (3, 11):
        # Digits of what is measured are not known before.
        most = written(members)[1] + 200
        kept, size = written(Budget(bytes=most))
        assert members <= kept < 30
        assert size <= most + 200
        assert written(kept + 1)[1] > most - 200
    assert written(Budget(bytes=10**7))[0] == 30


@pytest.fixture
def clock(monkeypatch):
    """A clock of one's own: a millisecond for each member and two for the call; what was timed at a size may differ."""
    surprises = {}

    def milliseconds(calls):
        spent = []
        for call in calls:
            model = call.__closure__[1].cell_contents
            spent.append(len(call.__closure__[0].cell_contents) * surprises.get(len(model), 2.0 + len(model)))
        return spent

    monkeypatch.setattr(budgeting, "cpu_milliseconds", milliseconds)
    return surprises


@pytest.mark.parametrize("name", ["milliseconds_per_1000_rows", "milliseconds_per_row"])
def test_the_most_members_that_fit_the_time(clock, name):
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    for most, size in ((4, 2), (9.5, 7), (31.9, 29), (32, 30), (1000, 30)):
        assert len(prune(forest, X, y, keep=Budget(**{name: most}), report=False)) == size
    assert len(prune(forest, X, y, keep=Budget(bytes=10**9, **{name: 5}), report=False)) == 3
    words = name.replace("milliseconds", "ms").replace("_", " ")
    with pytest.raises(ValueError, match=rf"one member alone costs more \(3 {words}\); raise the budget"):
        prune(forest, X, y, keep=Budget(**{name: 1}))


def test_what_is_left_of_an_ensemble_is_said(clock):
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="one member of 30 is left"):
        assert len(prune(forest, X, y, keep=Budget(milliseconds_per_1000_rows=3), report=False)) == 1
    # One disturbed measurement neither decides nor refuses.
    clock[1] = 30.0
    assert len(prune(forest, X, y, keep=Budget(milliseconds_per_1000_rows=25), report=False)) > 10
    clock.clear()
    clock[13] = 40.0
    with pytest.warns(UserWarning, match=r"13 members fit by a straight line .* they took 40 ms per 1000 rows"):
        prune(forest, X, y, keep=Budget(milliseconds_per_1000_rows=15), report=False)


def test_the_least_of_several_measurements_counts(monkeypatch):
    # A clock that calls set forward: by 4 ms or a tenth of that, and by far more whenever something comes between.
    now, disturbed = [0.0], itertools.cycle([0.1, 0.0, 0.5, 0.0, 0.0])
    monkeypatch.setattr(measuring.time, "process_time", lambda: now[0])

    def call(seconds):
        now[0] += seconds + next(disturbed) * (seconds > 0.001)

    found = cpu_milliseconds([lambda: call(0.004), lambda: call(0.0004)])
    assert found == pytest.approx([4.0, 0.4])


def test_a_time_that_is_measured():
    bag = BaggingClassifier(n_estimators=10, n_jobs=2, random_state=0).fit(X, y)
    for name in ("milliseconds_per_1000_rows", "milliseconds_per_row"):
        pruned = prune(bag, X, y, keep=Budget(**{name: 1e6}), report=False)
        assert len(pruned) == 10
        # It was measured in one thread, and is as it was.
        assert pruned.n_jobs == bag.n_jobs == 2


def test_a_budget_that_nothing_fits():
    bag = BaggingClassifier(n_estimators=10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"one member alone costs more \([\d,]+ bytes\)"):
        prune(bag, X, y, keep=Budget(bytes=10))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({}, "needs bytes"),
        ({"bytes": 0}, "bytes"),
        ({"bytes": 1.5}, "bytes"),
        ({"milliseconds_per_1000_rows": 0}, "milliseconds_per_1000_rows"),
        ({"milliseconds_per_row": -1}, "milliseconds_per_row"),
    ],
)
def test_bad_budgets(bad, message):
    with pytest.raises(ValueError, match=message):
        Budget(**bad)


def test_a_thousand_rows():
    assert thousand_rows(X).shape == (1000, 21)
    np.testing.assert_array_equal(thousand_rows(X)[150:300], X)
    assert thousand_rows(as_rows(X.tolist())).shape == (1000, 21)
    assert as_rows(coo_matrix(X)).format == "csr"
