"""Trees from and for other libraries: fitted models that change hands with equal predictions."""

from conjunto.exchange.from_sklearn import from_sklearn
from conjunto.exchange.to_sklearn import to_sklearn

__all__ = ["from_sklearn", "to_sklearn"]
