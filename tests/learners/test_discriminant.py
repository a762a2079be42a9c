import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from conjunto.datasets import make_waveform
from conjunto.learners.discriminant import fit_discriminant


def discriminant(X, y, weights=None, categories=None):
    n_classes = int(y.max(initial=0)) + 1
    weights = np.ones(len(X)) if weights is None else weights
    categories = np.zeros(X.shape[1], dtype=np.uint32) if categories is None else categories
    return fit_discriminant(X, y.astype(np.int32), weights, categories, n_classes)


def standardised(columns):
    """Columns up to shift, scale and sign: mean 0, variance 1, the first entry positive."""
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return columns * np.sign(columns[0])


@pytest.mark.parametrize("load", [load_iris, load_wine, lambda return_X_y: make_waveform(300, random_state=0)])
def test_the_variables_are_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    truth = LinearDiscriminantAnalysis(solver="svd").fit(X, y).transform(X)
    found = discriminant(X, y)(X)
    assert found.shape == truth.shape == (len(X), 2)
    np.testing.assert_allclose(standardised(found), standardised(truth), atol=1e-8)


def test_within_scatter_is_the_unit_matrix():
    """Truth: what whitening means, sum over classes of the covariances weighted by their shares."""
    X, y = load_iris(return_X_y=True)
    found = discriminant(X, y)(X)
    scatter = sum(np.cov(found[y == k].T, ddof=0) * (y == k).mean() for k in range(3))
    np.testing.assert_allclose(scatter, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-10)


def test_a_weight_of_two_is_a_row_twice():
    X, y = make_waveform(120, random_state=0)
    times = np.random.default_rng(0).integers(0, 4, 120)
    rows = np.repeat(np.arange(120), times)
    weighted, repeated = discriminant(X, y, times.astype(float)), discriminant(X[rows], y[rows])
    np.testing.assert_allclose(standardised(weighted(X)), standardised(repeated(X)), atol=1e-8)
    scaled = discriminant(X, y, 1e-9 * times)
    np.testing.assert_allclose(standardised(scaled(X)), standardised(repeated(X)), atol=1e-8)


def test_missing_numbers_are_the_weighted_mean():
    random = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    weights = random.integers(1, 4, len(X)).astype(float)
    holes = np.where(random.random(X.shape) < 0.2, np.nan, X)
    present = np.ma.masked_invalid(holes)
    filled = np.where(np.isnan(holes), np.ma.average(present, axis=0, weights=weights), holes)
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    truth = LinearDiscriminantAnalysis().fit(filled[rows], y[rows]).transform(filled)
    np.testing.assert_allclose(standardised(discriminant(holes, y, weights)(holes)), standardised(truth), atol=1e-8)


def test_categories_are_indicators():
    random = np.random.default_rng(0)
    codes, number = random.integers(0, 3, 200), random.normal(size=200)
    y = ((number + codes + random.normal(size=200)) > 1).astype(int)
    indicators = np.column_stack([number, codes == 0, codes == 1, codes == 2]).astype(float)
    truth = LinearDiscriminantAnalysis().fit(indicators, y).transform(indicators)
    X = np.column_stack([number, codes]).astype(float)
    fitted = discriminant(X, y, categories=np.array([0, 3], dtype=np.uint32))
    np.testing.assert_allclose(standardised(fitted(X)), standardised(truth), atol=1e-8)
    missing = fitted(np.array([[0.0, np.nan], [0.0, 17.0]]))
    np.testing.assert_array_equal(missing[0], missing[1])


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
@pytest.mark.parametrize("m", [1, 2, 7])
def test_the_width_is_fixed(n_classes, m):
    X = np.random.default_rng(0).normal(size=(40, m))
    width = min(n_classes - 1, m)
    y = np.arange(40) % n_classes
    assert discriminant(X, y)(X).shape == (40, width)
    only = np.where(y == n_classes - 1, 1.0, 0.0)
    for weights in (np.zeros(40), only):
        none = discriminant(X, y, weights)(X)
        assert none.shape == (40, width)
        assert not none.any()
    constant = discriminant(np.full((40, m), 0.1), y)(X)
    assert constant.shape == (40, width)
    assert not constant.any()


def test_equal_rows_have_equal_variables_wherever_they_stand():
    """A tree could part equal rows that differ in the last bit: products of matrices give such rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 23))
    fitted = discriminant(X, np.arange(50) % 4)
    many = X[random.integers(0, 50, 1003)]
    found = fitted(many)
    for start, stop in [(0, 1), (1, 2), (5, 12), (1000, 1003)]:
        np.testing.assert_array_equal(fitted(many[start:stop]), found[start:stop])
    assert len(np.unique(found, axis=0)) == len(np.unique(many, axis=0))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e307])
def test_extreme_numbers_do_not_overflow(scale):
    X, y = load_iris(return_X_y=True)
    found = discriminant(scale * X, y)(scale * X)
    assert np.isfinite(found).all()
    if scale > 1e-300:
        np.testing.assert_allclose(standardised(found), standardised(discriminant(X, y)(X)), atol=1e-6)
    assert np.isfinite(discriminant(X, y)(np.array([[1.7e308, -1.7e308, 0, np.nan]]))).all()
