"""Voting against scikit-learn's, counts by hand and the sources; fitted models of any library."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import CARTClassifier, PrunedClassifier, VotingClassifier, VotingRegressor, prune
from conjunto.combination import decide
from conjunto.voters import as_voters

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])
TEXT = WORDS[Y]
MODELS = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("normal", GaussianNB()),
    ("near", KNeighborsClassifier(5)),
]


class Saying:
    """A model of no library, which has its answers already; None is no answer."""

    def __init__(self, shares, classes):
        self.shares = np.array(shares, dtype=float)
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        return self.shares

    def predict(self, X):
        silent = np.isnan(self.shares).any(axis=1)
        labels = self.classes_[np.nan_to_num(self.shares).argmax(axis=1)].astype(object)
        labels[silent] = None
        return labels


def vote_of(members, voting, **parameters):
    named = [(f"m{t}", member) for t, member in enumerate(members)]
    return VotingClassifier(named, voting=voting, prefit=True, **parameters).fit()


def test_table_1_of_the_notes():
    """Three classifiers, one row: a majority for class 1, the larger mean for class 0."""
    members = [Saying([row], [0, 1]) for row in ([0.37, 0.63], [0.87, 0.13], [0.27, 0.73])]
    hard, soft = vote_of(members, "hard"), vote_of(members, "soft")
    assert hard.predict([[0]]).tolist() == [1]
    assert (3 * hard.predict_proba([[0]])).round(12).tolist() == [[1.0, 2.0]]
    assert soft.predict([[0]]).tolist() == [0]
    assert soft.predict_proba([[0]]) == pytest.approx(np.array([[0.503, 0.497]]), abs=5e-4)


@pytest.mark.parametrize("weights", [None, [2, 1, 0.5]])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_as_scikit_learn_does(voting, weights):
    ours, theirs = (
        kind(MODELS, voting=voting, weights=weights).fit(X, TEXT)
        for kind in (VotingClassifier, sklearn.ensemble.VotingClassifier)
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert ours.le_.classes_.tolist() == theirs.le_.classes_.tolist()
    assert list(ours.named_estimators_) == list(theirs.named_estimators_)
    assert set(ours.get_params()) - set(theirs.get_params()) == {"prefit", "cv"}
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
        shape = ours.set_params(flatten_transform=False).transform(X).shape
        assert shape == (3, 150, 3)
    else:
        # scikit-learn has none here: the share of the votes.
        counts = np.stack(
            [[w * (m.predict(X) == k) for k in range(3)] for w, m in zip(weights or [1] * 3, ours, strict=True)]
        )
        np.testing.assert_allclose(ours.predict_proba(X), counts.sum(axis=0).T / sum(weights or [1] * 3))


def test_regression_as_scikit_learn_does():
    rows, y = load_diabetes(return_X_y=True)
    models = [("linear", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    ours, theirs = (
        kind(models, weights=[1, 3]).fit(rows, y) for kind in (VotingRegressor, sklearn.ensemble.VotingRegressor)
    )
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-12)
    np.testing.assert_array_equal(ours.transform(rows), theirs.transform(rows))
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    said = ours.transform(rows)
    for voting, by_hand in (("min", said.min(axis=1)), ("median", np.median(said, axis=1))):
        np.testing.assert_allclose(VotingRegressor(models, voting=voting).fit(rows, y).predict(rows), by_hand)
    accurate = VotingRegressor(models, weights="accuracy", cv=3).fit(rows, y)
    errors = [np.mean((cross_val_predict(model, rows, y, cv=3) - y) ** 2) for _, model in models]
    np.testing.assert_allclose(accurate.weights_, 1 / np.array(errors))


def test_weights_are_estimated_on_rows_that_members_did_not_see():
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    p = np.array([np.mean(cross_val_predict(model, X, Y, cv=folds) == Y) for _, model in MODELS])
    for weights, expected in (("accuracy", p), ("log-odds", np.log(2 * p / (1 - p)))):
        np.testing.assert_allclose(VotingClassifier(MODELS, weights=weights, cv=folds).fit(X, TEXT).weights_, expected)
        fitted = [(name, model.fit(X[::2], Y[::2])) for name, model in MODELS]
        apart = VotingClassifier(fitted, weights=weights, prefit=True).fit(X[1::2], Y[1::2])
        seen = np.array([model.score(X[1::2], Y[1::2]) for _, model in fitted])
        np.testing.assert_allclose(apart.weights_, seen if weights == "accuracy" else np.log(2 * seen / (1 - seen)))


def test_log_odds_are_the_best_weights_of_independent_voters():
    """One good member outvotes two bad ones where log-odds say so, and members at chance have no say."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 4000)
    flip = [random.random(4000) < error for error in (0.05, 0.4, 0.4, 0.5)]
    members = [Saying(np.eye(2)[np.where(wrong, 1 - truth, truth)], [0, 1]) for wrong in flip]
    rows = np.zeros((4000, 1))
    named = [(f"m{t}", member) for t, member in enumerate(members)]
    plain = VotingClassifier(named, prefit=True).fit()
    wise = VotingClassifier(named, prefit=True, weights="log-odds").fit(rows, truth)
    assert np.mean(wise.predict(rows) == truth) > np.mean(plain.predict(rows) == truth) + 0.05
    assert wise.weights_[3] < 0.1 < 0.3 < wise.weights_[1] < 2.5 < wise.weights_[0]


