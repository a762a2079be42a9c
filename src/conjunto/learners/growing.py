"""From parameters to the options of the core, and one native call for a batch of trees."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

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
from conjunto.learners.views import core_views
from conjunto.problem import Problem
from conjunto.streams import Key
from conjunto.view import View

CRITERIA = {
    "gini": _core.Criterion.gini,
    "entropy": _core.Criterion.entropy,
    "log_loss": _core.Criterion.entropy,
    "misclassification": _core.Criterion.misclassification,
    "squared_error": _core.Criterion.variance,
    "friedman_mse": _core.Criterion.variance,
    "absolute_error": _core.Criterion.absolute_error,
    "poisson": _core.Criterion.poisson,
}
CLASSIFICATION = ("gini", "entropy", "log_loss", "misclassification")
REGRESSION = ("squared_error", "friedman_mse", "absolute_error", "poisson")
MOST_BINS = 255


def criterion_of(learner: Any, forest: _core.Forest) -> _core.Criterion:
    """The criterion that trees were grown by; steps of boosting are least squares, whatever the learner says."""
    named = learner.criterion in (CLASSIFICATION if forest.classes else REGRESSION)
    return CRITERIA[learner.criterion] if named else _core.Criterion.variance


def told_of_friedman(criterion: str) -> str:
    """The criterion as it is; says, as scikit-learn does, that "friedman_mse" chooses the splits of "squared_error"."""
    if isinstance(criterion, str) and criterion == "friedman_mse":
        warnings.warn('criterion="friedman_mse" means "squared_error": say so', FutureWarning, stacklevel=3)
    return criterion


def growth_options(learner: Any, problem: Problem, threads: int = 1) -> _core.GrowOptions:
    """Check the parameters of growth that a learner has and translate them for the core."""
    classification = problem.classes is not None
    check_choice("criterion", learner.criterion, CLASSIFICATION if classification else REGRESSION)
    given = learner.get_params(deep=False)
    options = _core.GrowOptions()
    options.criterion = CRITERIA[learner.criterion]
    options.classes = problem.n_classes
    if problem.n_outputs > 1:
        options.outputs = [0 if problem.classes is None else len(problem.classes[o]) for o in range(problem.n_outputs)]
    options.combination = min(
        check_optional_count("combination_features", given.get("combination_features")) or 0, NO_LIMIT
    )
    options.max_features = resolve_max_features(learner.max_features, problem.m, combinations=options.combination > 0)
    options.k_best = min(check_count("k_best", given.get("k_best", 1)), NO_LIMIT)
    options.oblique = check_choice("splits", given.get("splits", "axis"), ("axis", "oblique")) == "oblique"
    if options.oblique and (options.combination or options.k_best > 1):
        other = "combination_features" if options.combination else "k_best > 1"
        raise ValueError(f'splits="oblique" does not go with {other}')
    if options.oblique and options.criterion == _core.Criterion.absolute_error:
        raise ValueError('splits="oblique" does not go with criterion="absolute_error"')
    options.monotone = monotone_signs(given.get("monotonic_cst"), problem, options)
    options.random_cuts = check_choice("splitter", given.get("splitter", "best"), ("best", "random")) == "random"
    if options.random_cuts and (options.combination or options.oblique):
        other = "combination_features" if options.combination else 'splits="oblique"'
        raise ValueError(f'splitter="random" cuts one column at a time, and does not go with {other}')
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
    if options.criterion == _core.Criterion.poisson:
        _check_counts(problem.y)
    return options


def _check_counts(y: NDArray[np.float64]) -> None:
    """Refuse targets that no Poisson distribution gives."""
    if (y < 0).any():
        raise ValueError("Some value(s) of y are negative which is not allowed for Poisson regression.")
    if not (y.sum(axis=0) > 0).all():
        raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")


def monotone_signs(given: Any, problem: Problem, options: _core.GrowOptions) -> list[int]:
    """Check monotonic constraints: by column 1, -1 or 0; nothing where no column has one."""
    if given is None:
        return []
    signs = np.asarray(given)
    if signs.shape != (problem.m,):
        raise ValueError(
            f"monotonic_cst has shape {signs.shape} but the input data X has {problem.m} features: give one of -1, 0 "
            "and 1 for each"
        )
    if not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {signs.tolist()}")
    if not signs.any():
        return []
    if problem.n_outputs > 1:
        raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
    if problem.n_classes > 2:
        raise ValueError("Monotonicity constraints are not supported with multiclass classification.")
    if ((signs != 0) & (problem.columns.counts > 0)).any():
        raise ValueError("monotonic_cst constrains a categorical column, which has no order: set it to 0 there")
    if options.combination or options.oblique:
        raise ValueError("monotonic_cst is for tests on one column: leave out combinations of columns")
    # A problem of one class has nothing to constrain.
    return [] if problem.n_classes == 1 else signs.astype(int).tolist()


def table_of(learner: Any, problem: Problem, threads: int = 1) -> _core.Table:
    """The native table as the learner wants it: of all values, or of at most `max_bins` groups of them by column."""
    max_bins = getattr(learner, "max_bins", None)
    if max_bins is None:
        return problem.table(threads)
    if issparse(problem.X):
        raise ValueError("max_bins is for dense X; of sparse X every value is tried: set max_bins=None")
    if check_count("max_bins", max_bins, 2) > MOST_BINS:
        raise ValueError(f"max_bins must be at most {MOST_BINS}, got {max_bins}; None tries every value")
    for name, plain in (("splits", "axis"), ("splitter", "best"), ("combination_features", None)):
        if getattr(learner, name, plain) != plain:
            raise ValueError(f"max_bins goes with {name}={plain!r} only: other tests look at the values themselves")
    return problem.table(threads, max_bins)


def grow_trees(
    learner: Any,
    problem: Problem,
    key: Key,
    members: NDArray[np.uint64],
    views: Iterable[View],
    threads: int = 1,
) -> _core.Forest:
    """Grow one tree per view in one native call; `members` are the numbers of their random streams."""
    check_member(learner)
    options = learner._grow_options(problem, threads)
    # Multiplicities that a view draws are copies of rows; weights that a user gives are not, whole numbers or not.
    options.prune.copies = problem.weights is None and getattr(learner, "class_weight", None) is None
    seen = core_views(learner, problem, views, members, folds=given_folds(learner, problem))
    return _core.grow(table_of(learner, problem, threads), options, *key, seen)


def check_member(learner: Any) -> None:
    """Refuse what only a tree of its own can do."""
    prune = getattr(learner, "prune", None)
    if isinstance(prune, str) and prune == "reduced-error":
        raise ValueError(
            'prune="reduced-error" needs rows that judge the tree, which a member of an ensemble does not get: use '
            'prune="cv"'
        )
