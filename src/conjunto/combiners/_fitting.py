"""Members fitted on all rows and on folds of them, each once, in parallel; what they say about rows not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from conjunto.combination import combine
from conjunto.combiners._asking import Question, Vocabulary
from conjunto.problem import select
from conjunto.votes import Kind, RollCall, Votes

Array = NDArray[Any]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Task:
    """What members are to learn."""

    models: list[tuple[str, Any]]
    X: Any
    y: Array
    """(n,) class codes or targets."""
    classes: Array | None
    """The labels in the order of their codes; None in regression."""
    arguments: list[dict[str, Any]]
    """What goes to the fit of each member beside X and y."""
    weight: NDArray[np.float64] | None = None
    to_splitter: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 in regression."""
        return 0 if self.classes is None else len(self.classes)


@dataclass(frozen=True, eq=False)
class Unseen:
    """What members say about rows that they did not see, and the truth."""

    answers: list[Array]
    """For each member (n,) class codes or values, or (n, K) shares."""
    y: Array
    X: Any
    weight: NDArray[np.float64] | None
    """(n,): as given; rows of weight 0 are not here."""
    rows: NDArray[np.intp]
    """The numbers of these rows in the training data."""
    n_classes: int

    @property
    def votes(self) -> Votes:
        """The answers as votes without weights, on codes."""
        return votes_of(self.answers, self.n_classes)

    @property
    def weights(self) -> NDArray[np.float64]:
        """(n,): the weight of each row, 1 on average: what is learned does not depend on the unit of weights."""
        return np.ones(len(self.y)) if self.weight is None else self.weight / self.weight.mean()


def votes_of(answers: Sequence[Array], n_classes: int, **how: Any) -> Votes:
    """Answers of members as votes."""
    stacked = np.stack(answers)
    how["scores" if stacked.ndim == 3 else "labels" if n_classes else "values"] = stacked
    how.setdefault("classes", np.arange(n_classes) if n_classes else None)
    return Votes(**how)


def splits_of(task: Task, cv: Any) -> list[Split]:
    """The folds, of whichever splitter; the same for all members."""
    splitter = check_cv(cv, task.y, classifier=bool(task.n_classes))
    # Drawn once: a splitter without a seed would give every member other folds.
    splits = [
        (np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp))
        for train, test in splitter.split(task.X, task.y, **task.to_splitter)
    ]
    if not any(len(test) for _, test in splits):
        raise ValueError(
            f"cv={cv!r} leaves no row with an out-of-fold prediction: give a splitter that tests some rows"
        )
    return splits


def fit_and_ask(
    task: Task, questions: Sequence[Question] | None, cv: Any, n_jobs: int | None, verbose: int
) -> tuple[list[Any], Unseen | None]:
    """The members fitted on all rows and, with questions, what they say about rows that they did not see.

    Every member is fitted once on all rows and once for every fold, all of these in parallel.
    """
    splits = [] if questions is None else splits_of(task, cv)
    jobs = [
        (t, fold)
        for t in range(len(task.models))
        for fold in ([-1, *range(len(splits))] if questions is not None else [-1])
    ]
    done = Parallel(n_jobs=n_jobs)(
        delayed(_fitted)(task, t)
        if fold < 0
        else delayed(_said)(task, t, splits[fold], questions[t], fold, len(splits))  # type: ignore[index]
        for t, fold in _told(task, jobs, len(splits), verbose)
    )
    members = [result for (_, fold), result in zip(jobs, done, strict=True) if fold < 0]
    if questions is None:
        return members, None
    answers = []
    for t in range(len(task.models)):
        parts = [result for (s, fold), result in zip(jobs, done, strict=True) if s == t and fold >= 0]
        answers.append(_together(parts, [test for _, test in splits], task.n))
    tested = np.zeros(task.n, dtype=bool)
    for _, test in splits:
        tested[test] = True
    rows = np.flatnonzero(tested)
    if len(rows) < task.n:
        warnings.warn(
            f"{task.n - len(rows)} of the {task.n} rows have no out-of-fold prediction under cv={cv!r}; they are left "
            "out of what the combination is learned from",
            UserWarning,
            stacklevel=4,
        )
    return members, unseen_of(task, [answer[rows] for answer in answers], rows)


