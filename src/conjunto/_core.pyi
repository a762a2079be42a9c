"""The native core of conjunto: arrays in, arrays out."""

from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

class Answer(Enum):
    """What the members of a session tell of the rows."""

    labels = 0
    shares = 1
    values = 2
    leaves = 3

class C45Forest:
    """C4.5 trees in flat arrays; made by grow_c45()."""

    FORMAT: ClassVar[int]
    def __init__(self, arrays: dict[str, Any]) -> None: ...
    def arrays(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    def leaf_counts(self) -> NDArray[np.int32]: ...
    def depths(self) -> NDArray[np.int32]: ...
    def importances(self) -> NDArray[np.float64]: ...
    def append(self, other: C45Forest) -> None: ...
    def reserve(self, factor: float) -> None: ...
    def take(self, members: NDArray[np.int64]) -> C45Forest: ...
    def labels(self, X: Any, threads: int = 1) -> NDArray[np.int32]: ...
    def vote_counts(self, X: Any, threads: int = 1) -> NDArray[np.float64]: ...
    def share_sums(self, X: Any, threads: int = 1) -> NDArray[np.float64]: ...

class C45Options:
    """How C4.5 trees are grown and pruned."""

    classes: int
    gain_ratio: bool
    mdl: bool
    group_values: bool
    min_objects: float
    prune: bool
    raise_branches: bool
    collapse: bool
    confidence: float
    max_depth: int
    threads: int
    def __init__(self) -> None: ...

class Criterion(Enum):
    """The impurity that a split decreases."""

    gini = 0
    entropy = 1
    misclassification = 2
    variance = 3
    absolute_error = 4
    poisson = 5

class Forest:
    """Decision trees in flat arrays; made by grow()."""

    FORMAT: ClassVar[int]
    def __init__(self, arrays: dict[str, Any]) -> None: ...
    def arrays(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    def leaf_counts(self) -> NDArray[np.int32]: ...
    def depths(self) -> NDArray[np.int32]: ...
    def importances(self) -> NDArray[np.float64]: ...
    def append(self, other: Forest) -> None: ...
    def reserve(self, factor: float) -> None: ...
    def take(self, members: NDArray[np.int64]) -> Forest: ...
    def labels(self, X: Any, threads: int = 1) -> NDArray[np.int32]: ...
    def values(self, X: Any, threads: int = 1) -> NDArray[np.float64]: ...
    def leaves(self, X: Any, threads: int = 1) -> NDArray[np.int32]: ...
    def vote_counts(self, X: Any, threads: int = 1) -> NDArray[np.float64]: ...
    def share_sums(self, X: Any, threads: int = 1) -> NDArray[np.float64]: ...
    def value_sums(self, X: Any, threads: int = 1) -> NDArray[np.float64]: ...
    @property
    def outputs(self) -> list[int]: ...
    def of_output(self, output: int) -> Forest: ...
    def leaf_labels(self) -> NDArray[np.int32]: ...
    def leaf_shares(self) -> NDArray[np.float64]: ...
    def leaf_values(self) -> NDArray[np.float64]: ...
    def leaf_numbers(self) -> NDArray[np.int32]: ...
    def unfold(self, tree: int, criterion: Criterion) -> dict[str, Any]: ...
    def leaf_sums(
        self,
        X: Any,
        value: NDArray[np.float64],
        column: NDArray[np.int32],
        width: int,
        threads: int = 1,
    ) -> NDArray[np.float64]: ...
    def leaf_row_sums(self, X: Any, values: NDArray[np.float64], threads: int = 1) -> NDArray[np.float64]: ...

class GrowOptions:
    """How trees are grown."""

    criterion: Criterion
    classes: int
    outputs: list[int]
    monotone: list[int]
    max_features: int
    combination: int
    oblique: bool
    k_best: int
    random_cuts: bool
    max_depth: int
    max_leaves: int
    min_rows_split: int
    min_rows_leaf: int
    min_weight_share_leaf: float
    min_decrease: float
    prune: PruneOptions
    igp: bool
    search: Search
    threads: int
    def __init__(self) -> None: ...

class GrowSession:
    """Grows trees one call after another on one table."""
    def __init__(self, table: Table, options: GrowOptions, low: int, high: int, lasts: bool = True) -> None: ...
    def grow(self, views: Views, answer: Answer) -> NDArray[Any]: ...
    def path(self, member: int) -> dict[str, Any]: ...
    def passes(self) -> NDArray[np.uint32]: ...
    def drop(self, count: int) -> None: ...
    def __len__(self) -> int: ...
    def forest(self) -> Forest: ...

class HeldOut:
    """Rows that judge a tree."""
    def __init__(
        self,
        X: NDArray[np.float64],
        *,
        labels: NDArray[np.int32] | None = None,
        targets: NDArray[np.float64] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> None: ...

class PruneOptions:
    """How trees are pruned."""

    by: Pruning
    risk: Risk
    alpha: float
    folds: int
    one_standard_error: bool
    to_root: bool
    copies: bool
    copies_apart: bool
    def __init__(self) -> None: ...

class Pruning(Enum):
    """What decides how far a tree is pruned."""

    none = 0
    alpha = 1
    cross_validation = 2

class Risk(Enum):
    """What pruning weighs against the number of leaves."""

    error = 0
    impurity = 1

class Search(Enum):
    """How splits are searched: the reference, or what gives the same trees faster."""

    automatic = 0
    sorted = 1
    no_vectors = 2

class Table:
    """Data prepared once for all members of an ensemble."""
    def __init__(
        self,
        X: Any,
        categories: NDArray[np.uint32],
        threads: int = 1,
        ignored: NDArray[np.bool_] | None = None,
        max_bins: int = 0,
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...

class Views:
    """What the members of a call see; arrays that are left out: all rows, all columns."""
    def __init__(
        self,
        members: NDArray[np.uint64],
        *,
        labels: NDArray[np.int32] | None = None,
        targets: NDArray[np.float64] | None = None,
        small_weights: NDArray[np.uint8] | None = None,
        weights: NDArray[np.float64] | None = None,
        columns: NDArray[np.uint32] | None = None,
        halves: NDArray[np.uint8] | None = None,
        folds: NDArray[np.uint32] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...

def best_subsets(
    truth: NDArray[np.int32],
    classes: int,
    sizes: NDArray[np.uint32],
    labels: NDArray[np.int32] | None = None,
    scores: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    prefer: NDArray[np.uint32] | None = None,
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.uint64]]: ...
def bootstrap(low: int, high: int, member: int, n: int, size: int) -> NDArray[np.int32]: ...
def c45_extra_errors(rows: float, errors: float, confidence: float) -> float: ...
def grow(table: Table, options: GrowOptions, low: int, high: int, views: Views) -> Forest: ...
def grow_c45(table: Table, options: C45Options, views: Views) -> C45Forest: ...
def grow_reduced(
    table: Table, options: GrowOptions, low: int, high: int, views: Views, held_out: HeldOut
) -> Forest: ...
def halves(
    low: int, high: int, member: int, labels: NDArray[np.int32], present: NDArray[np.uint8], classes: int
) -> NDArray[np.uint8]: ...
def has_infinity(X: NDArray[np.float64]) -> bool: ...
def kernel_name() -> str: ...
def leaders(counts: NDArray[np.float64]) -> NDArray[np.intp]: ...
def subset(low: int, high: int, member: int, n: int, size: int) -> NDArray[np.int32]: ...
def switched(
    low: int, high: int, member: int, labels: NDArray[np.int32], count: int, classes: int
) -> NDArray[np.int32]: ...
def words(low: int, high: int, member: int, purpose: int, count: int) -> NDArray[np.uint64]: ...
def order_reduce_error(
    labels: NDArray[np.int32],
    truth: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64] | None,
    examples: NDArray[np.float64] | None,
    scores: NDArray[np.float64] | None,
    backfit: int,
    threads: int,
) -> NDArray[np.int64]: ...
def order_complementarity(
    labels: NDArray[np.int32],
    truth: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64] | None,
    examples: NDArray[np.float64] | None,
    scores: NDArray[np.float64] | None,
    threads: int,
) -> NDArray[np.int64]: ...
def order_margin_distance(
    labels: NDArray[np.int32],
    truth: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64] | None,
    examples: NDArray[np.float64] | None,
    p: float,
    threads: int,
) -> NDArray[np.int64]: ...
def order_boosting_based(
    labels: NDArray[np.int32],
    truth: NDArray[np.int32],
    classes: int,
    examples: NDArray[np.float64] | None,
    threads: int,
) -> tuple[NDArray[np.int64], int]: ...
def kappa_statistics(labels: NDArray[np.int32], classes: int, threads: int) -> NDArray[np.float64]: ...
def order_reduce_squared_error(
    values: NDArray[np.float64],
    truth: NDArray[np.float64],
    median: bool,
    weights: NDArray[np.float64] | None,
    examples: NDArray[np.float64] | None,
    threads: int,
) -> NDArray[np.int64]: ...
def order_complementarity_of_values(
    values: NDArray[np.float64],
    truth: NDArray[np.float64],
    median: bool,
    weights: NDArray[np.float64] | None,
    examples: NDArray[np.float64] | None,
    threads: int,
) -> NDArray[np.int64]: ...
