"""Local selection: the members that were right about the rows nearest to a new one decide about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_choice, check_count, check_number
from conjunto.classes import Classes
from conjunto.combination import by_voter
from conjunto.combiners._asking import Answer
from conjunto.combiners._combiner import ClassCombiner, Combiner, ValueCombiner
from conjunto.combiners._competence import METHODS, VALUE_METHODS, Nearby, weights_of_votes
from conjunto.combiners._fitting import Task, Unseen, silent, unseen_of
from conjunto.combiners._named import given_metadata
from conjunto.combiners._pool import check_numbers, fit_pool, has_out_of_bag, voters_of
from conjunto.combiners._region import Region
from conjunto.ensembles.bagging import BaggingClassifier, BaggingRegressor
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.outputs import logarithm
from conjunto.problem import as_rows, select
from conjunto.ties import leaders
from conjunto.voters import Unknown
from conjunto.votes import Votes

Array = NDArray[Any]

# Answers of members about neighbours that are held at a time.
CELLS = 1 << 22


class _LocalSelection(Combiner):
    """A pool of members, and the rows on which it is known how each of them did."""

    method: str
    n_neighbors: int
    metric: str
    selection: Any
    random_state: Any

    def fit(self, X: Any = None, y: Any = None, **fit_params: Any) -> Self:
        """Fit the pool, and keep what its members say about rows that they did not see."""
        check_count("n_neighbors", self.n_neighbors)
        check_numbers(X)
        self.__dict__.pop("pool_", None)
        if self._is_list():
            return super().fit(X, y, **fit_params)
        fit_params = given_metadata(self, fit_params)
        pool = self._pool()
        task = self._task([("pool", pool)], X, y, fit_params)
        if self.prefit:
            self._keep(voters_of(pool), task, None)
            return self
        if isinstance(self.selection, str):
            check_choice("selection", self.selection, ("auto", "oob"))
        else:
            check_number("selection", self.selection, 0, 1, open_low=True, open_high=True)
        inside, outside = self._parts(pool, task)
        self._keep(voters_of(fit_pool(pool, task, inside)), task, outside)
        return self

    def _parts(self, pool: Any, task: Task) -> tuple[Array | None, Array | None]:
        """The rows that the pool is fitted on and those that are kept for the region; None: all, and out of bag."""
        if self.selection == "oob" or (self.selection == "auto" and has_out_of_bag(pool)):
            return None, None
        share = 1 / 3 if self.selection == "auto" else float(self.selection)
        fewest = min(share, 1 - share) * task.n
        strata = task.y if task.n_classes and np.bincount(task.y).min() > 1 and fewest >= task.n_classes else None
        rows = np.arange(task.n)
        inside, outside = train_test_split(rows, test_size=share, stratify=strata, random_state=self.random_state)
        return np.sort(inside), np.sort(outside)

    def _keep(self, voters: Any, task: Task, rows: Array | None) -> None:
        """Ask the pool about rows that no member saw, or each member about those that it did not see."""
        self.pool_ = getattr(voters, "fitted", voters)
        self._seat([("pool", self.pool_)], task.classes, coded=False)
        answers = self._ask_pool(voters, task.X if rows is None else select(task.X, rows))
        if rows is None and (not self.prefit or self.selection == "oob"):
            seen = voters.seen()
            if isinstance(seen, Unknown):
                raise ValueError(f'selection="oob": {seen.reason}')
            seen.check(voters.read(task.X))
            answers = np.where(seen.matrix(task.n), -1 if task.n_classes else np.nan, answers)
        self._learn(unseen_of(task, list(answers), rows))

    def _learn(self, unseen: Unseen) -> None:
        answers = np.stack(unseen.answers)
        rows = np.flatnonzero(~np.stack([silent(said) for said in answers]).all(axis=0))
        if not len(rows):
            raise ValueError(f"no member has a row that it did not see (n_samples={len(unseen.y)}): give more rows")
        self._region = Region(self.n_neighbors, self.metric, self.n_jobs).fit(select(unseen.X, rows))
        self._answers = answers[:, rows]
        self._truth = unseen.y[rows]
        self._weight = None if unseen.weight is None else unseen.weights[rows]
        self._overall = self._judge_all(unseen.weights[rows])
        self._prior = float(any(silent(said).any() for said in self._answers))

    def _about(self, X: Any) -> Array:
        """(members, n): what members say about rows."""
        check_is_fitted(self)
        if "pool_" in self.__dict__:
            return self._ask_pool(voters_of(self.pool_), X)
        return np.stack(self._said(X))

    def _blocks(self, X: Any) -> Iterator[tuple[Array, Array]]:
        """Rows in parts that fit the memory: what members say about them, and their neighbours."""
        X = as_rows(X)
        said, nearest = self._about(X), self._region.nearest(X)
        step = max(1, CELLS // max(1, len(said) * nearest.shape[1]))
        for first in range(0, len(nearest), step):
            part = slice(first, first + step)
            yield said[:, part], nearest[part]

    def _judge_all(self, weight: Array) -> Array:
        """(members,): how good each is on all rows that are known."""
        raise NotImplementedError("the task says what is good")

    def _pool(self) -> Any:
        raise NotImplementedError("the task says what the default pool is")

    def _ask_pool(self, voters: Any, X: Any) -> Array:
        raise NotImplementedError("the task says what members are asked for")

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self._answers)

    def __getitem__(self, t: int) -> Any:
        check_is_fitted(self)
        return (self.pool_ if "pool_" in self.__dict__ else self.estimators_)[t]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata the models, or the pool, ask for in `fit`."""
        router = super().get_metadata_routing()
        if not self._is_list():
            router.add(pool=self._pool(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not self._is_list():
            pool = self._pool()
            if hasattr(pool, "__sklearn_tags__") and not isinstance(pool, type):
                inner = pool.__sklearn_tags__().input_tags
                tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags


class LocalSelectionClassifier(ClassCombiner, _LocalSelection):
    """Members chosen for every row by how they did on the rows nearest to it (dynamic selection).

    Parameters
    ----------
    estimators : ensemble, or list of (str, classifier), default=None
        The pool: any ensemble that `conjunto.voters.as_voters` takes apart, of conjunto or another library, or models
        with names. None is bagging of 100 trees of depth 3.
    method : str, default="knora-e"
        Who decides. One member, or those that tie: "ola", right most often nearby; "lca", the same among neighbours
        that it takes for the class it says; "mcb", the same among neighbours that look alike to the members. One alone:
        "rank", the longest run of neighbours that are right. Several: "knora-e", right on as many of the nearest as
        anybody; "knora-u", a vote for every neighbour that is right; "des-p", better than chance nearby; "des-knn", of
        the accurate half those that fail together least. Where nobody is fit to decide, all do.
    n_neighbors : int, default=7
        How many of the nearest rows count.
    metric : str, default="euclidean"
        Of scikit-learn's `NearestNeighbors`. Numbers are in units of their standard deviation, categories are 1 apart.
    selection : "auto", "oob" or float, default="auto"
        For an ensemble to be fitted, where neighbours come from: all rows, each member judged on those that it did not
        see ("oob"), or a share of the rows on which the pool is not fitted. "auto" is out of bag, or a third where
        nothing is.
    prefit : bool, default=False
        Whether the pool is fitted already, by whichever library; X and y of `fit` are then rows that no member saw or,
        with `selection="oob"`, those that it was fitted on.
    cv : int, splitter or iterable, default=None
        For a list of models: folds in which they are judged; None is 5.
    n_jobs : int, default=None
        Members fitted at a time, and jobs that look for neighbours.
    random_state : int, RandomState or None, default=None
        For the split of a share, and the default pool.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members, or the pool.
    pool_ : estimator
        The fitted pool, where that is an ensemble.
    classes_ : ndarray
        The labels.

    References
    ----------
    Dasarathy, Sheela (1979). A composite classifier system design. Proceedings of the IEEE 67, 708-713.
    Woods, Kegelmeyer, Bowyer (1997). Combination of multiple classifiers using local accuracy estimates. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 19, 405-410.
    Ko, Sabourin, Britto (2008). From dynamic classifier selection to dynamic ensemble selection. Pattern Recognition
    41, 1718-1731.
    Cruz, Sabourin, Cavalcanti (2018). Dynamic classifier selection: recent advances and perspectives. Information
    Fusion 41, 195-216.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from conjunto import BaggingClassifier, CARTClassifier, LocalSelectionClassifier
    >>> X, y = make_moons(1000, noise=0.2, random_state=0)
    >>> stumps = BaggingClassifier(CARTClassifier(max_depth=1), n_estimators=50, random_state=0)
    >>> X_test, y_test = make_moons(1000, noise=0.2, random_state=1)
    >>> local = LocalSelectionClassifier(stumps).fit(X, y)
    >>> bool(local.score(X_test, y_test) > local.pool_.score(X_test, y_test) + 0.02)
    True
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        method: str = "knora-e",
        n_neighbors: int = 7,
        metric: str = "euclidean",
        selection: Any = "auto",
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.selection = selection
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any = None, y: Any = None, **fit_params: Any) -> Self:
        """Fit the pool, and keep what its members say about rows that they did not see."""
        check_choice("method", self.method, tuple(METHODS))
        return super().fit(X, y, **fit_params)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that the members chosen for each row decide for; ties go to the lowest class."""
        counts = self._counts(X)
        return self.classes_[leaders(counts)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the votes of the members chosen for each row."""
        counts = self._counts(X)
        return counts / counts.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return logarithm(self.predict_proba(X))

    def votes(self, X: Any) -> Votes:
        """Return the votes of the members, each about the rows for which it was chosen, as often as it counts."""
        blocks = list(self._weighed(X))
        said, weights = (np.hstack([block[part] for block in blocks]) for part in (0, 1))
        scores = (said[:, :, None] == np.arange(len(self.classes_))) * weights[:, :, None]
        return Votes(scores=np.where(weights[:, :, None] > 0, scores, np.nan), rule="sum", classes=self.classes_)

    def _counts(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        parts = []
        for said, weights in self._weighed(X):
            counts = np.zeros((said.shape[1], len(self.classes_)))
            rows = np.broadcast_to(np.arange(said.shape[1]), said.shape)
            here = said >= 0
            np.add.at(counts, (rows[here], said[here]), weights[here])
            # A row on which everybody abstains has no class of its own.
            parts.append(np.where(counts.any(axis=1, keepdims=True), counts, 1.0))
        return np.vstack(parts)

    def _weighed(self, X: Any) -> Iterator[tuple[Array, Array]]:
        """Rows in parts: what members say, and the weights of their votes."""
        for said, nearest in self._blocks(X):
            there = self._answers[:, nearest]
            known = there >= 0
            weight = 1.0 if self._weight is None else self._weight[nearest]
            right = known & (there == self._truth[nearest])
            nearby = Nearby(right, known * weight, said, there, self._overall, len(self.classes_), self._prior)
            yield said, weights_of_votes(self.method, nearby)

    def _judge_all(self, weight: Array) -> Array:
        known = self._answers >= 0
        right = known & (self._answers == self._truth)
        return (right @ weight) / np.maximum(known @ weight, np.finfo(float).tiny)

    def _answer(self) -> Answer:
        return "labels"

    def _pool(self) -> Any:
        if self.estimators is not None:
            return self.estimators
        return BaggingClassifier(CARTClassifier(max_depth=3), n_estimators=100, random_state=self.random_state)

    def _ask_pool(self, voters: Any, X: Any) -> Array:
        votes = voters.votes(X)
        if votes.for_sets:
            raise ValueError(
                f"members of {type(self.pool_).__name__} vote for sets of classes, and none is right or wrong by "
                "itself: give another pool"
            )
        labels = by_voter(votes).as_labels().answers
        known = Classes(self.classes_).places(voters.classes_, "the pool")
        return np.where(labels < 0, -1, known[labels])


class LocalSelectionRegressor(ValueCombiner, _LocalSelection):
    """Regressors weighed, or chosen, for every row by their errors on the rows nearest to it.

    Parameters
    ----------
    estimators : ensemble, or list of (str, regressor), default=None
        The pool, as in `LocalSelectionClassifier`. None is bagging of 100 trees of depth 5.
    method : {"dw", "ds", "dws"}, default="dw"
        All members by the inverse of their mean squared error nearby; the member with the least; or all without those
        whose error is in the upper half between the least and the largest.
    n_neighbors, metric, selection, prefit, cv, n_jobs, random_state, verbose
        As in `LocalSelectionClassifier`.

    Attributes
    ----------
    estimators_, pool_
        As in `LocalSelectionClassifier`.

    References
    ----------
    Rooney, Patterson, Anand, Tsymbal (2004). Dynamic integration of regression models. Multiple Classifier Systems,
    164-173.

    Examples
    --------
    >>> from conjunto import LocalSelectionRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(600, random_state=0)
    >>> local = LocalSelectionRegressor(random_state=0).fit(X[:400], y[:400])
    >>> bool(local.score(X[400:], y[400:]) > local.pool_.score(X[400:], y[400:]))
    True
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        method: str = "dw",
        n_neighbors: int = 7,
        metric: str = "euclidean",
        selection: Any = "auto",
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.selection = selection
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any = None, y: Any = None, **fit_params: Any) -> Self:
        """Fit the pool, and keep what its members say about rows that they did not see."""
        check_choice("method", self.method, tuple(VALUE_METHODS))
        return super().fit(X, y, **fit_params)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the members' values, weighed for each row."""
        check_is_fitted(self)
        parts = []
        for said, nearest in self._blocks(X):
            squares = (self._answers[:, nearest] - self._truth[nearest]) ** 2
            known = ~np.isnan(squares)
            there = known * (1.0 if self._weight is None else self._weight[nearest])
            # Out of bag a member has few answers nearby: one more is assumed that is as good as all others.
            total = (np.nan_to_num(squares) * there).sum(axis=2) + self._prior * self._overall[:, None]
            errors = total / np.maximum(there.sum(axis=2) + self._prior, np.finfo(float).tiny)
            # Who says nothing here, or was never heard, is the worst of all.
            errors = np.where(np.isnan(said) | ~np.isfinite(errors), np.inf, errors)
            weights = VALUE_METHODS[self.method](errors)
            with np.errstate(invalid="ignore"):
                parts.append((weights * np.nan_to_num(said)).sum(axis=0) / weights.sum(axis=0))
        return np.concatenate(parts)

    def _pool(self) -> Any:
        if self.estimators is not None:
            return self.estimators
        return BaggingRegressor(CARTRegressor(max_depth=5), n_estimators=100, random_state=self.random_state)

    def _judge_all(self, weight: Array) -> Array:
        squares = (self._answers - self._truth) ** 2
        total = ~np.isnan(squares) @ weight
        return np.divide(np.nan_to_num(squares) @ weight, total, out=np.full(len(squares), np.inf), where=total > 0)

    def _ask_pool(self, voters: Any, X: Any) -> Array:
        return np.asarray(voters.votes(X).values, dtype=np.float64)
