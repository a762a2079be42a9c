"""`Votes`: what voters say about rows, and by what rule it is combined. Everything after fitting is a function of it.

`RollCall` is the same as it is cast, one voter after another: what is only added up need not be held whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.classes import Classes
from conjunto.ties import leaders

Kind = Literal["labels", "values", "scores"]
RuleName = Literal[
    "plurality", "sum", "mean", "product", "min", "max", "median", "trimmed-mean", "borda", "weighted-median"
]
"""How votes are combined; the functions are in `conjunto.combination`."""
# The rules that each kind of votes can be combined by; the first is the default.
RULES_OF: dict[Kind, tuple[RuleName, ...]] = {
    "labels": ("plurality",),
    "scores": ("sum", "mean", "product", "min", "max", "median", "trimmed-mean", "borda"),
    "values": ("mean", "median", "weighted-median", "trimmed-mean", "min", "max"),
}


def check_rule(kind: Kind, rule: str) -> str:
    """The rule, or the default one for ""; refuse what is no rule for this kind of votes."""
    if rule and rule not in RULES_OF[kind]:
        known = rule in get_args(RuleName)
        what = f"rule={rule!r} does not combine {kind}" if known else f"unknown rule {rule!r}"
        raise ValueError(f"{what}: use one of {', '.join(map(repr, RULES_OF[kind]))}")
    return rule or RULES_OF[kind][0]


@dataclass(frozen=True, eq=False)
class Votes:
    """The answers of T members on n rows. Axes are always members, rows, classes.

    Parameters
    ----------
    labels : ndarray of shape (T, n), default=None
        Class codes, -1 where a member abstains.
    values : ndarray of shape (T, n), default=None
        Values of a regression, NaN where a member abstains.
    scores : ndarray of shape (T, n, K), default=None
        What each member adds to the classes, NaN where it abstains. Exactly one of the three is given.
    weights : ndarray of shape (T,), default=None
        Weight of each member's vote; None is equal weights.
    groups : ndarray of shape (T,), default=None
        The committee of each member. Committees decide, each by the votes of its members, before they vote.
    rule : str, default=""
        How the votes are combined: "plurality" for labels; "sum", "mean", "product", "min", "max", "median",
        "trimmed-mean" or "borda" for scores; "mean", "median", "weighted-median", "trimmed-mean", "min" or "max" for
        values. "" is the first of these.
    classes : ndarray of shape (K,), default=None
        The labels, in the order of the codes.
    for_sets : bool, default=False
        Whether a member votes for a set of classes (output codes), so that it is neither right nor wrong by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import Votes
    >>> from conjunto.combination import combine, decide
    >>> votes = Votes(labels=np.array([[0, 1], [1, 1], [1, -1]]), classes=np.array(["no", "yes"]))
    >>> combine(votes).counts
    array([[1., 2.],
           [0., 2.]])
    >>> decide(votes)
    array(['yes', 'yes'], dtype='<U3')
    """

    labels: NDArray[Any] | None = None
    values: NDArray[Any] | None = None
    scores: NDArray[Any] | None = None
    weights: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    rule: str = ""
    classes: NDArray[Any] | None = None
    for_sets: bool = False

    def __post_init__(self) -> None:
        for name in ("labels", "values", "scores", "weights", "groups", "classes"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name)))
        given = [a for a in (self.labels, self.values, self.scores) if a is not None]
        if len(given) != 1:
            raise ValueError("Votes takes exactly one of labels, values and scores")
        if given[0].ndim != (3 if self.scores is not None else 2):
            raise ValueError("labels and values must be (members, rows), scores (members, rows, classes)")
        object.__setattr__(self, "rule", check_rule(self.kind, self.rule))
        for name in ("weights", "groups"):
            array = getattr(self, name)
            if array is not None and array.shape != (len(self),):
                raise ValueError(f"{name} must have one entry per member, ({len(self)},), got {array.shape}")

    @property
    def kind(self) -> Kind:
        """What was given: "labels", "values" or "scores"."""
        return "labels" if self.labels is not None else "values" if self.values is not None else "scores"

    @property
    def answers(self) -> NDArray[Any]:
        """The array that was given."""
        answers: NDArray[Any] = getattr(self, self.kind)
        return answers

    def __len__(self) -> int:
        return int(self.answers.shape[0])

    @property
    def n_examples(self) -> int:
        """Number of rows."""
        return int(self.answers.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes; without `classes`, 1 + the largest code."""
        if self.classes is not None:
            return len(self.classes)
        if self.scores is not None:
            return int(self.scores.shape[2])
        if self.labels is None:
            raise ValueError("votes of a regression have no classes")
        return int(self.labels.max(initial=-1)) + 1

    def member_weights(self) -> NDArray[np.float64]:
        """The weight of each member; ones where none were given."""
        return np.ones(len(self)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)

    def encode(self, y: ArrayLike) -> NDArray[np.intp]:
        """Class codes of the truth: labels of `classes` where the votes have them, else codes already."""
        y = np.asarray(y)
        if len(y) != self.n_examples:
            raise ValueError(f"y has {len(y)} examples, votes have {self.n_examples}")
        return y.astype(np.intp) if self.classes is None else Classes(self.classes).encode(y).astype(np.intp)

    def correctness(self, y: ArrayLike) -> NDArray[np.int8]:
        """(T, n): +1 where a member is right, -1 where it is wrong, 0 where it abstains."""
        labels = self.as_labels().labels
        assert labels is not None
        right = np.where(labels == self.encode(y), 1, -1).astype(np.int8)
        right[labels < 0] = 0
        return right

    def take(self, members: NDArray[Any]) -> Votes:
        """The votes of some of the members, in this order."""
        parts = ("labels", "values", "scores", "weights", "groups")
        taken = {name: getattr(self, name)[members] for name in parts if getattr(self, name) is not None}
        return replace(self, **taken)

    def without(self, abstaining: NDArray[np.bool_] | None) -> Votes:
        """The votes without those that `abstaining`, (T, n), marks; None: all of them."""
        if abstaining is None:
            return self
        answers = self.answers.copy() if self.labels is not None else self.answers.astype(np.float64)
        answers[abstaining] = -1 if self.labels is not None else np.nan
        changed: dict[str, Any] = {self.kind: answers}
        return replace(self, **changed)

    def as_labels(self) -> Votes:
        """The same as labels, which is what orderings take: where scores are added, the class of the largest one.

        Raises
        ------
        ValueError
            Where members vote for sets of classes, or the votes are those of a regression.
        """
        return self if self.labels is not None else self.roll_call().as_labels()

    def roll_call(self) -> RollCall:
        """The same votes, one member after another; committees are asked for by `combination.by_voter`."""
        if self.groups is not None:
            raise ValueError("members of committees cast no votes of their own: use combination.by_voter(votes)")
        return RollCall(
            self.kind,
            iter(self.answers),
            len(self),
            self.n_examples,
            0 if self.kind == "values" else self.n_classes,
            self.weights,
            self.rule,
            self.classes,
            self.for_sets,
        )


