"""What models predict, checked: one answer per row, labels as class codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def codes_of(labels: Any, classes: NDArray[Any], who: str) -> NDArray[np.int32]:
    """The code of each label; refuses labels that the classes lack, since a code of -1 would be an abstention."""
    code = {label: k for k, label in enumerate(classes.tolist())}
    distinct, place = np.unique(labels, return_inverse=True)
    codes = np.array([code.get(label, -1) for label in distinct.tolist()], dtype=np.int32)
    if (codes < 0).any():
        label = distinct.tolist()[int((codes < 0).argmax())]
        raise ValueError(f"{who} predicts the label {label!r}, which is not among the classes {classes.tolist()}")
    return codes[place.reshape(-1)]


def one_answer(said: Any, who: str) -> NDArray[Any]:
    """(n,): the answers, of which there may be one per row."""
    said = np.asarray(said)
    if said.ndim == 2 and said.shape[1] == 1:
        return said[:, 0]
    if said.ndim != 1:
        raise TypeError(f"{who} has several outputs, its answers are {said.shape}, and members vote on one")
    return said
