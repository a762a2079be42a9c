"""`estimators_`: a list as scikit-learn's users know it. The truth: votes added up by hand, and trees grown alone."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    DoubleBaggingClassifier,
    ECOCClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    PastingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomizationClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    RoundRobinClassifier,
    WaggingClassifier,
)
from conjunto.datasets import make_waveform
from conjunto.voters.protocol import Unknown

X, CODES = make_waveform(150, random_state=0)
LABELS = np.array(["a", "b", "c"])[CODES]
NEW, _ = make_waveform(80, random_state=1)
ROWS, TARGETS = (part[:150] for part in load_diabetes(return_X_y=True))
NODES = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "value",
    "impurity",
    "weighted_n_node_samples",
    "n_node_samples",
)


def forest(n_estimators=5, seed=0, kind=RandomForestClassifier, **parameters):
    return kind(n_estimators=n_estimators, random_state=seed, **parameters).fit(X, LABELS)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=4, random_state=0),
        BaggingClassifier(KNeighborsClassifier(), n_estimators=4, random_state=0),
        BaggingClassifier(C45Classifier(), n_estimators=4, random_state=0),
        DoubleBaggingClassifier(n_estimators=4, random_state=0),
        AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_members_are_one_list(model):
    members = model.fit(X, LABELS).estimators_
    assert isinstance(members, list)
    assert model.estimators_ is members
    assert len(members) == len(model) == 4
    assert all(one is other for one, other in zip(model, members, strict=True))
    assert members[1] is model[1]
    assert members[-1] is model[-1] is members[3]
    assert members[1:3] == [members[1], members[2]] == model[1:3]
    for copied in (copy.copy(members), list(members), pickle.loads(pickle.dumps(members))):
        assert type(copied) is list
        assert len(copied) == 4
    # A fit makes other members; a copy that is to be a list of one's own can be changed.
    own = list(members)
    own.append(3)
    assert model.fit(X, LABELS).estimators_ is not members
    assert len(members) == 4


def test_members_of_a_part_are_those_of_the_whole():
    model = forest()
    part = model.take([4, 1])
    for taken, number in zip(part.estimators_, (4, 1), strict=True):
        same_nodes(taken, model.estimators_[number])
        assert taken.random_state == model.estimators_[number].random_state


CHANGES = {
    "append": lambda members: members.append(members[0]),
    "extend": lambda members: members.extend(members),
    "insert": lambda members: members.insert(0, members[0]),
    "remove": lambda members: members.remove(members[0]),
    "pop": lambda members: members.pop(),
    "clear": lambda members: members.clear(),
    "sort": lambda members: members.sort(key=id),
    "reverse": lambda members: members.reverse(),
    "item": lambda members: members.__setitem__(0, members[1]),
    "slice": lambda members: members.__setitem__(slice(0, 2), []),
    "del": lambda members: members.__delitem__(0),
    "imul": lambda members: members.__imul__(2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_in_place_are_refused(change):
    """They would change the list and not what the ensemble predicts by."""
    model = forest()
    before = list(model.estimators_)
    with pytest.raises(TypeError, match=r"cannot be changed in place: assign one, as in model\.estimators_ ="):
        CHANGES[change](model.estimators_)
    assert list(model.estimators_) == before


@pytest.mark.parametrize("way", ["+=", "assign"])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_merged_forests_give_the_mean_of_both(kind, way):
    one, other = forest(5, 0, kind), forest(8, 1, kind)
    expected = (5 * one.predict_proba(NEW) + 8 * other.predict_proba(NEW)) / 13
    each = [member.predict_proba(NEW) for member in (*one.estimators_, *other.estimators_)]
    if way == "+=":
        one.estimators_ += other.estimators_
    else:
        one.estimators_ = one.estimators_ + list(other.estimators_)
    assert len(one) == len(one.estimators_) == 13
    np.testing.assert_allclose(one.predict_proba(NEW), expected, rtol=1e-12)
    np.testing.assert_array_equal(one.predict(NEW), one.classes_[expected.argmax(axis=1)])
    for member, said in zip(one.estimators_, each, strict=True):
        np.testing.assert_array_equal(member.predict_proba(NEW), said)
    assert len(other) == 8
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict_proba(NEW), one.predict_proba(NEW))
    assert len(again.estimators_) == 13
    *_, last = again.staged_predict(NEW)
    np.testing.assert_array_equal(last, one.predict(NEW))


def test_merged_votes_and_values():
    one, other = (
        BaggingClassifier(n_estimators=count, random_state=seed).fit(X, LABELS) for count, seed in ((5, 0), (4, 1))
    )
    votes = np.concatenate([one.votes(NEW).labels, other.votes(NEW).labels])
    one.estimators_ += other.estimators_
    np.testing.assert_array_equal(one.votes(NEW).labels, votes)
    one, other = (RandomForestRegressor(6, random_state=seed).fit(ROWS, TARGETS) for seed in (0, 1))
    expected = (one.predict(ROWS) + other.predict(ROWS)) / 2
    one.estimators_ += other.estimators_
    np.testing.assert_allclose(one.predict(ROWS), expected, rtol=1e-12)


def test_members_of_other_libraries_can_be_assigned():
    one, other = (
        BaggingClassifier(LogisticRegression(max_iter=1000), n_estimators=3, vote="soft", random_state=seed).fit(
            X, LABELS
        )
        for seed in (0, 1)
    )
    expected = (one.predict_proba(NEW) + other.predict_proba(NEW)) / 2
    one.estimators_ += other.estimators_
    np.testing.assert_allclose(one.predict_proba(NEW), expected, rtol=1e-12)


class WithoutGaps(ClassifierMixin, BaseEstimator):
    """Answers as the nearest row, and, like XGBoost, takes codes 0 .. K - 1 only, all of them."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.classes_.tolist() != list(range(len(self.classes_))):
            raise ValueError("Invalid classes")
        self.nearest_ = KNeighborsClassifier(1).fit(X, y)
        return self

    def predict(self, X):
        return self.nearest_.predict(X)


