"""What every fitted ensemble can do with its members, however they were built."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.learners.fitting import Members
from conjunto.learners.members import Rows, TreeMembers
from conjunto.learners.rows import read_fitted_rows
from conjunto.problem import Columns, is_frame

# Attributes that a part of an ensemble cannot take over: they are about all members together.
OF_THE_WHOLE = ("oob_votes_", "oob_score_", "oob_decision_function_", "oob_prediction_", "bound_", "validation_errors_")
# What pruning notes on an ensemble, and a new fit makes untrue.
OF_A_PRUNING = ("order_", "curve_", "pruning_report_")


class FittedMembers(BaseEstimator):
    """Access to members, and to the packed trees where they are ours."""

    n_jobs: int | None
    estimators_: Any
    n_features_in_: int
    _members: Members
    _columns: Columns
    _not_voters: ClassVar[str] = ""
    """Why the members are no voters that can be taken apart, where they are not."""
    _labels_tell: ClassVar[bool] = True
    """Whether a voter is for one class; not where it votes for a set of them."""

    def _read(self, X: Any) -> Rows:
        if isinstance(X, Rows):
            return X
        encoded = read_fitted_rows(self, X)
        return Rows(encoded, X if is_frame(X) else encoded)

    def _threads(self) -> int:
        return 1 if self.n_jobs is None else effective_n_jobs(self.n_jobs)

    @property
    def nbytes_(self) -> int:
        """Bytes that the packed trees take."""
        return self._forest("nbytes_").nbytes

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree, (n, trees), numbered from 0 within the tree."""
        return self._binary("apply").leaves(read_fitted_rows(self, X), self._threads())

    def _forest(self, what: str) -> Any:
        """The packed trees, of whichever kind."""
        check_is_fitted(self)
        if not isinstance(self._members, TreeMembers):
            raise AttributeError(f"{what} needs members that are trees of conjunto on the columns of X alone")
        return self._members.forest

    def _binary(self, what: str) -> _core.Forest:
        """The packed trees, where every row has one leaf in each of them."""
        forest = self._forest(what)
        if not isinstance(forest, _core.Forest):
            raise AttributeError(f"{what} needs trees in which a row has one leaf, which C4.5 trees are not")
        return forest

    def _like(self, classes: NDArray[Any] | None) -> SimpleNamespace:
        """What members that are made on demand take over: the columns, and the classes that they decide between."""
        like = SimpleNamespace(_columns=self._columns, n_features_in_=self.n_features_in_)
        if hasattr(self, "feature_names_in_"):
            like.feature_names_in_ = self.feature_names_in_
        if classes is not None:
            like.classes_ = classes
            like.n_classes_ = len(classes)
        return like

    def _n_voters(self) -> int:
        """How many voters there are: members, rounds or committees."""
        return len(self)

    def _soft(self) -> bool:
        """Whether the class shares of the members are averaged, who could vote as well."""
        return False

    def _adds_scores(self) -> bool:
        """Whether `votes` are scores of the classes, not labels."""
        return False

    def _shares(self, t: int, X: Any) -> NDArray[np.float64]:
        """(n, K): what voter t adds to the classes, with its weight."""
        raise TypeError(f"{type(self).__name__} adds up no scores of classes")

    def _each_share(self, members: NDArray[np.intp], rows: Rows) -> Iterator[NDArray[np.float64]]:
        """The same of several voters, one after the other."""
        return (self._shares(int(t), rows) for t in members)

    def _seen(self) -> NDArray[np.bool_]:
        """(voters, n): the training rows that each voter saw."""
        raise ValueError(f"{type(self).__name__} shows all rows to every member: nothing is out of bag")

    def _with_members(self, members: Any) -> Any:
        """A copy with some of the voters, in this order; the ensemble itself stays as it is."""
        raise TypeError(f"{type(self).__name__} cannot be taken apart: {self._not_voters}")

    def _part(self, members: NDArray[np.intp]) -> Any:
        """A copy with some of the members, without what is known about all of them together."""
        part = copy.copy(self)
        part._members = self._members.take(members)
        for name in OF_THE_WHOLE:
            part.__dict__.pop(name, None)
        return part

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self._members)

    def __getitem__(self, t: int) -> Any:
        return self.estimators_[t]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner: Any = getattr(self, "estimator", None)
        tags.input_tags.allow_nan = True
        if hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type):
            tags.input_tags.allow_nan = learner.__sklearn_tags__().input_tags.allow_nan
        return tags


def log_probabilities(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms, -inf for 0 without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
