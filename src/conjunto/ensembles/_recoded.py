"""Independent ensembles whose members solve problems of their own: what they say is decoded into votes for classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ballot import vote_counts
from conjunto.ensembles._independent import IndependentClassifier
from conjunto.learners.members import Rows


class RecodedClassifier(IndependentClassifier):
    """A classifier that says in `_votes_of` what the answers of its members mean."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of all votes that each class has: a rank, not a probability."""
        counts = self._counts(self._read(X))
        return counts / counts.sum(axis=1, keepdims=True)

    def _counts(self, rows: Rows) -> NDArray[np.float64]:
        return vote_counts(self._votes_of(rows))
