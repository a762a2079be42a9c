import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conjunto import PastingClassifier, PastingRegressor


@pytest.mark.parametrize(("max_samples", "rows"), [(0.5, 40), (0.25, 20), (7, 7), (80, 80)])
@pytest.mark.parametrize(
    ("model", "tree"), [(PastingClassifier, DecisionTreeClassifier), (PastingRegressor, DecisionTreeRegressor)]
)
def test_members_are_trees_on_different_rows(model, tree, max_samples, rows):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 1))
    y = random.integers(0, 2, 80)
    fitted = model(n_estimators=10, max_samples=max_samples, random_state=0).fit(X, y)
    grid = np.linspace(-3, 3, 501)[:, None]
    for member, sample in zip(fitted.estimators_, fitted.estimators_samples_, strict=True):
        assert len(sample) == len(np.unique(sample)) == rows
        np.testing.assert_allclose(member.predict(grid), tree().fit(X[sample], y[sample]).predict(grid), rtol=1e-12)


def test_rows_not_drawn_are_out_of_bag():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 3)), random.integers(0, 2, 400)
    model = PastingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    assert (model.oob_votes_.labels >= 0).mean() == pytest.approx(0.5)
    # Noise: half right out of bag, within five standard errors.
    assert abs(model.oob_score_ - 0.5) < 5 * np.sqrt(0.25 / 400)
