"""Fitted models of other libraries, each with its manners: names of columns rewritten, class codes alone."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conjunto import RandomForestClassifier, StackingClassifier, VotingClassifier, prune

DATA = load_iris(as_frame=True)
X, LABELS = DATA.data, DATA.target_names[DATA.target]


def others():
    return [
        ("linear", make_pipeline(StandardScaler(), LogisticRegression()).fit(X, LABELS)),
        ("forest", RandomForestClassifier(20, random_state=0).fit(X, LABELS)),
    ]


def test_lightgbm_spells_names_of_columns_otherwise():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(X, LABELS)
    vote = VotingClassifier([("boosted", model), *others()], voting="soft", prefit=True).fit()
    mean = np.mean([each.predict_proba(X) for _, each in vote.estimators], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), mean)
    assert vote.feature_names_in_.tolist() == list(X.columns)
    assert len(prune([model, *(each for _, each in others())], X, LABELS, keep=2)) == 2


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_xgboost_knows_class_codes_alone():
    xgboost = pytest.importorskip("xgboost")
    codes = np.searchsorted(np.unique(LABELS), LABELS)
    model = xgboost.XGBClassifier(n_estimators=10).fit(X, codes)
    vote = VotingClassifier([("boosted", model), *others()], prefit=True).fit()
    assert vote.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert vote.score(X, LABELS) > 0.97
    # A fold that lacks a class leaves a gap in the codes, which XGBoost refuses: members are told codes without gaps.
    rare = np.where(np.arange(150) == 0, "a rare one", LABELS)
    stacking = StackingClassifier([("boosted", xgboost.XGBClassifier(n_estimators=10)), *others()]).fit(X, rare)
    assert stacking.predict_proba(X).shape == (150, 4)