@dataclass(frozen=True, eq=False)
class RollCall:
    """Votes as they are cast, one voter after another; can be gone through once.

    The chunks in which members are asked are the caster's business: whoever adds votes up sees one voter at a time.
    """

    kind: Kind
    answers: Iterable[NDArray[Any]]
    """For each voter (n,) labels or values, or (n, K) scores."""
    n_voters: int
    n_examples: int
    n_classes: int
    """0 in regression."""
    weights: NDArray[Any] | None = None
    rule: str = ""
    classes: NDArray[Any] | None = None
    for_sets: bool = False
    leads: Iterable[NDArray[Any]] | None = None
    """For each voter (n,): the class of its largest score, where there is a shorter way to it than the scores."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", check_rule(self.kind, self.rule))

    def __len__(self) -> int:
        return self.n_voters

    def __iter__(self) -> Iterator[tuple[float, NDArray[Any]]]:
        weights = np.ones(self.n_voters) if self.weights is None else self.weights
        return zip(weights.tolist(), self.answers, strict=True)

    def without(self, abstaining: NDArray[np.bool_]) -> RollCall:
        """The same without the votes that `abstaining`, (voters, n), marks."""
        none = -1 if self.kind == "labels" else np.nan
        marks = abstaining if self.kind != "scores" else abstaining[:, :, None]
        answers = (np.where(mark, none, answer) for mark, answer in zip(marks, self.answers, strict=True))
        return replace(self, answers=answers, leads=None)

    def votes(self) -> Votes:
        """All of them together, held whole."""
        shape = (self.n_voters, self.n_examples, *((self.n_classes,) if self.kind == "scores" else ()))
        answers = np.empty(shape, dtype=np.int32 if self.kind == "labels" else np.float64)
        for t, (_, answer) in enumerate(self):
            answers[t] = answer
        return Votes(
            **{self.kind: answers}, weights=self.weights, rule=self.rule, classes=self.classes, for_sets=self.for_sets
        )

    def as_labels(self) -> Votes:
        """The class that each voter is for, (T, n); scores are never held whole."""
        if self.kind == "values":
            raise ValueError("votes of a regression have no classes")
        if self.for_sets:
            raise ValueError(
                "these members vote for sets of classes, and none is right or wrong by itself: use a criterion that "
                'judges what members answer together ("reduce_error", "exhaustive", "optimal" or "genetic")'
            )
        if self.kind == "labels":
            return self.votes()
        labels = np.empty((self.n_voters, self.n_examples), dtype=np.int32)
        for t, codes in enumerate(map(leading, self.answers) if self.leads is None else self.leads):
            labels[t] = codes
        return Votes(labels=labels, weights=self.weights, classes=self.classes)


def leading(scores: NDArray[Any]) -> NDArray[np.intp]:
    """(n,): the class of the largest score, -1 where a voter abstains."""
    abstaining = np.isnan(scores).any(axis=1)
    codes = leaders(np.where(abstaining[:, None], 0.0, scores) if abstaining.any() else scores)
    codes[abstaining] = -1
    return codes


def as_votes(votes: Votes | ArrayLike) -> Votes:
    """Accept a `Votes` or a plain (T, n) array: integers are class codes, floats are values."""
    if isinstance(votes, Votes):
        return votes
    array = np.asarray(votes)
    if array.dtype == bool or array.dtype.kind == "u":
        # Abstentions are -1.
        array = array.astype(np.int64)
    if array.ndim != 2:
        raise ValueError(f"votes must be a Votes or a (members, rows) array, got shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise ValueError(
            "a plain array of votes holds class codes (integers) or values (floats); labels go into a Votes"
        )
    return Votes(values=array) if array.dtype.kind == "f" else Votes(labels=array)
