"""A fitted ensemble as data: the table of leaves, added up by hand, gives what the ensemble predicts."""

import numpy as np
import pytest

import conjunto
from conjunto.combination import FINISHES
from conjunto.datasets import make_twonorm, make_waveform
from conjunto.ensembles._readings import both_sides
from conjunto.ties import leaders

X, Y = make_waveform(120, random_state=0)
TEST = make_waveform(60, random_state=1)[0]
X2, Y2 = make_twonorm(120, random_state=0)

CLASSIFIERS = [
    conjunto.BaggingClassifier(n_estimators=9, random_state=0),
    conjunto.BaggingClassifier(n_estimators=9, vote="soft", random_state=0),
    conjunto.RandomForestClassifier(9, max_depth=3, random_state=0),
    conjunto.ECOCClassifier(n_estimators=9, random_state=0),
    *(
        conjunto.AdaBoostClassifier(n_estimators=9, algorithm=algorithm)
        for algorithm in ("samme", "samme.r", "m2", "mh", "gentle", "logit")
    ),
    conjunto.IGPBoostingClassifier(n_estimators=9, member_votes="weighted", random_state=0),
]


def by_hand(scoring, rows):
    """The sum, over trees, of the rows of the table that the leaves of each row point to."""
    leaves = scoring.forest.leaves(rows)
    starts = scoring.forest.leaf_counts().cumsum() - scoring.forest.leaf_counts()
    table = scoring.table()
    return sum(table[starts[t] + leaves[:, t]] for t in range(len(scoring.forest)))


@pytest.mark.parametrize("data", ["three classes", "two classes"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_classifiers(model, data):
    fit, rows = ((X, Y), TEST) if data == "three classes" else ((X2, Y2), X2)
    scoring = model.fit(*fit).scoring()
    sums = by_hand(scoring, rows)
    np.testing.assert_allclose(sums, scoring.sums(rows), rtol=1e-9, atol=1e-12)
    scores = sums if sums.shape[1] > 1 else both_sides(sums[:, 0])
    np.testing.assert_array_equal(model.classes_[leaders(np.ascontiguousarray(scores))], model.predict(rows))
    shares = FINISHES[scoring.finish].probabilities(scores, model.estimator_weights_.sum())
    np.testing.assert_allclose(shares, model.predict_proba(rows), rtol=1e-9, atol=1e-12)


def test_regressors():
    model = conjunto.RandomForestRegressor(9, random_state=0).fit(X, X[:, 0])
    scoring = model.scoring()
    assert scoring.finish == "mean"
    np.testing.assert_allclose(by_hand(scoring, TEST)[:, 0] / 9, model.predict(TEST))


def test_committees_have_a_score_per_class_each():
    model = conjunto.IGPCommitteesClassifier(n_committees=4, committee_size=3, random_state=0).fit(X, Y)
    scoring = model.scoring()
    assert scoring.width == 4 * 3
    votes = leaders(np.ascontiguousarray(by_hand(scoring, TEST).reshape(-1, 3))).reshape(-1, 4)
    counts = (votes[:, :, None] == np.arange(3)).sum(axis=1)
    np.testing.assert_array_equal(counts.argmax(axis=1), model.predict(TEST))


def test_a_base_is_where_sums_start():
    scoring = conjunto.RandomForestRegressor(3, random_state=0).fit(X, X[:, 0]).scoring()
    moved = type(scoring)(scoring.forest, 1, "values", base=np.array([10.0]))
    np.testing.assert_allclose(moved.sums(TEST), scoring.sums(TEST) + 10)


@pytest.mark.parametrize(
    "model",
    [
        conjunto.BaggingClassifier(conjunto.C45Classifier(), 3),
        conjunto.DoubleBaggingClassifier(n_estimators=3),
        conjunto.AdaBoostRegressor(n_estimators=3),
    ],
    ids=repr,
)
def test_what_is_no_sum_over_leaves_is_refused(model):
    with pytest.raises(AttributeError, match="scoring needs members that are binary trees of conjunto"):
        model.fit(X, Y).scoring()


def test_members_that_abstain_add_nothing():
    weights = np.where(Y < 2, 0.0, 1.0)
    rows, labels = np.concatenate([X, X + 0.1]), np.concatenate([Y, Y + 2])
    model = conjunto.RoundRobinClassifier(random_state=0)
    model.fit(rows, labels, np.concatenate([weights, np.ones(len(Y))]))
    sums = by_hand(model.scoring(), TEST)
    np.testing.assert_allclose(FINISHES[model.scoring().finish].probabilities(sums, 1.0), model.predict_proba(TEST))
    assert model._panel.abstaining.any()


def test_few_rows_and_many_leaves_say_the_same():
    forest = conjunto.RandomForestClassifier(6, random_state=0).fit(X, Y)
    whole = forest.votes(TEST).scores
    for rows in (TEST[:1], TEST[:3]):
        np.testing.assert_allclose(forest.votes(rows).scores, whole[:, : len(rows)], rtol=1e-12)
