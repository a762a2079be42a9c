"""Orders and subsets of members: functions of votes and y, one criterion per file.

`CRITERIA` are those that `order`, `prune` and the command line know by name, `ORDERINGS` the ones among them that order
all members. Any function of votes and y that returns members is a criterion, too.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# "as" is what type checkers take for a public name; a list of names would be a third place to keep.
from conjunto.ordering._criterion import Criterion as Criterion
from conjunto.ordering.boosting_based import boosting_based as boosting_based
from conjunto.ordering.boosting_based import boosting_size as boosting_size
from conjunto.ordering.clustering import clustering as clustering
from conjunto.ordering.complementarity import complementarity as complementarity
from conjunto.ordering.exhaustive import Subsets as Subsets
from conjunto.ordering.exhaustive import exhaustive as exhaustive
from conjunto.ordering.genetic import genetic as genetic
from conjunto.ordering.individual_error import individual_error as individual_error
from conjunto.ordering.kappa import kappa as kappa
from conjunto.ordering.margin_distance import margin_distance as margin_distance
from conjunto.ordering.meta_tree import meta_tree as meta_tree
from conjunto.ordering.optimal import Optimum as Optimum
from conjunto.ordering.optimal import optimal as optimal
from conjunto.ordering.orientation import orientation as orientation
from conjunto.ordering.orientation import orientation_size as orientation_size
from conjunto.ordering.random_order import random_order as random_order
from conjunto.ordering.reduce_error import reduce_error as reduce_error

CRITERIA: dict[str, Criterion] = {
    "reduce_error": Criterion(reduce_error, {"answers"}, "order", values=True),
    # It adds up the answers of the members chosen, and asks of each other one where it is right.
    "complementarity": Criterion(complementarity, {"answers", "correctness"}, "order", values=True),
    "margin_distance": Criterion(margin_distance, {"correctness"}, "order", values=True),
    "orientation": Criterion(orientation, {"correctness"}, "order"),
    "boosting_based": Criterion(boosting_based, {"correctness"}, "order"),
    "individual_error": Criterion(individual_error, {"correctness"}, "order", values=True),
    "kappa": Criterion(kappa, {"correctness"}, "order"),
    "random_order": Criterion(random_order, {"correctness"}, "order", values=True),
    "exhaustive": Criterion(exhaustive, {"answers"}, "subset", sized=True),
    "optimal": Criterion(optimal, {"answers"}, "subset", sized=True),
    "clustering": Criterion(clustering, {"correctness"}, "subset", sized=True, values=True),
    "genetic": Criterion(genetic, {"answers"}, "subset"),
    # It imitates the vote of the labels, also where the ensemble adds up scores.
    "meta_tree": Criterion(meta_tree, {"correctness"}, "subset", sized=True),
}

ORDERINGS: dict[str, Callable[..., NDArray[np.intp]]] = {
    name: criterion.function for name, criterion in CRITERIA.items() if criterion.returns == "order"
}
