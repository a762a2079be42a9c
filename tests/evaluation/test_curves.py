from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import BaggingClassifier, BaggingRegressor, Votes
from conjunto.datasets import make_waveform
from conjunto.evaluation import error_curve


def brute_force(labels, y, weights=None):
    curve = []
    for t in range(1, len(labels) + 1):
        wrong = []
        for i in range(labels.shape[1]):
            ballot = Counter()
            for member in range(t):
                if labels[member, i] >= 0:
                    ballot[labels[member, i]] += 1 if weights is None else weights[member]
            if ballot:
                most = max(ballot.values())
                wrong.append(min(c for c, votes in ballot.items() if votes == most) != y[i])
        curve.append(np.mean(wrong) if wrong else np.nan)
    return curve


LABELS = hnp.arrays(np.int32, st.tuples(st.integers(1, 8), st.integers(1, 10)), elements=st.integers(-1, 3))


@given(LABELS, st.data())
def test_against_brute_force(labels, data):
    y = data.draw(hnp.arrays(np.int64, labels.shape[1], elements=st.integers(0, 3)))
    votes = Votes(labels=labels, classes=np.arange(4))
    np.testing.assert_allclose(error_curve(votes, y), brute_force(labels, y))


@given(LABELS, st.data())
def test_weighted_members_against_brute_force(labels, data):
    y = data.draw(hnp.arrays(np.int64, labels.shape[1], elements=st.integers(0, 3)))
    # Whole weights: no rounding decides a tie.
    weights = data.draw(hnp.arrays(np.float64, len(labels), elements=st.integers(1, 5)))
    votes = Votes(labels=labels, weights=weights, classes=np.arange(4))
    np.testing.assert_allclose(error_curve(votes, y), brute_force(labels, y, weights))


@given(LABELS, st.data())
def test_order_is_that_of_the_members(labels, data):
    y = data.draw(hnp.arrays(np.int64, labels.shape[1], elements=st.integers(0, 3)))
    order = data.draw(st.permutations(range(len(labels))))
    weights = np.arange(1.0, len(labels) + 1)
    votes = Votes(labels=labels, weights=weights, classes=np.arange(4))
    expected = brute_force(labels[list(order)], y, weights[list(order)])
    np.testing.assert_allclose(error_curve(votes, y, order), expected)


def test_values_are_judged_by_squares():
    values = np.array([[1.0, np.nan], [3.0, np.nan], [2.0, 4.0]])
    y = [2.0, 3.0]
    # Means of the prefixes: 1, 2, (2 and 4); the second example is judged once somebody speaks.
    np.testing.assert_allclose(error_curve(values, y), [1.0, 0.0, (0.0 + 1.0) / 2])
    np.testing.assert_allclose(error_curve(values, y, [2, 0]), [0.5, (0.25 + 1.0) / 2])


def test_scores_add_up():
    scores = np.array([[[0.6, 0.4]], [[0.1, 0.9]]])
    np.testing.assert_allclose(error_curve(Votes(scores=scores), [0]), [0.0, 1.0])


def test_negative_scores_add_up():
    scores = np.log(np.array([[[0.6, 0.4]], [[0.1, 0.9]]]))
    np.testing.assert_allclose(error_curve(Votes(scores=scores), [0]), [0.0, 1.0])


def test_text_labels():
    votes = Votes(labels=np.array([[0, 1, 1]]), classes=np.array(["no", "yes"]))
    np.testing.assert_allclose(error_curve(votes, ["no", "yes", "no"]), [1 / 3])


@pytest.mark.parametrize("model", [BaggingClassifier, BaggingRegressor])
def test_curve_of_an_ensemble_is_that_of_its_stages(model):
    X, y = make_waveform(150, random_state=0)
    fitted = model(n_estimators=15, random_state=0).fit(X, y)
    stages = [stage.copy() for stage in fitted.staged_predict(X)]
    loss = (lambda a: (a != y).mean()) if model is BaggingClassifier else (lambda a: ((a - y) ** 2).mean())
    np.testing.assert_allclose(error_curve(fitted.votes(X), y), [loss(stage) for stage in stages])


def test_everybody_abstains():
    votes = Votes(labels=np.array([[-1, -1]]), classes=np.arange(2))
    assert np.isnan(error_curve(votes, [0, 0])).all()


def test_everybody_abstains_and_classes_are_unknown():
    assert np.isnan(error_curve(np.array([[-1, -1]]), [0, 0])).all()
