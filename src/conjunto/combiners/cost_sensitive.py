"""Decisions by costs: the class with the least expected cost, on top of any classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice
from conjunto.classes import Classes, listed
from conjunto.combiners._named import clone_sharing, weighed
from conjunto.outputs import logarithm
from conjunto.problem import read_weights
from conjunto.ties import leaders

# Steps towards the shift; each brings it closer by more than half where probabilities tell anything.
SHIFTS = 50


class CostSensitiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that decides for the class with the least expected cost.

    The class g is chosen for which the sum over the classes k of P(k | x) costs[k, g] is least. That needs
    probabilities that can be believed; see `sklearn.calibration`.

    Parameters
    ----------
    estimator : classifier
        Any classifier that gives probabilities.
    costs : array-like of shape (K, K), default=None
        What it costs to decide for class g (column) where the truth is class k (row), the classes in sorted order; a
        DataFrame whose rows and columns are named by the labels in any.
        Right decisions may cost something too, or gain it. None: every mistake costs 1.
    weigh_rows : bool, default=False
        Whether the classifier is also fitted with rows weighed by what their class costs, the sum of its row above the
        cost of the right decision (Breiman et al.): it then spends its effort where mistakes are dear. Its
        probabilities, which the weights shift, are shifted back before the decision, so that costs do not count twice:
        on the training rows the mean probability of a class is its share.
    prefit : bool, default=False
        Whether the classifier is fitted already, by whichever library.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray
        The labels.
    class_weight_ : ndarray
        What rows of each class were weighed by; ones without `weigh_rows`.
    class_shift_ : ndarray
        What the probability of each class is multiplied by; ones without `weigh_rows`.

    References
    ----------
    Elkan (2001). The foundations of cost-sensitive learning. IJCAI, 973-978.
    Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees, section 4.4. Wadsworth.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import CostSensitiveClassifier, RandomForestClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> costs = [[0, 1], [20, 0]]  # to miss class 1 costs 20 times as much
    >>> model = CostSensitiveClassifier(RandomForestClassifier(random_state=0), costs).fit(X, y)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> plain = model.estimator_.predict(X_test)
    >>> bool(model.expected_cost(X_test, y_test) < np.mean(np.array(costs)[y_test, plain]))
    True
    """

    def __init__(self, estimator: Any, costs: Any = None, *, weigh_rows: bool = False, prefit: bool = False) -> None:
        self.estimator = estimator
        self.costs = costs
        self.weigh_rows = weigh_rows
        self.prefit = prefit

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier, on rows weighed by their costs where that is asked for; X and y not if it is fitted."""
        check_choice("weigh_rows", self.weigh_rows, (True, False))
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(f"estimator must give probabilities: {self.estimator!r} has no predict_proba")
        if self.prefit:
            self._take_fitted()
            return self
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=None, input_name="y")
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        costs = self._checked_costs(classes)
        self.class_weight_ = _class_weights(costs) if self.weigh_rows and len(classes) > 1 else np.ones(len(classes))
        weight = given = read_weights(sample_weight, len(labels))
        if self.weigh_rows:
            of_rows = self.class_weight_[codes]
            weight = of_rows if given is None else given * of_rows
            weight = weight / weight.mean()
        arguments = {} if weight is None else weighed("estimator", self.estimator, weight)
        self.estimator_ = clone(self.estimator).fit(X, y, **arguments)
        self.class_shift_ = np.ones(len(classes))
        if self.weigh_rows:
            self.class_shift_ = _shift_back(self.estimator_.predict_proba(X), codes, given)
        self.classes_ = classes
        return self

    def __sklearn_clone__(self) -> Self:
        """A copy with a clone of the classifier; one that is fitted already is shared, since a clone would not be."""
        return clone_sharing(self, "estimator" if self.prefit else "")

    def _take_fitted(self) -> None:
        try:
            if isinstance(self.estimator, BaseEstimator):
                check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError(f"prefit=True, and the estimator is not fitted: {error}") from error
        if self.weigh_rows:
            raise ValueError("weigh_rows is of the fit, and prefit=True: leave one of them out")
        self.classes_ = np.asarray(self.estimator.classes_)
        self._checked_costs(self.classes_)
        self.class_weight_ = self.class_shift_ = np.ones(len(self.classes_))
        self.estimator_ = self.estimator

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the least expected cost; ties go to the lowest class."""
        spared = -self.costs_of_decisions(X)
        return self.classes_[leaders(spared)]

    def costs_of_decisions(self, X: Any) -> NDArray[np.float64]:
        """Return what each decision is expected to cost, (n, K)."""
        shares = self.predict_proba(X)
        return shares @ self._checked_costs(self.classes_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities; those of weighed rows shifted back."""
        check_is_fitted(self)
        shares = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        if not self.weigh_rows:
            return shares
        shifted = shares * self.class_shift_
        return shifted / shifted.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return logarithm(self.predict_proba(X))

    def expected_cost(self, X: Any, y: Any) -> float:
        """Return the mean cost of the decisions for rows whose class is known."""
        codes = [Classes(self.classes_).encode(labels) for labels in (y, self.predict(X))]
        return float(self._checked_costs(self.classes_)[codes[0], codes[1]].mean())

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return int(self._fitted().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where there are any."""
        return self._fitted().feature_names_in_

    def _fitted(self) -> Any:
        if "estimator_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.estimator_

    def _checked_costs(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        if self.costs is None:
            return 1.0 - np.eye(len(classes))
        try:
            costs = np.asarray(_in_order(self.costs, classes), dtype=np.float64)
        except TypeError as error:
            raise ValueError(f"costs must be a table of numbers, got {self.costs!r}") from error
        if costs.shape != (len(classes), len(classes)):
            raise ValueError(
                f"costs must have a row and a column for each of the {len(classes)} classes "
                f"{listed(classes.tolist())}, ({len(classes)}, {len(classes)}), got shape {costs.shape}"
            )
        if not np.isfinite(costs).all():
            raise ValueError("costs must be finite")
        return costs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags


def _in_order(costs: Any, classes: NDArray[Any]) -> Any:
    """Costs with the classes in sorted order: a DataFrame that is named by labels is put so."""
    labels = classes.tolist()
    named = hasattr(costs, "loc") and set(costs.index) == set(costs.columns) == set(labels)
    return costs.loc[labels, labels] if named else costs


def _class_weights(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a row of each class weighs: what mistakes on it cost more than the right decision, in all."""
    weights = (costs - np.diag(costs)[:, None]).sum(axis=1)
    if (weights <= 0).any():
        raise ValueError(
            f"costs of class {int((weights <= 0).argmax())}: with weigh_rows mistakes must cost more than the right "
            "decision"
        )
    weights /= weights.mean()
    return weights


def _shift_back(
    shares: NDArray[np.float64], codes: NDArray[np.intp], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """(K,): what makes the mean probability of each class its share of the rows.

    How far weights shift probabilities depends on the learner: those of a linear model by their full ratio, those of
    leaves of one class not at all.
    """
    weight = np.ones(len(codes)) if weight is None else weight
    truth = np.bincount(codes, weight, shares.shape[1]) / weight.sum()
    shift = np.ones(shares.shape[1])
    for _ in range(SHIFTS):
        shifted = shares * shift
        mean = weight @ (shifted / shifted.sum(axis=1, keepdims=True)) / weight.sum()
        shift *= np.divide(truth, mean, out=np.ones_like(mean), where=mean > 0)
    return shift / shift.mean()
