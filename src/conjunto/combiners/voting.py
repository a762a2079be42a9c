"""Voting: models of any kind, fitted here or elsewhere, that decide together by a fixed rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice
from conjunto.combiners._asking import Answer, Question
from conjunto.combiners._combiner import Casting, ClassVotes, ValueVotes
from conjunto.combiners._fitting import Unseen, votes_of
from conjunto.voters.checking import check_voters
from conjunto.voters.model_list import are_classifiers
from conjunto.voters.protocol import Unknown
from conjunto.votes import RollCall, Votes

Array = NDArray[Any]

# What members are asked for, the rule of the votes, and how sums become probabilities.
CLASS_RULES: dict[str, tuple[Answer, str, str]] = {
    "hard": ("labels", "plurality", "share-of-cast"),
    "soft": ("shares", "mean", "share-of-cast"),
    "sum": ("shares", "sum", "share-of-cast"),
    "product": ("shares", "product", "logistic"),
    "min": ("shares", "min", "share-of-cast"),
    "max": ("shares", "max", "share-of-cast"),
    "median": ("shares", "median", "share-of-cast"),
    "trimmed-mean": ("shares", "trimmed-mean", "share-of-cast"),
    "borda": ("shares", "borda", "share-of-cast"),
}
VALUE_RULES = ("mean", "median", "weighted-median", "trimmed-mean", "min", "max")
WITHOUT_WEIGHTS = ("min", "max", "median")
ESTIMATED = ("accuracy", "log-odds")


class _Voting(TransformerMixin, Casting):
    """What votes of classes and of values have in common."""

    weights: Any
    voting: str
    weights_: NDArray[np.float64] | None
    indivisible = ""

    @property
    def learns(self) -> Any:  # type: ignore[override]
        """Weights that are estimated need rows that members did not see."""
        return "unseen" if isinstance(self.weights, str) else "nothing"

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        if self.weights is None:
            return
        if self.voting in WITHOUT_WEIGHTS:
            raise ValueError(f"voting={self.voting!r} takes no weights: leave them out, or give another rule")
        if isinstance(self.weights, str):
            check_choice("weights", self.weights, ESTIMATED if self.task == "classification" else ESTIMATED[:1])
            return
        given = self._entries("weights", self.weights)
        if not np.isfinite(given).all() or (given < 0).any() or not given.any():
            raise ValueError(f"weights must be finite, not negative and not all 0, got {self.weights!r}")

    def _seat(self, members: Sequence[tuple[str, Any]], classes: Array | None, *, coded: bool) -> None:
        super()._seat(members, classes, coded=coded)
        if not isinstance(self.weights, str):
            self.weights_ = None if self.weights is None else self._entries("weights", self.weights)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[Any]:
        """Fit, and return what each member says about the training rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def contributions(self, X: Any, voters: Sequence[int] | Array | None = None) -> RollCall:
        """Return the votes of some members (None: all), one after another: a `RollCall`."""
        check_is_fitted(self)
        chosen = range(len(self)) if voters is None else check_voters(voters, len(self), distinct=False)
        first = votes_of(self._said(X, [chosen[0]]), self._n_classes())
        return RollCall(
            first.kind,
            self._each(X, chosen, first),
            len(chosen),
            first.n_examples,
            self._n_classes(),
            None if self.weights_ is None else self.weights_[list(chosen)],
            self._rule(),
            getattr(self, "classes_", None),
        )

    def _each(self, X: Any, chosen: Sequence[int], first: Votes) -> Iterator[Array]:
        """One member after another is asked; the first has been."""
        yield first.answers[0]
        for t in chosen[1:]:
            yield self._said(X, [t])[0]

    def read(self, X: Any) -> Any:
        """Return X: members read rows themselves, each in its own way."""
        return X

    def seen(self) -> Unknown:
        """Return why it is not known which rows members saw."""
        return Unknown(
            f"{type(self).__name__} does not tell which rows its members saw: give rows that none of them saw"
        )

    def take(self, voters: Sequence[int] | Array) -> Self:
        """Return a fitted vote of some of the members, in this order; they are shared, not copied."""
        check_is_fitted(self)
        chosen = check_voters(voters, len(self))
        params = self.get_params(deep=False)
        given = dict(zip(self._names, self.estimators_, strict=True))
        params["estimators"] = [(self._names[t], given[self._names[t]]) for t in chosen]
        if not isinstance(self.weights, str) and self.weights_ is not None:
            params["weights"] = self.weights_[chosen].tolist()
        part = type(self)(**params)
        # Classes that only members left out knew stay known, and keep their codes.
        part._seat(params["estimators"], getattr(self, "classes_", None), coded=self._coded)
        part.weights_ = None if self.weights_ is None else self.weights_[chosen]
        return part

    def _rule(self) -> str:
        raise NotImplementedError("the task says which rules there are")

    def _cast(self, said: list[Array], X: Any) -> Votes:
        return self._mean_of(said, self.weights_, self._rule())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class VotingClassifier(ClassVotes, _Voting):
    """Classifiers that vote by a fixed rule; scikit-learn's class with more rules, and fitted models of any library.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Models and their names. One that is "drop" is left out.
    voting : str, default="hard"
        How they decide together. "hard" counts the labels that they predict. All others combine probabilities: "soft"
        is their mean, "sum" their sum, "product", "min", "max", "median", and "trimmed-mean", the mean without the
        lowest and the highest tenth (at least one of each where there are three); "borda" lets every member rank the
        classes, each of which has a point for every class ranked below it.
    weights : array-like, "accuracy" or "log-odds", default=None
        Weights of the votes; in a product they are exponents. "accuracy" is the share of rows that a member gets right,
        "log-odds" log((K - 1) p / (1 - p)) of this share p, the best weights of independent members (0 for one no
        better than chance); both are estimated on rows that the member did not see.
    prefit : bool, default=False
        Whether the models are fitted already, by whichever library. They are used as they are. They may know different
        classes, may say None or NaN for no answer, and need no X and y in `fit` unless weights are estimated: then
        these are rows that no member saw. A member that knows 0 .. K - 1 where the others know text speaks of the
        codes of the sorted labels.
    cv : int, splitter or iterable, default=None
        Folds in which weights are estimated; None is 5.
    n_jobs : int, default=None
        Members fitted at a time.
    flatten_transform : bool, default=True
        Whether `transform` gives probabilities as (n, members * classes) or (members, n, classes).
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members; those fitted here know class codes, as in scikit-learn.
    named_estimators_ : Bunch
        The same by name.
    classes_ : ndarray
        The labels that any member knows.
    weights_ : ndarray or None
        The weights of the votes.

    Notes
    -----
    Where scikit-learn's has no `predict_proba`, in hard votes, this one gives the share of the votes. A row on which
    all members abstain has equal probabilities. A class that a member does not know has no probability from it; in a
    product, a minimum and Borda's ranks, where that would be a veto, it has 1 / K.

    References
    ----------
    Kittler, Hatef, Duin, Matas (1998). On combining classifiers. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 20, 226-239.
    Kuncheva (2014). Combining Pattern Classifiers, 2nd edition, chapters 4 and 5. Wiley.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from conjunto import CARTClassifier, VotingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [("tree", CARTClassifier(max_depth=2)), ("linear", LogisticRegression(max_iter=500))]
    >>> VotingClassifier(models, voting="product").fit(X, y).predict_proba(X[[100]]).round(3)
    array([[0., 0., 1.]])
    >>> fitted = [(name, model.fit(X, y)) for name, model in models]
    >>> VotingClassifier(fitted, voting="soft", prefit=True).fit().predict(X[[100]])
    array([2])
    """

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    @property
    def le_(self) -> LabelEncoder:
        """The encoder between labels and the codes that members fitted here know."""
        return LabelEncoder().fit(self.classes_)

    @property
    def finish(self) -> str:  # type: ignore[override]
        """A product is a sum of logarithms; of all else classes have their share."""
        return CLASS_RULES[self.voting][2]

    def transform(self, X: Any) -> NDArray[Any]:
        """Return what each member says: class codes (n, members), or probabilities (n, members * classes)."""
        check_is_fitted(self)
        said = self._said(X)
        if self._answer() == "labels":
            return np.stack(said, axis=1)
        return np.hstack(said) if self.flatten_transform else np.stack(said)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` gives."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        if self._answer() == "labels":
            return np.array([f"{prefix}_{name}" for name in self._names], dtype=object)
        if not self.flatten_transform:
            raise ValueError(
                f"get_feature_names_out is not supported when `voting={self.voting!r}` and `flatten_transform=False`"
            )
        columns = range(len(self.classes_))
        return np.array([f"{prefix}_{name}{k}" for name in self._names for k in columns], dtype=object)

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        check_choice("voting", self.voting, tuple(CLASS_RULES))
        super()._check_parameters(models)

    def _answer(self) -> Answer:
        return CLASS_RULES[self.voting][0]

    def _who_needs_shares(self) -> str:
        return f"voting={self.voting!r}"

    def _questions(self, models: Sequence[tuple[str, Any]], n_classes: int) -> list[Question]:
        return [Question(self._answer(), n_classes, self.voting in ("product", "min", "borda"))] * len(models)

    def _rule(self) -> str:
        return CLASS_RULES[self.voting][1]

    def _learn(self, unseen: Unseen) -> None:
        """Weights of the members by how often they are right on rows that they did not see."""
        right = unseen.votes.correctness(unseen.y)
        voted = (right != 0) * unseen.weights
        shares = ((right > 0) * unseen.weights).sum(axis=1) / np.maximum(voted.sum(axis=1), np.finfo(float).tiny)
        self.weights_ = shares
        if self.weights == "log-odds":
            least = 1 / (2 * np.maximum(1, (right != 0).sum(axis=1)))
            p = np.clip(shares, least, 1 - least)
            self.weights_ = np.maximum(0.0, np.log(max(1, len(self.classes_) - 1) * p / (1 - p)))
        if not self.weights_.any():
            # None is better than chance: nobody is left to prefer.
            self.weights_ = np.ones(len(shares))


class VotingRegressor(ValueVotes, _Voting):
    """Regressors that are averaged, or combined by another rule.

    Parameters
    ----------
    estimators : list of (str, regressor)
        Models and their names. One that is "drop" is left out.
    voting : {"mean", "median", "weighted-median", "trimmed-mean", "min", "max"}, default="mean"
        How values are combined; the trimmed mean leaves out the lowest and the highest tenth, at least one of each
        where there are three.
    weights : array-like or "accuracy", default=None
        Weights of the members; "accuracy" is the inverse of the mean squared error on rows that a member did not see.
    prefit : bool, default=False
        Whether the models are fitted already, by whichever library. They may say NaN for no answer.
    cv : int, splitter or iterable, default=None
        Folds in which weights are estimated; None is 5.
    n_jobs : int, default=None
        Members fitted at a time.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray or None
        The weights of the members.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from conjunto import RandomForestRegressor, VotingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("forest", RandomForestRegressor(random_state=0)), ("linear", LinearRegression())]
    >>> vote = VotingRegressor(models, weights="accuracy").fit(X[:300], y[:300])
    >>> vote.weights_.round(5), bool(vote.score(X[300:], y[300:]) > 0.4)
    (array([0.0003 , 0.00032]), True)
    """

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "mean",
        weights: Any = None,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return what each member predicts, (n, members)."""
        check_is_fitted(self)
        return np.stack(self._said(X), axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` gives."""
        check_is_fitted(self)
        return np.array([f"{type(self).__name__.lower()}_{name}" for name in self._names], dtype=object)

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        check_choice("voting", self.voting, VALUE_RULES)
        super()._check_parameters(models)

    def _rule(self) -> str:
        return self.voting

    def _learn(self, unseen: Unseen) -> None:
        """Weights of the members by their errors on rows that they did not see."""
        errors = np.stack([_mean_square(said - unseen.y, unseen.weights) for said in unseen.answers])
        # A member without error would have all of the weight there is: nobody knows how exact it is. One without an
        # answer has none.
        largest = errors[np.isfinite(errors)].max(initial=0.0)
        self.weights_ = 1 / np.maximum(errors, largest * 1e-12 if largest > 0 else 1.0)
        if not self.weights_.any():
            self.weights_ = np.ones(len(errors))


def vote_of(models: Sequence[Any]) -> VotingClassifier | VotingRegressor:
    """A vote of fitted models, one each, or the mean of what they predict."""
    kind = VotingClassifier if are_classifiers(models) else VotingRegressor
    return kind([(f"model {t}", model) for t, model in enumerate(models)], prefit=True).fit()


def _mean_square(errors: Array, weights: Array) -> float:
    here = ~np.isnan(errors)
    return float(np.average(errors[here] ** 2, weights=weights[here])) if here.any() else float("inf")
