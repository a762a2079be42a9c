"""The loop of independent ensembles: every member from its own view, in any order.

A method is its `__init__` and `_view`: what does member t see? Drawing views, building members in parallel,
out-of-bag bookkeeping, warm start, staged prediction and the packed members live here, once.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.atomic import all_or_nothing
from conjunto.ballot import count_votes, mean_values, prefix_counts, prefix_means
from conjunto.callbacks import CallbackSupportMixin, fit_task, has_callbacks, members_task, with_callbacks
from conjunto.checks import check_choice, check_count
from conjunto.ensembles._fitted import OF_A_PRUNING, FittedMembers, log_probabilities
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.extended import ExtendedMembers
from conjunto.learners.fitting import Members, fit_members, is_native
from conjunto.learners.members import Rows, TreeMembers, check_learner
from conjunto.problem import Columns, Problem, read_problem
from conjunto.streams import Key, Stream, root_key
from conjunto.view import View
from conjunto.votes import Votes

# Weights and labels of a batch of members are held together: at most about so many cells.
BATCH_CELLS = 1 << 22
# Leaves of so many members and rows are held at a time.
SHARE_CELLS = 1 << 20


class IndependentEnsemble(CallbackSupportMixin, FittedMembers):
    """An ensemble whose members know nothing of each other."""

    n_estimators: int
    n_jobs: int | None
    random_state: Any
    _members: Members
    _columns: Columns
    _key: Key
    _size: tuple[int, int]
    _classification: ClassVar[bool]
    _not_out_of_bag: ClassVar[str] = ""
    """Why out-of-bag votes would mislead, where they would."""

    def _view(self, problem: Problem, stream: Stream) -> View:
        """What one member sees; rows and columns may depend on nothing but the size of the problem."""
        raise NotImplementedError("an independent ensemble defines _view")

    def _prepare(self, problem: Problem) -> Any:
        """Check the method's own parameters against the problem and return those that `_view` draws with.

        They are kept as `_draw`: views are drawn again after the fit, when parameters may have been set anew.
        """
        return None

    def _n_members(self, problem: Problem) -> int:
        """How many members there are to be."""
        return check_count("n_estimators", self.n_estimators)

    def _members_problem(self, problem: Problem) -> Problem:
        """The problem that the members solve: the ensemble's own, or one with other classes."""
        return problem

    def _learner(self) -> Any:
        """The base learner: the parameter `estimator`, or a fully grown tree."""
        learner = getattr(self, "estimator", None)
        if learner is None:
            return CARTClassifier() if self._classification else CARTRegressor()
        check_learner(learner, classification=self._classification)
        return learner

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the members.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, m)
            Rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        y : array-like of shape (n,)
            Labels or targets.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, on top of what the method draws.
        """
        with all_or_nothing(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check()
        learner = self._learner()
        problem = read_problem(self, X, y, sample_weight, classification=self._classification)
        total = self._n_members(problem)
        done = self._start(problem, learner, total)
        self._columns = problem.columns
        self._size = (problem.n, problem.m)
        if problem.classes is not None:
            self.classes_ = problem.classes
            self.n_classes_ = len(problem.classes)
        drawn = getattr(self, "_draw", None)
        self._draw = self._prepare(problem)
        if done and drawn != self._draw:
            raise ValueError(
                f"warm_start goes on drawing members as before, with {drawn}: parameters that decide what members see "
                "cannot change (set warm_start=False to start anew)"
            )
        if not done:
            self._blind: list[int] = []
        problem = self._reweighted(problem)
        added = self._build(learner, problem, done, total)
        if not done:
            assert added is not None
            self._members = added
        elif added is not None:
            self._members.join(added)
        for name in ("oob_votes_", "oob_score_", "oob_decision_function_", "oob_prediction_", *OF_A_PRUNING):
            self.__dict__.pop(name, None)
        if getattr(self, "oob_score", False):
            self._score_out_of_bag(problem)

    def _build(self, learner: Any, problem: Problem, done: int, total: int) -> Members | None:
        """Fit members `done` .. `total`, batch by batch."""
        threads = effective_n_jobs(self.n_jobs)
        batches = self._batches(done, total, problem, threads)
        to_solve = self._members_problem(problem)
        built: Members | None = None
        with fit_task(self, len(batches)) as context:
            for numbers in batches:
                with members_task(self, context):
                    streams = [Stream(self._key, t) for t in numbers]
                    views = (self._noted_view(problem, stream) for stream in streams)
                    members = fit_members(learner, to_solve, views, streams, threads)
                    if built is None:
                        built = members
                        built.reserve((total - done) / len(numbers))
                    else:
                        built.join(members)
                self._report(numbers.stop, total)
        return built

    def _noted_view(self, problem: Problem, stream: Stream) -> View:
        """The view of a member; notes those whose rows all have weight 0, which see all rows instead."""
        view = self._view(problem, stream)
        if problem.weights is not None and view.weights is not None and not view.weights[problem.weights > 0].any():
            self._blind.append(stream.member)
        return view

    def _check(self) -> None:
        """Check parameters that need no data."""

    def _reweighted(self, problem: Problem) -> Problem:
        """The problem with weights of the method's own, such as class weights."""
        return problem

    def _start(self, problem: Problem, learner: Any, total: int) -> int:
        """How many members there are already; draws the key of a new fit."""
        if not (getattr(self, "warm_start", False) and hasattr(self, "_members")):
            self._key = root_key(self.random_state)
            self.__dict__.pop("_numbers", None)
            return 0
        if hasattr(self, "_numbers"):
            raise ValueError(
                "warm_start cannot add members to a part of an ensemble: set warm_start=False to start anew, or go on "
                "with the whole ensemble"
            )
        done = len(self._members)
        if total < done:
            raise ValueError(f"n_estimators={total} is less than the {done} members that exist (warm_start)")
        kept = self._members.inner if isinstance(self._members, ExtendedMembers) else self._members
        theirs = type(kept.learner) if isinstance(kept, TreeMembers) else None
        if theirs is not (type(learner) if is_native(learner) else None):
            raise ValueError(
                "warm_start cannot mix trees of one kind with those of another, or with other learners: set "
                "warm_start=False to start anew"
            )
        same = self._size == (problem.n, problem.m) and self._columns.codes == problem.columns.codes
        if problem.classes is not None:
            same = same and np.array_equal(self.classes_, problem.classes)
        if not same:
            raise ValueError(
                "warm_start adds members to those that exist, so X and y must be the data of the first fit: these have "
                "another size, other classes or other categories (set warm_start=False to start anew)"
            )
        return done

    def _batches(self, done: int, total: int, problem: Problem, threads: int) -> list[range]:
        size = max(2 * threads, BATCH_CELLS // problem.n)
        if getattr(self, "verbose", 0) or has_callbacks(self):
            size = min(size, max(2 * threads, total // 20))
        return [range(first, min(first + size, total)) for first in range(done, total, size)]

    def _report(self, done: int, total: int) -> None:
        if getattr(self, "verbose", 0):
            print(f"{type(self).__name__}: {done} of {total} members", file=sys.stderr)

    def _views_again(self) -> Iterator[View]:
        """The views of all members, drawn again from the stored key."""
        check_is_fitted(self)
        outline = Problem.outline(*self._size)
        # A part of an ensemble remembers the numbers that its members had in the whole: views depend on them.
        for t in getattr(self, "_numbers", range(len(self._members))):
            yield self._view(outline, Stream(self._key, t))

    @property
    def estimators_(self) -> list[Any]:
        """The members as a list of fitted estimators, made on demand."""
        check_is_fitted(self)
        return self._members.estimators(self)

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """The weight of each member's vote: all equal."""
        check_is_fitted(self)
        return np.ones(len(self._members))

    @property
    def estimators_samples_(self) -> list[NDArray[np.intp]]:
        """For each member the rows it saw, repeated as often as it saw them; drawn again, not stored."""
        check_is_fitted(self)
        everything = np.arange(self._size[0])
        samples = []
        for view in self._views_again():
            if view.weights is None:
                samples.append(everything)
            elif view.weights.dtype.kind in "iu":
                samples.append(np.repeat(everything, view.weights))
            else:
                samples.append(np.flatnonzero(view.weights))
        return samples

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """For each member the columns that it may use."""
        check_is_fitted(self)
        everything = np.arange(self._size[1])
        return [everything if view.columns is None else view.columns for view in self._views_again()]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean over the members of each column's share of the impurity decrease."""
        total = self._forest("feature_importances_").importances().mean(axis=0)
        return total / total.sum() if total.sum() > 0 else total

    def votes(self, X: Any) -> Votes:
        """Return what each member says about each row: its class (also where the ensemble votes softly) or value."""
        return self._votes_of(self._read(X))

    def _votes_of(self, rows: Rows) -> Votes:
        """What the members' answers say about rows, in the classes of the ensemble."""
        if self._classification:
            return Votes(labels=self._members.labels(rows, self._threads()), classes=self.classes_)
        return Votes(values=self._members.values(rows, self._threads()))

    def oob_votes(self, X: Any) -> Votes:
        """Return the votes on the training rows X in which each member abstains on the rows that it saw.

        X must be the training data, row for row: only their number can be checked.
        """
        self._check_out_of_bag()
        return self._abstain(self.votes(X))

    def _abstain(self, votes: Votes) -> Votes:
        n = self._size[0]
        if votes.n_examples != n:
            raise ValueError(f"out-of-bag votes are about the {n} training rows, got {votes.n_examples} rows")
        votes.answers[self._rows_seen()] = -1 if self._classification else np.nan
        return votes

    def _rows_seen(self) -> NDArray[np.bool_]:
        """(T, n): the training rows that each member saw."""
        seen = np.empty((len(self._members), self._size[0]), dtype=bool)
        for t, view in enumerate(self._views_again()):
            if view.weights is None:
                raise ValueError(f"{type(self).__name__} shows all rows to every member: nothing is out of bag")
            seen[t] = view.weights > 0
        seen[self._blind] = True
        return seen

    def _seen(self) -> NDArray[np.bool_]:
        self._check_out_of_bag()
        return self._rows_seen()

    def _check_out_of_bag(self) -> None:
        check_is_fitted(self)
        if self._not_out_of_bag:
            raise ValueError(f"{type(self).__name__} has no out-of-bag votes: {self._not_out_of_bag}")

    def _with_members(self, members: Any) -> Any:
        if self._not_voters:
            return super()._with_members(members)
        members = np.asarray(members, dtype=np.intp)
        part = self._part(members)
        part.n_estimators = len(members)
        numbers = getattr(self, "_numbers", range(len(self._members)))
        part._numbers = [int(numbers[t]) for t in members]
        part._blind = [t for t, member in enumerate(members.tolist()) if member in self._blind]
        return part

    def _score_out_of_bag(self, problem: Problem) -> None:
        rows = Rows(problem.X, problem.source)
        self.oob_votes_ = self._abstain(self._votes_of(rows))
        self._summarise_out_of_bag(problem, rows)

    def _oob_measure(self, truth: NDArray[Any], said: NDArray[Any], known: NDArray[np.bool_], default: Any) -> float:
        """The measure given as `oob_score`, or the default one, over the rows that somebody judged."""
        if not known.all():
            warnings.warn(
                f"{(~known).sum()} of {len(known)} rows are out of bag for no member: they have no out-of-bag "
                "prediction and are left out of oob_score_; use more members",
                stacklevel=4,
            )
        if known.sum() < 2:
            return float("nan")
        given = getattr(self, "oob_score", False)
        return float((given if callable(given) else default)(truth[known], said[known]))

    def _summarise_out_of_bag(self, problem: Problem, rows: Rows) -> None:
        raise NotImplementedError("the task defines what is made of out-of-bag votes")


class IndependentClassifier(ClassifierMixin, IndependentEnsemble):
    """An independent ensemble that votes on classes."""

    _classification = True
    _default_vote = "hard"
    classes_: NDArray[Any]

    def _check(self) -> None:
        learner = getattr(self, "estimator", None)
        if self._soft() and learner is not None and not hasattr(learner, "predict_proba"):
            raise ValueError(f'vote="soft" needs a base learner with predict_proba, which {learner!r} has not')

    def _soft(self) -> bool:
        return bool(check_choice("vote", getattr(self, "vote", self._default_vote), ("hard", "soft")) == "soft")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes; ties go to the lowest class."""
        rows = self._read(X)
        return self.classes_[self._counts(rows).argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of votes for each class, or the mean of the members' class shares."""
        return self._counts(self._read(X)) / len(self._members)

    def _counts(self, rows: Rows) -> NDArray[np.float64]:
        """(n, K): the votes, or summed class shares, of the members; counted without `Votes`, which takes longer."""
        return self._members.counts(rows, self._soft(), self._threads())

    def _shares(self, t: int, X: Any) -> NDArray[np.float64]:
        part = self._with_members([t])
        return part._counts(part._read(X))

    def _each_share(self, members: NDArray[np.intp], rows: Rows) -> Iterator[NDArray[np.float64]]:
        trees = self._members.forest if isinstance(self._members, TreeMembers) else None
        if not isinstance(trees, _core.Forest) or type(self)._counts is not IndependentClassifier._counts:
            yield from super()._each_share(members, rows)
            return
        # Walking many trees at once is several times faster than one by one.
        step = max(1, SHARE_CELLS // len(rows.encoded))
        for first in range(0, len(members), step):
            forest = trees.take(np.asarray(members[first : first + step], dtype=np.int64))
            leaves, shares = forest.leaves(rows.encoded, self._threads()), forest.leaf_shares()
            starts = forest.leaf_counts().cumsum() - forest.leaf_counts()
            for t, start in enumerate(starts):
                yield shares[start + leaves[:, t]]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return log_probabilities(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction of the first 1, 2, …, T members."""
        if not self._soft():
            for count in prefix_counts(self.votes(X)):
                yield self.classes_[count.winners()]
            return
        rows = self._read(X)
        sums = np.zeros((len(rows.encoded), len(self.classes_)))
        for t in range(len(self._members)):
            sums += self._members.shares(t, rows)
            yield self.classes_[sums.argmax(axis=1)]

    def _summarise_out_of_bag(self, problem: Problem, rows: Rows) -> None:
        counts, known = count_votes(self.oob_votes_)
        if self._soft():
            assert self.oob_votes_.labels is not None
            counts = np.zeros_like(counts)
            for t, said in enumerate(self.oob_votes_.labels):
                out = np.flatnonzero(said >= 0)
                if len(out):
                    counts[out] += self._members.shares(t, rows.take(out))
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = counts / counts.sum(axis=1, keepdims=True)
        said = self.classes_[counts.argmax(axis=1)]
        self.oob_score_ = self._oob_measure(self.classes_[problem.y], said, known, accuracy_score)


class IndependentRegressor(RegressorMixin, IndependentEnsemble):
    """An independent ensemble that averages values."""

    _classification = False

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the members' predictions."""
        rows = self._read(X)
        return self._members.sums(rows, self._threads()) / len(self._members)

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the mean of the first 1, 2, …, T members."""
        yield from prefix_means(self.votes(X))

    def _summarise_out_of_bag(self, problem: Problem, rows: Rows) -> None:
        self.oob_prediction_ = mean_values(self.oob_votes_)
        known = ~np.isnan(self.oob_prediction_)
        self.oob_score_ = self._oob_measure(problem.y, self.oob_prediction_, known, r2_score)
