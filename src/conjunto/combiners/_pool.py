"""Pools: ensembles of any library whose members are chosen from, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from conjunto.combiners._fitting import Task
from conjunto.combiners._named import weighed
from conjunto.problem import select
from conjunto.voters import as_voters

Array = NDArray[Any]


def has_out_of_bag(pool: Any) -> bool:
    """Whether members of a pool that is not fitted yet will have rows that they did not see, as far as it tells."""
    if getattr(pool, "no_out_of_bag", ""):
        return False
    return bool(getattr(pool, "bootstrap", False) or (hasattr(pool, "oob_score") and not hasattr(pool, "bootstrap")))


def voters_of(pool: Any) -> Any:
    """The members of a fitted pool; those of a pruned one are those that were kept."""
    return as_voters(pool.estimator_ if hasattr(pool, "order_") and hasattr(pool, "estimator_") else pool)


def check_numbers(X: Any) -> None:
    """Refuse text in an array, which has no distances; before anything is fitted."""
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "US" or (kind == "O" and any(isinstance(value, str) for value in np.ravel(X))):
        raise ValueError(
            "an array of X holds numbers; give a DataFrame for columns of text: distances need to know them"
        )


def fit_pool(pool: Any, task: Task, rows: Array | None) -> Any:
    """A clone of the pool, fitted on some of the rows (None: all)."""
    chosen = np.arange(task.n) if rows is None else rows
    labels = task.y if task.classes is None else task.classes[task.y]
    arguments = {} if task.weight is None else weighed("pool", pool, task.weight[chosen])
    return clone(pool).fit(task.X if rows is None else select(task.X, rows), labels[chosen], **arguments)
