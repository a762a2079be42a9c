"""Bayesian model averaging: members weigh as much as the data make each of them probable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice
from conjunto.combiners._combiner import Casting, ClassVotes, ValueVotes
from conjunto.combiners._fitting import Unseen
from conjunto.votes import Votes

CRITERIA = ("likelihood", "bic")


class _Averaging(Casting):
    """Weights from log-likelihoods."""

    def __init__(
        self,
        estimators: Any,
        *,
        criterion: str = "likelihood",
        prior: Any = None,
        n_parameters: Any = None,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.criterion = criterion
        self.prior = prior
        self.n_parameters = n_parameters
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def learns(self) -> Any:  # type: ignore[override]
        """BIC is of the rows that members were fitted on."""
        return "training" if self.criterion == "bic" else "unseen"

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        check_choice("criterion", self.criterion, CRITERIA)
        for name, given in (("prior", self.prior), ("n_parameters", self.n_parameters)):
            numbers = np.ones(1) if given is None else self._entries(name, given)
            if not np.isfinite(numbers).all() or not (numbers > 0).all():
                raise ValueError(f"{name} must be positive and finite for every member, got {given!r}")

    def _learn(self, unseen: Unseen) -> None:
        self.log_likelihoods_ = self._log_likelihoods(unseen)
        evidence = self.log_likelihoods_
        self.__dict__.pop("bic_", None)
        if self.criterion == "bic":
            self.bic_ = np.log(len(unseen.y)) * self._count_parameters() - 2 * self.log_likelihoods_
            evidence = -self.bic_ / 2
        prior = np.ones(len(evidence)) if self.prior is None else self._entries("prior", self.prior)
        self.weights_: NDArray[np.float64] = softmax(evidence + np.log(prior))

    def _count_parameters(self) -> NDArray[np.float64]:
        if self.n_parameters is not None:
            return self._entries("n_parameters", self.n_parameters)
        counts = [count_parameters(model) for model in self.estimators_]
        for name, count in zip(self._names, counts, strict=True):
            if count is None:
                raise ValueError(
                    f'criterion="bic" needs the number of parameters of each member, and that of {name!r} is not '
                    'known: give n_parameters, or criterion="likelihood"'
                )
        return np.array(counts, dtype=np.float64)

    def _log_likelihoods(self, unseen: Unseen) -> NDArray[np.float64]:
        raise NotImplementedError("the task says what the likelihood is")

    def _cast(self, said: list[NDArray[Any]], X: Any) -> Votes:
        return self._mean_of(said, self.weights_)


class BayesianAveragingClassifier(ClassVotes, _Averaging):
    """Classifiers averaged by their posterior probabilities.

    P(k | x) is the sum of P(k | x, h) p(h) over the members h, where p(h) is proportional to its prior times the
    likelihood of rows that it did not see, or times exp(-BIC / 2), an estimate of its evidence on the training rows.
    No probability counts as less than one in the number of rows. With many rows p of the best member comes close to 1:
    Bayesian averaging is a way to choose a model that knows how sure the choice is, not one to combine different ones.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Models that give probabilities, and their names. One that is "drop" is left out.
    criterion : {"likelihood", "bic"}, default="likelihood"
        What members weigh by: the likelihood of rows that they did not see, or the Bayesian information criterion of
        those they were fitted on, which needs likelihoods that were maximised.
    prior : array-like, default=None
        Prior probability of each member, up to a factor; None is equal ones.
    n_parameters : array-like, default=None
        For "bic", the number of parameters of each member. None counts coefficients, or leaves times (K - 1).
    prefit : bool, default=False
        Whether the models are fitted already; X and y of `fit` are then rows that none of them saw, for "bic" those
        that they were fitted on.
    cv : int, splitter or iterable, default=None
        Folds in which likelihoods are measured; None is 5.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    classes_ : ndarray
        The labels.
    weights_ : ndarray
        The posterior probability of each member.
    log_likelihoods_ : ndarray
        The log-likelihood of each.
    bic_ : ndarray
        With `criterion="bic"`: its Bayesian information criterion.

    References
    ----------
    Hoeting, Madigan, Raftery, Volinsky (1999). Bayesian model averaging: a tutorial. Statistical Science 14, 382-417.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from conjunto import BayesianAveragingClassifier, CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [("linear", LogisticRegression(max_iter=500)), ("stump", CARTClassifier(max_depth=1))]
    >>> BayesianAveragingClassifier(models).fit(X, y).weights_.round(3)
    array([1., 0.])
    """

    def _log_likelihoods(self, unseen: Unseen) -> NDArray[np.float64]:
        """Without probabilities of 0, which leaves of trees say of what they have not seen: one would outweigh all."""
        rows = np.arange(len(unseen.y))
        of_truth = np.stack([shares[rows, unseen.y] for shares in unseen.answers])
        least = 1 / (len(rows) + unseen.n_classes)
        logs = np.log(np.clip(np.nan_to_num(of_truth, nan=1 / unseen.n_classes), least, 1))
        return logs @ unseen.weights


class BayesianAveragingRegressor(ValueVotes, _Averaging):
    """Regressors averaged by their posterior probabilities, with normal errors.

    Parameters
    ----------
    estimators : list of (str, regressor)
        Models and their names. One that is "drop" is left out.
    criterion : {"likelihood", "bic"}, default="likelihood"
        What members weigh by: the likelihood of rows that they did not see, or the Bayesian information criterion of
        those they were fitted on. Errors are normal, with the variance that the member has on these rows.
    prior : array-like, default=None
        Prior probability of each member, up to a factor; None is equal ones.
    n_parameters : array-like, default=None
        For "bic", the number of parameters of each member, without the variance. None counts coefficients, or leaves.
    prefit : bool, default=False
        Whether the models are fitted already; X and y of `fit` are then rows that none of them saw, for "bic" those
        that they were fitted on.
    cv : int, splitter or iterable, default=None
        Folds in which likelihoods are measured; None is 5.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    weights_ : ndarray
        The posterior probability of each member.
    variances_ : ndarray
        The variance of the errors of each member.
    log_likelihoods_, bic_ : ndarray
        What the weights come from.

    References
    ----------
    Hoeting, Madigan, Raftery, Volinsky (1999). Bayesian model averaging: a tutorial. Statistical Science 14, 382-417.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from conjunto import BayesianAveragingRegressor, CARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("linear", LinearRegression()), ("tree", CARTRegressor(max_depth=2))]
    >>> mean, spread = BayesianAveragingRegressor(models).fit(X, y).predict(X[:1], return_std=True)
    >>> mean.round(), spread.round()
    (array([206.]), array([55.]))
    """

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean, and with `return_std` the standard deviation, of what the members predict together."""
        mean = super().predict(X)
        if not return_std:
            return mean
        check_is_fitted(self)
        off = np.stack(self._said(X)) - mean
        weights = np.where(np.isnan(off), 0.0, self.weights_[:, None])
        squares = weights * (self.variances_[:, None] + np.nan_to_num(off) ** 2)
        with np.errstate(invalid="ignore"):
            return mean, np.sqrt(squares.sum(axis=0) / weights.sum(axis=0))

    def _log_likelihoods(self, unseen: Unseen) -> NDArray[np.float64]:
        squares = np.nan_to_num((np.stack(unseen.answers) - unseen.y) ** 2, nan=float(np.var(unseen.y)))
        total = unseen.weights.sum()
        # A member without errors would be infinitely probable: what doubles cannot tell from none is none.
        least = (float(np.var(unseen.y)) or 1.0) * np.finfo(float).eps
        self.variances_ = np.maximum(squares @ unseen.weights / total, least)
        return -total / 2 * (np.log(2 * np.pi * self.variances_) + 1)

    def _count_parameters(self) -> NDArray[np.float64]:
        return super()._count_parameters() + 1


def count_parameters(model: Any) -> int | None:
    """The number of parameters that were fitted; None where that is not known."""
    if isinstance(model, Pipeline):
        return count_parameters(model.steps[-1][1])
    if hasattr(model, "coefs_"):
        return sum(int(np.size(part)) for part in (*model.coefs_, *model.intercepts_))
    if hasattr(model, "coef_"):
        intercept = getattr(model, "intercept_", 0) if getattr(model, "fit_intercept", True) else ()
        return int(np.count_nonzero(model.coef_) + np.size(intercept))
    if hasattr(model, "get_n_leaves"):
        return int(model.get_n_leaves()) * max(1, len(getattr(model, "classes_", (0, 1))) - 1)
    if hasattr(model, "theta_") and hasattr(model, "var_"):
        return int(np.size(model.theta_) + np.size(model.var_) + len(model.class_prior_) - 1)
    return None
