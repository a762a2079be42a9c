"""What is measured of the fitted model itself, beyond its answers: functions of `Scored` that ask its model."""

from __future__ import annotations

import numpy as np

from conjunto.experiments.measures.scored import Scored


def members_worse_than_chance(scored: Scored) -> float:
    """Share of members whose own error exceeds (K - 1) / K (thesis, cuadro 4.5)."""
    if not hasattr(scored.model, "votes") or scored.classes is None:
        return float("nan")
    labels = scored.model.votes(scored.X).labels
    if labels is None:
        return float("nan")
    votes = scored.model.classes_[labels]
    return float(np.mean((votes != scored.y).mean(axis=1) > 1 - 1 / len(scored.classes)))


def mean_leaves(scored: Scored) -> float:
    """Mean number of leaves of the member trees."""
    trees = getattr(scored.model, "estimators_", [scored.model])
    trees = trees.ravel() if isinstance(trees, np.ndarray) else trees
    if not all(hasattr(tree, "get_n_leaves") for tree in trees):
        return float("nan")
    return float(np.mean([tree.get_n_leaves() for tree in trees]))


def ordering_seconds(scored: Scored) -> float:
    """The time that ordering the members took; NaN for models that do not keep it."""
    return float(getattr(scored.model, "ordering_seconds_", np.nan))
