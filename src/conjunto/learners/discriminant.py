"""Linear discriminants: the directions in which the means of classes lie furthest apart (Fisher 1936, Rao 1948).

In the space in which the scatter within classes is the unit matrix, the discriminant variables are the principal
directions of the class means. Rows may have weights; missing numbers are the mean, categories are indicators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conjunto.view import ColumnMap

# Directions with less than this share of the largest spread are noise, as in scikit-learn.
NOISE = 1e-4
# A column, scaled to [-1, 1], that differs by less within the classes differs by rounding alone.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Discriminant(ColumnMap):
    """A fitted map of (n, m) encoded rows to (n, k) discriminant variables."""

    categories: NDArray[np.uint32]
    """Number of categories by column, 0 for numbers."""
    scales: NDArray[np.float64]
    centres: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    """(p, k) of the p numbers and indicators, divided by their scales and centred."""

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the discriminant variables of rows."""
        variables = np.zeros((self.coefficients.shape[1], len(X)))
        # Not a product of matrices: its rounding depends on the place of a row among the others, and a tree would
        # tell equal rows apart.
        with np.errstate(over="ignore", invalid="ignore"):
            columns = np.nan_to_num(_spread(X, self.categories) / self.scales - self.centres)
            for column, coefficients in zip(np.ascontiguousarray(columns.T), self.coefficients, strict=True):
                variables += coefficients[:, None] * column
        return np.nan_to_num(variables.T)


def fit_discriminant(
    X: NDArray[np.float64],
    y: NDArray[np.int32],
    weights: NDArray[np.float64],
    categories: NDArray[np.uint32],
    n_classes: int,
) -> Discriminant:
    """Fit the discriminant variables of weighted rows: K - 1, or as many as there are numbers and indicators if fewer.

    What cannot be discriminated (one class, equal means, nothing that varies within the classes) gives columns of 0.
    """
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0] / weights.sum()
    columns = _spread(X, categories)
    # Squares of extreme numbers would overflow or vanish.
    scales = np.fmax.reduce(np.abs(columns), axis=0, initial=0.0)
    scales[scales == 0] = 1
    columns = columns / scales
    known = ~np.isnan(columns)
    columns[~known] = 0
    centres = weights @ columns / np.maximum(weights @ known, np.finfo(float).tiny)
    columns = np.where(known, columns - centres, 0.0)
    coefficients = np.zeros((columns.shape[1], min(n_classes - 1, columns.shape[1])))
    found = _directions(columns, y, weights)
    coefficients[:, : found.shape[1]] = found[:, : coefficients.shape[1]]
    return Discriminant(categories, scales, centres, coefficients)


def _spread(X: NDArray[np.float64], categories: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Numbers as they are, and an indicator for every category."""
    if not categories.any():
        return X
    parts = [
        X[:, [j]] if count == 0 else (X[:, [j]] == np.arange(count)).astype(np.float64)
        for j, count in enumerate(categories)
    ]
    return np.hstack(parts)


def _directions(
    columns: NDArray[np.float64], y: NDArray[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(p, r): the discriminant directions of centred columns, the strongest first; r = 0 if there are none."""
    present, codes = np.unique(y, return_inverse=True)
    shares = np.bincount(codes, weights, minlength=len(present))
    means = (np.eye(len(present))[:, codes] * weights) @ columns / shares[:, None]
    within = np.sqrt(weights)[:, None] * (columns - means[codes])
    spread = np.sqrt((within**2).sum(axis=0))
    varies = spread > ROUNDING
    if len(present) < 2 or not varies.any():
        return np.zeros((len(varies), 0))
    strength, axes = _principal(within[:, varies] / spread[varies])
    whiten = np.zeros((len(varies), len(strength)))
    whiten[varies] = (axes / strength[:, None]).T / spread[varies, None]
    _, axes = _principal(np.sqrt(shares)[:, None] * means @ whiten)
    return whiten @ axes.T


def _principal(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Singular values, without those that are noise, and the right singular vectors that belong to them, as rows."""
    _, strength, axes = np.linalg.svd(matrix, full_matrices=False)
    kept = strength > NOISE * strength[0]
    return strength[kept], axes[kept]
