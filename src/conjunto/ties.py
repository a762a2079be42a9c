"""Ties: what counts as equal, and who wins then. One rule for all of conjunto.

Sums of real weights in another order differ by rounding; without a tolerance that would be another result. The lowest
class code wins among equals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunto import _core

# Sums of real weights in another order differ by less than this share of them; `kTie` in the core.
ROUNDING = 1e-10


def leaders(counts: NDArray[np.float64]) -> NDArray[np.intp]:
    """(n,): the class with the largest count; ties, and differences by rounding alone, go to the lowest code."""
    return _core.leaders(counts)
