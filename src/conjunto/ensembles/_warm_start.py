"""Warm start, one rule for both loops: a second fit adds members to those that exist, and changes nothing else.

The data, and every parameter that decides what members are, must be those of the first fit. What may change is how many
members there are, how they are counted (`vote`), and what is reported.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.outputs import as_list, several
from conjunto.problem import Columns, Problem
from conjunto.sparse import parts
from conjunto.voters.row_sketch import row_sketch

# Parameters that decide nothing about the members.
FREE = ("n_estimators", "n_jobs", "random_state", "verbose", "warm_start", "oob_score", "vote")


@dataclass(frozen=True, eq=False)
class FirstFit:
    """What later fits are held against."""

    parameters: dict[str, str]
    shape: tuple[int, int, int]
    columns: Columns
    digest: int
    """Of the data."""
    sketch: NDArray[np.float64] | None = None
    """Of the rows, by which they are known again; None in models that were stored without it."""

    @staticmethod
    def of(estimator: Any, problem: Problem) -> FirstFit:
        """Note what decided a fit."""
        shape = (problem.n, problem.m, problem.n_classes)
        digest = data_digest(problem)
        return FirstFit(deciding_parameters(estimator), shape, problem.columns, digest, row_sketch(problem.X))

    def check(self, estimator: Any, problem: Problem, exist: int, wanted: int) -> None:
        """Refuse a fit that cannot go on from this one."""
        if wanted < exist:
            raise ValueError(f"n_estimators={wanted} is less than the {exist} members that exist (warm_start)")
        now = deciding_parameters(estimator)
        changed = [name for name in now if now[name] != self.parameters.get(name)]
        if now.keys() != self.parameters.keys():
            # Another base learner has other parameters: its own name says enough.
            changed = [name for name in changed if "__" not in name]
        if changed:
            raise ValueError(
                f"warm_start goes on as the first fit began, and {', '.join(changed)} changed: parameters that decide "
                "what members are cannot change (set warm_start=False to start anew)"
            )
        shape = (problem.n, problem.m, problem.n_classes)
        same = shape == self.shape and self.columns.codes == problem.columns.codes
        if same and problem.classes is not None:
            same = several(problem.classes) == several(estimator.classes_) and all(
                map(np.array_equal, as_list(estimator.classes_), as_list(problem.classes))
            )
        if not same or self.digest != data_digest(problem):
            raise ValueError(
                "warm_start adds members to those that exist, so X, y and sample_weight must be those of the first fit "
                "(set warm_start=False to start anew)"
            )


def deciding_parameters(estimator: Any) -> dict[str, str]:
    """The parameters that decide what members are, as text."""
    return {name: _text(value) for name, value in estimator.get_params().items() if name not in FREE}


def _text(value: Any) -> str:
    """A value as text by which it is compared: numbers of any kind alike, arrays by a checksum of all their entries."""
    if hasattr(value, "get_params"):
        # Its parameters are compared one by one; the text of an estimator takes a millisecond to write.
        return f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array of shape {value.shape}, {zlib.crc32(np.ascontiguousarray(value).data)}"
    return repr(value.item() if isinstance(value, np.generic) else value)


def data_digest(problem: Problem) -> int:
    """A checksum of the rows, answers and weights."""
    digest = 0
    for part in parts(problem.X):
        digest = zlib.crc32(part.data, digest)
    digest = zlib.crc32(np.ascontiguousarray(problem.y).data, digest)
    return digest if problem.weights is None else zlib.crc32(np.ascontiguousarray(problem.weights).data, digest)
