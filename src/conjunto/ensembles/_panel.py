"""`Panel`: the members of a fitted ensemble, and how their answers become votes and sums.

Every ensemble of conjunto, once it is fitted, is a panel and the door for rows before it. A panel does not know how its
members came to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.combination import combine
from conjunto.ensembles._readings import READINGS, Reading, both_sides, scores_of
from conjunto.learners.fitting import Members
from conjunto.learners.members import TreeMembers
from conjunto.learners.rounds import answers
from conjunto.learners.scoring import Scoring, leaf_rows
from conjunto.outputs import count_classes
from conjunto.problem import Rows
from conjunto.ties import leaders
from conjunto.votes import RollCall, Votes

Array = NDArray[Any]

# Answers of so many members, rows and classes are held at a time.
ANSWER_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Panel:
    """Members that vote, one by one or in voters of one member per class."""

    members: Members
    reading: str = "labels"
    """How answers become votes, by its name in `READINGS`."""
    classes: Any = None
    """The labels, in the order of their codes, of several targets a list of them; None in regression."""
    weights: NDArray[np.float64] | None = None
    """(rounds,): the weight of each vote; None is equal weights."""
    groups: NDArray[np.intp] | None = None
    """(rounds,): committees that decide before they vote."""
    code: NDArray[np.int32] | None = None
    """(members, K): the side of each class, where members tell two sides of the classes apart."""
    leaf_scores: NDArray[np.float64] | None = None
    """(leaves, K): what the leaves say, where the ensemble decides that and not the trees."""
    limits: tuple[float, float] | None = None
    """The least and the largest value that counts as an answer."""
    abstaining: NDArray[np.bool_] | None = None
    """(members,): those that always abstain."""
    errors: NDArray[np.float64] | None = None
    """(rounds,): the weighted error of each, where members were built on errors."""
    committees: NDArray[np.intp] | None = None
    """(rounds,): the committee that each was built in, where that plays no part in the vote."""
    n_outputs: int = 1
    """Number of targets. Of several, `sums` has those of all in one array, and `by_output` the votes on each."""

    def __len__(self) -> int:
        """Number of voters: committees, or rounds, or members."""
        return self.n_rounds if self.groups is None else int(self.groups.max()) + 1

    @property
    def n_rounds(self) -> int:
        """Members, or sets of one member per class."""
        return len(self.members) // self.width

    @property
    def n_classes(self) -> int:
        """Number of classes, of all targets together; 0 in regression."""
        return count_classes(self.classes)

    def by_output(self) -> list[Panel]:
        """The same members on each target; the panel itself where there is one."""
        if self.n_outputs == 1:
            return [self]
        classes = [None] * self.n_outputs if self.classes is None else self.classes
        return [
            replace(self, members=self.members.of_output(o), classes=classes[o], n_outputs=1)
            for o in range(self.n_outputs)
        ]

    @property
    def how(self) -> Reading:
        """The reading itself."""
        return READINGS[self.reading]

    @property
    def width(self) -> int:
        """Members per round."""
        return self.how.width(self.n_classes)

    def total(self) -> float:
        """The sum of the weights."""
        return float(self.n_rounds if self.weights is None else self.weights.sum())

    @property
    def forest(self) -> _core.Forest | None:
        """The packed trees, where every member is a tree in which a row has one leaf."""
        found = self.members.forest if isinstance(self.members, TreeMembers) else None
        return found if isinstance(found, _core.Forest) else None

    def votes(self, rows: Rows, threads: int) -> Votes:
        """What each member, or round, says about each row; committees are told by `groups`."""
        if self.how.kind == "scores":
            return self._call(rows, np.arange(self.n_rounds), threads).votes()
        kind: dict[str, Any] = {self.how.kind: self._answers(rows, threads)}
        return Votes(
            **kind,
            weights=self.weights,
            groups=self.groups,
            rule=self.how.rule,
            classes=self.classes,
        )

    def contributions(self, rows: Rows, voters: Sequence[int] | Array | None, threads: int) -> RollCall:
        """The same of some voters, one after another; a committee says what its members decide."""
        chosen = np.arange(len(self)) if voters is None else np.asarray(voters, dtype=np.intp)
        if self.groups is None:
            return self._call(rows, chosen, threads)
        decided = (self.take([voter]).sums(rows, threads) for voter in chosen)
        return RollCall("labels", map(leaders, decided), len(chosen), len(rows), self.n_classes, classes=self.classes)

    def sums(self, rows: Rows, threads: int) -> NDArray[np.float64]:
        """(n, K) summed scores or votes of all voters; in regression (n,) values, of several targets (n, targets)."""
        scoring = self._shortest
        if scoring is None and self.n_outputs > 1:
            return np.column_stack([part.sums(rows, threads) for part in self.by_output()])
        if scoring is None:
            return self._added(rows, threads)
        sums = scoring.sums(rows.encoded, threads)
        if scoring.adds is not None:
            return (
                sums if self.classes is not None else (sums if self.n_outputs > 1 else sums[:, 0]) / len(self.members)
            )
        if self.groups is not None:
            decided = leaders(sums.reshape(-1, self.n_classes)).reshape(len(rows), -1)
            return (decided[:, :, None] == np.arange(self.n_classes)).sum(axis=1).astype(np.float64)
        if sums.shape[1] == self.n_classes:
            return sums
        return both_sides(sums[:, 0])[:, -self.n_classes :]

    @cached_property
    def _shortest(self) -> Scoring | None:
        """The table of leaves, where adding up by it is the shortest way."""
        return None if self.code is not None else self.scoring

    @cached_property
    def scoring(self) -> Scoring | None:
        """The panel as data: trees and what their leaves add; None for members that are no binary trees."""
        forest, how, k = self.forest, self.how, self.n_classes
        if forest is None or how.rule == "weighted-median":
            return None
        if self.classes is None:
            return Scoring(forest, self.n_outputs, "values", finish="mean")
        plain = self.weights is None and self.groups is None and self.abstaining is None
        if plain and self.reading in ("labels", "labels-cast", "shares"):
            return Scoring(forest, k, "shares" if self.reading == "shares" else "votes", finish=how.finish)
        counts = forest.leaf_counts()
        voter = np.repeat(np.repeat(np.arange(self.n_rounds), self.width), counts)
        weight = np.ones(len(voter)) if self.weights is None else self.weights[voter]
        if self.abstaining is not None:
            weight = np.where(self.abstaining[voter], 0.0, weight)
        if self.code is not None:
            table = weight[:, None] * (forest.leaf_labels()[:, None] == self.code[voter])
            return Scoring(forest, k, amounts=table, finish=how.finish)
        if how.kind == "labels":
            groups = 0 if self.groups is None else np.asarray(self.groups)[voter] * k
            places = (groups + forest.leaf_labels()).astype(np.int32)
            committees = 1 if self.groups is None else len(self)
            return Scoring(forest, k * committees, None, weight, places, finish=how.finish)
        if how.answer in ("shares", "leaves"):
            table = forest.leaf_shares() if self.leaf_scores is None else self.leaf_scores
            return Scoring(forest, k, amounts=weight[:, None] * how.to_scores(table, k), finish=how.finish)
        said = forest.leaf_labels() if how.answer == "labels" else forest.leaf_values()
        member = np.repeat(np.tile(np.arange(self.width, dtype=np.int32), self.n_rounds), counts)
        amounts = weight * how.to_scores(said, k)
        return Scoring(forest, self.width, None, amounts, member, finish=how.finish)

    def read_as(self, reading: str) -> Panel:
        """The same members, whose answers are read otherwise."""
        return replace(self, reading=reading)

    def take(self, voters: Sequence[int] | Array) -> Panel:
        """A panel of some of the voters, in this order; committees stay whole."""
        rounds = np.asarray(voters, dtype=np.intp)
        groups = None
        if self.groups is not None:
            inside = [np.flatnonzero(self.groups == voter) for voter in rounds]
            groups = np.repeat(np.arange(len(inside)), [len(each) for each in inside])
            rounds = np.concatenate(inside)
        members = (rounds[:, None] * self.width + np.arange(self.width)).ravel()
        leaf_scores = self.leaf_scores
        if leaf_scores is not None:
            assert self.forest is not None
            by_tree = np.split(leaf_scores, self.forest.leaf_counts().cumsum()[:-1])
            leaf_scores = np.concatenate([by_tree[t] for t in members])
        picked = {
            name: getattr(self, name)[rounds]
            for name in ("weights", "code", "abstaining", "errors", "committees")
            if getattr(self, name) is not None
        }
        return replace(self, members=self.members.take(members), groups=groups, leaf_scores=leaf_scores, **picked)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What was made of the members and need not be made again, such as estimators."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # The table of leaves and the estimators follow from the rest.
        return {name: value for name, value in self.__dict__.items() if name not in ("scoring", "_shortest", "kept")}

    def _added(self, rows: Rows, threads: int) -> NDArray[np.float64]:
        """The sums without a table of leaves."""
        if self.code is not None and self.weights is None:
            # A product of matrices adds up the same votes, without a number for every member, row and class.
            sides = self.members.labels(rows, threads).astype(np.float64)
            return sides.T @ (2.0 * self.code - 1) + (1 - self.code).sum(axis=0)
        plain = self.weights is None and self.groups is None and self.abstaining is None
        if plain and self.reading in ("labels", "shares") and isinstance(self.members, TreeMembers):
            # Trees in which a row has several leaves.
            forest = self.members.forest
            return (forest.share_sums if self.reading == "shares" else forest.vote_counts)(rows.encoded, threads)
        adds = self.how.kind == "scores"
        return combine(self.contributions(rows, None, threads) if adds else self.votes(rows, threads)).counts

    def _answers(self, rows: Rows, threads: int) -> Array:
        """What the members say, (members, n) or as shares (members, n, K), where it counts."""
        said = answers(self.members, rows, self.how.answer, threads)
        if self.limits is not None:
            said = said.clip(*self.limits)
        if self.abstaining is not None:
            said[self.abstaining] = -1
        return said

    def _call(self, rows: Rows, voters: Array, threads: int) -> RollCall:
        return RollCall(
            self.how.kind,
            self._each(rows, voters, threads),
            len(voters),
            len(rows),
            self.n_classes,
            None if self.weights is None else self.weights[voters],
            self.how.rule,
            self.classes,
            for_sets=self.code is not None,
            leads=self._by_leaf(rows, voters, threads, leaders) if self._leaves_say_scores else None,
        )

    @property
    def _leaves_say_scores(self) -> bool:
        """Whether what a voter adds to the classes is a function of the leaf that a row falls into."""
        return self.forest is not None and self.how.answer in ("shares", "leaves")

    def _by_leaf(self, rows: Rows, voters: Array, threads: int, of_scores: Callable[[Array], Array]) -> Iterator[Array]:
        """A function of the scores that each voter adds, found for leaves in place of rows."""
        forest, how, k = self.forest, self.how, self.n_classes
        assert forest is not None
        return leaf_rows(
            forest, self.leaf_scores, lambda table: of_scores(how.to_scores(table, k)), rows.encoded, voters, threads
        )

    def _each(self, rows: Rows, voters: Array, threads: int) -> Iterator[Array]:
        """The answer of each voter in turn; members are asked in chunks."""
        if self._leaves_say_scores:
            yield from self._by_leaf(rows, voters, threads, lambda scores: scores)
            return
        how, width = self.how, self.width
        cells = len(rows) * width * (self.n_classes if how.answer in ("shares", "leaves") else 1)
        step = max(1, ANSWER_CELLS // max(1, cells))
        for first in range(0, len(voters), step):
            part = self.take(voters[first : first + step])
            said = part._answers(rows, threads)
            if how.kind != "scores":
                yield from said
            elif part.code is not None:
                yield from (
                    (side[:, None] == code).astype(np.float64) for side, code in zip(said, part.code, strict=True)
                )
            else:
                of_voters = said.reshape(part.n_rounds, width, *said.shape[1:])
                yield from (scores_of(how, each, self.n_classes) for each in of_voters)
