"""What theory says of class-switching on the training set, whatever the problem (two classes, T odd).

The equations are those of chapter 4 of Martinez-Munoz, Clasificacion mediante conjuntos (thesis, Universidad Autonoma
de Madrid, 2006); with an even number of members a tie counts as right.

Members with zero error on the altered labels are right on a training example with probability 1 - p,
independently of each other, so the number of right votes is binomial.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from conjunto.checks import check_number


def switching_error(p: float, n_estimators: ArrayLike) -> NDArray[np.float64]:
    """Return the training error of T class-switching members: `sum_{t > T/2} C(T, t) p^t (1 - p)^(T - t)` (eq. 4.8).

    Examples
    --------
    >>> round(float(switching_error(0.3, 3)), 6)
    0.216
    """
    check_number("p", p, 0.0, 1.0)
    members = np.asarray(n_estimators)
    return np.asarray(binom.sf(members // 2, members, p), dtype=np.float64)


def switching_margin(p: float, n_estimators: int, margin: ArrayLike) -> NDArray[np.float64]:
    """Return the share of training examples with at most this margin (eq. 4.9).

    The margin is the share of right votes minus the share of wrong ones:
    `sum_{t <= T (m + 1) / 2} C(T, t) p^(T - t) (1 - p)^t`.

    Examples
    --------
    >>> float(switching_margin(0.3, 3, 1.0))
    1.0
    """
    check_number("p", p, 0.0, 1.0)
    # Half a unit of rounding: margins such as 1/3 are not exact in binary.
    right = np.floor(n_estimators * (np.asarray(margin, dtype=np.float64) + 1) / 2 + 1e-9)
    return np.asarray(binom.cdf(right, n_estimators, 1 - p), dtype=np.float64)
