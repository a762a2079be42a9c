"""`Draw`: what members see, as a frozen function of their random streams.

A method of independent members is a `Draw`. It is a value: it pickles, it can be sent to another process, and two fits
go on from each other (warm start) only where their draws are equal. Rows and columns depend on the `Outline` alone,
which a fitted model keeps, so that they can be drawn again for out-of-bag votes; labels and features need the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conjunto.problem import Problem
from conjunto.streams import Key, Stream
from conjunto.view import ColumnMap, FurtherRows, View

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Outline:
    """What rows and columns are drawn from: the size of a problem and, for draws that need them, its class codes."""

    n: int
    m: int
    codes: NDArray[np.int32] | None = None
    n_classes: int = 0


@dataclass(frozen=True)
class Draw:
    """Every member sees the problem as it is. A method overrides what differs; all are functions of the stream."""

    needs_codes: ClassVar[bool] = False
    """Whether rows depend on the classes, which the fitted model then keeps."""

    def rows(self, stream: Stream, outline: Outline) -> Array | None:
        """(n,) multiplicities or weights of the rows, 0 out of bag; None: every row once."""
        return None

    def columns(self, stream: Stream, outline: Outline) -> Array | None:
        """Numbers of the columns; None: all."""
        return None

    def weights(self, stream: Stream, problem: Problem, rows: Array | None) -> Array | None:
        """The rows with weights that depend on the data too, such as class weights inside the sample."""
        return rows

    def labels(self, stream: Stream, problem: Problem) -> Array | None:
        """(n,) class codes or targets; None: as they are."""
        return None

    def altered(self, stream: Stream, problem: Problem) -> Array | None:
        """(n, m) encoded rows to learn from in place of those of the problem; None: as they are."""
        return None

    def further(self, stream: Stream, problem: Problem, rows: Array | None) -> FurtherRows | None:
        """Rows to learn from beside those of the problem."""
        return None

    def features(self, stream: Stream, problem: Problem, rows: Array | None) -> ColumnMap | None:
        """A fitted map of encoded rows to columns that the member sees beside those of X."""
        return None

    features_only: ClassVar[bool] = False
    """Whether it sees these columns in place of those of X."""

    def posed(self, problem: Problem) -> Problem:
        """The problem that members solve: the ensemble's own, or one with other classes."""
        return problem

    def outline(self, problem: Problem) -> Outline:
        """What of the problem rows and columns are drawn from."""
        return Outline(problem.n, problem.m, problem.y if self.needs_codes else None, problem.n_classes)

    def view(self, stream: Stream, problem: Problem, outline: Outline) -> View:
        """What the member with this stream sees."""
        rows = self.rows(stream, outline)
        return View(
            self.weights(stream, problem, rows),
            self.labels(stream, problem),
            self.columns(stream, outline),
            X=self.altered(stream, problem),
            further=self.further(stream, problem, rows),
            features=self.features(stream, problem, rows),
            features_only=self.features_only,
        )


@dataclass(frozen=True, eq=False)
class Drawn:
    """How the members of a fitted ensemble were drawn: enough to draw their rows and columns again."""

    draw: Draw
    key: Key
    outline: Outline
    numbers: NDArray[np.int64]
    """The number of each member's stream; a part of an ensemble keeps those that its members had in the whole."""
    without_rows: NDArray[np.int64]
    """Numbers of the members whose rows all had weight 0: they learned from all rows, and are out of bag nowhere."""
    is_part: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def streams(self) -> Iterator[Stream]:
        """The stream of each member."""
        return (Stream(self.key, number) for number in self.numbers.tolist())

    def rows(self) -> Iterator[Array | None]:
        """The rows of each member, drawn again."""
        return (self.draw.rows(stream, self.outline) for stream in self.streams())

    def columns(self) -> Iterator[Array | None]:
        """The columns of each member, drawn again."""
        return (self.draw.columns(stream, self.outline) for stream in self.streams())

    def seen(self) -> NDArray[np.bool_] | None:
        """(T, n): the training rows that each member learned from; None where every one saw all of them."""
        seen = np.empty((len(self), self.outline.n), dtype=bool)
        for t, rows in enumerate(self.rows()):
            if rows is None:
                return None
            seen[t] = rows > 0
        seen[self.learned_from_all()] = True
        return seen

    def learned_from_all(self) -> NDArray[np.bool_]:
        """(T,): the members whose own rows all had weight 0."""
        return np.isin(self.numbers, self.without_rows)

    def take(self, members: Sequence[int] | Array) -> Drawn:
        """Of some of the members, in this order."""
        return replace(self, numbers=self.numbers[np.asarray(members)], is_part=True)

    def and_more(self, count: int, without_rows: list[int]) -> Drawn:
        """With members up to `count`, some of the new ones without rows of positive weight."""
        more = np.array(without_rows, dtype=np.int64)
        return replace(self, numbers=np.arange(count), without_rows=np.concatenate([self.without_rows, more]))
