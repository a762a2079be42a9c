"""Pipelines of scikit-learn: the ensemble is the last step, and the steps before it transform X."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from conjunto.voters.adapter import Adapter
from conjunto.voters.checking import classes_of_voters, outputs_of_voters
from conjunto.voters.protocol import Seen, Unknown, Voters


class PipelineAdapter(Adapter):
    """A pipeline that ends in an ensemble, whose voters are its own."""

    def __init__(self, fitted: Any, inner: Voters) -> None:
        super().__init__(fitted)
        self._inner = inner
        self.classes_ = classes_of_voters(inner)
        self.n_outputs_ = outputs_of_voters(inner)

    def __len__(self) -> int:
        return len(self._inner)

    def _read(self, X: Any) -> Any:
        # A pipeline of one step has no slice before it.
        before = self.fitted[:-1].transform(X) if len(self.fitted) > 1 else X
        return self._inner.read(before)

    def votes(self, X: Any) -> Any:
        """Return what each voter says about the transformed rows."""
        return self._inner.votes(self.read(X).rows)

    def contributions(self, X: Any, voters: Sequence[int] | NDArray[Any] | None = None) -> Any:
        """Return the same of some voters, one after another."""
        return self._inner.contributions(self.read(X).rows, voters)

    def seen(self) -> Seen | Unknown:
        """Return which training rows each voter saw."""
        seen = self._inner.seen()
        # Some transformers give other rows when they are fitted than later (TargetEncoder): that they differ from those
        # of the fit says nothing about their order.
        return replace(seen, refutes=None) if isinstance(seen, Seen) else seen

    def take(self, voters: Any) -> Any:
        """Return a pipeline whose last step has these voters."""
        part = copy.copy(self.fitted)
        name, _ = self.fitted.steps[-1]
        part.steps = [*self.fitted.steps[:-1], (name, self._inner.take(self._chosen(voters)))]
        return part
