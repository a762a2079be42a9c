import pickle

import numpy as np
import pytest
from scipy.sparse import coo_matrix

from conjunto import BaggingClassifier, Budget, RandomForestClassifier, prune
from conjunto.datasets import make_waveform
from conjunto.pruning import keep as keeping
from conjunto.pruning.measuring import as_rows, stored_bytes, thousand_rows

X, y = make_waveform(150, random_state=0)


def test_bytes_are_those_of_a_pickle():
    for model in (BaggingClassifier(n_estimators=5).fit(X, y), {"a": np.zeros(100_000)}, "text"):
        assert stored_bytes(model) == len(pickle.dumps(model, protocol=5))


def test_the_most_members_that_fit_the_bytes():
    bag = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y)
    sizes = [stored_bytes(prune(bag, X, y, keep=size, report=False)) for size in range(1, 31)]
    for most in (sizes[0], sizes[4] + 1, sizes[11], sizes[-1], 10 * sizes[-1]):
        pruned = prune(bag, X, y, keep=Budget(bytes=most), report=False)
        # The attributes that say how it was pruned are not counted.
        del pruned.order_
        assert stored_bytes(pruned) <= most
        assert len(pruned) == 30 or stored_bytes(prune(bag, X, y, keep=len(pruned) + 1, report=False)) > most


def test_the_most_members_that_fit_the_time(monkeypatch):
    # A clock of one's own: a millisecond for each member, and two for the call.
    monkeypatch.setattr(keeping, "predict_milliseconds", lambda models, rows: [{"median": 2 + len(models[0])}])
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    for most, size in ((3, 1), (9.5, 7), (31.9, 29), (32, 30), (1000, 30)):
        assert len(prune(forest, X, y, keep=Budget(milliseconds_per_1000_rows=most), report=False)) == size
    both = Budget(bytes=10**9, milliseconds_per_1000_rows=5)
    assert len(prune(forest, X, y, keep=both, report=False)) == 3
    with pytest.raises(ValueError, match=r"one member alone costs more \(3 ms per 1000 rows\); raise the budget"):
        prune(forest, X, y, keep=Budget(milliseconds_per_1000_rows=1))


def test_a_time_that_is_measured():
    bag = BaggingClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert len(prune(bag, X, y, keep=Budget(milliseconds_per_1000_rows=1e6), report=False)) == 10


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
        ({"milliseconds_per_1000_rows": 0}, "ms|mill"),
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
