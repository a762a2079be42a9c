"""Ensembles that scikit-learn lacks, as one would write them with it: a loop over its trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from benchmarks.pruning import Member, pruned_labels
from benchmarks.workloads import Task

FOLDS = 10


class TreeLoop:
    """Members one after the other; with several threads in chunks, to spare calls between workers."""

    CHUNK = 50
    PREFER: ClassVar[str | None] = None

    def __init__(self, task: Task, threads: int, seed: int) -> None:
        self.task = task
        self.threads = threads
        self.seed = seed

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> TreeLoop:
        """Fit the members."""
        self.X = np.asarray(X, dtype=np.float32)  # else every tree converts the same rows again
        self.y = y
        count = self.task.trees
        if self.threads == 1:
            self.members = self.chunk(range(count))
            return self
        chunks = [range(first, min(first + self.CHUNK, count)) for first in range(0, count, self.CHUNK)]
        parts = Parallel(n_jobs=self.threads, prefer=self.PREFER)(delayed(self.chunk)(chunk) for chunk in chunks)
        self.members = [member for part in parts for member in part]
        return self

    def chunk(self, members: range) -> list[Any]:
        """Some of the members."""
        random = np.random.default_rng((self.seed, members.start))
        return [self.member(random) for _ in members]

    def tree(
        self, random: np.random.Generator, X: NDArray[np.float32], y: NDArray[np.int64], weight: Any = None
    ) -> DecisionTreeClassifier:
        """One fully grown tree."""
        return DecisionTreeClassifier(random_state=int(random.integers(2**31))).fit(X, y, sample_weight=weight)

    def member(self, random: np.random.Generator) -> Any:
        """Fit one member."""
        raise NotImplementedError

    def said(self, X: NDArray[np.float32]) -> Iterator[NDArray[np.int64]]:
        """What each tree votes for."""
        for member in self.members:
            yield member.predict(X)

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """The class with most votes."""
        counts = np.zeros((len(X), self.task.classes))
        for labels in self.said(np.asarray(X, dtype=np.float32)):
            counts[np.arange(len(X)), labels] += 1
        return counts.argmax(axis=1)


class SwitchedTrees(TreeLoop):
    """Class-switching: switch labels with numpy, fit a tree."""

    def member(self, random: np.random.Generator) -> DecisionTreeClassifier:
        """Fit one tree."""
        labels, switched, classes = self.y.copy(), self.task.switched, self.task.classes
        rows = random.choice(len(labels), size=switched, replace=False)
        labels[rows] = (labels[rows] + random.integers(1, classes, size=switched)) % classes
        return self.tree(random, self.X, labels)


class PrunedTrees(TreeLoop):
    """Bagging of trees pruned by cross-validation.

    Fitting is what no such loop can avoid: for each member the tree of its bootstrap sample, and one for each fold
    without the fold's share of the sample. The pruning itself is left to `predict`, which is not timed: in Python it
    would take longer than the trees.
    """

    PREFER = "threads"

    def member(self, random: np.random.Generator) -> Member:
        """Fit the trees of one member; copies of a row are dealt to the folds one by one, class after class."""
        rows = random.integers(len(self.y), size=len(self.y))
        rows = rows[np.argsort(self.y[rows], kind="stable")]
        fold = (random.integers(FOLDS) + np.arange(len(rows))) % FOLDS
        trees = []
        for seen in (rows, *(rows[fold != held_out] for held_out in range(FOLDS))):
            trees.append(self.tree(random, self.X, self.y, np.bincount(seen, minlength=len(self.y))))
        return Member(trees[0], trees[1:], rows, fold)

    def said(self, X: NDArray[np.float32]) -> Iterator[NDArray[np.int64]]:
        """Prune each tree and let it vote."""
        for member in self.members:
            yield pruned_labels(member, self.X, self.y)[member.tree.apply(X)]


class HalfTrees(TreeLoop):
    """Two trees for each member, one on each half of the rows: less than what IGP trees need, which regrow."""

    PREFER = "threads"

    def member(self, random: np.random.Generator) -> list[DecisionTreeClassifier]:
        """Fit the two trees of one member."""
        halves = np.array_split(random.permutation(len(self.y)), 2)
        return [self.tree(random, self.X[half], self.y[half]) for half in halves]

    def said(self, X: NDArray[np.float32]) -> Iterator[NDArray[np.int64]]:
        """What each tree of each pair votes for."""
        for pair in self.members:
            for tree in pair:
                yield tree.predict(X)
