"""For rules that ask of every example and every class "is it this one?": a weight per pair, a member per class.

With two classes one member is enough: what speaks for the second class speaks against the first.
"""

from __future__ import annotations

import numpy as np

from conjunto.ensembles.rules._rule import Array


def sides_of(y: Array, n_classes: int, width: int) -> Array:
    """(n, members): +1 where the row is of the member's class, -1 elsewhere."""
    if n_classes == 1:
        return -np.ones((len(y), 1))
    classes = np.arange(n_classes) if width > 1 else np.array([1])
    return np.where(y[:, None] == classes, 1.0, -1.0)


def shared_equally(weights: Array, width: int) -> Array:
    """(n, members): the weights of the examples, shared equally by the members of a round."""
    return np.repeat(weights[:, None], width, axis=1) / width
