import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from conjunto import OutputSmearingRegressor


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_members_repeat_the_smeared_targets(noise):
    random = np.random.default_rng(0)
    n, members = 400, 50
    X, y = random.normal(size=(n, 2)), random.normal(3.0, 10.0, n)
    model = OutputSmearingRegressor(n_estimators=members, noise=noise, random_state=0).fit(X, y)
    low, high = np.quantile(y, [0.025, 0.975])
    sd = noise * y[(y >= low) & (y <= high)].std()
    # Fully grown trees repeat the targets that they were told; five standard errors of a mean and of a deviation.
    added = model.votes(X).values - y
    size = added.size
    assert abs(added.mean()) <= 5 * sd / np.sqrt(size) + 1e-9
    assert abs(added.std() - sd) <= 5 * sd / np.sqrt(2 * size) + 1e-9


def test_the_mean_of_many_members_smooths():
    X, y = load_diabetes(return_X_y=True)
    train = np.arange(len(y)) % 2 == 0
    model = OutputSmearingRegressor(n_estimators=200, random_state=0).fit(X[train], y[train])
    assert model.score(X[~train], y[~train]) > 0.25


def test_a_constant_target():
    model = OutputSmearingRegressor(n_estimators=5, random_state=0).fit(np.arange(6.0)[:, None], np.full(6, 2.5))
    np.testing.assert_allclose(model.predict([[0.0], [9.0]]), 2.5)


@pytest.mark.parametrize("noise", [-1, np.nan, "x"])
def test_noise_is_a_number(noise):
    with pytest.raises(ValueError, match=r"noise must be a number in \[0, inf\], got"):
        OutputSmearingRegressor(noise=noise).fit([[0.0], [1.0]], [0.0, 1.0])
