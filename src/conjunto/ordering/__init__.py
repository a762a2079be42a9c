"""Orders and subsets of members: functions of votes and y, one criterion per file.

`ORDERINGS` are the ones that `order` and `prune` know by name; any function of votes and y that returns a permutation
is one, too.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from conjunto.ordering.boosting_based import boosting_based, boosting_size
from conjunto.ordering.clustering import clustering
from conjunto.ordering.complementarity import complementarity
from conjunto.ordering.exhaustive import Subsets, exhaustive
from conjunto.ordering.genetic import genetic
from conjunto.ordering.individual_error import individual_error
from conjunto.ordering.kappa import kappa
from conjunto.ordering.margin_distance import margin_distance
from conjunto.ordering.optimal import Optimum, optimal
from conjunto.ordering.orientation import orientation, orientation_size
from conjunto.ordering.random_order import random_order
from conjunto.ordering.reduce_error import reduce_error

ORDERINGS: dict[str, Callable[..., NDArray[np.intp]]] = {
    "reduce_error": reduce_error,
    "complementarity": complementarity,
    "margin_distance": margin_distance,
    "orientation": orientation,
    "boosting_based": boosting_based,
    "individual_error": individual_error,
    "kappa": kappa,
    "random_order": random_order,
}

__all__ = [
    "ORDERINGS",
    "Optimum",
    "Subsets",
    "boosting_based",
    "boosting_size",
    "clustering",
    "complementarity",
    "exhaustive",
    "genetic",
    "individual_error",
    "kappa",
    "margin_distance",
    "optimal",
    "orientation",
    "orientation_size",
    "random_order",
    "reduce_error",
]
