"""Pipelines of scikit-learn: the ensemble is the last step, and the steps before it transform X."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.pruning.adapters._adapter import Adapter, Read
from conjunto.votes import Votes


class PipelineAdapter(Adapter):
    """A pipeline that ends in an ensemble, which has an adapter of its own."""

    def __init__(self, fitted: Any, inner: Adapter) -> None:
        super().__init__(fitted)
        self._inner = inner
        self.classes = inner.classes
        self.soft = inner.soft

    def __len__(self) -> int:
        return len(self._inner)

    def _read(self, X: Any) -> Read:
        self._check_columns(X)
        # A pipeline of one step has no slice before it.
        before = self.fitted[:-1].transform(X) if len(self.fitted) > 1 else X
        return self._inner.read(before)

    def votes(self, X: Any) -> Votes:
        """Return what each member says about the transformed rows."""
        return self._inner.votes(self.read(X).rows)

    def shares(self, t: int, X: Any) -> NDArray[np.float64]:
        """Return what member t adds to the classes."""
        return self._inner.shares(t, self.read(X).rows)

    def seen(self, n: int) -> NDArray[np.bool_]:
        """Return which of the n training rows each member saw."""
        return self._inner.seen(n)

    def take(self, members: Any) -> Any:
        """Return a pipeline whose last step has these members."""
        part = copy.copy(self.fitted)
        name, _ = self.fitted.steps[-1]
        part.steps = [*self.fitted.steps[:-1], (name, self._inner.take(members))]
        return part
