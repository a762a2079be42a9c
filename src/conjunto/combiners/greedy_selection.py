"""Greedy selection from a library of models (Caruana): add the member that helps most, again and again."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state

from conjunto.checks import check_choice, check_count, check_number
from conjunto.combiners._combiner import Casting, ClassVotes, ValueVotes
from conjunto.combiners._fitting import Unseen
from conjunto.ties import ROUNDING
from conjunto.votes import Votes

Array = NDArray[Any]
Judge = Callable[[Array], Array]
"""(candidates, n[, K]) answers into (candidates,) scores, greater is better."""


class _Greedy(Casting):
    """Members with the weights that greedy selection gives them."""

    scoring: Any
    max_size: int
    with_replacement: bool
    n_init: int
    n_iter_no_change: int | None
    n_bags: int
    bag_share: float
    random_state: Any

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        for name in ("max_size", "n_init", "n_bags"):
            check_count(name, getattr(self, name))
        if self.n_iter_no_change is not None:
            check_count("n_iter_no_change", self.n_iter_no_change)
        check_choice("with_replacement", self.with_replacement, (True, False))
        check_number("bag_share", self.bag_share, 0, 1, open_low=True)
        if isinstance(self.scoring, str):
            get_scorer(self.scoring)
        elif not _is_scorer(self.scoring):
            raise ValueError(
                f"scoring must be the name of a scorer or a scorer f(estimator, X, y), got {self.scoring!r}; "
                "sklearn.metrics.make_scorer makes one of a function of the truth and the predictions"
            )

    def _learn(self, unseen: Unseen) -> None:
        answers = np.stack(unseen.answers)
        # Where a member says nothing it is for no class, or for the mean.
        neutral = 1 / unseen.n_classes if unseen.n_classes else float(np.mean(unseen.y))
        answers = np.nan_to_num(answers, nan=neutral)
        judge = self._judge(unseen)
        random, count = check_random_state(self.random_state), len(answers)
        weights, self.paths_ = np.zeros(count), []
        for _ in range(self.n_bags):
            bag = np.arange(count)
            if self.n_bags > 1:
                bag = np.sort(random.choice(count, max(1, round(self.bag_share * count)), replace=False))
            path, scores = self._select(answers[bag], judge)
            self.paths_.append((bag[path], scores))
            kept = bag[path[: _first_best(scores) + 1]]
            weights += np.bincount(kept, minlength=count) / len(kept) / self.n_bags
        self.weights_ = weights
        self.score_ = float(judge(np.average(answers, axis=0, weights=weights)[None])[0])

    def _select(self, answers: Array, judge: Judge) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The members in the order in which they are added, and the score after each."""
        alone = judge(answers)
        # The best by themselves first: nothing is learned from which of two bad members helps the other.
        path = [int(t) for t in np.argsort(-alone, kind="stable")[: min(self.n_init, self.max_size)]]
        total = np.zeros(answers.shape[1:])
        scores = []
        for size, t in enumerate(path, 1):
            total = total + answers[t]
            scores.append(float(judge((total / size)[None])[0]))
        while len(path) < self.max_size and not self._ended(scores):
            open_to = np.arange(len(answers)) if self.with_replacement else np.setdiff1d(np.arange(len(answers)), path)
            if not len(open_to):
                break
            found = judge((total + answers[open_to]) / (len(path) + 1))
            best = _first_best(found)
            path.append(int(open_to[best]))
            total = total + answers[path[-1]]
            scores.append(float(found[best]))
        return np.array(path), np.array(scores)

    def _ended(self, scores: list[float]) -> bool:
        """Whether the last members have brought nothing."""
        since = len(scores) - 1 - _first_best(np.array(scores))
        return self.n_iter_no_change is not None and since >= self.n_iter_no_change

    def _judge(self, unseen: Unseen) -> Judge:
        table = QUICK_OF_CLASSES if unseen.n_classes else QUICK_OF_VALUES
        quick = table.get(self.scoring) if isinstance(self.scoring, str) else None
        if quick is not None:
            return lambda answers: quick(answers, unseen.y, unseen.weights)
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        weights = {"sample_weight": unseen.weight} if unseen.weight is not None and _takes_weights(scorer) else {}
        classes = getattr(self, "classes_", None)
        y = unseen.y if classes is None else classes[unseen.y]

        def judge(answers: Array) -> Array:
            given = [GivenValues(each) if classes is None else GivenClasses(each, classes) for each in answers]
            scores = [float(scorer(each.fit(), unseen.X, y, **weights)) for each in given]
            # A score that is no number is worse than any.
            return np.nan_to_num(np.array(scores), nan=-np.inf)

        return judge

    def _cast(self, said: list[Array], X: Any) -> Votes:
        return self._mean_of(said, self.weights_)

    def _heard(self, X: Any) -> list[Array]:
        # Members that were not chosen need not be asked.
        chosen = np.flatnonzero(self.weights_).tolist()
        said = dict(zip(chosen, self._said(X, chosen), strict=True))
        nothing = np.full_like(next(iter(said.values())), np.nan)
        return [said.get(t, nothing) for t in range(len(self.weights_))]


