"""Randomness: every member owns a stream that depends only on (`random_state`, member number).

The root key comes from `numpy.random.SeedSequence`; a member's stream is the counter-based generator
Philox with that key and the member's number in the counter. A stream costs nothing to make, members can be
built in any order on any thread, and the first 20 of 60 members equal a 20-member fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from conjunto import _core

Key = tuple[int, int]

# The third word of the counter; 1, 2, 4, 7 and 8 are the core's for rows, labels, trees, folds and halves.
PYTHON = 0
COLUMNS = 3
LEARNER = 5
SAMPLE = 6
PARTITIONS = 9


def root_key(random_state: Any) -> Key:
    """Draw the key of a fit from a seed, a `RandomState` or None, as scikit-learn's `check_random_state` reads them."""
    words = check_random_state(random_state).randint(0, 2**32, size=8, dtype=np.uint32)
    low, high = np.random.SeedSequence(words.tolist()).generate_state(2, np.uint64)
    return int(low), int(high)


def stream_of(random_state: Any) -> Stream:
    """The stream of an estimator that is fitted by itself: that of the member it was, or the first of a new key."""
    if isinstance(random_state, MemberSeed):
        return random_state.stream
    return Stream(root_key(random_state), 0)


@dataclass(frozen=True, slots=True)
class Stream:
    """The random stream of one member."""

    key: Key
    member: int

    def generator(self, purpose: int = PYTHON) -> np.random.Generator:
        """Return a numpy generator; streams of different purposes are independent."""
        bits = np.random.Philox(key=np.array(self.key, dtype=np.uint64), counter=[0, 0, purpose, self.member])
        return np.random.Generator(bits)

    def bootstrap(self, n: int, size: int) -> NDArray[np.int32]:
        """How often each of n rows appears in a sample of `size` rows with replacement."""
        return _core.bootstrap(*self.key, self.member, n, size)

    def subset(self, n: int, size: int) -> NDArray[np.int32]:
        """1 for each of `size` different rows drawn out of n, 0 for the others."""
        return _core.subset(*self.key, self.member, n, size)

    def halves(self, labels: NDArray[np.int32], present: NDArray[np.bool_], classes: int) -> NDArray[np.uint8]:
        """1 for the rows of one of two random halves, of equal class shares, of the rows present; 0 for the others."""
        return _core.halves(*self.key, self.member, labels, present.astype(np.uint8), classes)

    def switched(self, labels: NDArray[np.int32], count: int, classes: int) -> NDArray[np.int32]:
        """The labels with exactly `count` of them, chosen at random, changed to another class."""
        return _core.switched(*self.key, self.member, labels, count, classes)


class MemberSeed(int):
    """The `random_state` of a member: a number like any other, which remembers the stream of the member.

    Fitted again by itself on the rows of the member, our tree is the same tree.
    """

    stream: Stream

    def __new__(cls, stream: Stream) -> MemberSeed:
        """A number that differs from member to member."""
        number = super().__new__(cls, (stream.key[0] + 0x9E3779B97F4A7C15 * stream.member) % 2**31)
        number.stream = stream
        return number

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.stream,)
