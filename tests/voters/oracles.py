"""Data, and what every adapter must do."""

import copy
import pickle

import numpy as np
import pandas as pd
from sklearn.base import clone

from conjunto.combination import decide
from conjunto.voters import Voters, as_voters

NAMES = np.array(["east", "north", "south"])


def make_rows(n=150, seed=0):
    """Five numbers and three noisy regions, labelled by name; the sum as a target."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    angle = np.arctan2(X[:, 0], X[:, 1]) + random.normal(scale=0.4, size=n)
    return X, NAMES[np.digitize(angle, [-1.0, 1.0])], X.sum(axis=1) + random.normal(size=n)


def as_frame(X):
    return pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])


def decision(adapter, X):
    """What the voters say together, one after another."""
    return decide(adapter.contributions(X))


def cast(voters, X):
    """(voters, n[, K]): the vote of each."""
    return voters.contributions(X).votes().answers


def predictions(fitted, X):
    """All that an estimator says."""
    said = [fitted.predict(X)]
    return [*said, fitted.predict_proba(X)] if hasattr(fitted, "predict_proba") else said


def assert_same(said, expected):
    for one, other in zip(said, expected, strict=True):
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)


def check_adapter(fitted, X, by_hand, subset):
    """Votes decide as the ensemble does; parts of it do as `by_hand(members)`; the ensemble stays as it was."""
    before, state = predictions(fitted, X), copy.deepcopy(fitted.__dict__)
    adapter = as_voters(fitted)
    assert isinstance(adapter, Voters)
    assert_same([decision(adapter, X)], before[:1])
    assert_same([decide(adapter.votes(X))], before[:1])

    whole = adapter.take(range(len(adapter)))
    assert type(whole) is type(fitted)
    for said, expected in zip(predictions(whole, X), before, strict=True):
        np.testing.assert_array_equal(said, expected)

    part = adapter.take(subset)
    assert_same([part.predict(X)], [by_hand(subset)])
    again = as_voters(part)
    assert len(again) == len(subset)
    np.testing.assert_array_equal(cast(again, X), cast(adapter, X)[subset])
    np.testing.assert_array_equal(cast(again, X), np.stack(list(adapter.contributions(X, subset).answers)))
    assert_same([decision(again, X)], [by_hand(subset)])

    read = adapter.read(X)
    np.testing.assert_array_equal(cast(adapter, read), cast(adapter, X))

    assert_same(predictions(pickle.loads(pickle.dumps(part)), X), predictions(part, X))
    assert type(clone(part)) is type(fitted)
    assert_same(predictions(fitted, X), before)
    assert fitted.__dict__.keys() == state.keys()
    assert {k: v for k, v in fitted.get_params(deep=False).items() if isinstance(v, (int, str, float))} == {
        k: v for k, v in state.items() if k in fitted.get_params(deep=False) and isinstance(v, (int, str, float))
    }
    return part