class GreedySelectionClassifier(ClassVotes, _Greedy):
    """Classifiers chosen greedily, with replacement, so that the mean of their probabilities scores best.

    Starting from the best member, the one is added, or added again, that makes the score of the mean on rows that
    members did not see best. How often a member was added is its weight.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Models that give probabilities, and their names. One that is "drop" is left out.
    scoring : str or callable, default="neg_log_loss"
        What is made best: the name of a scorer of scikit-learn, or a scorer `f(estimator, X, y)`.
    max_size : int, default=50
        How many members are added at most, each counted as often as it was added.
    with_replacement : bool, default=True
        Whether a member can be added again.
    n_init : int, default=1
        How many of the best members, each by itself, are there to begin with.
    n_iter_no_change : int, default=10
        Selection ends when so many members were added without a better score; None goes on to `max_size`. The size with
        the best score is kept in any case.
    n_bags : int, default=1
        Selections from random parts of the library, averaged. Many models on few rows make a selection overfit; bags
        make it overfit less.
    bag_share : float, default=0.5
        The share of the models in each of several bags.
    prefit : bool, default=False
        Whether the models are fitted already, by whichever library; X and y of `fit` are then rows that none of them
        saw.
    cv : int, splitter or iterable, default=None
        Folds in which members are judged; None is 5.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    random_state : int, RandomState or None, default=None
        For the bags.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members; those of weight 0 take no part.
    classes_ : ndarray
        The labels.
    weights_ : ndarray
        The weight of each member; their sum is 1.
    score_ : float
        The score of the selection on the rows that it was made on: optimistic.
    paths_ : list of (ndarray, ndarray)
        Of every bag: the members in the order in which they were added, and the score after each.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes (2004). Ensemble selection from libraries of models. ICML.
    Caruana, Munson, Niculescu-Mizil (2006). Getting the most out of ensemble selection. ICDM, 828-833.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from conjunto import CARTClassifier, GreedySelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [("linear", LogisticRegression(max_iter=500)), ("stump", CARTClassifier(max_depth=1))]
    >>> GreedySelectionClassifier(models).fit(X, y).weights_.round(2)
    array([1., 0.])
    """

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = "neg_log_loss",
        max_size: int = 50,
        with_replacement: bool = True,
        n_init: int = 1,
        n_iter_no_change: int | None = 10,
        n_bags: int = 1,
        bag_share: float = 0.5,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.max_size = max_size
        self.with_replacement = with_replacement
        self.n_init = n_init
        self.n_iter_no_change = n_iter_no_change
        self.n_bags = n_bags
        self.bag_share = bag_share
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class GreedySelectionRegressor(ValueVotes, _Greedy):
    """Regressors chosen greedily, with replacement, so that the mean of their predictions scores best.

    Parameters
    ----------
    estimators : list of (str, regressor)
        Models and their names. One that is "drop" is left out.
    scoring : str or callable, default="neg_mean_squared_error"
        What is made best: the name of a scorer of scikit-learn, or a scorer `f(estimator, X, y)`.
    max_size, with_replacement, n_init, n_iter_no_change, n_bags, bag_share, prefit, cv, n_jobs, random_state, verbose
        As in `GreedySelectionClassifier`.

    Attributes
    ----------
    estimators_, weights_, score_, paths_
        As in `GreedySelectionClassifier`.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes (2004). Ensemble selection from libraries of models. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from conjunto import GreedySelectionRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("forest", RandomForestRegressor(random_state=0)), ("linear", LinearRegression())]
    >>> GreedySelectionRegressor(models).fit(X, y).weights_.round(1)
    array([0.2, 0.8])
    """

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = "neg_mean_squared_error",
        max_size: int = 50,
        with_replacement: bool = True,
        n_init: int = 1,
        n_iter_no_change: int | None = 10,
        n_bags: int = 1,
        bag_share: float = 0.5,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.max_size = max_size
        self.with_replacement = with_replacement
        self.n_init = n_init
        self.n_iter_no_change = n_iter_no_change
        self.n_bags = n_bags
        self.bag_share = bag_share
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class GivenClasses(ClassifierMixin, BaseEstimator):
    """Probabilities that are there already, as an estimator that scorers can ask."""

    def __init__(self, shares: Array, classes: Array) -> None:
        self.shares = shares
        self.classes = classes

    def fit(self, X: Any = None, y: Any = None) -> GivenClasses:
        """Know the labels; there is nothing to learn."""
        self.classes_ = self.classes
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities, whatever X is."""
        return self.shares

    def predict(self, X: Any) -> Array:
        """Return the most probable label."""
        return self.classes[self.shares.argmax(axis=1)]


class GivenValues(RegressorMixin, BaseEstimator):
    """Values that are there already, as an estimator that scorers can ask."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def fit(self, X: Any = None, y: Any = None) -> GivenValues:
        """There is nothing to learn."""
        self.n_values_ = len(self.values)
        return self

    def predict(self, X: Any) -> Array:
        """Return the values, whatever X is."""
        return self.values


