"""Rows of doubles that a converted tree must not send elsewhere: thresholds between them, a check of the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.exchange.node_arrays import NodeArrays

AGREE = 1e-9
"""Probabilities and values that differ by less, as a share of their scale, are equal."""


def placed_between(tree: NodeArrays, X: NDArray[np.float64]) -> NodeArrays:
    """The tree with thresholds by which every row, rounded to single precision, goes where it went as a double."""
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    if np.array_equal(single, X, equal_nan=True):
        return tree
    highest = np.full(len(tree), -np.inf)
    lowest = np.full(len(tree), np.inf)
    at = np.zeros(len(X), dtype=np.int64)
    active = np.arange(len(X))
    while len(active):
        node = at[active]
        inside = tree.left[node] >= 0
        active, node = active[inside], node[inside]
        value = X[active, tree.feature[node]]
        goes_left = np.where(np.isnan(value), tree.missing_left[node] > 0, value <= tree.exact[node])
        told = ~np.isnan(value)
        rounded = single[active, tree.feature[node]]
        np.maximum.at(highest, node[told & goes_left], rounded[told & goes_left])
        np.minimum.at(lowest, node[told & ~goes_left], rounded[told & ~goes_left])
        at[active] = np.where(goes_left, tree.left[node], tree.right[node])
    if (highest >= lowest).any():
        wrong = int(np.argmax(highest >= lowest))
        raise ValueError(
            f"column {tree.feature[wrong]} holds rows of X on both sides of {tree.exact[wrong]} that are equal in "
            "single precision, in which scikit-learn's trees compare: round that column, or scale it, before the fit"
        )
    keeps = (highest <= tree.threshold) & (tree.threshold < lowest)
    return replace(tree, threshold=np.where(keeps | (tree.left < 0), tree.threshold, highest))


def same_answers(ours: Any, theirs: Any, X: Any) -> None:
    """Compare predictions for rows; say if any differ."""
    ask = "predict_proba" if hasattr(ours, "predict_proba") and hasattr(theirs, "predict_proba") else "predict"
    ours_say, theirs_say = (_one_array(getattr(model, ask)(X)) for model in (ours, theirs))
    if ask == "predict" and ours_say.dtype.kind not in "fiu":
        wrong = ours_say != theirs_say
    else:
        scale = np.abs(ours_say).max(initial=1.0)
        wrong = np.abs(ours_say - theirs_say) > AGREE * scale
    if wrong.any():
        raise ValueError(
            f"{np.atleast_2d(wrong.T).any(axis=0).sum()} rows of X get another answer from the converted model, a "
            "mistake of conjunto: please report it"
        )


def _one_array(answers: Any) -> NDArray[Any]:
    """Probabilities of several targets, which are a list, side by side."""
    return np.hstack(answers) if isinstance(answers, list) else np.asarray(answers)
