"""Waveform: three classes, each a random mixture of two of three triangular waves (Breiman et al. 1984).

`x = u h_i + (1 - u) h_j + noise` at the places 1 .. 21, u uniform on [0, 1], unit normal noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr
from sklearn.utils import check_random_state

from conjunto.checks import check_count

# h_1, h_2, h_3: triangles of height 6 with these peaks; row k of PAIRS are the waves that class k mixes.
WAVES = np.stack([np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0) for peak in (11, 15, 7)]).astype(float)
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def make_waveform(n_samples: int = 300, *, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Three classes in 21 dimensions, each a random mixture of two of three triangular waves, plus unit noise.

    The Bayes error is 13.29 %: `bayes_waveform` integrated over the plane of the three waves, outside of which the
    classes are alike; 2e7 draws gave 13.28 +- 0.01 %. Breiman (1996) estimates 13.2 %, the first source about 14 %.

    Parameters
    ----------
    n_samples : int, default=300
        Number of examples.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 21)
    y : array of shape (n_samples,)
        0, 1 or 2, each with chance 1/3.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees. Chapman & Hall, section 2.6.2.
    Breiman (1996). Bias, variance, and arcing classifiers. Technical Report 460, University of California, Berkeley.

    Examples
    --------
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 21), (5,))
    """
    check_count("n_samples", n_samples)
    random = check_random_state(random_state)
    y = random.randint(0, 3, size=n_samples).astype(np.int64)
    share = random.uniform(size=(n_samples, 1))
    first, second = WAVES[PAIRS[y, 0]], WAVES[PAIRS[y, 1]]
    return share * first + (1 - share) * second + random.normal(size=(n_samples, 21)), y


def bayes_waveform(X: ArrayLike) -> NDArray[np.int64]:
    """The Bayes rule of waveform: the class of the highest density, integrated over u in closed form.

    Parameters
    ----------
    X : array of shape (n_samples, 21)

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> bayes_waveform([(WAVES[one] + WAVES[other]) / 2 for one, other in PAIRS])
    array([0, 1, 2])
    """
    return _log_likelihoods(np.asarray(X, dtype=float)).argmax(axis=1)


def _log_likelihoods(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Column k is log of the integral of exp(-|x - h_j - u (h_i - h_j)|^2 / 2) du over [0, 1], (i, j) = PAIRS[k].

    With L = |h_i - h_j|, the class is a segment of that length smeared by the noise. Let r be the distance of x to the
    segment's line and m that of its foot on the line to the segment's middle: the integral is
    sqrt(2 pi) / L exp(-r^2 / 2) (Phi(L/2 - m) - Phi(-L/2 - m)).
    """
    columns = []
    for first, second in WAVES[PAIRS]:
        length = np.linalg.norm(first - second)
        offset = X - (first + second) / 2
        along = offset @ (first - second) / length
        off_line = (offset**2).sum(axis=1) - along**2
        # In logarithms, and with m >= 0: far from the segment both Phi would be 0, or both 1.
        upper, lower = (log_ndtr(side * length / 2 - np.abs(along)) for side in (1, -1))
        columns.append(upper + np.log1p(-np.exp(lower - upper)) - off_line / 2 - np.log(length))
    return np.stack(columns, axis=1) + np.log(2 * np.pi) / 2
