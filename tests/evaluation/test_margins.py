import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conjunto import AdaBoostClassifier, Votes
from conjunto.datasets import make_waveform
from conjunto.evaluation import margins

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 8))
LABELS = hnp.arrays(np.int32, SHAPES, elements=st.integers(-1, 3))
SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(2, 4)), elements=st.floats(-5, 5)
)


def draw(data, array, high):
    """Weights of the members, and the truth."""
    weights = data.draw(hnp.arrays(np.float64, array.shape[0], elements=st.floats(0.1, 10)))
    return weights, data.draw(hnp.arrays(np.int64, array.shape[1], elements=st.integers(0, high)))


@given(LABELS, st.data())
def test_labels_against_brute_force(labels, data):
    weights, y = draw(data, labels, 3)
    brute = []
    for said, true in zip(labels.T, y, strict=True):
        counts = [weights[said == k].sum() for k in range(4)]
        voted = weights[said >= 0].sum()
        best = max(counts[k] for k in range(4) if k != true)
        brute.append((counts[true] - best) / voted if voted else 0.0)
    found = margins(Votes(labels=labels, weights=weights, classes=np.arange(4)), y)
    np.testing.assert_allclose(found, brute, atol=1e-12)
    assert (np.abs(found) <= 1 + 1e-12).all()


@given(LABELS, st.data())
def test_classes_that_nobody_votes_for_have_no_votes(labels, data):
    weights, y = draw(data, labels, 5)
    known = margins(Votes(labels=labels, weights=weights, classes=np.arange(6)), y)
    np.testing.assert_allclose(margins(Votes(labels=labels, weights=weights), y), known, atol=1e-12)


@given(hnp.arrays(np.int32, SHAPES, elements=st.integers(0, 1)), st.data())
def test_two_classes_are_the_margins_of_schapire(labels, data):
    weights, y = draw(data, labels, 1)
    signed = np.where(labels == 1, 1.0, -1.0)
    textbook = np.where(y == 1, 1, -1) * (weights @ signed) / weights.sum()
    np.testing.assert_allclose(margins(Votes(labels=labels, weights=weights), y), textbook, atol=1e-12)


@given(SCORES, st.data())
def test_scores_against_brute_force(scores, data):
    weights, y = draw(data, scores, scores.shape[2] - 1)
    silent = data.draw(hnp.arrays(bool, scores.shape[:2]))
    scores = np.where(silent[:, :, None], np.nan, scores)
    found = margins(Votes(scores=scores, weights=weights), y)
    for i, true in enumerate(y):
        heard = ~silent[:, i]
        counts = weights[heard] @ scores[heard, i]
        most = sum(w * (s.max() - s.min()) for w, s in zip(weights[heard], scores[heard, i], strict=True))
        difference = counts[true] - np.delete(counts, true).max()
        if most > 1e-6:
            assert found[i] == pytest.approx(difference / most, abs=1e-8)
        assert abs(found[i]) <= 1 + 1e-6 or most < 1e-6
        assert heard.any() or found[i] == 0


def test_range():
    votes = Votes(labels=np.array([[0, 1, -1, 0], [0, 1, -1, 1]]), weights=np.array([2.0, 1.0]))
    np.testing.assert_allclose(margins(votes, [0, 0, 0, 1]), [1, -1, 0, -1 / 3])
    np.testing.assert_allclose(margins([[0, 0], [0, 0]], [0, 0]), [1, 1])


def test_negative_votes_count_by_their_size():
    votes = Votes(labels=np.array([[0], [1]]), weights=np.array([1.0, -3.0]))
    np.testing.assert_allclose(margins(votes, [0]), [1.0])


def test_labels_and_members_of_an_ensemble():
    X, y = make_waveform(120, random_state=0)
    names = np.array(["a", "b", "c"])[y]
    model = AdaBoostClassifier(n_estimators=10).fit(X, names)
    found = margins(model.votes(X), names)
    shares = np.stack(
        [
            np.average(
                [member.predict(X) == name for member in model.estimators_], axis=0, weights=model.estimator_weights_
            )
            for name in "abc"
        ]
    )
    own = shares[y, np.arange(120)]
    shares[y, np.arange(120)] = -1
    np.testing.assert_allclose(found, own - shares.max(axis=0), atol=1e-12)
    decided = np.abs(found) > 1e-12
    np.testing.assert_array_equal((found > 0)[decided], (model.predict(X) == names)[decided])


def test_errors():
    with pytest.raises(ValueError, match="votes of a regression have no margins"):
        margins(np.zeros((2, 3)), [0, 0, 0])
    with pytest.raises(ValueError, match="y has 2 examples, votes have 3"):
        margins([[0, 1, 0]], [0, 1])


def test_committees_have_the_margins_of_their_decisions():
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 0], [0, 0]])
    votes = Votes(labels=labels, groups=np.array([0, 0, 0, 1, 1, 1]))
    # Committee 0 decides 0 and 0, committee 1 decides 1 and 0.
    np.testing.assert_allclose(margins(votes, [0, 0]), [0.0, 1.0])
