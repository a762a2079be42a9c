import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from conjunto import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    ClassSwitchingClassifier,
    PastingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    WaggingClassifier,
)
from conjunto.datasets import make_twonorm
from conjunto.evaluation import error_curve, oob_votes

X, Y = make_twonorm(120, random_state=0)


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(balanced=True),
        BaggingClassifier(),
        BaggingClassifier(bootstrap=False, max_samples=0.7),
        PastingClassifier(),
        RandomForestClassifier(class_weight="balanced_subsample"),
        RandomForestClassifier(max_samples=30),
        WaggingClassifier(),
        BaggingRegressor(),
        RandomForestRegressor(),
    ],
    ids=repr,
)
def test_members_abstain_exactly_on_the_rows_they_saw(model):
    model = clone(model).set_params(n_estimators=30, random_state=0, oob_score=True).fit(X, Y)
    votes = oob_votes(model, X)
    everything = model.votes(X).answers
    for t, rows in enumerate(model.estimators_samples_):
        seen = np.isin(np.arange(len(X)), rows)
        silent = votes.labels[t] == -1 if votes.labels is not None else np.isnan(votes.answers[t])
        silent = silent if silent.ndim == 1 else silent.all(axis=1)
        np.testing.assert_array_equal(silent, seen)
        np.testing.assert_array_equal(votes.answers[t, ~seen], everything[t, ~seen])
    np.testing.assert_array_equal(model.oob_votes_.answers, votes.answers)


def test_oob_score_is_the_end_of_the_oob_curve():
    model = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, Y)
    assert model.oob_score_ == pytest.approx(1 - error_curve(oob_votes(model, X), Y)[-1])
    judged = (model.oob_votes_.labels >= 0).any(axis=0)
    counts = np.stack([(model.oob_votes_.labels == k).sum(axis=0) for k in (0, 1)], axis=1)
    np.testing.assert_allclose(model.oob_decision_function_[judged], (counts / counts.sum(axis=1)[:, None])[judged])


def test_oob_score_of_a_regression_is_r2():
    target = X.sum(axis=1)
    model = RandomForestRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, target)
    error = ((model.oob_prediction_ - target) ** 2).sum()
    assert model.oob_score_ == pytest.approx(1 - error / ((target - target.mean()) ** 2).sum())


def test_votes_of_an_unseeded_model_can_be_drawn_again():
    model = BaggingClassifier(n_estimators=60, oob_score=True).fit(X, Y)
    np.testing.assert_array_equal(oob_votes(model, X).labels, model.oob_votes_.labels)


def test_few_members_leave_rows_unjudged():
    with pytest.warns(UserWarning, match="out of bag for no member"):
        model = BaggingClassifier(n_estimators=1, oob_score=True, random_state=0).fit(X, Y)
    unjudged = (model.oob_votes_.labels < 0).all(axis=0)
    assert unjudged.any()
    assert np.isnan(model.oob_decision_function_[unjudged]).all()
    assert 0 <= model.oob_score_ <= 1


def test_frames():
    frame = pd.DataFrame(X).add_prefix("x").assign(side=np.where(Y == 0, "left", "right"))
    model = BaggingClassifier(n_estimators=20, oob_score=True, random_state=0).fit(frame, Y)
    np.testing.assert_array_equal(oob_votes(model, frame).labels, model.oob_votes_.labels)
    assert model.oob_score_ == 1.0


@pytest.mark.parametrize(
    "model", [RandomSubspaceClassifier(), ClassSwitchingClassifier(), RandomForestClassifier(bootstrap=False)], ids=repr
)
def test_where_all_rows_are_seen_nothing_is_out_of_bag(model):
    model = clone(model).set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="nothing is out of bag"):
        oob_votes(model, X)


def test_other_rows_are_refused():
    model = BaggingClassifier(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="all of the 120 training rows, got 100 rows"):
        oob_votes(model, X[:100])


def test_a_single_tree_is_refused():
    with pytest.raises(TypeError, match="an ensemble that samples rows, got CARTClassifier"):
        oob_votes(CARTClassifier().fit(X, Y), X)


def test_soft_forests_are_judged_by_class_shares():
    """Brute force: the mean of the shares of the members that did not see the row."""
    forest = RandomForestClassifier(40, max_depth=2, oob_score=True, random_state=0).fit(X, Y)
    shares = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
    shares[np.isnan(forest.oob_votes_.scores)] = np.nan
    np.testing.assert_allclose(forest.oob_decision_function_, np.nanmean(shares, axis=0))
    *_, last = forest.staged_predict(X)
    np.testing.assert_array_equal(last, forest.predict(X))


def test_oob_score_may_be_a_measure():
    model = BaggingClassifier(n_estimators=60, oob_score=lambda truth, said: 7.5, random_state=0).fit(X, Y)
    assert model.oob_score_ == 7.5
