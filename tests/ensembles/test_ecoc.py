import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from conjunto import CARTClassifier, ECOCClassifier
from conjunto.combination import decide
from conjunto.evaluation import error_curve, margins
from conjunto.generation.labels import class_partitions


def decode(code, said):
    """The class whose code word differs from the answers in fewest places; the first of several."""
    answers = []
    for row in said.T:
        distances = [sum(int(a != b) for a, b in zip(row, word, strict=True)) for word in code.T]
        answers.append(distances.index(min(distances)))
    return np.array(answers)


@pytest.mark.parametrize("learner", [None, CARTClassifier(max_depth=2), GaussianNB()])
def test_hamming_decoding_by_brute_force(learner):
    X, y = load_digits(return_X_y=True)
    words = np.array([f"d{k}" for k in range(10)])
    model = ECOCClassifier(learner, 15, random_state=0).fit(X[:400], words[y[:400]])
    new = X[400:600]
    said = np.stack([member.predict(new) for member in model.estimators_])
    assert set(np.unique(said)) == {0, 1}
    np.testing.assert_array_equal(model.predict(new), words[decode(model.code_, said)])
    votes = model.votes(new)
    assert votes.scores.shape == (15, 200, 10)
    np.testing.assert_array_equal(decide(votes), model.predict(new))
    right = (said[:, :, None] == model.code_[:, None]).sum(axis=0)
    np.testing.assert_allclose(model.predict_proba(new), right / right.sum(axis=1, keepdims=True), rtol=1e-12)
    for t, stage in enumerate(model.staged_predict(new), start=1):
        np.testing.assert_array_equal(stage, words[decode(model.code_[:t], said[:t])])


def test_members_learn_the_partitions():
    """Truth: the learner itself on labels that are the sides of the classes."""
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).random(150)
    model = ECOCClassifier(GaussianNB(), 7, random_state=0).fit(X, y, weights)
    for member, sides in zip(model.estimators_, model.code_, strict=True):
        truth = GaussianNB().fit(X, sides[y], weights)
        np.testing.assert_array_equal(member.predict(X), truth.predict(X))
    tree = ECOCClassifier(random_state=0).fit(X, y).estimators_[0]
    assert tree.classes_.tolist() == [0, 1]
    assert tree.predict_proba(X).shape == (150, 2)


def test_codes_beat_a_tree_on_many_classes():
    """The method's claim (Dietterich and Bakiri, section 3): digits, 800 rows to learn from, 997 to judge."""
    X, y = load_digits(return_X_y=True)
    tree = CARTClassifier(random_state=0).fit(X[:800], y[:800]).score(X[800:], y[800:])
    code = ECOCClassifier(n_estimators=60, random_state=0).fit(X[:800], y[:800]).score(X[800:], y[800:])
    # A difference of two shares of 997 rows has a standard deviation below 2.3 points.
    assert code > tree + 5 * 0.023


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 13, 40])
def test_partitions_are_distinct_as_long_as_there_are_any(n_classes):
    distinct = 2 ** (n_classes - 1) - 1
    code = class_partitions((1, 2), n_classes, 200)
    assert code.shape == (200, n_classes)
    assert set(np.unique(code)) == {0, 1}
    assert (code.min(axis=1) == 0).all()
    assert (code.max(axis=1) == 1).all()
    # A partition and its complement are one.
    normal = np.where(code[:, :1] == 1, 1 - code, code)
    for first in range(0, 200, distinct):
        cycle = normal[first : first + distinct]
        assert len(np.unique(cycle, axis=0)) == len(cycle)


def test_more_partitions_than_there_are_is_no_endless_search():
    code = class_partitions((1, 2), 13, 5000)
    assert len(np.unique(code, axis=0)) == 4095
    assert class_partitions((1, 2), 1, 3).tolist() == [[0], [0], [0]]


def test_partitions_are_random():
    """With 4 classes and a cycle of 7: each partition comes first equally often. Chi-squared with 6 degrees."""
    first = [class_partitions((seed, 0), 4, 1)[0].dot([8, 4, 2, 1]) for seed in range(1400)]
    counts = np.bincount(first, minlength=8)[1:]
    assert counts.sum() == 1400
    # The 1 - 1e-6 quantile is 38.3.
    assert ((counts - 200) ** 2 / 200).sum() < 38.3


def test_the_first_of_sixty_are_twenty():
    X, y = load_digits(return_X_y=True)
    sixty = ECOCClassifier(n_estimators=60, random_state=0).fit(X[:300], y[:300])
    twenty = ECOCClassifier(n_estimators=20, random_state=0).fit(X[:300], y[:300])
    np.testing.assert_array_equal(sixty.code_[:20], twenty.code_)
    np.testing.assert_array_equal(sixty.votes(X[300:]).scores[:20], twenty.votes(X[300:]).scores)


def test_warm_start_adds_partitions():
    X, y = load_iris(return_X_y=True)
    model = ECOCClassifier(GaussianNB(), 4, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    whole = ECOCClassifier(GaussianNB(), 9, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.code_, whole.code_)
    np.testing.assert_array_equal(model.votes(X).scores, whole.votes(X).scores)


@pytest.mark.parametrize("learner", [None, LinearSVC()])
def test_one_and_two_classes(learner):
    X, y = load_iris(return_X_y=True)
    one = ECOCClassifier(learner, 3).fit(X, np.full(150, "only"))
    assert set(one.predict(X)) == {"only"}
    assert (one.predict_proba(X) == 1).all()
    two = ECOCClassifier(learner, 3, random_state=0).fit(X[:100], y[:100])
    assert two.code_.tolist() == [[0, 1]] * 3
    np.testing.assert_array_equal(two.predict(X[:100]), y[:100])


def test_categories_and_gaps():
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c", "d"], 200)
    X = pd.DataFrame({"kind": kind, "noise": np.where(random.random(200) < 0.3, np.nan, random.normal(size=200))})
    model = ECOCClassifier(n_estimators=7, random_state=0).fit(X, np.char.upper(kind))
    np.testing.assert_array_equal(model.predict(X), np.char.upper(kind))


def test_votes_go_where_scores_go():
    X, y = load_iris(return_X_y=True)
    model = ECOCClassifier(CARTClassifier(max_depth=1), 12, random_state=0).fit(X, y)
    votes = model.votes(X)
    assert error_curve(votes, y)[-1] == pytest.approx(1 - model.score(X, y))
    margin = margins(votes, y)
    assert (np.abs(margin) <= 1).all()
    np.testing.assert_array_equal(margin > 0, np.sort(model.predict_proba(X), axis=1)[:, -2] < _own(model, X, y))


def _own(model, X, y):
    """The share of the true class where it is the largest, else 0."""
    shares = model.predict_proba(X)
    own = shares[np.arange(len(y)), y]
    return np.where(own == shares.max(axis=1), own, 0)


def test_every_row_is_seen():
    X, y = load_iris(return_X_y=True)
    model = ECOCClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="shows all rows to every member"):
        model.oob_votes(X)
