"""Subclasses of scikit-learn's ensembles that draw rows by samplers, as imbalanced-learn's do."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from conjunto import prune
from conjunto.voters import Unknown, as_voters

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 4))
Y = (X[:, 0] + RANDOM.normal(size=120) > 1).astype(int)
SAMPLED = "draws the rows of every member by a sampler of its own"


class BalancedForest(RandomForestClassifier):
    """Fits its trees itself, so that what scikit-learn's fit notes about samples is not there."""

    def fit(self, X, y):
        super().fit(X, y)
        del self._n_samples
        self.samplers_ = [object() for _ in self.estimators_]
        return self


class NotedNowhere(RandomForestClassifier):
    def fit(self, X, y):
        super().fit(X, y)
        del self._n_samples
        return self


class UnderBoost(AdaBoostClassifier):
    def fit(self, X, y):
        super().fit(X, y)
        self.samplers_ = [object() for _ in self.estimators_]
        return self


class Half(DecisionTreeClassifier):
    """A sampler, as far as a pipeline is asked; scikit-learn's own pipelines do not resample."""

    def fit_resample(self, X, y):
        return X[::2], y[::2]

    def transform(self, X):
        return X


EASY = BaggingClassifier(make_pipeline(Half(), DecisionTreeClassifier()), n_estimators=4, bootstrap=False)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (BalancedForest(5, random_state=0), SAMPLED),
        (BalancedForest(5, bootstrap=False, random_state=0), SAMPLED),
        (UnderBoost(n_estimators=5, random_state=0), SAMPLED),
        (EASY, SAMPLED),
        (NotedNowhere(5, random_state=0), "does not tell which rows its members saw"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_their_members_saw_is_not_known(model, reason):
    fitted = model.fit(X, Y)
    seen = as_voters(fitted).seen()
    assert isinstance(seen, Unknown)
    assert reason in seen.reason
    pruned = prune(fitted, X, Y, keep=2, method="individual_error")
    assert list(pruned.curve_) == ["members", "train"]
    with pytest.raises(ValueError, match=reason):
        prune(fitted, X, Y, selection="oob")


def test_imbalanced_learn():
    ensembles = pytest.importorskip("imblearn.ensemble")
    forest = ensembles.BalancedRandomForestClassifier
    models = [
        forest(5, bootstrap=True, sampling_strategy="all", replacement=False, random_state=0),
        forest(5, bootstrap=False, sampling_strategy="all", replacement=True, random_state=0),
        ensembles.RUSBoostClassifier(n_estimators=5, random_state=0),
        ensembles.EasyEnsembleClassifier(n_estimators=4, random_state=0),
    ]
    for model in models:
        seen = as_voters(model.fit(X, Y)).seen()
        assert isinstance(seen, Unknown)
        assert SAMPLED in seen.reason
        assert type(prune(model, X, Y, keep=2)) is type(model)
