"""Weights: how much each example counts for a member (wagging)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunto.streams import Stream


def gaussian_weights(stream: Stream, n: int, sd: float) -> NDArray[np.float64]:
    """Normal weights of mean 1, negative ones cut to 0, rescaled to sum n (Bauer and Kohavi 1999)."""
    random = stream.generator()
    while True:
        weights = np.maximum(random.normal(1.0, sd, n), 0.0)
        if weights.any():
            return weights * (n / weights.sum())


def exponential_weights(stream: Stream, n: int) -> NDArray[np.float64]:
    """Weights -log U, which lose no example, rescaled to sum n (Webb 2000)."""
    weights = stream.generator().standard_exponential(n)
    return weights * (n / weights.sum())
