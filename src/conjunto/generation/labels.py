"""Labels: what a member is told that the examples are."""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conjunto.streams import PARTITIONS, Key, Stream


def switched_labels(stream: Stream, labels: NDArray[np.int32], n_classes: int, p: float) -> NDArray[np.int32]:
    """Exactly a share p of the labels, regardless of class, becomes another class, uniformly (eq. 4.4)."""
    return stream.switched(labels, round(p * len(labels)), n_classes)


def flipping_matrix(labels: NDArray[np.int32], n_classes: int, p: float) -> NDArray[np.float64]:
    """(K, K): probability that class i becomes class j, keeping the class shares (Breiman 2000, eq. 4.1).

    `P(j <- i) = w P_j` for j != i with `w = p / (1 - sum_j P_j^2)`; clipped to probabilities, with a warning,
    where p is too large for that.
    """
    shares = np.bincount(labels, minlength=n_classes) / len(labels)
    impurity = 1 - (shares**2).sum()
    if impurity <= 0:
        return np.eye(n_classes)
    matrix = np.tile(p / impurity * shares, (n_classes, 1))
    stays = 1 - p / impurity * (1 - shares)
    limit = impurity / (1 - shares.min() + shares.max())
    if p >= limit * (1 - 1e-9):
        warnings.warn(
            f"flipping a share p = {p:.3f} of the labels is beyond the limit {limit:.3f} of these class shares: the "
            "smallest class drowns; lower p_hat or use ClassSwitchingClassifier",
            stacklevel=2,
        )
    np.fill_diagonal(matrix, stays)
    matrix = matrix.clip(0, 1)
    return matrix / matrix.sum(axis=1, keepdims=True)


def flipped_labels(stream: Stream, labels: NDArray[np.int32], matrix: NDArray[np.float64]) -> NDArray[np.int32]:
    """Draw each label anew from its row of the matrix."""
    uniform = stream.generator().random(len(labels))
    flipped = (uniform[:, None] >= matrix.cumsum(axis=1)[labels]).sum(axis=1)
    return flipped.clip(max=len(matrix) - 1).astype(np.int32)


def smeared_targets(stream: Stream, targets: NDArray[np.float64], sd: float) -> NDArray[np.float64]:
    """Targets with Gaussian noise (Breiman's output smearing)."""
    return targets + stream.generator().normal(0.0, sd, len(targets))


@lru_cache(maxsize=1)
def class_partitions(key: Key, n_classes: int, count: int) -> NDArray[np.int32]:
    """(count, K): random two-way partitions of the classes, the side of each, 0 or 1 (ECOC).

    None comes again before all 2^(K - 1) - 1 have come. Class 0 is on side 0: a partition with its sides exchanged is
    the same. One class alone cannot be parted. The partitions drawn last are kept: every member asks for them.
    """
    # Partitions know of each other, so there is one stream for all; the first ones do not depend on how many follow.
    random = Stream(key, 0).generator(PARTITIONS)
    partitions = np.zeros((count, n_classes), dtype=np.int32)
    seen: set[bytes] = set()
    for sides in partitions[:, 1:] if n_classes > 1 else []:
        if len(seen) == 2 ** (n_classes - 1) - 1:
            seen.clear()
        while not sides.any() or sides.tobytes() in seen:
            sides[:] = random.integers(0, 2, n_classes - 1)
        seen.add(sides.tobytes())
    partitions.flags.writeable = False
    return partitions


def class_pairs(n_classes: int) -> NDArray[np.intp]:
    """(K (K - 1) / 2, 2): every pair of classes (round robin); a single class is paired with itself."""
    return np.stack(np.triu_indices(n_classes, k=min(1, n_classes - 1)), axis=1)
