"""How a data set is cut into training and test rows, again and again, the same for all methods.

- `holdout`: a random partition of given sizes, stratified or not; problems that are generated are drawn afresh.
- `k-fold`: repeated k-fold cross-validation; one partition per fold.
- `bootstrap-632`: train on a bootstrap sample, test on the rows outside it; the estimate is 0.632 of that + 0.368 of
  the measure of a model fitted and scored on all rows (Efron 1983).
- `forward`: forward chaining; the rows in the order of their times, a first block to train on, then `folds` blocks,
  each tested on what all before it teach.

Rows of one group, such as those of one customer, are never on both sides of a k-fold or holdout partition.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_choice, check_count
from conjunto.experiments.splits.grouped import assign_group_folds, draw_groups

KINDS = ("k-fold", "holdout", "bootstrap-632", "forward")
Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The positions of the training rows and of the test rows."""
_BY_KIND: Any = None


@dataclass(frozen=True)
class Protocol:
    """A way to partition rows.

    Parameters
    ----------
    kind : {"k-fold", "holdout", "bootstrap-632", "forward"}
    repetitions : int, default=None
        None is 10, and 1 for forward, which time leaves no other way to cut.
    folds : int, default=10
        Of k-fold; for forward the test blocks.
    train, test : int or float, default=2/3 and None
        Of holdout: rows, or shares of them; None is all the rest.
    stratify : bool, default=True
        Keep the class shares (classification only).

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto.experiments import Protocol
    >>> protocol = Protocol("k-fold", repetitions=2, folds=3)
    >>> protocol.partitions
    6
    >>> train, test = protocol.split(np.array([0, 0, 0, 1, 1, 1]), 0, seeds=[1, 2])
    >>> len(train), len(test)
    (4, 2)
    """

    kind: str = "k-fold"
    repetitions: int = _BY_KIND
    folds: int = 10
    train: int | float = 2 / 3
    test: int | float | None = None
    stratify: bool = True

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        if self.repetitions is None:
            object.__setattr__(self, "repetitions", 1 if self.kind == "forward" else 10)
        check_count("repetitions", self.repetitions)
        if self.kind == "forward" and self.repetitions != 1:
            raise ValueError(
                f"repetitions must be 1 for forward chaining, got {self.repetitions}: the times leave nothing to "
                "shuffle, and every repetition would be the same"
            )
        check_count("folds", self.folds, 2)
        check_rows("train", self.train)
        if self.test is not None:
            check_rows("test", self.test)
        check_choice("stratify", self.stratify, (True, False))

    @property
    def partitions(self) -> int:
        """How many partitions there are in all."""
        return self.repetitions * (self.folds if self.kind in ("k-fold", "forward") else 1)

    @property
    def apparent_share(self) -> float:
        """The weight, in the estimate, of the measure of a model fitted and scored on all rows."""
        return 1 - 0.632 if self.kind == "bootstrap-632" else 0.0

    def check(
        self,
        n: int,
        train: int | float | None = None,
        test: int | float | None = None,
        groups: NDArray[Any] | None = None,
        times: NDArray[Any] | None = None,
    ) -> None:
        """Refuse to partition what cannot be: too few rows, groups or times, or a kind that does not know them.

        `train` and `test` are those of the data set.
        """
        for name, given in (("groups", groups), ("times", times)):
            if given is not None and len(given) != n:
                raise ValueError(f"{name}: {len(given)} values for {n} rows; give one for each")
        self.check_kind(groups is not None, times is not None)
        if self.kind == "k-fold":
            what, there = ("rows", n) if groups is None else ("groups", len(np.unique(groups)))
            if there < self.folds:
                raise ValueError(f"folds: {self.folds} folds need at least as many {what}, and there are {there}")
        if self.kind == "holdout":
            self._sizes(n, train, test)
            if groups is not None and len(np.unique(groups)) < 2:
                raise ValueError("groups: all rows are of one group, and training and test rows need one each")
        if times is not None and (there := len(np.unique(times))) <= self.folds:
            raise ValueError(
                f"folds: a first block and {self.folds} blocks to test need at least {self.folds + 1} different times, "
                f"and there are {there}"
            )

    def check_kind(self, groups: bool, times: bool) -> None:
        """Refuse groups or times that this kind of protocol does not know, and times that it lacks."""
        if groups and self.kind == "bootstrap-632":
            raise ValueError(
                "groups: a bootstrap draws single rows, and would train and test on rows of one group; take k-fold or "
                "holdout"
            )
        if groups and self.kind == "forward":
            raise ValueError("groups: forward chaining cuts by time and cannot keep groups together; take k-fold")
        if times and self.kind != "forward":
            raise ValueError(
                f"time: {self.kind} would train on rows that are later than those it tests; take the kind 'forward'"
            )
        if not times and self.kind == "forward":
            raise ValueError("time: forward chaining needs to know which rows came first; name the column of times")

    def _sizes(self, n: int, train: int | float | None, test: int | float | None) -> tuple[int, int]:
        return holdout_sizes(n, self.train if train is None else train, self.test if test is None else test)

    def split(
        self,
        y: NDArray[Any],
        repetition: int,
        seeds: list[int],
        train: int | float | None = None,
        test: int | float | None = None,
        classification: bool = True,
        groups: NDArray[Any] | None = None,
        times: NDArray[Any] | None = None,
    ) -> Split:
        """Training and test rows of one partition.

        `seeds` is what the randomness depends on besides the repetition. Rows of equal `groups` are on one side;
        forward chaining goes by `times`, of which the smaller is the earlier.
        """
        n = len(y)
        self.check(n, train, test, groups, times)
        if times is not None:
            blocks = time_blocks(times, self.folds)
            return np.flatnonzero(blocks < repetition + 1), np.flatnonzero(blocks == repetition + 1)
        strata = (
            np.unique(y, return_inverse=True)[1] if self.stratify and classification else np.zeros(n, dtype=np.intp)
        )
        if self.kind == "k-fold":
            random = np.random.default_rng([*seeds, repetition // self.folds])
            if groups is None:
                fold = assign_folds(strata, self.folds, random)
            else:
                fold = assign_group_folds(np.unique(groups, return_inverse=True)[1], strata, self.folds, random)
            inside = fold == repetition % self.folds
            return np.flatnonzero(~inside), np.flatnonzero(inside)
        random = np.random.default_rng([*seeds, repetition])
        if self.kind == "bootstrap-632":
            drawn = np.sort(random.integers(0, n, n))
            return drawn, np.setdiff1d(np.arange(n), drawn)
        sizes = self._sizes(n, train, test)
        if groups is not None:
            return draw_groups(np.unique(groups, return_inverse=True)[1], strata, sizes, random)
        inside, outside = draw_proportionally(strata, sizes, random)
        return inside, outside

    def as_dict(self) -> dict[str, Any]:
        """The settings that this kind of protocol uses."""
        facts = asdict(self)
        for name in ("train", "test") if self.kind != "holdout" else ("folds",):
            del facts[name]
        if self.kind == "bootstrap-632":
            del facts["folds"], facts["stratify"]
        if self.kind == "forward":
            del facts["stratify"]
        return facts

    def describe(self, groups: bool = False) -> str:
        """The protocol in words, for data with or without groups."""
        return f"{self}, groups kept together" if groups else str(self)

    def __str__(self) -> str:
        if self.kind == "k-fold":
            return f"{self.repetitions} x {self.folds}-fold {'stratified ' if self.stratify else ''}cross-validation"
        if self.kind == "bootstrap-632":
            return f"bootstrap .632, {self.repetitions} samples"
        if self.kind == "forward":
            return f"forward chaining, {self.folds} blocks"
        train = f"{self.train:.0%}" if isinstance(self.train, float) else f"{self.train:,} rows"
        return f"{self.repetitions} {'stratified ' if self.stratify else ''}partitions, {train} for training"


def check_rows(name: str, value: Any) -> None:
    """Refuse what is neither a number of rows nor a share of them."""
    count = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    if not count and not (isinstance(value, Real) and 0 < float(value) < 1):
        raise ValueError(f"{name} must be a number of rows or a share in (0, 1), got {value!r}")


def holdout_sizes(n: int, train: int | float, test: int | float | None) -> tuple[int, int]:
    """Numbers of training and test rows."""
    n_train = train if isinstance(train, Integral) else round(train * n)
    n_test = n - n_train if test is None else test if isinstance(test, Integral) else round(test * n)
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise ValueError(f"train and test: {n_train} + {n_test} rows asked for, and there are {n}")
    return n_train, n_test


def assign_folds(strata: NDArray[Any], folds: int, random: np.random.Generator) -> NDArray[np.intp]:
    """The fold of every row: the shuffled rows of a stratum go to the folds in turn, those of the next follow on.

    Fold sizes differ by at most one, within a stratum and in all. A class with fewer rows than folds is in some test
    folds only, which scikit-learn's StratifiedKFold answers with a warning.
    """
    order = random.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(len(strata), dtype=np.intp)
    fold[order] = np.arange(len(strata)) % folds
    return fold


def time_blocks(times: NDArray[Any], folds: int) -> NDArray[np.intp]:
    """The block of every row: 0 for those that are only trained on, then 1 .. folds, each later than all before.

    Blocks to test are n // (folds + 1) rows long, as those of scikit-learn's TimeSeriesSplit, or as near to it as rows
    of equal time, which stay in one block, allow. There must be more different times than folds.
    """
    _, moment, counts = np.unique(times, return_inverse=True, return_counts=True)
    n = len(moment)
    # How many rows are earlier than each moment but the first: the places where a block may begin.
    starts = np.cumsum(counts)[:-1]
    wanted = n - np.arange(folds, 0, -1) * (n // (folds + 1))
    later = np.searchsorted(starts, wanted).clip(0, len(starts) - 1)
    earlier = (later - 1).clip(0)
    first = np.where(wanted - starts[earlier] <= starts[later] - wanted, earlier, later)
    # Every block needs a moment of its own, and leaves one for each block behind it.
    steps = np.arange(folds)
    first = np.maximum.accumulate(first - steps) + steps
    first = np.minimum(first, len(starts) - folds + steps)
    return np.searchsorted(first, moment - 1, side="right")


def draw_proportionally(
    strata: NDArray[np.intp], sizes: tuple[int, ...], random: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Disjoint random parts of given sizes, each with the strata in proportion to the rows that were left for it."""
    order = random.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    left = np.bincount(strata)
    start = np.cumsum(left) - left
    parts = []
    for size in sizes:
        taken = apportion(left, size, random)
        parts.append(np.sort(np.concatenate([order[a : a + n] for a, n in zip(start, taken, strict=True)])))
        start, left = start + taken, left - taken
    return parts


def apportion(counts: NDArray[np.intp], size: int, random: np.random.Generator) -> NDArray[np.intp]:
    """`size` seats in proportion to the counts, to within one of each: largest remainders, ties drawn at random."""
    seats, remainders = np.divmod(size * counts, max(1, counts.sum()))
    last = np.lexsort((random.random(len(counts)), -remainders))
    seats[last[: size - seats.sum()]] += 1
    return seats
