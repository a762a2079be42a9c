"""How a data set is cut into training and test rows, again and again, the same for all methods.

- `holdout`: a random partition of given sizes, stratified or not; problems that are generated are drawn afresh.
- `k-fold`: repeated k-fold cross-validation; one partition per fold.
- `bootstrap-632`: train on a bootstrap sample, test on the rows outside it; the estimate is 0.632 of that + 0.368 of
  the measure of a model fitted and scored on all rows (Efron 1983).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import check_choice, check_count

KINDS = ("k-fold", "holdout", "bootstrap-632")
Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The positions of the training rows and of the test rows."""


@dataclass(frozen=True)
class Protocol:
    """A way to partition rows.

    Parameters
    ----------
    kind : {"k-fold", "holdout", "bootstrap-632"}
    repetitions : int, default=10
    folds : int, default=10
        Of k-fold.
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
    repetitions: int = 10
    folds: int = 10
    train: int | float = 2 / 3
    test: int | float | None = None
    stratify: bool = True

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_count("repetitions", self.repetitions)
        check_count("folds", self.folds, 2)
        check_rows("train", self.train)
        if self.test is not None:
            check_rows("test", self.test)
        check_choice("stratify", self.stratify, (True, False))

    @property
    def partitions(self) -> int:
        """How many partitions there are in all."""
        return self.repetitions * (self.folds if self.kind == "k-fold" else 1)

    @property
    def apparent_share(self) -> float:
        """The weight, in the estimate, of the measure of a model fitted and scored on all rows."""
        return 1 - 0.632 if self.kind == "bootstrap-632" else 0.0

    def check(self, n: int, train: int | float | None = None, test: int | float | None = None) -> None:
        """Refuse to partition fewer rows than are needed; `train` and `test` are those of the data set."""
        if self.kind == "k-fold" and n < self.folds:
            raise ValueError(f"folds: {self.folds} folds need at least as many rows, and there are {n}")
        if self.kind == "holdout":
            self._sizes(n, train, test)

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
    ) -> Split:
        """Training and test rows of one partition.

        `seeds` is what the randomness depends on besides the repetition.
        """
        n = len(y)
        strata = (
            np.unique(y, return_inverse=True)[1] if self.stratify and classification else np.zeros(n, dtype=np.intp)
        )
        if self.kind == "k-fold":
            self.check(n)
            random = np.random.default_rng([*seeds, repetition // self.folds])
            fold = assign_folds(strata, self.folds, random)
            inside = fold == repetition % self.folds
            return np.flatnonzero(~inside), np.flatnonzero(inside)
        random = np.random.default_rng([*seeds, repetition])
        if self.kind == "bootstrap-632":
            drawn = np.sort(random.integers(0, n, n))
            return drawn, np.setdiff1d(np.arange(n), drawn)
        inside, outside = draw_proportionally(strata, self._sizes(n, train, test), random)
        return inside, outside

    def as_dict(self) -> dict[str, Any]:
        """The settings that this kind of protocol uses."""
        facts = asdict(self)
        for name in ("train", "test") if self.kind != "holdout" else ("folds",):
            del facts[name]
        if self.kind == "bootstrap-632":
            del facts["folds"], facts["stratify"]
        return facts

    def __str__(self) -> str:
        if self.kind == "k-fold":
            return f"{self.repetitions} x {self.folds}-fold {'stratified ' if self.stratify else ''}cross-validation"
        if self.kind == "bootstrap-632":
            return f"bootstrap .632, {self.repetitions} samples"
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
