"""Thresholds between doubles and floats.

scikit-learn's trees round rows to single precision before they compare them, ours do not. A threshold has a counterpart
on the other side for which every row takes the same branch, or nearly so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rounded_down(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest floats that are not above: rows of floats take the same branch."""
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
    return np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single).astype(np.float64)


def for_doubles(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest doubles that round to a float that is not above: every row takes the branch of its float."""
    below = rounded_down(threshold).astype(np.float32)
    with np.errstate(over="ignore"):
        above = np.nextafter(below, np.float32(np.inf))
    middle = below.astype(np.float64) / 2 + above.astype(np.float64) / 2
    # A double in the middle between two floats becomes the one whose last bit is 0.
    rounds_up = (below.view(np.int32) & 1) == 1
    limit = np.where(rounds_up, np.nextafter(middle, -np.inf), middle)
    return np.where(np.isfinite(above), limit, np.finfo(np.float64).max)