def unseen_of(task: Task, answers: list[Array], rows: NDArray[np.intp] | None = None) -> Unseen:
    """Answers about some of the rows (None: all), with the truth; nothing is learned from rows of weight 0."""
    rows = np.arange(task.n) if rows is None else rows
    if task.weight is not None and not task.weight[rows].all():
        counted = task.weight[rows] > 0
        rows, answers = rows[counted], [answer[counted] for answer in answers]
    if len(rows) == task.n:
        return Unseen(answers, task.y, task.X, task.weight, rows, task.n_classes)
    weight = None if task.weight is None else task.weight[rows]
    return Unseen(answers, task.y[rows], select(task.X, rows), weight, rows, task.n_classes)


def silent(said: Array) -> NDArray[np.bool_]:
    """(n,): where a member has no answer: a code of -1, or NaN."""
    none = said < 0 if said.dtype.kind == "i" else np.isnan(said)
    return np.asarray(none if said.ndim == 1 else none.any(axis=1))


def _told(task: Task, jobs: list[tuple[int, int]], n_folds: int, verbose: int) -> Iterator[tuple[int, int]]:
    """The jobs, each announced as it is handed out."""
    begin = time.perf_counter()
    for number, (t, fold) in enumerate(jobs, 1):
        if verbose:
            what = "all rows" if fold < 0 else f"fold {fold + 1} of {n_folds}"
            passed = time.perf_counter() - begin
            print(f"({number} of {len(jobs)}) {task.models[t][0]}, {what}, after {passed:.1f} s", flush=True)
        yield t, fold


def _fitted(task: Task, t: int) -> Any:
    """Member t, fitted on all rows."""
    name, model = task.models[t]
    with _Naming(name, ""):
        return clone(model).fit(task.X, task.y, **task.arguments[t])


def _said(task: Task, t: int, split: Split, question: Question, fold: int, n_folds: int) -> Array:
    """What member t, fitted on the training rows of a fold, says about its test rows."""
    name, model = task.models[t]
    train, test = split
    y, told = task.y[train], None
    if task.n_classes:
        # Without gaps: some libraries take no others.
        told, y = np.unique(y, return_inverse=True)
    with _Naming(name, f" in fold {fold + 1} of {n_folds}"):
        arguments = {key: _rows_of(value, train, task.n) for key, value in task.arguments[t].items()}
        fitted = clone(model).fit(select(task.X, train), y, **arguments)
        vocabulary = None if task.classes is None else Vocabulary.of_member(fitted, told, task.classes)
        return question.ask(fitted, select(task.X, test), vocabulary, f"the member {name!r}")


def _rows_of(value: Any, rows: NDArray[np.intp], n: int) -> Any:
    """The part of an argument that belongs to some of the rows; what has no entry per row as it is."""
    if not hasattr(value, "__len__") or isinstance(value, (str, dict)) or len(value) != n:
        return value
    return select(value if hasattr(value, "shape") else np.asarray(value), rows)


def _together(parts: list[Array], tests: list[NDArray[np.intp]], n: int) -> Array:
    """What was said about each row: codes by a vote, all else as a mean, where a row was in several folds."""
    codes, shape = parts[0].dtype.kind == "i", (n, *parts[0].shape[1:])

    def placed(part: Array, test: NDArray[np.intp]) -> Array:
        """What a fold says about all rows: nothing about those that it did not test."""
        whole = np.full(shape, -1 if codes else np.nan, dtype=part.dtype)
        whole[test] = part
        return whole

    if len(np.unique(np.concatenate(tests))) == sum(map(len, tests)):
        return placed(np.concatenate(parts), np.concatenate(tests))
    kind: Kind = "labels" if codes else "scores" if len(shape) == 2 else "values"
    n_classes = max(int(part.max(initial=0)) for part in parts) + 1 if codes else shape[-1] if len(shape) == 2 else 0
    rule = "plurality" if codes else "mean"
    count = combine(RollCall(kind, map(placed, parts, tests), len(parts), n, n_classes, rule=rule))
    return count.winners().astype(np.int32) if codes else count.counts


class _Naming:
    """Says, in the message of an error, which member it comes from and when."""

    def __init__(self, name: str, when: str) -> None:
        self.name, self.when = name, when

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, (Warning, NotImplementedError)):
            return
        # The types that scikit-learn raises for bad input stay what they are.
        kinds = (ValueError, TypeError, AttributeError)
        known = next((each for each in kinds if isinstance(error, each)), RuntimeError)
        raise known(f"the member {self.name!r} failed{self.when}: {error}") from error