@pytest.mark.parametrize("voting", ["sum", "product", "min", "max", "median", "trimmed-mean", "borda"])
def test_rules_by_hand(voting):
    shares = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.45, 0.45]])
    members = [Saying([row], ["a", "b", "c"]) for row in shares]
    expected = {
        "sum": shares.sum(axis=0),
        "product": shares.prod(axis=0),
        "min": shares.min(axis=0),
        "max": shares.max(axis=0),
        "median": np.median(shares, axis=0),
        "trimmed-mean": np.median(shares, axis=0),
        "borda": np.array([2 + 0 + 0, 1 + 2 + 1.5, 0 + 1 + 1.5]),
    }[voting]
    vote = vote_of(members, voting)
    np.testing.assert_allclose(vote.predict_proba([[0]]), [expected / expected.sum()])
    assert vote.predict([[0]]).tolist() == ["abc"[expected.argmax()]]


def test_members_that_know_different_classes_abstain_or_speak_of_codes():
    some = [Saying([[0.9, 0.1], [0.4, 0.6]], ["ant", "bee"]), Saying([[0.2, 0.8], [np.nan] * 2], ["bee", "cow"])]
    vote = vote_of(some, "soft")
    assert vote.classes_.tolist() == ["ant", "bee", "cow"]
    np.testing.assert_allclose(vote.predict_proba([[0], [0]]), [[0.45, 0.15, 0.4], [0.4, 0.6, 0.0]])
    # Where probabilities are multiplied a class that a member does not know is no veto: it has a third.
    product = vote_of(some, "product").predict_proba([[0], [0]])[0]
    by_hand = np.array([0.9 * 2 / 3 / 3, 0.1 * 2 / 3 * 0.2 * 2 / 3, 1 / 3 * 0.8 * 2 / 3])
    np.testing.assert_allclose(product, by_hand / by_hand.sum())
    hard = vote_of(some, "hard")
    assert hard.predict([[0], [0]]).tolist() == ["ant", "bee"]
    np.testing.assert_allclose(hard.predict_proba([[0], [0]]), [[0.5, 0, 0.5], [0, 1, 0]])
    # Numbers 0 .. K - 1 beside text are the codes of the sorted labels.
    coded = vote_of([some[0], Saying([[0.0, 0.0, 1.0]] * 2, [0, 1, 2]), some[1]], "hard")
    assert coded.predict([[0], [0]]).tolist() == ["cow", "bee"]
    # Fewer numbers than there are labels could be codes of any of them.
    with pytest.raises(ValueError, match=r"'m1' has the numbers \[0, 1\], which are not the codes 0 \.\. 2"):
        vote_of([Saying([[1, 0, 0]], ["ant", "bee", "cow"]), Saying([[0.0, 1.0]], [0, 1])], "hard")
    with pytest.warns(UserWarning, match=r"'m1' knows the numbers 0 \.\. 2 and the member 'm0' \[1, 2, 3\]"):
        vote_of([Saying([[1, 0, 0]], [1, 2, 3]), Saying([[0.0, 1.0, 0.0]], [0, 1, 2])], "hard")
    nobody = vote_of([Saying([[np.nan] * 2], [3, 7])], "soft")
    assert nobody.predict_proba([[0]]).tolist() == [[0.5, 0.5]]


