"""How long a run will still take, from what its cells have taken so far.

Costs differ by method and by data set, and not by partition: the logarithm of a cell's seconds is taken for a sum of
what is the data set's and what is the method's, so that pairs that have not been run yet can be foretold from others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

LEAST = 1e-4
"""Seconds: no cell takes less."""
ROUNDS = 20
"""Of alternating means; they settle long before."""
USUAL = {
    "cart": 0.1,
    "cart-pruned": 1.0,
    "pruned-bagging": 30.0,
    "class-switching": 8.0,
    "flipping": 8.0,
    "boosting": 2.0,
    "logistic-regression": 0.3,
    "ridge": 0.1,
    "knn": 1.0,
    "lda": 0.5,
    "naive-bayes": 0.2,
    "svm": 60.0,
    "mlp": 10.0,
    "hist-gradient-boosting": 0.8,
    "lightgbm": 0.8,
    "xgboost": 0.6,
    "catboost": 4.0,
    "constant": 0.05,
}
"""What methods cost on adult, by name, where a random forest costs 1 and whoever is not named about as much.

It counts only until a first cell of a method is done: in five folds of nine methods a tenth is half of the methods.
"""


def seconds_left(
    costs: Iterable[tuple[str, str, float, int]],
    pending: Mapping[tuple[str, str], int],
    jobs: int,
    usual: Mapping[str, float] | None = None,
) -> float:
    """The wall time that pending cells will take.

    Parameters
    ----------
    costs : (data set, method, mean seconds of a cell, number of cells)
        What is done.
    pending : mapping of (data set, method) to a number of cells
    jobs : int
        How many cells are run at a time.
    usual : mapping of method to number, default=None
        What methods cost, one against the other, while nothing is known of them; 1 where it is not said.

    Returns
    -------
    float
        Seconds; NaN while nothing is done.

    Examples
    --------
    >>> seconds_left([("a", "fast", 1.0, 2), ("a", "slow", 9.0, 2)], {("a", "fast"): 4, ("a", "slow"): 4}, jobs=2)
    20.0
    """
    known = {(dataset, method): max(seconds, LEAST) for dataset, method, seconds, _ in costs}
    if not pending:
        return 0.0
    if not known:
        return math.nan
    foretold = _foretell(known, usual or {})
    each = {pair: known[pair] if pair in known else foretold(*pair) for pair in pending}
    # The last cell may be a long one that nobody can help with.
    return max(sum(number * each[pair] for pair, number in pending.items()) / jobs, *each.values())


def _foretell(known: Mapping[tuple[str, str], float], usual: Mapping[str, float]) -> Callable[[str, str], float]:
    """Seconds of a data set and a method, as a product of what each of them is known, or usual, to cost."""
    logarithms = {pair: math.log(seconds) for pair, seconds in known.items()}
    middle = float(np.mean(list(logarithms.values())))
    of_dataset = dict.fromkeys((dataset for dataset, _ in known), 0.0)
    of_method = dict.fromkeys((method for _, method in known), 0.0)
    for _ in range(ROUNDS):
        for part, other, place in ((of_dataset, of_method, 0), (of_method, of_dataset, 1)):
            for name in part:
                rest = [
                    value - middle - other[pair[1 - place]] for pair, value in logarithms.items() if pair[place] == name
                ]
                part[name] = float(np.mean(rest))
    scale = float(np.mean([cost - math.log(usual.get(method, 1.0)) for method, cost in of_method.items()]))

    def foretell(dataset: str, method: str) -> float:
        unknown = scale + math.log(usual.get(method, 1.0))
        return math.exp(middle + of_dataset.get(dataset, 0.0) + of_method.get(method, unknown))

    return foretell
