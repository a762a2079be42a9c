"""On how many data sets does one method do better than another: the crudest summary, and the easiest to read."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.checks import check_count
from conjunto.experiments.statistics._arrays import as_numbers
from conjunto.ties import rounding_of


def win_draw_loss(
    table: ArrayLike, *, decimals: int | None = None, greater_is_better: bool = False
) -> NDArray[np.int64]:
    """Count wins, draws and losses of every method against every other.

    `counts[i, j] = (#{d : x_di better than x_dj}, #{d : x_di = x_dj}, #{d : x_di worse than x_dj})`

    Parameters
    ----------
    table : array-like of shape (data sets, methods)
        The mean of each method on each data set. NaN where a method was not measured: it is not compared there.
    decimals : int, default=None
        Round to so many decimals first: a draw is what a reader of the printed table sees as a draw. None compares
        the numbers as they are; those that differ by less than 1e-10 of the largest of their row are equal.
    greater_is_better : bool, default=False
        Whether the larger of two numbers wins (an accuracy) or the smaller (an error).

    Returns
    -------
    ndarray of shape (methods, methods, 3)
        How often the method of the row wins, draws and loses against the method of the column.

    References
    ----------
    Webb, MultiBoosting: a technique for combining boosting and wagging, Machine Learning 40 (2000) 159-196.
    Martinez-Munoz, Clasificacion mediante conjuntos (thesis, Universidad Autonoma de Madrid, 2006), cuadro 4.3.

    Examples
    --------
    >>> from conjunto.experiments.statistics import win_draw_loss
    >>> errors = [[14.3, 13.0], [5.4, 3.1], [27.0, 27.04]]
    >>> win_draw_loss(errors)[0, 1]
    array([1, 0, 2])
    >>> win_draw_loss(errors, decimals=1)[0, 1]
    array([0, 1, 2])
    """
    means = as_numbers("table", table, 2, finite=False)
    if decimals is not None:
        means = np.round(means, check_count("decimals", decimals, 0))
    row, column, noise = means[:, :, None], means[:, None, :], rounding_of(means)[:, :, None]
    greater, less = row > column + noise, row < column - noise
    known = ~np.isnan(row) & ~np.isnan(column)
    wins, losses = (greater, less) if greater_is_better else (less, greater)
    return np.stack([wins.sum(0), (known & ~greater & ~less).sum(0), losses.sum(0)], axis=-1).astype(np.int64)