def test_fitted_models_of_different_libraries():
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, TEXT)
    members = [("ours", CARTClassifier(max_depth=2).fit(frame, TEXT)), ("theirs", pipeline)]
    vote = VotingClassifier(members, voting="soft", prefit=True).fit()
    mean = (members[0][1].predict_proba(frame) + pipeline.predict_proba(frame)) / 2
    np.testing.assert_allclose(vote.predict_proba(frame), mean)
    assert vote.score(frame, TEXT) > 0.95


def test_parameters_by_name_and_models_left_out():
    vote = VotingClassifier(MODELS, voting="soft", weights=[1, 2, 3])
    vote.set_params(near="drop", tree__max_depth=1)
    assert vote.get_params()["tree__max_depth"] == 1
    vote.fit(X, TEXT)
    assert len(vote) == len(vote.estimators_) == 2
    assert vote.named_estimators_["near"] == "drop"
    assert vote.named_estimators["tree"].max_depth == 1
    expected = (vote[0].predict_proba(X) + 2 * vote[1].predict_proba(X)) / 3
    np.testing.assert_allclose(vote.predict_proba(X), expected)
    assert clone(vote).get_params()["near"] == "drop"


def test_sparse_rows_and_weights_of_rows():
    models = [("linear", LogisticRegression(max_iter=1000)), ("tree", CARTClassifier(random_state=0))]
    vote = VotingClassifier(models, voting="soft", weights="accuracy", cv=3)
    weights = np.where(Y == 2, 5.0, 1.0)
    dense = clone(vote).fit(X, TEXT, sample_weight=weights)
    np.testing.assert_allclose(
        clone(vote).fit(csr_array(X), TEXT, sample_weight=weights).predict_proba(csr_array(X)),
        dense.predict_proba(X),
        atol=1e-4,
    )
    # A pipeline hands them to its last step.
    piped = VotingClassifier([("piped", make_pipeline(StandardScaler(), GaussianNB()))]).fit(
        X, TEXT, sample_weight=weights
    )
    alone = GaussianNB().fit(StandardScaler().fit_transform(X), Y, weights)
    np.testing.assert_allclose(piped[0][-1].theta_, alone.theta_)


