"""From views to the core: what many members see, stacked into one `_core.Views`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from conjunto import _core
from conjunto.problem import Problem
from conjunto.view import OWN_TABLE, View

# Everything that a view holds but for what needs a table of its own.
_PARTS = tuple(field.name for field in fields(View) if field.name not in OWN_TABLE)
_BYTE = 255


def core_views(
    learner: Any,
    problem: Problem,
    views: Iterable[View],
    numbers: Sequence[int] | NDArray[np.uint64],
    *,
    folds: NDArray[np.uint32] | None = None,
    in_rounds: bool = False,
) -> _core.Views:
    """Stack views, drawn as they are needed, with the weights of the problem and of the learner's classes.

    `numbers` are those of the members' random streams. Multiplicities stay in bytes as long as they fit: a batch of
    views is the largest thing that a fit holds. Boosting weighs every row itself (`in_rounds`): its real weights are
    taken as they are, whole numbers or not, because stumps with real weights have a search, and ties, of their own.
    """
    parts = _stacked(views, len(numbers))
    labels = parts.pop("labels", None)
    if problem.n_outputs > 1 and labels is not None:
        raise ValueError("members that see labels of their own have one target")
    own = problem.y if problem.n_outputs > 1 else problem.y[None]
    labels = np.ascontiguousarray(own if labels is None else labels)
    parts["labels" if problem.n_classes else "targets"] = labels
    factor = _class_factors(learner, problem, labels)
    weights = parts.pop("weights", None)
    if in_rounds:
        assert weights is not None
        weights = weights if factor is None else weights * factor
    else:
        weights = _all_weights(problem, weights, factor, len(numbers))
    if weights is not None:
        parts["small_weights" if weights.dtype == np.uint8 else "weights"] = weights
    return _core.Views(np.asarray(numbers, dtype=np.uint64), **parts, folds=folds)


def _stacked(views: Iterable[View], count: int) -> dict[str, NDArray[Any]]:
    """(T, n) weights, labels and halves and (T, c) columns of the views, as far as the views have them."""
    stacked: dict[str, NDArray[Any]] = {}
    given = 0
    for view in views:
        for name in _PARTS:
            part, array = getattr(view, name), stacked.get(name)
            if (part is None) != (array is None) and given:
                raise ValueError(f"all views of a batch have {name}, or none")
            if part is None:
                continue
            kind = _kind(name, part)
            if count == 1:
                stacked[name] = np.ascontiguousarray(part[None], dtype=kind)
                continue
            if array is None:
                array = np.empty((count, len(part)), dtype=kind)
            elif array.dtype == np.uint8 and kind == np.float64:
                array = array.astype(np.float64)
            array[given] = part
            stacked[name] = array
        given += 1
    if given != count:
        raise ValueError(f"there are {given} views for {count} members")
    return stacked


def _kind(name: str, part: NDArray[Any]) -> Any:
    if name == "columns":
        return np.uint32
    if name == "weights":
        return np.uint8 if part.dtype.kind in "iu" and part.max(initial=0) <= _BYTE else np.float64
    return part.dtype


def _class_factors(learner: Any, problem: Problem, labels: NDArray[Any]) -> NDArray[np.float64] | None:
    """(T, n), or (1, n) where labels are shared: what the learner weighs the class of each row by."""
    class_weight = getattr(learner, "class_weight", None)
    if class_weight is None:
        return None
    assert problem.classes is not None
    if problem.n_outputs > 1:
        return compute_sample_weight(class_weight, problem.labels())[None]
    return np.stack([compute_sample_weight(class_weight, problem.classes[row]) for row in labels])


def _all_weights(
    problem: Problem, weights: NDArray[Any] | None, factor: NDArray[np.float64] | None, count: int
) -> NDArray[Any] | None:
    """(T, n) product of multiplicities, sample weights and class weights: bytes where it is small whole numbers."""
    if problem.weights is None and factor is None and (weights is None or weights.dtype == np.uint8):
        return weights
    fixed = np.ones((1, problem.n)) if problem.weights is None else problem.weights[None]
    if factor is not None:
        fixed = fixed * factor
    product = fixed if weights is None else weights * fixed
    # A sample of rows that all have weight 0 would leave nothing to learn from: such a member sees all rows.
    product = np.where(product.any(axis=1, keepdims=True), product, fixed)
    product = np.broadcast_to(product, (count, problem.n))
    if product.max() <= _BYTE and np.array_equal(product, np.rint(product)):
        return np.ascontiguousarray(product, dtype=np.uint8)
    return np.ascontiguousarray(product)
