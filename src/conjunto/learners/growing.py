"""From parameters, weights and labels to the arguments of the core, and one native call for a batch of trees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from conjunto import _core
from conjunto.checks import (
    NO_LIMIT,
    check_choice,
    check_count,
    check_number,
    check_optional_count,
    check_row_limit,
    resolve_max_features,
)
from conjunto.learners.pruning import given_folds
from conjunto.problem import Problem
from conjunto.streams import Key

_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy", "squared_error": "variance"}


def growth_options(learner: Any, problem: Problem, threads: int = 1) -> _core.GrowOptions:
    """Check the parameters of growth that a learner has and translate them for the core."""
    classification = problem.classes is not None
    check_choice(
        "criterion", learner.criterion, ("gini", "entropy", "log_loss") if classification else ("squared_error",)
    )
    given = learner.get_params(deep=False)
    options = _core.GrowOptions()
    options.criterion = _CRITERIA[learner.criterion]
    options.classes = problem.n_classes
    options.combination = min(
        check_optional_count("combination_features", given.get("combination_features")) or 0, NO_LIMIT
    )
    options.max_features = resolve_max_features(learner.max_features, problem.m, combinations=options.combination > 0)
    options.k_best = min(check_count("k_best", given.get("k_best", 1)), NO_LIMIT)
    options.oblique = check_choice("splits", given.get("splits", "axis"), ("axis", "oblique")) == "oblique"
    if options.oblique and (options.combination or options.k_best > 1):
        other = "combination_features" if options.combination else "k_best > 1"
        raise ValueError(f'splits="oblique" does not go with {other}')
    depth = check_optional_count("max_depth", given.get("max_depth"))
    if depth is not None:
        options.max_depth = min(depth, NO_LIMIT)
    options.max_leaves = min(check_optional_count("max_leaf_nodes", given.get("max_leaf_nodes"), 2) or 0, NO_LIMIT)
    options.min_rows_split = min(
        check_row_limit("min_samples_split", given.get("min_samples_split", 2), problem.n, 2), NO_LIMIT
    )
    options.min_rows_leaf = min(check_row_limit("min_samples_leaf", learner.min_samples_leaf, problem.n, 1), NO_LIMIT)
    options.min_weight_share_leaf = check_number(
        "min_weight_fraction_leaf", given.get("min_weight_fraction_leaf", 0.0), 0.0, 0.5
    )
    options.min_decrease = check_number("min_impurity_decrease", given.get("min_impurity_decrease", 0.0), 0.0, math.inf)
    options.threads = threads
    return options


def grow_trees(
    learner: Any,
    problem: Problem,
    key: Key,
    members: NDArray[np.uint64],
    *,
    weights: NDArray[Any] | None = None,
    labels: NDArray[Any] | None = None,
    columns: NDArray[np.uint32] | None = None,
    halves: NDArray[np.uint8] | None = None,
    threads: int = 1,
) -> _core.Forest:
    """Grow one tree per member in one native call.

    `weights` are (T, n) multiplicities or weights on top of the problem's, `labels` (T, n) or None for the
    problem's own, `columns` (T, c) or None for all, `halves` (T, n) where a learner works with two halves.
    """
    check_member(learner)
    options = learner._grow_options(problem, threads)
    # Multiplicities that a view draws are copies of rows; weights that a user gives are not, whole numbers or not.
    options.copies = problem.weights is None and getattr(learner, "class_weight", None) is None
    parts = grow_parts(learner, problem, weights, labels, len(members))
    folds = given_folds(learner, problem)
    return _core.grow(
        problem.table(threads), options, *key, members, **parts, columns=columns, halves=halves, folds=folds
    )


def check_member(learner: Any) -> None:
    """Refuse what only a tree of its own can do."""
    prune = getattr(learner, "prune", None)
    if isinstance(prune, str) and prune == "reduced-error":
        raise ValueError(
            'prune="reduced-error" needs rows that judge the tree, which a member of an ensemble does not get: use '
            'prune="cv"'
        )


def grow_parts(
    learner: Any,
    problem: Problem,
    weights: NDArray[Any] | None = None,
    labels: NDArray[Any] | None = None,
    n_members: int = 1,
) -> dict[str, Any]:
    """Labels or targets, and weights in whichever form fits them, as the core takes them."""
    labels = np.ascontiguousarray(problem.y[None] if labels is None else labels)
    weights = all_weights(learner, problem, weights, labels, n_members)
    small = weights is not None and weights.dtype == np.uint8
    return {
        "labels" if problem.n_classes else "targets": labels,
        "small_weights" if small else "weights": weights,
    }


def all_weights(
    learner: Any,
    problem: Problem,
    weights: NDArray[Any] | None,
    labels: NDArray[Any],
    n_members: int,
) -> NDArray[Any] | None:
    """(T, n) product of multiplicities, sample weights and class weights: bytes where it is small whole numbers."""
    class_weight = getattr(learner, "class_weight", None)
    factors = [] if problem.weights is None else [problem.weights[None]]
    if class_weight is not None:
        assert problem.classes is not None
        factors.append(np.stack([compute_sample_weight(class_weight, problem.classes[row]) for row in labels]))
    if not factors and weights is None:
        return None
    if not factors and weights is not None and weights.dtype == np.uint8:
        return np.ascontiguousarray(weights)
    fixed = np.ones((1, problem.n))
    for factor in factors:
        fixed = fixed * factor
    product = fixed if weights is None else weights * fixed
    # A sample of rows that all have weight 0 would leave nothing to learn from: such a member sees all rows.
    product = np.where(product.any(axis=1, keepdims=True), product, fixed)
    product = np.broadcast_to(product, (n_members, problem.n))
    if product.max() <= 255 and np.array_equal(product, np.rint(product)):
        return np.ascontiguousarray(product, dtype=np.uint8)
    return np.ascontiguousarray(product)