def test_members_that_know_fewer_classes_keep_their_meaning():
    """One row is of the first class: samples without it have a gap where its code is."""
    labels = np.where(np.arange(150) == 0, "a", np.where(CODES > 0, "b", "c"))
    model = BaggingClassifier(WithoutGaps(), n_estimators=8, random_state=0).fit(X, labels)
    codes = np.unique(labels, return_inverse=True)[1]
    expected = [KNeighborsClassifier(1).fit(X[rows], codes[rows]).predict(NEW) for rows in model.estimators_samples_]
    fewer = [len(member.classes_) == 2 for member in model.estimators_]
    assert 0 < sum(fewer) < 8
    np.testing.assert_array_equal(model.votes(NEW).labels, expected)
    model.estimators_ = model.estimators_[::-1]
    np.testing.assert_array_equal(model.votes(NEW).labels, expected[::-1])


def test_some_members_in_another_order():
    model = forest(6)
    trees, votes = model.estimators_, model.votes(NEW).scores
    model.estimators_ = [trees[4], trees[0], trees[4]]
    np.testing.assert_array_equal(model.votes(NEW).scores, votes[[4, 0, 4]])


def test_assigning_the_members_that_are_there_changes_nothing():
    model = RandomForestClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, LABELS)
    members = model.estimators_
    model.estimators_ = members
    assert model.estimators_ is members
    assert model.oob_score_ > 0
    assert len(model.estimators_samples_) == 30


