"""Bayesian averaging against likelihoods and BIC by hand."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import norm
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conjunto import BayesianAveragingClassifier, BayesianAveragingRegressor, CARTRegressor
from conjunto.combiners.bayesian_averaging import count_parameters

X, Y = load_iris(return_X_y=True)
ROWS, TARGETS = load_diabetes(return_X_y=True)
MODELS = [("normal", GaussianNB()), ("linear", make_pipeline(StandardScaler(), LogisticRegression()))]
REGRESSORS = [("linear", LinearRegression()), ("tree", CARTRegressor(max_depth=2, random_state=0))]


def test_weights_are_posterior_probabilities():
    model = BayesianAveragingClassifier(MODELS, prior=[1, 3]).fit(X, Y)
    logs = []
    for _, member in MODELS:
        shares = cross_val_predict(member, X, Y, method="predict_proba")
        logs.append(np.log(np.maximum(shares[np.arange(150), Y], 1 / 153)).sum())
    np.testing.assert_allclose(model.log_likelihoods_, logs)
    np.testing.assert_allclose(model.weights_, softmax(np.array(logs) + np.log([1, 3])))
    mean = sum(w * m.predict_proba(X) for w, m in zip(model.weights_, model.estimators_, strict=True))
    np.testing.assert_allclose(model.predict_proba(X), mean)


def test_regression_has_normal_errors():
    model = BayesianAveragingRegressor(REGRESSORS, cv=4).fit(ROWS, TARGETS)
    logs = []
    for _, member in REGRESSORS:
        off = cross_val_predict(member, ROWS, TARGETS, cv=4) - TARGETS
        logs.append(norm.logpdf(off, scale=np.sqrt(np.mean(off**2))).sum())
    np.testing.assert_allclose(model.log_likelihoods_, logs)
    mean, spread = model.predict(ROWS, return_std=True)
    said = np.stack([member.predict(ROWS) for member in model.estimators_])
    np.testing.assert_allclose(mean, model.weights_ @ said)
    np.testing.assert_allclose(spread**2, model.weights_ @ (model.variances_[:, None] + (said - mean) ** 2))


def test_bic_is_of_the_training_rows():
    model = BayesianAveragingRegressor(REGRESSORS, criterion="bic").fit(ROWS, TARGETS)
    bic = []
    for member, parameters in zip(model.estimators_, (12, 5), strict=True):
        off = member.predict(ROWS) - TARGETS
        log = norm.logpdf(off, scale=np.sqrt(np.mean(off**2))).sum()
        bic.append(np.log(442) * parameters - 2 * log)
    np.testing.assert_allclose(model.bic_, bic)
    np.testing.assert_allclose(model.weights_, softmax(-np.array(bic) / 2))
    assert count_parameters(MODELS[1][1].fit(X, Y)) == 15
    assert count_parameters(GaussianNB().fit(X, Y)) == 26


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "aic"}, "criterion must be one of 'likelihood', 'bic'"),
        ({"prior": [1]}, "Number of `estimators` and prior must be equal; got 1 prior, 2 estimators"),
        ({"prior": [1, 0]}, "prior must be positive and finite for every member"),
        (
            {"estimators": [("near", KNeighborsClassifier())], "criterion": "bic"},
            "number of parameters of each member, and that of 'near' is not known",
        ),
    ],
)
def test_messages(change, message):
    with pytest.raises(ValueError, match=message):
        BayesianAveragingClassifier(**{"estimators": MODELS} | change).fit(X, Y)