def test_metadata_goes_to_who_asks_for_it():
    weights = np.where(Y == 2, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        models = [("asks", GaussianNB().set_fit_request(sample_weight=True)), ("near", KNeighborsClassifier())]
        vote = VotingClassifier(models).fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(vote[0].class_prior_, GaussianNB().fit(X, Y, weights).class_prior_)


def test_votes_can_be_taken_apart_and_pruned():
    rng = np.random.default_rng(0)
    models = [
        (f"m{t}", DecisionTreeClassifier(max_depth=3, max_features=1, random_state=t).fit(X[rows], TEXT[rows]))
        for t, rows in enumerate(rng.choice(150, (9, 60)))
    ]
    vote = VotingClassifier(models, weights=range(1, 10), prefit=True).fit()
    voters = as_voters(vote)
    assert voters is vote
    np.testing.assert_array_equal(decide(vote.contributions(X)), vote.predict(X))
    part = vote.take([7, 2])
    assert [name for name, _ in part.estimators] == ["m7", "m2"]
    assert part.weights_.tolist() == [8.0, 3.0]
    small = prune(vote, X, TEXT, keep=3)
    assert len(small) == 3
    assert [name for name, _ in small.estimators] == [f"m{t}" for t in small.order_[:3]]
    pruned = PrunedClassifier(VotingClassifier([(n, clone(m)) for n, m in models]), keep=4).fit(X, TEXT)
    assert len(pruned.estimator_) == 4
    assert pruned.score(X, TEXT) > 0.9


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"estimators": []}, ValueError, "non-empty list"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, ValueError, "not unique"),
        ({"estimators": [("voting", GaussianNB())]}, ValueError, "conflict with constructor arguments"),
        ({"estimators": [("a__b", GaussianNB())]}, ValueError, "must not contain __"),
        ({"estimators": [("a", "drop")]}, ValueError, "All estimators are dropped"),
        ({"estimators": [("a", LinearRegression())]}, ValueError, "should be a classifier"),
        ({"estimators": [("a", GaussianNB)]}, ValueError, "must be a model"),
        ({"voting": "loud"}, ValueError, "voting must be one of 'hard', 'soft'"),
        ({"weights": [1, 2]}, ValueError, "got 2 weights, 3 estimators"),
        ({"weights": [1, 2, -1]}, ValueError, "weights must be finite, not negative and not all 0"),
        ({"weights": "size"}, ValueError, "weights must be one of 'accuracy', 'log-odds'"),
        ({"weights": [1, 1, 1], "voting": "max"}, ValueError, "voting='max' takes no weights"),
        (
            {"estimators": [("svm", LinearSVC())], "voting": "soft"},
            ValueError,
            "the member 'svm', LinearSVC, has no predict_proba, and voting='soft' combines probabilities",
        ),
    ],
)
def test_messages(change, error, message):
    with pytest.raises(error, match=message):
        VotingClassifier(**{"estimators": MODELS} | change).fit(X, Y)


def test_messages_about_fitted_models():
    narrow, wide = GaussianNB().fit(X[:, :3], Y), GaussianNB().fit(X, Y)
    with pytest.raises(NotFittedError, match="prefit=True, and the member 'b' is not fitted"):
        VotingClassifier([("a", wide), ("b", GaussianNB())], prefit=True).fit()
    with pytest.raises(ValueError, match="members were fitted on different columns: 'a' on 4 and 'b' on 3"):
        VotingClassifier([("a", wide), ("b", narrow)], prefit=True).fit()
    others = GaussianNB().fit(X, Y + 10)
    with pytest.raises(ValueError, match=r"the classes of the member 'a', \[0, 1, 2\], do not overlap"):
        VotingClassifier([("a", wide), ("b", others)], prefit=True).fit()
    with pytest.raises(ValueError, match=r"the member 'b' has the numbers .*, which are not the codes 0 \.\. 2"):
        VotingClassifier([("a", GaussianNB().fit(X, TEXT)), ("b", others)], prefit=True).fit()
    frames = [pd.DataFrame(X, columns=list(names)) for names in ("abcd", "abce")]
    with pytest.raises(ValueError, match=r"fitted on different columns: 'a' on .*'d'.* and 'b' on .*'e'"):
        VotingClassifier([(n, GaussianNB().fit(f, Y)) for n, f in zip("ab", frames, strict=True)], prefit=True).fit()
    with pytest.raises(ValueError, match="requires y to be passed"):
        VotingClassifier([("a", wide)], prefit=True, weights="accuracy").fit()
    with pytest.raises(TypeError, match=r"KNeighborsClassifier does not support sample weights. Leave 'near' out"):
        VotingClassifier(MODELS).fit(X, Y, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        VotingClassifier(MODELS).fit(X, Y, colour=np.ones(150))


def test_a_member_that_fails_is_named():
    class Refusing(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("no")

    with pytest.raises(ValueError, match="the member 'bad' failed: no"):
        VotingClassifier([("good", GaussianNB()), ("bad", Refusing())]).fit(X, Y)
    with pytest.raises(ValueError, match="the member 'bad' failed"):
        VotingClassifier([("bad", Refusing())], weights="accuracy").fit(X, Y)