def test_what_was_known_of_other_members_is_forgotten():
    model = RandomForestClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, LABELS)
    model.estimators_ += forest(2, 1).estimators_
    for name in ("oob_score_", "oob_decision_function_", "oob_votes_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="were not drawn by its fit"):
        model.estimators_samples_  # noqa: B018
    assert isinstance(model.seen(), Unknown)
    assert "assigned, merged or converted" in model.seen().reason
    with pytest.raises(ValueError, match="assigned, merged or converted"):
        model.oob_votes(X)
    # A fit makes an ensemble like any other.
    assert model.fit(X, LABELS).oob_score_ > 0


REFUSED = [
    (lambda: forest(), list, ValueError, "one member or more"),
    (
        lambda: forest(),
        lambda: [LogisticRegression(max_iter=1000).fit(X, CODES)],
        TypeError,
        "member 0 must be a fitted tree",
    ),
    (lambda: forest(), lambda: [CARTClassifier()], TypeError, "member 0 must be a fitted tree"),
    (lambda: forest(), lambda: [C45Classifier().fit(X, CODES)], TypeError, "member 0 must be a fitted tree"),
    (
        lambda: forest(),
        lambda: [CARTClassifier().fit(X[:, :3], CODES)],
        ValueError,
        "fitted on 3 columns and 3 classes",
    ),
    (lambda: forest(), lambda: [CARTClassifier().fit(X, CODES > 0)], ValueError, "fitted on 21 columns and 2 classes"),
    (
        lambda: ECOCClassifier(n_estimators=4).fit(X, LABELS),
        lambda: [CARTClassifier().fit(X, CODES > 0)],
        TypeError,
        "sides of their own",
    ),
    (
        lambda: RoundRobinClassifier().fit(X, LABELS),
        lambda: [CARTClassifier().fit(X, CODES)],
        TypeError,
        "cannot be replaced: every member",
    ),
    (
        lambda: AdaBoostClassifier(CARTClassifier(max_depth=2), 4).fit(X, LABELS),
        lambda: [CARTClassifier().fit(X, LABELS)],
        TypeError,
        "weights or sides of their own",
    ),
    (
        lambda: DoubleBaggingClassifier(n_estimators=3).fit(X, LABELS),
        lambda: [CARTClassifier().fit(X, CODES)],
        TypeError,
        "computed columns of their own",
    ),
]


@pytest.mark.parametrize(("make", "members", "error", "message"), REFUSED)
def test_what_cannot_be_members_is_refused(make, members, error, message):
    model = make()
    before = model.predict_proba(NEW)
    with pytest.raises(error, match=message):
        model.estimators_ = members()
    np.testing.assert_array_equal(model.predict_proba(NEW), before)


@pytest.mark.parametrize(
    "model",
    [
        RandomSubspaceClassifier(n_estimators=4, random_state=0),
        BaggingClassifier(n_estimators=4, max_features=5, random_state=0),
        # As many columns as there are: nothing in a tree tells that they are others.
        BaggingClassifier(n_estimators=4, bootstrap_features=True, random_state=0),
        BaggingClassifier(KNeighborsClassifier(), n_estimators=4, max_features=5, random_state=0),
    ],
    ids=repr,
)
def test_members_with_columns_of_their_own_cannot_be_replaced(model):
    model.fit(X, LABELS)
    before = model.votes(NEW).labels
    with pytest.raises(TypeError, match="see columns of their own"):
        model.estimators_ = model.estimators_[::-1]
    np.testing.assert_array_equal(model.votes(NEW).labels, before)


def test_a_pickled_ensemble_has_its_members():
    for model in (forest(), BaggingClassifier(KNeighborsClassifier(), 3, random_state=0).fit(X, LABELS)):
        asked = len(model.estimators_)
        again = pickle.loads(pickle.dumps(model))
        assert len(again.estimators_) == asked
        assert again.estimators_ is again.estimators_
        for one, other in zip(again.estimators_, model.estimators_, strict=True):
            np.testing.assert_array_equal(one.predict_proba(NEW), other.predict_proba(NEW))
            assert one.random_state == other.random_state if hasattr(one, "random_state") else True


def same_nodes(one, other, but=()):
    for name in NODES:
        if name not in but:
            np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name), err_msg=name)


