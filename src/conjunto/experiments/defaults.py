"""What `conjunto compare` runs where nothing is named: a panel of methods and a protocol that ends in minutes."""

from __future__ import annotations

from conjunto.experiments.methods import METHODS, panel
from conjunto.experiments.spec import Method
from conjunto.experiments.splits.protocols import Protocol

CURVE_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of members at which error curves are drawn."""

# The protocol for tables of up to so many numbers (rows x attributes).
_PROTOCOLS = (
    (60_000, Protocol("k-fold", 10, 10)),
    (150_000, Protocol("k-fold", 3, 10)),
    (500_000, Protocol("k-fold", 1, 10)),
    (2_000_000, Protocol("k-fold", 1, 5)),
)
_LARGEST = Protocol("holdout", 3, train=2 / 3)
# Up to so many rows, ensembles of a thousand members by default take seconds, and keep them; a few hundred small trees,
# as of boosting, take seconds of many more.
_MANY_MEMBERS_ROWS = 3000
_MANY_MEMBERS = 500


def suggest_protocol(rows: int, attributes: int) -> Protocol:
    """10 x 10-fold cross-validation for small tables, fewer repetitions and folds for larger ones."""
    return next((protocol for limit, protocol in _PROTOCOLS if rows * attributes <= limit), _LARGEST)


def suggest_methods(task: str, rows: int) -> list[Method]:
    """The panel, with the numbers of members that the size of the data allows."""
    methods = []
    for name in panel(task):
        members = METHODS[name].parameters.get("n_estimators", 0)
        fewer = {"n_estimators": 200} if members > _MANY_MEMBERS and rows > _MANY_MEMBERS_ROWS else {}
        methods.append(Method(name, parameters=fewer, sizes=CURVE_SIZES))
    return methods
