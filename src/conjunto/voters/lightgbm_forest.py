"""Random forests of LightGBM (`boosting_type="rf"`): an iteration is a voter, a tree or one tree per class.

The raw scores of the iterations add up; a classifier decides for the class with the largest sum, a regressor answers
with the mean. LightGBM is asked through the estimator: it is not imported here.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.voters.adapter import Adapter

# Regressions whose answer is the mean of the raw scores itself, not a function of it.
PLAIN_OBJECTIVES = {"regression", "regression_l1", "l1", "l2", "mae", "mse", "huber", "fair", "quantile", "mape"}


class LightGBMForest(Adapter):
    """A forest of LightGBM."""

    def __init__(self, fitted: Any) -> None:
        check_is_fitted(fitted)
        super().__init__(fitted)
        self.classes_ = getattr(fitted, "classes_", None)
        self.adds_scores = self.classes_ is not None
        objective = fitted.objective_
        plain = self.adds_scores or (objective in PLAIN_OBJECTIVES and not fitted.get_params().get("reg_sqrt"))
        if callable(objective) or not plain:
            raise TypeError(
                f"{self.name} with objective={objective!r} answers with a function of the mean of its trees, so that "
                "trees are no voters"
            )

    def __len__(self) -> int:
        # Early stopping keeps the trees that it does not use.
        best = self.fitted.best_iteration_
        return int(best if best > 0 else self.fitted.booster_.current_iteration())

    @property
    def column_names(self) -> Any:
        """The names of the columns; None where they had none."""
        # Earlier releases show the names that LightGBM gives to columns without one.
        names = getattr(self.fitted, "feature_names_in_", None)
        unnamed = names is None or list(names) == [f"Column_{k}" for k in range(len(names))]
        return None if unnamed else names

    def spelled(self, names: Any) -> list[Any]:
        """Names as LightGBM spells them."""
        return [re.sub(r"\s+", "_", str(name)) for name in names]

    def _predicted(self, t: int, rows: Any) -> NDArray[Any]:
        return np.asarray(self.fitted.predict(rows, raw_score=True, start_iteration=t, num_iteration=1))

    def _score(self, t: int, rows: Any) -> NDArray[np.float64]:
        raw = self._predicted(t, rows)
        # With two classes there is one score: what speaks for the second class speaks against the first.
        return np.stack([-raw, raw], axis=1) if raw.ndim == 1 else raw

    def take(self, voters: Any) -> Any:
        """Return a forest with the trees of these iterations, in this order."""
        chosen = self._chosen(voters)
        booster = self.fitted.booster_
        width = booster.num_model_per_iteration()
        trees = [t * width + k for t in chosen for k in range(width)]
        part = copy.copy(self.fitted)
        # The estimator has no public place for a model made from text.
        part._Booster = type(booster)(model_str=_rearranged(booster.model_to_string(num_iteration=-1), trees))
        part._best_iteration = 0
        part.n_estimators = len(chosen)
        return part


def _rearranged(text: str, trees: list[int]) -> str:
    """A model in LightGBM's format with some of its trees, in this order.

    After the header, which lists the length of each tree in bytes, come the trees, each under its number.
    """
    before, after = text.split("\n\nTree=0\n", 1)
    body, rest = after.split("end of trees", 1)
    blocks = re.split(r"^Tree=\d+\n", body, flags=re.MULTILINE)
    kept = [f"Tree={number}\n{blocks[t]}" for number, t in enumerate(trees)]
    sizes = " ".join(str(len(block.encode())) for block in kept)
    header = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", before, flags=re.MULTILINE)
    return f"{header}\n\n{''.join(kept)}end of trees{rest}"