ALONE = [
    BaggingClassifier(),
    BaggingClassifier(CARTClassifier(max_features=3, criterion="entropy")),
    BaggingClassifier(max_features=0.4),
    PastingClassifier(max_samples=0.5),
    RandomSubspaceClassifier(),
    RandomizationClassifier(),
    RandomForestClassifier(),
    RandomForestClassifier(max_features=2, max_samples=0.6, max_leaf_nodes=12),
    ExtraTreesClassifier(),
    ExtraTreesClassifier(bootstrap=True),
    BaggingRegressor(),
    BaggingRegressor(max_features=0.4),
    RandomSubspaceRegressor(),
    RandomForestRegressor(max_features=0.3),
    ExtraTreesRegressor(max_features=3),
]
# Here two copies of a row are not a row of weight 2: limits count rows. (Combinations are in the spread of the rows of
# the ensemble, which a member alone does not know.)
ALONE_BY_WEIGHTS = [
    RandomForestRegressor(min_samples_leaf=4, max_features=2),
    RandomForestClassifier(min_samples_split=9),
]


@pytest.mark.parametrize("model", [*ALONE, *ALONE_BY_WEIGHTS], ids=repr)
def test_a_member_fitted_again_alone_is_the_same_tree(model):
    copies = model in ALONE
    model = clone(model).set_params(n_estimators=4, random_state=3)
    classes = model.task == "classification"
    model.fit(*((X, LABELS) if classes else (ROWS, TARGETS)))
    table, answers = (X, CODES) if classes else (ROWS, TARGETS)
    draws = zip(model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True)
    for member, samples, columns in draws:
        # A parameter like any other: it goes through clones and files.
        learner = pickle.loads(pickle.dumps(clone(member)))
        assert not hasattr(learner, "forest_")
        seen = table[:, columns]
        weights = np.bincount(samples, minlength=len(table)).astype(float)
        same_nodes(clone(learner).fit(seen, answers, weights), member)
        if not copies:
            continue
        # Of a row that was drawn twice there are two rows.
        alone = clone(learner).fit(seen[samples], answers[samples])
        same_nodes(alone, member, but=() if (weights <= 1).all() else ("n_node_samples",))
        assert alone.tree_.n_node_samples[0] == len(samples)
        np.testing.assert_array_equal(alone.predict(seen), member.predict(seen))
    assert len({int(member.random_state) for member in model.estimators_}) == 4


def test_a_member_with_real_weights_fitted_again_alone_is_the_same_tree():
    """`estimators_samples_` tells the rows, not the weights: those of bootstraps times the sample weights are known."""
    weights = np.random.default_rng(0).integers(1, 9, len(X)) / 4
    model = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, LABELS, weights)
    for member, samples in zip(model.estimators_, model.estimators_samples_, strict=True):
        drawn = np.bincount(samples, minlength=len(X)) * weights
        same_nodes(clone(member).fit(X, CODES, drawn), member)
    wagging = WaggingClassifier(n_estimators=3, random_state=0).fit(X, LABELS)
    assert len({int(member.random_state) for member in wagging.estimators_}) == 3


def test_the_base_learner_stays_unfitted():
    learner = CARTClassifier(max_depth=2)
    for model in (BaggingClassifier(learner, 3), AdaBoostClassifier(learner, 3)):
        model.fit(X, LABELS)
        assert model.estimator_.get_params() == learner.get_params()
        assert not hasattr(model.estimator_, "forest_")
    plain = forest()
    assert isinstance(plain.estimator_, CARTClassifier)
    assert plain.estimator_.max_features == "sqrt"


def test_a_warm_start_without_more_members_warns():
    model = RandomForestClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, LABELS)
    before = model.predict_proba(NEW)
    with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees"):
        model.fit(X, LABELS)
    np.testing.assert_array_equal(model.predict_proba(NEW), before)
    first = model.estimators_
    grown = model.set_params(n_estimators=5).fit(X, LABELS).estimators_
    for old, new in zip(first, grown, strict=False):
        same_nodes(old, new)
        assert old.random_state == new.random_state
