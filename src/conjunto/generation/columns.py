"""Columns: which attributes a member sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunto.streams import COLUMNS, Stream


def column_subset(stream: Stream, m: int, size: int, *, replace: bool = False) -> NDArray[np.intp]:
    """`size` of m columns, sorted (random subspaces; with `replace`, bagging's `bootstrap_features`)."""
    return np.sort(stream.generator(COLUMNS).choice(m, size=size, replace=replace))
