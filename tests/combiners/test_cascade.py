"""Cascades: thresholds by brute force, the loss that was stated, and who is asked about what."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from conjunto import CascadeClassifier, RandomForestClassifier
from conjunto.datasets import make_waveform

X, Y = make_waveform(600, random_state=0)
TEST = make_waveform(4000, random_state=1)
MODELS = [
    ("normal", GaussianNB()),
    ("linear", LogisticRegression(max_iter=1000)),
    ("forest", RandomForestClassifier(100, random_state=0)),
]


@pytest.mark.parametrize("loss", [0.0, 0.01, 0.05])
def test_thresholds_are_the_lowest_that_the_loss_allows(loss):
    model = CascadeClassifier(MODELS, loss=loss).fit(X, Y)
    shares = [cross_val_predict(member, X, Y, method="predict_proba") for _, member in MODELS]
    right = [each.argmax(axis=1) == Y for each in shares]
    left, spare = np.ones(len(Y), dtype=bool), loss * len(Y)
    for t in (0, 1):
        confidence = shares[t].max(axis=1)
        fine = []
        for threshold in np.unique(confidence[left]):
            sure = left & (confidence >= threshold)
            if (right[2][sure].astype(int) - right[t][sure]).sum() <= spare + 1e-9:
                fine.append(threshold)
        if not fine:
            assert model.thresholds_[t] == np.inf
            continue
        assert model.thresholds_[t] == pytest.approx(min(fine))
        sure = left & (confidence >= min(fine))
        spare -= (right[2][sure].astype(int) - right[t][sure]).sum()
        assert model.answered_[t] == pytest.approx(sure.mean())
        left &= ~sure
    assert model.answered_.sum() == pytest.approx(1)
    assert model.accuracy_ >= model.accuracy_of_last_ - loss - 1e-9


def test_the_stated_loss_holds_on_other_rows_and_work_is_saved():
    model = CascadeClassifier(MODELS, loss=0.01).fit(X, Y)
    asked = model.stage(TEST[0])
    assert (asked < 2).mean() > 0.3
    alone = model.estimators_[-1].score(*TEST)
    # The loss, and twice the standard error of a difference on the 600 rows of the choice.
    assert model.score(*TEST) > alone - 0.01 - 2 * np.sqrt(0.1 / 600)


def test_nobody_is_asked_about_rows_that_were_answered():
    class Counting(GaussianNB):
        def predict_proba(self, X):
            self.asked = getattr(self, "asked", 0) + len(X)
            return super().predict_proba(X)

    members = [("first", GaussianNB().fit(X, Y)), ("second", Counting().fit(X, Y))]
    model = CascadeClassifier(members, loss=0.02, prefit=True).fit(X, Y)
    model.estimators_[1].asked = 0
    stages = model.stage(TEST[0])
    assert model.estimators_[1].asked == (stages == 1).sum() < len(stages)
    shares = np.where(
        (stages == 0)[:, None], members[0][1].predict_proba(TEST[0]), members[1][1].predict_proba(TEST[0])
    )
    np.testing.assert_allclose(model.predict_proba(TEST[0]), shares)


def test_the_last_member_need_not_give_probabilities():
    model = CascadeClassifier([("normal", GaussianNB()), ("machine", SVC())], loss=0.01).fit(X, Y)
    later = model.stage(TEST[0]) == 1
    assert 0 < later.mean() < 0.9
    np.testing.assert_array_equal(model.predict(TEST[0])[later], model.estimators_[1].predict(TEST[0])[later])
    assert set(np.unique(model.predict_proba(TEST[0])[later])) == {0.0, 1.0}
    with pytest.raises(ValueError, match="the member 'machine', SVC, has no predict_proba"):
        CascadeClassifier([("machine", SVC()), ("normal", GaussianNB())]).fit(X, Y)


def test_messages():
    with pytest.raises(ValueError, match=r"loss must be a number in \[0, 1\]"):
        CascadeClassifier(MODELS, loss=2).fit(X, Y)
