"""Models as one estimator: votes and means by hand, and what scikit-learn asks of estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from conjunto.voters.voting_models import ModelListClassifier, ModelListRegressor

from .oracles import NAMES, as_frame, make_rows

X, LABELS, TARGETS = make_rows()
CLASSIFIERS = [DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB(), LogisticRegression()]
REGRESSORS = [LinearRegression(), DecisionTreeRegressor(max_depth=2, random_state=0)]


def test_classifiers_vote():
    models = [clone(model).fit(X, LABELS) for model in CLASSIFIERS]
    vote = ModelListClassifier.of_fitted(models)
    counts = sum(model.predict(X)[:, None] == NAMES for model in models)
    np.testing.assert_array_equal(vote.predict(X), NAMES[counts.argmax(axis=1)])
    np.testing.assert_allclose(vote.predict_proba(X), counts / 3)
    assert len(vote) == 3
    assert vote[1] is models[1]
    assert vote.n_features_in_ == 5


def test_regressors_are_averaged():
    models = [model.fit(X, TARGETS) for model in map(clone, REGRESSORS)]
    mean = ModelListRegressor.of_fitted(models)
    np.testing.assert_allclose(mean.predict(X), (models[0].predict(X) + models[1].predict(X)) / 2)


@pytest.mark.parametrize("kind", [ModelListClassifier, ModelListRegressor])
def test_fitting_clones_and_copies(kind):
    models, y = (CLASSIFIERS, LABELS) if kind is ModelListClassifier else (REGRESSORS, TARGETS)
    unfitted = kind(models)
    with pytest.raises(NotFittedError, match=kind.__name__):
        unfitted.predict(X)
    fitted = clone(unfitted).fit(as_frame(X), y)
    assert fitted.models[0] is not fitted.estimators_[0]
    assert list(fitted.feature_names_in_) == list(as_frame(X).columns)
    by_hand = kind.of_fitted([clone(model).fit(as_frame(X), y) for model in models])
    np.testing.assert_array_equal(fitted.predict(as_frame(X)), by_hand.predict(as_frame(X)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(by_hand)).predict(as_frame(X)), fitted.predict(as_frame(X)))
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X)
    assert fitted.get_params(deep=False) == {"models": fitted.models}


def test_messages():
    classifier, regressor = GaussianNB().fit(X, LABELS), LinearRegression().fit(X, TARGETS)
    with pytest.raises(TypeError, match="models must be classifiers: use ModelListRegressor"):
        ModelListClassifier.of_fitted([regressor])
    with pytest.raises(TypeError, match="models must be regressors: use ModelListClassifier"):
        ModelListRegressor.of_fitted([classifier])
    with pytest.raises(ValueError, match="models must hold at least one model"):
        ModelListRegressor([]).fit(X, TARGETS)
    with pytest.raises(TypeError, match=r"models\[1\] cannot be fitted again: 'x' has no fit and get_params"):
        ModelListClassifier([GaussianNB(), "x"]).fit(X, LABELS)


@parametrize_with_checks([ModelListClassifier(CLASSIFIERS), ModelListRegressor(REGRESSORS)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
