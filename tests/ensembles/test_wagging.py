import numpy as np
import pytest

from conjunto import CARTClassifier, WaggingClassifier
from conjunto.datasets import make_twonorm

X, Y = make_twonorm(200, random_state=0)


def weights(model):
    return np.stack(list(model._drawn.rows()))


def test_gaussian_weights_lose_rows_and_exponential_weights_none():
    gaussian = weights(WaggingClassifier(n_estimators=20, random_state=0).fit(X, Y))
    exponential = weights(WaggingClassifier(n_estimators=20, distribution="exponential", random_state=0).fit(X, Y))
    for drawn in (gaussian, exponential):
        np.testing.assert_allclose(drawn.sum(axis=1), 200)
        assert len(np.unique(drawn, axis=0)) == 20
    assert ((gaussian == 0).sum(axis=1) > 0).all()
    assert (exponential > 0).all()


@pytest.mark.parametrize("distribution", ["gaussian", "exponential"])
def test_members_are_weighted_trees(distribution):
    learner = CARTClassifier(max_depth=1)
    model = WaggingClassifier(learner, n_estimators=10, distribution=distribution, random_state=0).fit(X[:, :1], Y)
    for member, drawn in zip(model.estimators_, weights(model), strict=True):
        same = CARTClassifier(max_depth=1).fit(X[:, :1], Y, sample_weight=drawn)
        np.testing.assert_allclose(member.predict_proba(X[:, :1]), same.predict_proba(X[:, :1]), rtol=1e-9)


def test_exponential_members_have_no_training_error():
    model = WaggingClassifier(n_estimators=10, distribution="exponential", random_state=0).fit(X, Y)
    assert (model.votes(X).labels == Y).all()


def test_gaussian_members_generalise_out_of_bag():
    model = WaggingClassifier(n_estimators=100, oob_score=True, random_state=0).fit(X, Y)
    # Chance is one half; bagging is near 0.95 on this problem.
    assert model.oob_score_ > 0.85


def test_sd_zero_is_a_plain_tree():
    model = WaggingClassifier(n_estimators=3, sd=0.0, random_state=0).fit(X, Y)
    np.testing.assert_allclose(weights(model), 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"distribution": "x"}, "distribution must be one of 'gaussian', 'exponential', got 'x'"),
        ({"sd": -1}, r"sd must be a number in \[0, inf\], got -1"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        WaggingClassifier(**parameters).fit(X, Y)
