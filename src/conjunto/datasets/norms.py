"""Breiman's normal classes in 20 dimensions: twonorm, threenorm and ringnorm (Breiman 1996).

With `a = 2 / sqrt(20)` every mean but ringnorm's zero is 2 away from the origin. The Bayes rules compare the class
densities, so they are the best for equal class shares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from conjunto.checks import check_count

DIMENSIONS = 20
A = 2 / np.sqrt(DIMENSIONS)
# The mean of threenorm's second class is (a, -a, a, -a, …).
ALTERNATING = np.tile([1.0, -1.0], DIMENSIONS // 2)


def make_twonorm(
    n_samples: int = 300, *, class_shares: tuple[float, float] | None = None, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two normal classes with means (a, …, a) and (-a, …, -a) and unit covariance.

    The Bayes error is Phi(-2) = 2.28 %.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    class_shares : pair of floats, default=None
        Shares of the classes 0 and 1, kept to the example: round(share * n_samples) are of class 0. None draws every
        label with chance 1/2.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 20)
    y : array of shape (n_samples,)
        0 or 1.

    References
    ----------
    Breiman (1996). Bias, variance, and arcing classifiers. Technical Report 460, University of California, Berkeley.

    Examples
    --------
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 20), (5,))
    """
    random, y = _draw_labels(n_samples, class_shares, random_state)
    return random.normal(size=(n_samples, DIMENSIONS)) + np.where(y == 0, A, -A)[:, None], y


def bayes_twonorm(X: ArrayLike) -> NDArray[np.int64]:
    """The Bayes rule of twonorm: class 0 where the sum of x is positive.

    Parameters
    ----------
    X : array of shape (n_samples, 20)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> bayes_twonorm(np.stack([np.ones(20), -np.ones(20)]))
    array([0, 1])
    """
    return (np.asarray(X, dtype=float).sum(axis=1) < 0).astype(np.int64)


def make_threenorm(
    n_samples: int = 300, *, class_shares: tuple[float, float] | None = None, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Class 0 is half N((a, …, a), I) and half N((-a, …, -a), I), class 1 is N((a, -a, a, …, -a), I).

    The Bayes error is 10.46 %, by integration over one dimension; Breiman gives 10.5 %.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    class_shares : pair of floats, default=None
        Shares of the classes 0 and 1, kept to the example: round(share * n_samples) are of class 0. None draws every
        label with chance 1/2.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 20)
    y : array of shape (n_samples,)
        0 or 1.

    References
    ----------
    Breiman (1996). Bias, variance, and arcing classifiers. Technical Report 460, University of California, Berkeley.

    Examples
    --------
    >>> from conjunto.datasets import make_threenorm
    >>> X, y = make_threenorm(10, class_shares=(0.9, 0.1), random_state=0)
    >>> X.shape, int(y.sum())
    ((10, 20), 1)
    """
    random, y = _draw_labels(n_samples, class_shares, random_state)
    sign = 2 * random.randint(0, 2, size=n_samples) - 1
    means = A * np.where(y[:, None] == 0, sign[:, None], ALTERNATING)
    return random.normal(size=(n_samples, DIMENSIONS)) + means, y


def bayes_threenorm(X: ArrayLike) -> NDArray[np.int64]:
    """The Bayes rule of threenorm: class 0 where cosh(s) > exp(t), s = a sum x, t = a (x_1 - x_2 + x_3 - … - x_20).

    All three means are 2 away from the origin, so that only these products with the means tell the classes apart.

    Parameters
    ----------
    X : array of shape (n_samples, 20)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> bayes_threenorm(np.stack([np.ones(20), -np.ones(20), np.tile([1, -1], 10)]))
    array([0, 0, 1])
    """
    X = np.asarray(X, dtype=float)
    s, t = A * X.sum(axis=1), A * (X @ ALTERNATING)
    return (np.logaddexp(s, -s) - np.log(2) < t).astype(np.int64)


def make_ringnorm(
    n_samples: int = 300, *, class_shares: tuple[float, float] | None = None, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Class 0 is N(0, 4 I), class 1 is N((a, …, a), I): one class inside the other.

    The Bayes error is 1.24 %, a mean of two noncentral chi-squared probabilities (see `bayes_ringnorm`). Breiman gives
    1.3 % for a = 2 / sqrt(20). R's mlbench takes a = 1 / sqrt(20), which has 1.50 %: farther from his figure.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    class_shares : pair of floats, default=None
        Shares of the classes 0 and 1, kept to the example: round(share * n_samples) are of class 0. None draws every
        label with chance 1/2.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 20)
    y : array of shape (n_samples,)
        0 or 1.

    References
    ----------
    Breiman (1996). Bias, variance, and arcing classifiers. Technical Report 460, University of California, Berkeley.

    Examples
    --------
    >>> from conjunto.datasets import make_ringnorm
    >>> X, y = make_ringnorm(1000, random_state=0)
    >>> X[y == 0].std().round(1), X[y == 1].std().round(1)
    (np.float64(2.0), np.float64(1.0))
    """
    random, y = _draw_labels(n_samples, class_shares, random_state)
    spread, mean = np.where(y == 0, 2.0, 1.0)[:, None], np.where(y == 0, 0.0, A)[:, None]
    return random.normal(size=(n_samples, DIMENSIONS)) * spread + mean, y


def bayes_ringnorm(X: ArrayLike) -> NDArray[np.int64]:
    """The Bayes rule of ringnorm: class 1 where |x - m|^2 < |x|^2 / 4 + 40 log 2, m = (a, …, a).

    That is a ball around 4 m / 3, so the error of either class is a noncentral chi-squared probability.

    Parameters
    ----------
    X : array of shape (n_samples, 20)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> bayes_ringnorm(np.stack([np.full(20, 3.0), np.zeros(20)]))
    array([0, 1])
    """
    X = np.asarray(X, dtype=float)
    near, wide = ((X - A) ** 2).sum(axis=1), (X**2).sum(axis=1) / 4
    return (near < wide + 2 * DIMENSIONS * np.log(2)).astype(np.int64)


def _draw_labels(n_samples: Any, class_shares: Any, random_state: Any) -> tuple[Any, NDArray[np.int64]]:
    """The checked generator and the labels, its first draw."""
    check_count("n_samples", n_samples)
    shares = None if class_shares is None else _check_class_shares(class_shares)
    random = check_random_state(random_state)
    if shares is None:
        return random, random.randint(0, 2, size=n_samples).astype(np.int64)
    labels = np.ones(n_samples, dtype=np.int64)
    labels[: round(shares[0] * n_samples)] = 0
    return random, random.permutation(labels)


def _check_class_shares(class_shares: Any) -> NDArray[np.float64]:
    message = f"class_shares must be two numbers in [0, 1] that sum to 1, got {class_shares!r}"
    try:
        shares = np.asarray(class_shares, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    if shares.shape != (2,) or not (shares >= 0).all() or not np.isclose(shares.sum(), 1, rtol=0, atol=1e-9):
        raise ValueError(message)
    return shares
