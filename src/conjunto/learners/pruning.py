"""What CART is told about pruning: the parameters, checked and translated for the core.

Cost-complexity pruning finds nested trees, each the best one for an interval of alpha in R(T) + alpha * leaves(T).
Alpha is given, or chosen by V-fold cross-validation: V auxiliary trees, each grown without one fold, are pruned at the
geometric mean of each interval of the whole tree and judged on their fold (Breiman et al. 1984, chapter 3).
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.checks import check_choice, check_count, check_number
from conjunto.problem import Problem, is_missing

_RISKS = {"error": _core.Risk.error, "impurity": _core.Risk.impurity}


def set_pruning(options: _core.PruneOptions, learner: Any, n_outputs: int = 1) -> None:
    """Check the pruning parameters of a tree and write them into the options of the core."""
    options.risk = _RISKS[check_choice("pruning_risk", learner.pruning_risk, tuple(_RISKS))]
    options.one_standard_error = check_choice("rule", learner.rule, ("0se", "1se")) == "1se"
    options.to_root = bool(check_choice("prune_to_root", learner.prune_to_root, (True, False)))
    options.copies_apart = check_choice("copies", learner.copies, ("apart", "together")) == "apart"
    if np.ndim(learner.n_folds) == 0:
        options.folds = min(check_count("n_folds", learner.n_folds, 2), 2**31)
    prune, ccp_alpha = learner.prune, check_number("ccp_alpha", learner.ccp_alpha, 0.0, math.inf)
    if ccp_alpha > 0:
        if prune is not None:
            raise ValueError(
                f"ccp_alpha={learner.ccp_alpha!r} prunes by impurity and prune={prune!r} as it says: give one of them"
            )
        options.by, options.risk, options.alpha = _core.Pruning.alpha, _core.Risk.impurity, ccp_alpha
        return
    if judges_errors(learner):
        _check_prunable(learner, n_outputs)
    if prune is None or (isinstance(prune, str) and prune == "reduced-error"):
        return
    if isinstance(prune, str) and prune == "cv":
        options.by = _core.Pruning.cross_validation
    elif isinstance(prune, Real) and not isinstance(prune, bool):
        options.by = _core.Pruning.alpha
        options.alpha = check_number("prune", prune, 0.0, math.inf)
    else:
        kind = ValueError if isinstance(prune, str) else TypeError
        raise kind(f'prune must be None, "cv", "reduced-error" or a number alpha >= 0, got {prune!r}')


def judges_errors(learner: Any) -> bool:
    """Whether a tree is pruned by its errors, and not by the impurity of what it was grown on alone."""
    by_impurity = isinstance(learner.prune, Real) and learner.pruning_risk == "impurity"
    return learner.prune is not None and not by_impurity


def _check_prunable(learner: Any, n_outputs: int) -> None:
    """Errors are counted of classes and of means; other leaves are weighed by the criterion of growth alone."""
    what = ""
    if n_outputs > 1:
        what = "several targets"
    elif learner.criterion in ("absolute_error", "poisson"):
        what = f"criterion={learner.criterion!r}"
    elif learner.monotonic_cst is not None:
        what = "monotonic_cst"
    if what:
        raise ValueError(f"prune={learner.prune!r} does not go with {what}: prune by impurity, with ccp_alpha")


def given_folds(learner: Any, problem: Problem) -> NDArray[np.uint32] | None:
    """The fold of each row, where `n_folds` is an array that tells it."""
    if np.ndim(getattr(learner, "n_folds", 0)) == 0:
        return None
    folds = np.asarray(learner.n_folds)
    if folds.shape != (problem.n,):
        raise ValueError(
            f"n_folds must be a number or have one entry per row, ({problem.n},), got an array of shape {folds.shape}"
        )
    if any(is_missing(fold) for fold in folds.tolist()):
        raise ValueError("n_folds must tell the fold of every row, and has missing entries (None or NaN)")
    names, codes = np.unique(folds, return_inverse=True)
    if len(names) < 2:
        raise ValueError("n_folds puts all rows in one fold: cross-validation needs two or more")
    return codes.astype(np.uint32)
