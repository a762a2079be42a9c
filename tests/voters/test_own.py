"""Ensembles of conjunto: parts of them against the votes of their members, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import conjunto
from conjunto.combination import combine, decide, weighted_median
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles.rules import CLASSIFICATION
from conjunto.model_file import Model, load_model, save_model
from conjunto.voters import as_voters, rows_seen
from conjunto.voters.checking import check_examples
from conjunto.votes import Votes

from .oracles import NAMES, check_adapter, decision, make_rows

X, LABELS, TARGETS = make_rows()
TEST = make_rows(80, seed=1)[0]
SUBSET = [5, 0, 3]


def defaults(loop):
    """Every ensemble on a loop, with eight members; what is tested in another way has a test of its own below."""
    for name in conjunto._HOMES:
        kind = getattr(conjunto, name)
        if issubclass(kind, loop) and not kind.indivisible and kind not in (ECOC, COMMITTEES):
            yield kind(n_estimators=8, random_state=0)


ECOC, COMMITTEES = conjunto.ECOCClassifier, conjunto.IGPCommitteesClassifier
INDEPENDENT = [
    *defaults(IndependentEnsemble),
    conjunto.BaggingClassifier(n_estimators=8, balanced=True, max_features=3, random_state=0),
    conjunto.BaggingClassifier(LogisticRegression(), n_estimators=8, vote="soft", max_features=0.6, random_state=0),
    conjunto.BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8, random_state=0),
    conjunto.BaggingClassifier(conjunto.C45Classifier(), n_estimators=8, random_state=0),
    conjunto.DoubleBaggingClassifier(n_estimators=8, vote="soft", random_state=0),
    conjunto.RandomForestClassifier(n_estimators=8, max_depth=3, random_state=0),
    conjunto.RandomForestClassifier(n_estimators=8, vote="hard", random_state=0),
]
SEQUENTIAL = [
    *defaults(SequentialEnsemble),
    *(
        conjunto.AdaBoostClassifier(conjunto.CARTClassifier(max_depth=2), 8, algorithm=algorithm, random_state=0)
        for algorithm in CLASSIFICATION
    ),
    conjunto.AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 8, algorithm="m2", random_state=0),
    conjunto.AdaBoostClassifier(LogisticRegression(), 8, algorithm="samme.r", resample=True, random_state=0),
    conjunto.AdaBoostRegressor(n_estimators=8, algorithm="r", random_state=0),
    conjunto.IGPBoostingClassifier(n_estimators=8, member_votes="weighted", random_state=0),
]


def fit(model, rows=X):
    return model.fit(rows, LABELS if (model.task == "classification") else TARGETS)


@pytest.mark.parametrize("model", INDEPENDENT, ids=repr)
def test_independent(model):
    fitted = fit(model)

    def by_hand(members):
        models, columns = fitted.estimators_, fitted.estimators_features_
        # Members take the columns that they saw, and answer with codes.
        rows = [TEST[:, columns[t]] for t in members]
        if model.task != "classification":
            return np.mean([models[t].predict(each) for t, each in zip(members, rows, strict=True)], axis=0)
        if getattr(fitted, "vote", "hard") == "soft":
            return NAMES[sum(models[t].predict_proba(each) for t, each in zip(members, rows, strict=True)).argmax(1)]
        said = np.stack([models[t].predict(each) for t, each in zip(members, rows, strict=True)])
        return NAMES[(said[:, :, None] == np.arange(len(NAMES))).sum(axis=0).argmax(axis=1)]

    part = check_adapter(fitted, TEST, by_hand, SUBSET)
    assert part.n_estimators == len(part) == 3
    for t, number in enumerate(SUBSET):
        np.testing.assert_array_equal(part.estimators_samples_[t], fitted.estimators_samples_[number])
        np.testing.assert_array_equal(part.estimators_features_[t], fitted.estimators_features_[number])
    *_, last = part.staged_predict(TEST)
    np.testing.assert_array_equal(last, part.predict(TEST))
    np.testing.assert_array_equal(next(part.staged_predict(TEST)), by_hand(SUBSET[:1]))


@pytest.mark.parametrize("model", SEQUENTIAL, ids=repr)
def test_sequential(model):
    fitted = fit(model)
    assert len(fitted) > max(SUBSET)

    def by_hand(members):
        votes, weights = fitted.votes(TEST), fitted.estimator_weights_
        if votes.values is not None:
            return weighted_median(votes.values[members], weights[members])
        scores = votes.scores if votes.scores is not None else votes.labels[:, :, None] == np.arange(3)
        return NAMES[sum(weights[t] * scores[t] for t in members).argmax(axis=1)]

    part = check_adapter(fitted, TEST, by_hand, SUBSET)
    assert as_voters(fitted) is fitted
    np.testing.assert_array_equal(fitted.votes(TEST).weights, fitted.estimator_weights_)
    assert part.n_estimators == len(part) == 3
    np.testing.assert_array_equal(part.estimator_weights_, fitted.estimator_weights_[SUBSET])
    np.testing.assert_array_equal(part.estimator_errors_, fitted.estimator_errors_[SUBSET])
    np.testing.assert_array_equal(next(part.staged_predict(TEST)), by_hand(SUBSET[:1]))
    *_, last = part.staged_predict(TEST)
    np.testing.assert_array_equal(last, part.predict(TEST))
    assert not hasattr(part, "bound_")
    with pytest.raises(ValueError, match=r"nothing is out of bag|samples by weights that are not kept"):
        rows_seen(as_voters(fitted), 150)


def test_members_of_output_codes_add_votes_for_a_side():
    fitted = conjunto.ECOCClassifier(n_estimators=8, random_state=0).fit(X, LABELS)

    def by_hand(members):
        sides = [fitted.estimators_[t].predict(TEST) for t in members]
        counts = sum(side[:, None] == fitted.code_[t] for side, t in zip(sides, members, strict=True))
        return NAMES[counts.argmax(axis=1)]

    part = check_adapter(fitted, TEST, by_hand, SUBSET)
    np.testing.assert_array_equal(part.code_, fitted.code_[SUBSET])
    assert [len(rows) for rows in part.estimators_samples_] == [150] * 3


def test_voters_of_igp_committees_are_committees():
    fitted = conjunto.IGPCommitteesClassifier(n_committees=6, committee_size=3, random_state=0).fit(X, LABELS)
    adapter = as_voters(fitted)
    assert len(adapter) == 6 < len(fitted.estimators_)

    def by_hand(committees):
        votes, counts = fitted.votes(TEST), np.zeros((len(TEST), 3))
        for committee in committees:
            inside = votes.take(np.flatnonzero(fitted.committees_ == committee))
            decided = combine(Votes(labels=inside.labels, weights=inside.weights)).winners()
            counts[np.arange(len(TEST)), decided] += 1
        return NAMES[counts.argmax(axis=1)]

    part = check_adapter(fitted, TEST, by_hand, SUBSET)
    assert part.n_committees == 3
    sizes = [int((fitted.committees_ == committee).sum()) for committee in SUBSET]
    np.testing.assert_array_equal(part.committees_, np.repeat([0, 1, 2], sizes))


@pytest.mark.parametrize("weights", [None, "some are 0"])
@pytest.mark.parametrize(
    "model",
    [
        conjunto.BaggingClassifier(n_estimators=9, random_state=3),
        conjunto.BaggingClassifier(n_estimators=9, balanced=True, random_state=3),
        conjunto.BaggingRegressor(n_estimators=9, max_samples=2, random_state=3),
        conjunto.RandomForestClassifier(n_estimators=9, random_state=3),
    ],
    ids=repr,
)
def test_training_rows_and_out_of_bag_votes_of_a_part(model, weights):
    if weights is not None:
        weights = np.where(np.arange(150) < 75, 0.0, 1.0)
    fitted = model.fit(X, LABELS if (model.task == "classification") else TARGETS, sample_weight=weights)
    seen = rows_seen(as_voters(fitted), 150)
    assert seen.shape == (9, 150)
    for t, rows in enumerate(fitted.estimators_samples_):
        if t not in fitted._drawn.without_rows:
            np.testing.assert_array_equal(np.flatnonzero(seen[t]), np.unique(rows))
    np.testing.assert_array_equal(seen, _silent(fitted.oob_votes(X)))
    part = as_voters(fitted).take([8, 2, 4])
    np.testing.assert_array_equal(rows_seen(as_voters(part), 150), seen[[8, 2, 4]])
    np.testing.assert_array_equal(part.oob_votes(X).answers, fitted.oob_votes(X).answers[[8, 2, 4]])
    # A part of a part still knows where its members come from.
    np.testing.assert_array_equal(rows_seen(as_voters(as_voters(part).take([2, 0])), 150), seen[[4, 8]])


def test_members_without_rows_of_positive_weight_saw_everything():
    weights = np.zeros(150)
    weights[:30] = 1
    fitted = conjunto.BaggingRegressor(n_estimators=9, max_samples=2, random_state=3).fit(X, TARGETS, weights)
    blind = fitted._drawn.without_rows
    assert 0 < len(blind) < 9
    order = list(reversed(range(9)))
    part = as_voters(fitted).take(order)
    np.testing.assert_array_equal(rows_seen(as_voters(part), 150).all(axis=1), np.isin(order, blind))


def _silent(votes):
    if votes.labels is not None:
        return votes.labels < 0
    return np.isnan(votes.values if votes.values is not None else votes.scores[:, :, 0])


def test_out_of_bag_figures_of_the_whole_are_not_those_of_a_part():
    fitted = conjunto.BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, LABELS)
    part = as_voters(fitted).take([1, 2])
    for name in ("oob_votes_", "oob_score_", "oob_decision_function_"):
        assert hasattr(fitted, name)
        assert not hasattr(part, name)


def test_importances_of_a_part():
    forest = conjunto.RandomForestClassifier(n_estimators=6, random_state=0).fit(X, LABELS)
    each = [tree.feature_importances_ for tree in forest.estimators_]
    np.testing.assert_allclose(as_voters(forest).take([4, 1]).feature_importances_, (each[4] + each[1]) / 2)
    boosted = conjunto.AdaBoostClassifier(n_estimators=6, algorithm="mh").fit(X, LABELS)
    part = as_voters(boosted).take([4, 1])
    trees = [[tree.feature_importances_ for tree in boosted.estimators_[t]] for t in (4, 1)]
    mean = np.average(np.sum(trees, axis=1), axis=0, weights=boosted.estimator_weights_[[4, 1]])
    np.testing.assert_allclose(part.feature_importances_, mean / mean.sum())


def test_a_part_cannot_go_on_but_can_start_anew():
    fitted = conjunto.BaggingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, LABELS)
    part = as_voters(fitted).take([3, 1]).set_params(n_estimators=4)
    with pytest.raises(ValueError, match="warm_start cannot add members to a part of an ensemble: set warm_start=Fal"):
        part.fit(X, LABELS)
    assert len(part) == 2
    part.set_params(warm_start=False).fit(X, LABELS)
    new = conjunto.BaggingClassifier(n_estimators=4, random_state=0).fit(X, LABELS)
    np.testing.assert_array_equal(part.oob_votes(X).labels, new.oob_votes(X).labels)
    part.set_params(warm_start=True, n_estimators=5).fit(X, LABELS)
    np.testing.assert_array_equal(part.votes(TEST).labels, fitted.votes(TEST).labels)

    boosted = conjunto.AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"warm_start has nothing to go on from: .* is a part of an ensemble"):
        as_voters(boosted).take([0, 1]).set_params(n_estimators=4).fit(X, LABELS)


def test_frames_with_categories():
    frame = pd.DataFrame({"number": X[:, 0], "side": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    for model in (conjunto.RandomForestClassifier(n_estimators=6), conjunto.AdaBoostClassifier(n_estimators=6)):
        fitted = model.set_params(random_state=0).fit(frame, LABELS)
        adapter = as_voters(fitted)
        np.testing.assert_array_equal(decision(adapter, frame), fitted.predict(frame))
        np.testing.assert_array_equal(check_examples(adapter, frame, LABELS), np.searchsorted(NAMES, LABELS))
        with pytest.raises(ValueError, match="in another order: put them as 'num"):
            check_examples(adapter, frame[["side", "number"]], LABELS)


@pytest.mark.parametrize(
    "model",
    [
        conjunto.BaggingClassifier(n_estimators=5, balanced=True, random_state=0),
        conjunto.AdaBoostClassifier(n_estimators=5, algorithm="m2"),
        conjunto.DoubleBaggingClassifier(n_estimators=5, random_state=0),
        conjunto.IGPCommitteesClassifier(n_committees=5, committee_size=2, random_state=0),
        conjunto.ECOCClassifier(n_estimators=5, random_state=0),
    ],
    ids=repr,
)
def test_a_part_in_a_model_file(model, tmp_path):
    part = as_voters(model.fit(X, LABELS)).take([3, 1])
    path = tmp_path / "part.skops"
    save_model(path, Model(part, {str(k): "number" for k in range(5)}, "place", "classification"))
    np.testing.assert_array_equal(load_model(path).estimator.predict(TEST), part.predict(TEST))


def test_a_single_class():
    fitted = conjunto.AdaBoostClassifier(n_estimators=3, algorithm="mh").fit(X, np.repeat("only", 150))
    adapter = as_voters(fitted)
    assert set(decide(adapter.votes(TEST))) == {"only"}
    assert set(adapter.take([0]).predict(TEST)) == {"only"}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (conjunto.RoundRobinClassifier(), "every member is the only one that tells its two classes apart"),
        (conjunto.ThreeBoostClassifier(), "its three members decide together, the third where the first two differ"),
    ],
    ids=repr,
)
def test_members_that_are_no_voters(model, reason):
    with pytest.raises(TypeError, match=f"{type(model).__name__} cannot be taken apart: {reason}"):
        as_voters(model.fit(X, LABELS))
    with pytest.raises(TypeError, match=reason):
        model.take([0])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (conjunto.RandomForestClassifier(2, bootstrap=False), "shows all rows to every member: nothing is out of bag"),
        (conjunto.ClassSwitchingClassifier(n_estimators=2), "shows all rows to every member: nothing is out of bag"),
        (conjunto.DoubleBaggingClassifier(n_estimators=2), "the discriminant of a member has seen the labels"),
        (conjunto.IGPCommitteesClassifier(n_committees=2), "shows all rows to every member: nothing is out of bag"),
    ],
    ids=repr,
)
def test_nothing_out_of_bag(model, reason):
    adapter = as_voters(model.fit(X, LABELS))
    with pytest.raises(ValueError, match=f"{type(model).__name__} .*{reason}"):
        rows_seen(adapter, 150)


def test_messages():
    with pytest.raises(NotFittedError, match="BaggingClassifier"):
        as_voters(conjunto.BaggingClassifier())
    adapter = as_voters(conjunto.BaggingClassifier(n_estimators=2, random_state=0).fit(X, LABELS))
    with pytest.raises(ValueError, match="BaggingClassifier was fitted on 150 rows: out-of-bag rows need them"):
        rows_seen(adapter, 149)
    with pytest.raises(TypeError, match=r"CARTClassifier cannot be taken apart into voters\. What can: an ensemble"):
        as_voters(conjunto.CARTClassifier().fit(X, LABELS))


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ECOCClassifier", "AdaBoostClassifier"])
def test_contributions_one_after_the_other(name):
    X, y = load_iris(return_X_y=True)
    more = {"algorithm": "mh"} if name == "AdaBoostClassifier" else {}
    voters = getattr(conjunto, name)(n_estimators=9, random_state=0, **more).fit(X, y)
    members = np.array([4, 0, 8, 3])
    call, whole = voters.contributions(X, members), voters.votes(X)
    for t, (weight, scores) in zip(members, call, strict=True):
        np.testing.assert_array_equal(scores, whole.scores[t])
        assert weight == voters.estimator_weights_[t]


@pytest.mark.parametrize(
    ("voters", "message"),
    [
        ([True, False], "members must be a list of at least one number of a member"),
        ([1.7], "members must be a list of at least one number of a member"),
        ([0, 7], "members holds 7, and there are 4 members, numbered from 0"),
        ([-1], "members holds -1, and there are 4 members"),
    ],
    ids=str,
)
def test_numbers_of_voters_are_checked_before_anybody_is_asked(voters, message):
    for fitted in (
        conjunto.BaggingClassifier(n_estimators=4, random_state=0).fit(X, LABELS),
        conjunto.IGPCommitteesClassifier(n_committees=4, committee_size=2, random_state=0).fit(X, LABELS),
    ):
        for method in (fitted.take, lambda chosen, fitted=fitted: fitted.contributions(X, chosen)):
            with pytest.raises(ValueError, match=message):
                method(voters)


def test_the_clone_of_a_part_is_an_ensemble_of_that_size():
    part = conjunto.MultiBoostClassifier(n_estimators=12, n_committees=5, random_state=0).fit(X, LABELS).take([0, 1])
    assert len(clone(part).fit(X, LABELS)) == 2


def test_members_by_number_and_one_after_another():
    for fitted in (
        conjunto.BaggingClassifier(n_estimators=4, random_state=0).fit(X, LABELS),
        conjunto.AdaBoostClassifier(n_estimators=4, algorithm="mh").fit(X, LABELS),
    ):
        assert len(list(fitted)) == len(fitted.estimators_) == 4
        for t, member in enumerate(fitted):
            one, other = np.ravel(member)[0], np.ravel(fitted[t])[0]
            np.testing.assert_array_equal(one.predict(TEST), other.predict(TEST))
