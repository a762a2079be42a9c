"""`Classes`: the one codec between a user's labels and class codes 0 .. K - 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Labels that a message lists.
LISTED = 10
_NUMBERS = "iufb"


@dataclass(frozen=True, eq=False)
class Classes:
    """The labels of a problem, in the order of their codes.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto.classes import Classes
    >>> Classes(np.array(["no", "yes"])).encode(["yes", "no", "perhaps"], unknown="abstain")
    array([ 1,  0, -1], dtype=int32)
    """

    labels: NDArray[Any]

    def __len__(self) -> int:
        return len(self.labels)

    def encode(
        self, y: ArrayLike, *, unknown: Literal["refuse", "abstain"] = "refuse", who: str = "y has"
    ) -> NDArray[np.int32]:
        """(n,): the code of each label.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels.
        unknown : {"refuse", "abstain"}, default="refuse"
            What a label that is none of the classes becomes: an error, or -1, which is an abstention.
        who : str, default="y has"
            How the message of that error begins.
        """
        given = np.asarray(y)
        codes = self._find(given)
        if unknown == "refuse" and (codes < 0).any():
            label = given.tolist()[int((codes < 0).argmax())]
            if label is None or label != label:
                raise ValueError(f"{who} missing values: remove these rows")
            raise ValueError(
                f"{who} the label {label!r}, which the ensemble does not know; it knows {listed(self.labels.tolist())}"
            )
        return codes

    def places(self, labels: ArrayLike, who: str) -> NDArray[np.int32]:
        """The codes of the classes that a model knows, which may be fewer: the columns of its probabilities."""
        return self.encode(labels, who=f"{who} knows")

    def _find(self, y: NDArray[Any]) -> NDArray[np.int32]:
        numbers = y.dtype.kind in _NUMBERS and self.labels.dtype.kind in _NUMBERS
        if numbers or (y.dtype.kind == "U" and self.labels.dtype.kind == "U"):
            place = np.searchsorted(self.labels, y, sorter=self._order).clip(0, len(self.labels) - 1)
            codes = self._order[place]
            return np.where(self.labels[codes] == y, codes, -1).astype(np.int32)
        table = {label: code for code, label in enumerate(self.labels.tolist())}
        return np.array([table.get(label, -1) for label in y.tolist()], dtype=np.int32)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.labels)


def listed(names: Any, most: int = LISTED) -> str:
    """Names for a message, the first of them if there are many."""
    # numpy's texts would show their type.
    shown = [str(name) if isinstance(name, str) else name for name in list(names)]
    return ", ".join(map(repr, shown[:most])) + (", …" if len(shown) > most else "")