def _log_likelihood(answers: Array, y: Array, weights: Array) -> Array:
    rows = np.arange(len(y))
    of_truth = answers[:, rows, y] / answers.sum(axis=2)
    logs: Array = np.log(np.clip(of_truth, np.finfo(float).eps, 1)) @ weights / weights.sum()
    return logs


def _accuracy(answers: Array, y: Array, weights: Array) -> Array:
    right: Array = (answers.argmax(axis=2) == y) @ weights / weights.sum()
    return right


def _mean_squared(answers: Array, y: Array, weights: Array) -> Array:
    errors: Array = -((answers - y) ** 2) @ weights / weights.sum()
    return errors


def _mean_absolute(answers: Array, y: Array, weights: Array) -> Array:
    errors: Array = -np.abs(answers - y) @ weights / weights.sum()
    return errors


def _first_best(scores: Array) -> int:
    """The first of the best, up to rounding."""
    best = scores.max()
    rounding = ROUNDING * abs(best) if np.isfinite(best) else 0.0
    return int(np.flatnonzero(scores >= best - rounding)[0])


def _is_scorer(scoring: Any) -> bool:
    """Whether it can be called with an estimator, X and y."""
    try:
        signature(scoring).bind(None, None, None)
    except (TypeError, ValueError):
        return False
    return True


def _takes_weights(scorer: Any) -> bool:
    """Whether a scorer can be told weights of rows."""
    parameters = signature(scorer).parameters
    return "sample_weight" in parameters or any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())


# Scores of all candidates at once; what is not listed is asked of the scorer, one candidate after another.
QUICK_OF_CLASSES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "neg_log_loss": _log_likelihood,
    "accuracy": _accuracy,
}
QUICK_OF_VALUES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "neg_mean_squared_error": _mean_squared,
    "neg_root_mean_squared_error": lambda answers, y, weights: -np.sqrt(-_mean_squared(answers, y, weights)),
    "neg_mean_absolute_error": _mean_absolute,
}
