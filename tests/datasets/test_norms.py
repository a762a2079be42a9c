import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_normal, ncx2, norm

from conjunto.datasets import make_ringnorm, make_threenorm, make_twonorm
from conjunto.datasets.generators import GENERATORS
from conjunto.datasets.norms import bayes_ringnorm, bayes_threenorm, bayes_twonorm

N = 200_000
A = 2 / np.sqrt(20)
UP, ALTERNATING = np.full(20, A), np.tile([A, -A], 10)


def assert_normal(rows, mean, variance=1.0):
    assert np.abs(rows.mean(axis=0) - mean).max() < 5 * np.sqrt(variance / len(rows))
    # A variance has a standard error of variance sqrt(2 / n); 210 of them are looked at.
    assert np.abs(np.cov(rows.T) - variance * np.eye(20)).max() < 6 * variance * np.sqrt(2 / len(rows))


def test_twonorm():
    """Normal classes with means +-2 / sqrt(20): the Bayes rule is the sign of sum(x), wrong with chance Phi(-2)."""
    X, y = make_twonorm(N, random_state=0)
    assert X.shape == (N, 20)
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(N)
    assert_normal(X[y == 0], A)
    assert_normal(X[y == 1], -A)
    np.testing.assert_array_equal(bayes_twonorm(X), X.sum(axis=1) < 0)
    bayes = 0.02275
    assert abs((bayes_twonorm(X) != y).mean() - bayes) < 5 * np.sqrt(bayes / N)
    assert GENERATORS["twonorm"].bayes_error == pytest.approx(ndtr(-2), rel=1e-5)


def test_threenorm():
    """Given class 0, |x . m| tells which of the two means m, -m a row is from, wrong with chance Phi(-2)."""
    X, y = make_threenorm(N, random_state=0)
    assert X.shape == (N, 20)
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(N)
    assert_normal(X[y == 1], ALTERNATING)
    mixture = X[y == 0]
    # Mean 0 and covariance I + m m'.
    assert np.abs(mixture.mean(axis=0)).max() < 5 * np.sqrt((1 + A**2) / len(mixture))
    covariance = np.eye(20) + np.outer(UP, UP)
    assert np.abs(np.cov(mixture.T) - covariance).max() < 6 * (1 + A**2) * np.sqrt(2 / len(mixture))
    # Along m it is half N(-2, 1), half N(2, 1): fourth moment 2^4 + 6 2^2 + 3 = 43.
    along = mixture @ UP / 2
    assert abs((along**4).mean() - 43) < 5 * (along**4).std() / np.sqrt(len(along))


def test_ringnorm():
    X, y = make_ringnorm(N, random_state=0)
    assert X.shape == (N, 20)
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(N)
    assert_normal(X[y == 0], 0, variance=4)
    assert_normal(X[y == 1], A)


def test_bayes_rules_compare_densities():
    """The closed forms are the rules of the densities as scipy computes them."""
    unit = [multivariate_normal(mean) for mean in (UP, -UP, ALTERNATING)]
    wide = multivariate_normal(np.zeros(20), 4 * np.eye(20))
    cases = [
        (make_twonorm, bayes_twonorm, unit[0].pdf, unit[1].pdf),
        (make_threenorm, bayes_threenorm, lambda x: (unit[0].pdf(x) + unit[1].pdf(x)) / 2, unit[2].pdf),
        (make_ringnorm, bayes_ringnorm, wide.pdf, unit[0].pdf),
    ]
    for make, bayes, zero, one in cases:
        X, _ = make(5000, random_state=1)
        np.testing.assert_array_equal(bayes(X), one(X) > zero(X))


def test_threenorm_bayes_error():
    """Only u, v along the two directions matter: class 0 is N(+-2, 1) x N(0, 1), class 1 N(0, 1) x N(2, 1)."""

    def border(u):
        return (np.logaddexp(2 * u, -2 * u) - np.log(2)) / 2

    def wrong(u):
        return (norm.pdf(u - 2) * ndtr(-border(u)) + norm.pdf(u) * ndtr(border(u) - 2)) / 2

    assert GENERATORS["threenorm"].bayes_error == pytest.approx(quad(wrong, -12, 12, points=[0, 2])[0], rel=1e-5)


@pytest.mark.parametrize(("length", "error"), [(2, 0.0124), (1, 0.0150)])
def test_ringnorm_bayes_error(length, error):
    """The rule's ball is around 4 m / 3, |m| = length; Breiman's 1.3 % is nearer with 2 than with mlbench's 1."""
    square = 160 / 3 * np.log(2) + 4 / 9 * length**2
    inside_zero = ncx2.cdf(square / 4, 20, 4 / 9 * length**2)
    outside_one = ncx2.sf(square, 20, length**2 / 9)
    assert (inside_zero + outside_one) / 2 == pytest.approx(error, abs=5e-5)
    if length == 2:
        assert GENERATORS["ringnorm"].bayes_error == pytest.approx((inside_zero + outside_one) / 2, rel=1e-5)


def test_draws_of_twonorm_stay():
    """The order of the draws is part of the interface: documents show results for given seeds."""
    X, y = make_twonorm(300, random_state=0)
    random = np.random.RandomState(0)
    np.testing.assert_array_equal(y, random.randint(0, 2, size=300))
    np.testing.assert_array_equal(X, random.normal(size=(300, 20)) + np.where(y == 0, A, -A)[:, None])


@pytest.mark.parametrize("make", [make_twonorm, make_threenorm, make_ringnorm])
def test_class_shares(make):
    for shares, n, zeros in [((0.9, 0.1), 300, 270), ((0.1, 0.9), 5000, 500), ((1 / 3, 2 / 3), 10, 3), ((1, 0), 7, 7)]:
        X, y = make(n, class_shares=shares, random_state=0)
        assert X.shape == (n, 20)
        assert (y == 0).sum() == zeros
    # In random order, and the classes are where they should be.
    X, y = make(20_000, class_shares=(0.3, 0.7), random_state=0)
    assert abs(y[:10_000].mean() - 0.7) < 5 * np.sqrt(0.21 / 10_000)
    bayes = GENERATORS[make.__name__.removeprefix("make_")]
    assert (bayes.bayes(X) != y).mean() < 2 * bayes.bayes_error


@pytest.mark.parametrize(
    "shares", [(0.5,), (0.5, 0.6), (-0.5, 1.5), (np.nan, 1), "half", 0.5, (0.2, 0.3, 0.5), ("a", "b")]
)
def test_bad_class_shares(shares):
    with pytest.raises(ValueError, match=r"class_shares must be two numbers in \[0, 1\] that sum to 1, got"):
        make_threenorm(10, class_shares=shares)
