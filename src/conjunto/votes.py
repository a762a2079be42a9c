"""`Votes`: what the members of an ensemble say about examples. Everything after generation is a function of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Votes:
    """The answers of T members on n examples.

    Exactly one of `labels` (class codes, -1 where a member abstains), `values` (regression, NaN where it
    abstains) and `scores` (class scores that add up) is given. Axes are always members, examples, classes.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import Votes
    >>> from conjunto.ballot import decide, vote_counts
    >>> votes = Votes(labels=np.array([[0, 1], [1, 1], [1, -1]]), classes=np.array(["no", "yes"]))
    >>> vote_counts(votes)
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
    rule: str = "plurality"
    classes: NDArray[Any] | None = field(default=None)

    def __post_init__(self) -> None:
        given = [a for a in (self.labels, self.values, self.scores) if a is not None]
        if len(given) != 1:
            raise ValueError("Votes takes exactly one of labels, values and scores")
        if given[0].ndim != (3 if self.scores is not None else 2):
            raise ValueError("labels and values must be (members, examples), scores (members, examples, classes)")
        for name in ("weights", "groups"):
            array = getattr(self, name)
            if array is not None and array.shape != (len(self),):
                raise ValueError(f"{name} must have one entry per member, ({len(self)},), got {array.shape}")

    @property
    def answers(self) -> NDArray[Any]:
        """The array that was given: labels, values or scores."""
        answers = self.labels if self.labels is not None else self.values if self.values is not None else self.scores
        assert answers is not None
        return answers

    def __len__(self) -> int:
        return int(self.answers.shape[0])

    @property
    def n_examples(self) -> int:
        """Number of examples."""
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

    def take(self, members: NDArray[Any]) -> Votes:
        """The votes of some of the members, in this order."""
        parts = ("labels", "values", "scores", "weights", "groups")
        taken = {name: getattr(self, name)[members] for name in parts if getattr(self, name) is not None}
        return replace(self, **taken)
