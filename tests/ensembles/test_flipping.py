import numpy as np
import pytest

from conjunto import FlippingClassifier
from conjunto.datasets import make_twonorm, make_waveform


@pytest.mark.parametrize("make", [make_twonorm, make_waveform])
def test_flipping_changes_a_share_and_keeps_the_classes(make):
    n, members = 300, 200
    X, y = make(n, random_state=0)
    model = FlippingClassifier(n_estimators=members, p_hat=0.4, random_state=0).fit(X, y)
    classes = len(model.classes_)
    assert model.p_ == pytest.approx(0.4 * (classes - 1) / classes)
    # Fully grown trees repeat the labels they were told.
    told = model.votes(X).labels
    changed = (told != y).mean()
    assert abs(changed - model.p_) < 5 * np.sqrt(model.p_ * (1 - model.p_) / told.size)
    shares = np.bincount(told.ravel(), minlength=classes) / told.size
    expected = np.bincount(y, minlength=classes) / n
    assert (np.abs(shares - expected) < 5 * np.sqrt(0.25 / told.size)).all()
    assert len(set((told != y).sum(axis=1).tolist())) > 1


def test_small_classes_warn():
    X, _ = make_twonorm(100, random_state=0)
    y = (np.arange(100) < 20).astype(int)
    with pytest.warns(UserWarning, match=r"p = 0\.300 of the labels is beyond the limit 0\.200.*lower p_hat"):
        FlippingClassifier(n_estimators=3, p_hat=0.6).fit(X, y)
    FlippingClassifier(n_estimators=3, p_hat=0.3).fit(X, y)


@pytest.mark.parametrize("p_hat", [1.0, -0.1])
def test_p_hat_is_a_share(p_hat):
    X, y = make_twonorm(20, random_state=0)
    with pytest.raises(ValueError, match=r"p_hat must be a number in \[0, 1\), got"):
        FlippingClassifier(n_estimators=3, p_hat=p_hat).fit(X, y)


def test_one_class():
    assert FlippingClassifier(n_estimators=3).fit([[0.0], [1.0]], ["a", "a"]).predict([[5.0]]).tolist() == ["a"]
