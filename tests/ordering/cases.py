"""Cases for the orders of members: votes, truth and weights, with many ties, as strategies of hypothesis.

Members and examples are often copies of each other, so that most steps of a greedy order meet a tie. Numbers are of
two kinds. Whole and quarter numbers add up without rounding, whatever the order. Tenths do not, and 0.1 + 0.2 against
0.3 must still be a tie. Sums that cancel out are made of the first kind only: of what remains of 0.3 - 0.2 - 0.1
nobody can tell whether it is rounding.
"""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from conjunto import Votes

# Not in alphabetical order: ties go to the lowest code, not to the first word.
NAMES = np.array(["no", "yes", "maybe", "absent"])


@dataclass(frozen=True, eq=False)
class ClassCase:
    """Votes on classes: what the oracles read, and the same as a user hands it over."""

    labels: np.ndarray
    """(T, n): class codes, -1 abstains. With scores: their leaders."""
    truth: np.ndarray
    n_classes: int
    weights: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    scores: np.ndarray | None = None
    groups: np.ndarray | None = None
    named: bool = False
    """Whether the classes have names."""

    def __len__(self):
        return len(self.labels)

    @property
    def w(self):
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def v(self):
        return np.ones(len(self.truth)) if self.sample_weight is None else self.sample_weight

    @property
    def votes(self):
        classes = NAMES[: self.n_classes] if self.named else None
        if self.scores is not None:
            return Votes(scores=self.scores, weights=self.weights, groups=self.groups, classes=classes)
        if not self.named and self.weights is None and self.groups is None:
            return self.labels
        return Votes(labels=self.labels, weights=self.weights, groups=self.groups, classes=classes)

    @property
    def y(self):
        return NAMES[self.truth] if self.named else self.truth

    def take(self, examples):
        """The same members on some of the examples."""
        return replace(
            self,
            labels=self.labels[:, examples],
            truth=self.truth[examples],
            sample_weight=None if self.sample_weight is None else self.sample_weight[examples],
            scores=None if self.scores is None else self.scores[:, examples],
        )


@dataclass(frozen=True, eq=False)
class ValueCase:
    """Predictions of a regression."""

    values: np.ndarray
    """(T, n): NaN abstains."""
    truth: np.ndarray
    weights: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    median: bool = False
    groups: None = None

    def __len__(self):
        return len(self.values)

    w = ClassCase.w
    v = ClassCase.v

    @property
    def votes(self):
        if self.weights is None and not self.median:
            return self.values
        return Votes(values=self.values, weights=self.weights, rule="weighted-median" if self.median else "mean")

    @property
    def y(self):
        return self.truth

    def take(self, examples):
        """The same members on some of the examples."""
        return replace(
            self,
            values=self.values[:, examples],
            truth=self.truth[examples],
            sample_weight=None if self.sample_weight is None else self.sample_weight[examples],
        )


@st.composite
def class_cases(draw, scores=False, groups=False, weights=("none", "whole", "tenths"), sample_weights=True):
    """Up to 12 members, 40 examples and 4 classes."""
    n_members, n_examples, n_classes = draw(st.integers(1, 12)), draw(st.integers(1, 40)), draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = random.integers(0, n_classes, n_examples)
    right = random.random((n_members, n_examples)) < draw(st.sampled_from([0.0, 0.3, 0.6, 0.8, 1.0]))
    labels = np.where(right, truth, random.integers(0, n_classes, (n_members, n_examples)))
    labels[random.random(labels.shape) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.8]))] = -1
    if draw(st.booleans()):
        labels[:, random.integers(n_examples)] = -1
    rows, columns = _copies(draw, random, n_members, n_examples)
    said = {"labels": labels}
    if scores:
        said["scores"] = _scores(labels, n_classes, random, draw(st.sampled_from(["quarters", "tenths"])))
        said["labels"] = score_leaders(said["scores"])
    said = {name: array[rows][:, columns] for name, array in said.items()}
    exact = scores and (said["scores"] < 0).any()
    member_weights = "whole" if exact and "whole" in weights else draw(st.sampled_from(weights))
    named = draw(st.booleans())
    codes = max(said["labels"].max(), truth[columns].max()) + 1
    return ClassCase(
        **said,
        truth=truth[columns],
        n_classes=n_classes if named or scores else int(codes),
        weights=_weights(member_weights, n_members, random),
        sample_weight=_weights(draw(st.sampled_from(["none", "whole or 0", "tenths"])), n_examples, random)
        if sample_weights
        else None,
        groups=random.choice([7, 3, 5, 4], n_members) if groups else None,
        named=named,
    )


@st.composite
def value_cases(draw):
    """Predictions: quarter numbers, among which ties are frequent, or numbers that are never alike."""
    n_members, n_examples = draw(st.integers(1, 12)), draw(st.integers(1, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        truth = random.integers(-8, 9, n_examples) / 4
        values = truth + random.integers(-4, 5, (n_members, n_examples)) / 4
    else:
        truth = random.normal(size=n_examples)
        values = truth + random.normal(size=(n_members, n_examples))
    values[random.random(values.shape) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.8]))] = np.nan
    if draw(st.booleans()):
        values[:, random.integers(n_examples)] = np.nan
    rows, columns = _copies(draw, random, n_members, n_examples)
    return ValueCase(
        values=values[rows][:, columns],
        truth=truth[columns],
        weights=_weights(draw(st.sampled_from(["none", "whole"])), n_members, random),
        sample_weight=_weights(draw(st.sampled_from(["none", "whole or 0"])), n_examples, random),
        median=draw(st.booleans()),
    )


def score_leaders(scores):
    """(T, n): the class that each member's scores put first, -1 where they are NaN."""
    labels = np.full(scores.shape[:2], -1)
    for t, i in np.argwhere(~np.isnan(scores).any(axis=2)):
        slack = 1e-10 * np.abs(scores[t, i]).max()
        labels[t, i] = np.flatnonzero(scores[t, i] >= scores[t, i].max() - slack)[0]
    return labels


def _copies(draw, random, n_members, n_examples):
    """Which members and examples to keep, some in place of others."""
    rows, columns = np.arange(n_members), np.arange(n_examples)
    if draw(st.booleans()):
        rows = random.integers(0, n_members, n_members)
    if draw(st.booleans()):
        columns = random.integers(0, n_examples, n_examples)
    return rows, columns


def _scores(labels, n_classes, random, kind):
    """Scores that mostly, but not always, agree with labels; NaN for one class or all where a member abstains."""
    shape = (*labels.shape, n_classes)
    scores = random.integers(-4, 5, shape) / 4 if kind == "quarters" else random.integers(0, 8, shape) / 10
    scores += (labels[:, :, None] == np.arange(n_classes)) * 0.5
    silent = labels < 0
    scores[silent] = np.where(random.random((silent.sum(), n_classes)) < 0.5, np.nan, scores[silent])
    scores[silent, 0] = np.nan
    return scores


def _weights(kind, n, random):
    if kind == "none":
        return None
    if kind == "tenths":
        return random.integers(1, 10, n) / 10
    weights = random.integers(0 if kind == "whole or 0" else 1, 4, n).astype(float)
    return weights if weights.any() else weights + 1
