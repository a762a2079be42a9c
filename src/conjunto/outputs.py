"""Several targets: what is decided between, one target behind the other, and the way from sums to answers.

The classes of several targets are a list of arrays, as in scikit-learn. Sums of votes or shares of all of them stand in
one array, (n, classes of the first + classes of the second + …).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.ties import leaders


def several(classes: Any) -> bool:
    """Whether these are the classes, or whatever there is, of several targets."""
    return isinstance(classes, (list, tuple))


def count_classes(classes: Any) -> int:
    """The number of classes, of all targets together; 0 in regression."""
    if classes is None:
        return 0
    return sum(map(len, classes)) if several(classes) else len(classes)


def one_or_list(by_output: list[Any]) -> Any:
    """What there is for each target: the thing itself where there is one."""
    return by_output[0] if len(by_output) == 1 else by_output


def as_list(one_or_list: Any) -> list[Any]:
    """The way back: what there is for each target, as a list."""
    return list(one_or_list) if several(one_or_list) else [one_or_list]


def class_counts(classes: Any) -> Any:
    """The number of classes; of several targets a list of numbers."""
    return [len(each) for each in classes] if several(classes) else len(classes)


def padded(joined: NDArray[Any], counts: Sequence[int]) -> NDArray[Any]:
    """(n, targets, classes of the largest): numbers of all classes, (n, classes of all targets), with zeros behind."""
    out = np.zeros((len(joined), len(counts), max(counts)), dtype=joined.dtype)
    first = 0
    for o, count in enumerate(counts):
        out[:, o, :count] = joined[:, first : first + count]
        first += count
    return out


def by_output(sums: NDArray[Any], classes: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The sums of each target."""
    return np.split(sums, np.cumsum([len(each) for each in classes])[:-1], axis=1)


def decided(sums: NDArray[Any], classes: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """(n, targets): the label with the largest sum, of each target."""
    parts = zip(by_output(sums, classes), classes, strict=True)
    return np.stack([labels[leaders(part)] for part, labels in parts], axis=1)


def logarithm(probabilities: Any) -> Any:
    """The logarithm of probabilities, or of each of a list of them."""
    if isinstance(probabilities, list):
        return [logarithm(each) for each in probabilities]
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
