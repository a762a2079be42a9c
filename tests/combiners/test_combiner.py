"""What all ways to combine have in common: refits, weights of rows, members that say nothing or speak otherwise."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from conjunto import (
    AdaBoostClassifier,
    ArbiterClassifier,
    BaggingClassifier,
    BayesianAveragingClassifier,
    BayesianAveragingRegressor,
    CARTClassifier,
    CARTRegressor,
    CascadeClassifier,
    CostSensitiveClassifier,
    ECOCClassifier,
    GreedySelectionClassifier,
    GreedySelectionRegressor,
    LocalSelectionClassifier,
    LocalSelectionRegressor,
    NaiveBayesCombinationClassifier,
    PrunedClassifier,
    StackingClassifier,
    Votes,
    VotingClassifier,
    VotingRegressor,
)
from conjunto.combination import decide

ORDER = np.random.default_rng(0).permutation(150)
X, Y = (part[ORDER] for part in load_iris(return_X_y=True))
ROWS, TARGETS = (part[:200] for part in load_diabetes(return_X_y=True))
NAMES = np.array(["ant", "bee", "cow"])
CLASSIFIERS = [
    VotingClassifier,
    NaiveBayesCombinationClassifier,
    BayesianAveragingClassifier,
    StackingClassifier,
    GreedySelectionClassifier,
    CascadeClassifier,
    ArbiterClassifier,
    LocalSelectionClassifier,
]


def models():
    return [("normal", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]


class Saying:
    """A fitted model of no library: given probabilities of two classes, or of NaN where a column of X is large."""

    classes_ = np.array([0, 1])

    def __init__(self, share, silent_above=np.inf):
        self.share, self.silent_above = share, silent_above

    def predict_proba(self, X):
        shares = np.tile([1 - self.share, self.share], (len(X), 1))
        shares[X[:, 0] > self.silent_above] = np.nan
        return shares

    def predict(self, X):
        return np.repeat(int(self.share > 0.5), len(X))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_second_fit_is_a_first_one(kind):
    """Nothing that an earlier fit learned, on other models and classes, is left."""
    settings = {"weights": "accuracy"} if kind is VotingClassifier else {}
    model = kind([*models(), ("near", KNeighborsClassifier())], **settings).fit(X, NAMES[Y])
    model.set_params(estimators=models()).fit(X[Y < 2], Y[Y < 2])
    fresh = kind(models(), **settings).fit(X[Y < 2], Y[Y < 2])
    np.testing.assert_array_equal(model.predict_proba(X), fresh.predict_proba(X))


def test_a_pool_is_forgotten_and_members_are_heard_again():
    model = LocalSelectionClassifier(BaggingClassifier(n_estimators=3, random_state=0)).fit(X, Y)
    assert model.set_params(estimators=models()).fit(X, (Y + 1) % 3).score(X, (Y + 1) % 3) > 0.9
    members = [(f"m{t}", Saying(share)) for t, share in enumerate((0.9, 0.4, 0.1))]
    greedy = GreedySelectionClassifier(members, prefit=True)
    rows = np.zeros((20, 1))
    assert greedy.fit(rows, np.r_[np.ones(19, int), 0]).weights_[0] == 1
    assert greedy.fit(rows, np.r_[np.zeros(19, int), 1]).weights_[2] == 1


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = VotingClassifier(models()).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="the member 'normal' failed"):
        model.fit(np.full((4, 4), np.nan), [5, 6, 5, 6])
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if kind is not StackingClassifier])
def test_the_unit_of_weights_does_not_matter_and_weight_0_is_absence(kind):
    """Where members are fitted already; what members learn from weights is their business."""
    fitted = [(name, model.fit(X[:60], Y[:60])) for name, model in models()]
    settings = {"weights": "log-odds"} if kind is VotingClassifier else {}
    weights = np.where(np.arange(90) < 50, 1.0 + (np.arange(90) % 3), 0.0)
    said = [
        kind(fitted, prefit=True, **settings).fit(X[60:], Y[60:], sample_weight=unit * weights).predict_proba(X)
        for unit in (1.0, 1e-4, 1e6)
    ]
    absent = kind(fitted, prefit=True, **settings).fit(X[60:110], Y[60:110], sample_weight=weights[:50])
    for each in (*said[1:], absent.predict_proba(X)):
        np.testing.assert_allclose(each, said[0], rtol=1e-6, atol=1e-9)


def test_bic_and_small_targets_do_not_depend_on_units():
    regressors = [("stump", CARTRegressor(max_depth=1)), ("linear", LinearRegression()), ("ridge", Ridge())]
    bic = [
        BayesianAveragingRegressor(regressors, criterion="bic", n_parameters=[1, 50, 100])
        .fit(ROWS, TARGETS, sample_weight=np.full(200, weight))
        .weights_
        for weight in (1.0, 1 / 2000)
    ]
    np.testing.assert_allclose(bic[1], bic[0], atol=1e-12)
    for kind in (GreedySelectionRegressor, BayesianAveragingRegressor):
        plain, small = (kind(regressors).fit(ROWS, unit * TARGETS).weights_ for unit in (1.0, 1e-10))
        np.testing.assert_allclose(small, plain, atol=1e-6)


def test_weights_of_0_have_no_place_in_a_trimmed_mean():
    values = np.array([[1.0], [2.0], [3.0]])
    assert decide(Votes(values=values, weights=np.array([1.0, 0, 1]), rule="trimmed-mean")).tolist() == [2.0]


def test_a_cascade_hands_on_what_a_member_has_no_answer_to():
    rows = np.r_[np.zeros(50), np.ones(2)][:, None]
    answers = np.r_[np.zeros(50, int), np.ones(2, int)]
    model = CascadeClassifier([("first", Saying(0.1, 0.5)), ("last", Saying(0.8))], loss=0.1, prefit=True)
    model.fit(rows, answers)
    assert model.stage([[0.0], [1.0]]).tolist() == [0, 1]
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("method", ["dw", "ds", "dws"])
def test_regressors_without_answers_do_no_harm(method):
    class Silent(LinearRegression):
        def predict(self, X):
            return np.full(len(X), np.nan)

    named = [("silent", Silent().fit(ROWS, TARGETS)), ("linear", LinearRegression().fit(ROWS, TARGETS))]
    alone = named[1][1].predict(ROWS)
    vote = VotingRegressor(named, weights="accuracy", prefit=True).fit(ROWS, TARGETS)
    local = LocalSelectionRegressor(named, method=method, prefit=True).fit(ROWS, TARGETS)
    np.testing.assert_allclose(vote.predict(ROWS), alone)
    np.testing.assert_allclose(local.predict(ROWS), alone)
    mean, spread = BayesianAveragingRegressor(named, prefit=True).fit(ROWS, TARGETS).predict(ROWS, return_std=True)
    np.testing.assert_allclose(mean, alone)
    assert np.isfinite(spread).all()


def test_numbers_for_y_beside_members_that_know_text():
    fitted = [(name, model.fit(X, NAMES[Y])) for name, model in models()]
    by_codes = VotingClassifier(fitted, prefit=True, weights="accuracy").fit(X, Y)
    np.testing.assert_array_equal(
        by_codes.weights_, VotingClassifier(fitted, prefit=True, weights="accuracy").fit(X, NAMES[Y]).weights_
    )
    with pytest.raises(ValueError, match=r"members must agree on the labels: y has the numbers \[10, 11, 12\]"):
        VotingClassifier(fitted, prefit=True, weights="accuracy").fit(X, Y + 10)


def test_members_that_were_frozen_speak_their_own_labels():
    some = Y < 2
    frozen = FrozenEstimator(GaussianNB().fit(X[some], Y[some] + 1))
    vote = VotingClassifier([("frozen", frozen), ("tree", CARTClassifier(random_state=0))]).fit(X, Y + 1)
    assert vote.score(X[some], Y[some] + 1) == 1
    inner = VotingClassifier([("normal", GaussianNB().fit(X, NAMES[Y]))], prefit=True)
    assert StackingClassifier([("inner", inner), ("tree", CARTClassifier())]).fit(X, NAMES[Y]).score(X, NAMES[Y]) > 0.9


def test_names_are_those_of_the_fit():
    vote = VotingClassifier(models()).fit(X, Y).set_params(normal="drop")
    assert isinstance(vote.named_estimators_["normal"], GaussianNB)
    with pytest.raises(ValueError, match="weights must be finite, not negative and not all 0"):
        VotingClassifier(models(), weights=[2, 0]).set_params(normal="drop").fit(X, Y)
    averaged = BayesianAveragingClassifier(models(), prior=[1, 2]).set_params(normal="drop").fit(X, Y)
    assert averaged.weights_.tolist() == [1.0]
    for name in ("splitter", "pool"):
        with pytest.raises(ValueError, match="conflict with constructor arguments"):
            VotingClassifier([(name, GaussianNB())]).fit(X, Y)


def test_gaps_and_text_are_the_business_of_members():
    holes = X.copy()
    holes[::9, 0] = np.nan
    filled = [(name, make_pipeline(SimpleImputer(), model)) for name, model in models()]
    assert CascadeClassifier(filled).fit(holes, Y).score(holes, Y) > 0.9
    text = np.array([["a", "b", "c"][label] for label in Y], dtype=object)[:, None]
    coded = [(name, make_pipeline(OneHotEncoder(sparse_output=False), model)) for name, model in models()]
    assert CascadeClassifier(coded).fit(text, Y).score(text, Y) == 1
    with pytest.raises(ValueError, match="give a DataFrame for columns of text"):
        LocalSelectionClassifier(coded).fit(text, Y)


def test_weights_of_rows_where_members_are_fitted_already_or_take_none():
    fitted = [("near", KNeighborsClassifier().fit(X, Y)), ("saying", GaussianNB().fit(X, Y))]
    weights = np.where(Y == 2, 3.0, 1.0)
    assert VotingClassifier(fitted, prefit=True, weights="accuracy").fit(X, Y, sample_weight=weights).score(X, Y) > 0.9
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    assert ArbiterClassifier(models(), arbiter=scaled).fit(X, Y, sample_weight=weights).score(X, Y) > 0.9
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        ArbiterClassifier(models(), arbiter=KNeighborsClassifier()).fit(X, Y, sample_weight=weights)


def test_models_of_no_library_are_stacked_and_weighed_by_costs():
    rows, labels = X[Y < 2], Y[Y < 2]
    assert StackingClassifier([("saying", Saying(0.7))], prefit=True).fit(rows, labels).predict(rows).shape == (100,)
    costly = CostSensitiveClassifier(Saying(0.3), [[0, 1], [9, 0]], prefit=True).fit()
    assert costly.predict(rows[:2]).tolist() == [1, 1]
    fitted = CostSensitiveClassifier(GaussianNB().fit(X, Y), prefit=True)
    assert clone(fitted).fit().estimator_ is fitted.estimator


def test_metadata_of_pools_and_pipelines():
    weights = np.where(Y == 2, 3.0, 1.0)
    with config_context(enable_metadata_routing=True):
        pool = BaggingClassifier(CARTClassifier(max_depth=2), 10, random_state=0).set_fit_request(sample_weight=True)
        assert LocalSelectionClassifier(pool).fit(X, Y, sample_weight=weights).score(X, Y) > 0.9


def test_scorers_without_weights_and_scores_that_are_no_numbers():
    def own(estimator, X, y):
        return accuracy_score(y, estimator.predict(X))

    model = GreedySelectionClassifier(models(), scoring=own).fit(X, Y, sample_weight=np.ones(150))
    assert model.score(X, Y) > 0.9
    assert GreedySelectionClassifier(models(), scoring=lambda *_: np.nan).fit(X, Y).score(X, Y) > 0.9
    with pytest.raises(ValueError, match="scoring must be the name of a scorer or a scorer f"):
        GreedySelectionClassifier(models(), scoring=None).fit(X, Y)


def test_errors_of_members_keep_their_kind():
    with pytest.raises(ValueError, match=r"the member 'linear' failed: .*'C' parameter"):
        VotingClassifier([("linear", LogisticRegression(C=-1))]).fit(X, Y)


def test_pools_of_every_kind():
    many = np.repeat(np.arange(12), 2)
    with pytest.raises(ValueError, match="members of ECOCClassifier vote for sets of classes"):
        LocalSelectionClassifier(ECOCClassifier(n_estimators=5, random_state=0)).fit(X, Y)
    LocalSelectionClassifier(AdaBoostClassifier(n_estimators=3), random_state=0).fit(X[:24], many)
    pruned = PrunedClassifier(BaggingClassifier(CARTClassifier(max_depth=2), 20, random_state=0), keep=5)
    local = LocalSelectionClassifier(pruned, selection=0.4, random_state=0).fit(X, Y)
    assert len(local) == 5
    assert local[0].get_n_leaves() <= 4
