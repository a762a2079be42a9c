import numpy as np
import pytest

from conjunto import Votes
from conjunto.combination import by_voter

LABELS = np.array([[0, 1, 2], [1, 1, -1]])


def test_shape():
    votes = Votes(labels=LABELS)
    assert (len(votes), votes.n_examples, votes.n_classes) == (2, 3, 3)
    assert votes.answers is LABELS
    np.testing.assert_array_equal(votes.member_weights(), [1, 1])
    assert Votes(labels=LABELS, classes=np.array(list("abcd"))).n_classes == 4
    assert Votes(scores=np.zeros((2, 3, 5))).n_classes == 5
    np.testing.assert_array_equal(Votes(labels=LABELS, weights=np.array([2, 3])).member_weights(), [2.0, 3.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of labels, values and scores"),
        ({"labels": LABELS, "values": LABELS * 1.0}, "exactly one of labels, values and scores"),
        ({"labels": LABELS[0]}, r"labels and values must be \(members, rows\)"),
        ({"scores": LABELS}, r"scores \(members, rows, classes\)"),
        ({"labels": LABELS, "weights": np.ones(3)}, r"weights must have one entry per member, \(2,\), got \(3,\)"),
        ({"labels": LABELS, "groups": np.ones(1)}, r"groups must have one entry per member, \(2,\), got \(1,\)"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        Votes(**arguments)


def test_values_have_no_classes():
    with pytest.raises(ValueError, match="votes of a regression have no classes"):
        Votes(values=np.zeros((2, 3))).n_classes  # noqa: B018


def test_frozen():
    with pytest.raises(AttributeError):
        Votes(labels=LABELS).rule = "mean"


def test_members_of_committees_cast_no_votes_of_their_own():
    votes = Votes(labels=[[0, 1], [1, 1], [1, 0]], groups=[0, 0, 1])
    with pytest.raises(ValueError, match="members of committees cast no votes of their own"):
        votes.roll_call()
    np.testing.assert_array_equal(by_voter(votes).labels, [[0, 1], [1, 0]])


@pytest.mark.parametrize("kind", ["labels", "values", "scores"])
def test_abstentions_one_after_another_and_all_at_once(kind):
    random = np.random.default_rng(0)
    shape = (4, 5, 3) if kind == "scores" else (4, 5)
    answers = random.integers(0, 3, shape) if kind == "labels" else random.random(shape)
    votes, silent = Votes(**{kind: answers}), random.random((4, 5)) < 0.4
    np.testing.assert_array_equal(votes.roll_call().without(silent).votes().answers, votes.without(silent).answers)
