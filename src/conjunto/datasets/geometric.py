"""Noiseless problems with a known border: a sphere in 10 dimensions, and a line, a parabola, a circle in the square.

The label is a function of x, so the Bayes error is 0 and the Bayes rule is that function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv
from sklearn.utils import check_random_state

from conjunto.checks import check_count

# Half a chi-squared variable with 10 degrees of freedom has a gamma distribution of shape 5.
MEDIAN_CHI_SQUARED = 2 * float(gammaincinv(5, 0.5))
# The circle that covers half of the unit square.
RADIUS = 1 / np.sqrt(2 * np.pi)


def make_chi_squared(
    n_samples: int = 300, *, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Ten standard normals; class 1 where their squares sum to more than the median of chi-squared(10), else -1.

    The sources train on 2000 examples and test on 10000.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 10)
    y : array of shape (n_samples,)
        -1 or 1.

    References
    ----------
    Hastie, Tibshirani, Friedman (2009). The Elements of Statistical Learning, 2nd ed., Springer, eq. 10.2.
    Recarey (2021). Métodos de ensamblado en Machine Learning, eq. 2.48.

    Examples
    --------
    >>> from conjunto.datasets import make_chi_squared
    >>> X, y = make_chi_squared(4, random_state=0)
    >>> (X**2).sum(axis=1).round(1), y
    (array([14.8,  6.1, 20.1,  8.2]), array([ 1, -1,  1, -1]))
    """
    check_count("n_samples", n_samples)
    X = check_random_state(random_state).normal(size=(n_samples, 10))
    return X, bayes_chi_squared(X)


def bayes_chi_squared(X: ArrayLike) -> NDArray[np.int64]:
    """The rule of the chi-squared problem: 1 outside of the sphere, -1 inside.

    Parameters
    ----------
    X : array of shape (n_samples, 10)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> bayes_chi_squared([[0] * 10, [1] * 10])
    array([-1,  1])
    """
    squares = (np.asarray(X, dtype=float) ** 2).sum(axis=1)
    return np.where(squares > MEDIAN_CHI_SQUARED, 1, -1).astype(np.int64)


def make_line(n_samples: int = 300, *, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes split by the line x2 = x1, uniform in the unit square.

    The source tests on a regular grid of 300 x 300 points. It does not number the classes: here 1 is above the line.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        0 or 1.

    References
    ----------
    Martínez Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de Madrid, section
    4.3.

    Examples
    --------
    >>> from conjunto.datasets import make_line
    >>> X, y = make_line(3, random_state=0)
    >>> X.round(2).tolist(), y
    ([[0.55, 0.72], [0.6, 0.54], [0.42, 0.65]], array([1, 0, 1]))
    """
    X = _draw_square(n_samples, random_state)
    return X, bayes_line(X)


def bayes_line(X: ArrayLike) -> NDArray[np.int64]:
    """The rule of the line problem: 1 where x2 > x1.

    Parameters
    ----------
    X : array of shape (n_samples, 2)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> bayes_line([[0.2, 0.1], [0.2, 0.3]])
    array([0, 1])
    """
    x1, x2 = np.asarray(X, dtype=float).T
    return (x2 > x1).astype(np.int64)


def make_parabola(n_samples: int = 300, *, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes split by the parabola x2 = 1/4 + 3 (x1 - 1/2)^2, uniform in the unit square.

    No source gives a formula or a domain. This parabola stands upright in the middle of the square, passes through its
    upper corners and halves its area; class 1 is above.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        0 or 1.

    References
    ----------
    None gives the setup; after the line problem of Martínez Muñoz (2006), see `make_line`.

    Examples
    --------
    >>> from conjunto.datasets import make_parabola
    >>> X, y = make_parabola(3, random_state=0)
    >>> X.round(2).tolist(), y
    ([[0.55, 0.72], [0.6, 0.54], [0.42, 0.65]], array([1, 1, 1]))
    """
    X = _draw_square(n_samples, random_state)
    return X, bayes_parabola(X)


def bayes_parabola(X: ArrayLike) -> NDArray[np.int64]:
    """The rule of the parabola problem: 1 where x2 > 1/4 + 3 (x1 - 1/2)^2.

    Parameters
    ----------
    X : array of shape (n_samples, 2)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> bayes_parabola([[0.5, 0.2], [0.5, 0.3], [0.1, 0.5]])
    array([0, 1, 0])
    """
    x1, x2 = np.asarray(X, dtype=float).T
    return (x2 > 0.25 + 3 * (x1 - 0.5) ** 2).astype(np.int64)


def make_circle(n_samples: int = 300, *, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes split by a circle around the middle of the unit square, uniform in the square.

    The source shows the problem on its cover, with 300, 3000 and 30000 examples, and gives neither domain nor radius.
    Here the domain is that of `make_line`, the radius 1 / sqrt(2 pi) = 0.399 halves the square, class 1 is inside.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        0 or 1.

    References
    ----------
    Martínez Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de Madrid, figure 1.

    Examples
    --------
    >>> from conjunto.datasets import make_circle
    >>> X, y = make_circle(4, random_state=0)
    >>> X.round(2).tolist(), y
    ([[0.55, 0.72], [0.6, 0.54], [0.42, 0.65], [0.44, 0.89]], array([1, 1, 1, 1]))
    """
    X = _draw_square(n_samples, random_state)
    return X, bayes_circle(X)


def bayes_circle(X: ArrayLike) -> NDArray[np.int64]:
    """The rule of the circle problem: 1 within 1 / sqrt(2 pi) of (1/2, 1/2).

    Parameters
    ----------
    X : array of shape (n_samples, 2)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> bayes_circle([[0.5, 0.5], [0.05, 0.5]])
    array([1, 0])
    """
    x1, x2 = np.asarray(X, dtype=float).T
    return (np.hypot(x1 - 0.5, x2 - 0.5) < RADIUS).astype(np.int64)


def _draw_square(n_samples: Any, random_state: Any) -> NDArray[np.float64]:
    check_count("n_samples", n_samples)
    return check_random_state(random_state).uniform(size=(n_samples, 2))
