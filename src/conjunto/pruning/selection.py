"""On which rows members are selected: those of the training, out of bag, a share set aside, or others."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from conjunto.checks import check_number
from conjunto.problem import read_weights, select
from conjunto.pruning.judging import Asked, Examples
from conjunto.voters import Seen, Voters, rows_seen
from conjunto.voters.checking import check_examples, classes_of_voters


def selection_examples(
    voters: Voters, X: Any, y: Any, selection: Any, sample_weight: Any, random_state: Any, rows: Any = None
) -> tuple[str, dict[str, Examples]]:
    """The name of the examples that members are selected on, and these and others that tell how good that was.

    `rows` are those of X, where they were read already.
    """
    check_selection(selection)
    truth = check_examples(voters, X, y)
    weight = read_weights(sample_weight, len(truth))
    if isinstance(selection, Real):
        inside, outside = split(truth, float(selection), classes_of_voters(voters) is not None, random_state)
        return "selection", {
            "selection": _part(voters, X, truth, weight, inside, used=True),
            "test": _part(voters, X, truth, weight, outside),
        }
    asked = Asked(voters, X if rows is None else rows)
    found = {"train": Examples.of(asked, truth, weight, used=selection == "train")}
    name = "selection" if isinstance(selection, tuple) else str(selection)
    if name == "selection":
        found[name] = given(voters, selection, "selection", used=True)
    seen = voters.seen()
    try:
        abstaining = rows_seen(voters, len(truth))
    except ValueError:
        # Nothing is out of bag, or it is not known.
        if selection == "oob":
            raise
        return name, found
    if isinstance(seen, Seen):
        seen.check(asked.rows, truth)
    if not abstaining.all():
        found["oob"] = Examples.of(asked, truth, weight, abstaining, used=selection == "oob")
    elif selection == "oob":
        raise ValueError(
            f'selection="oob": every member saw every row (n_samples={len(truth)}), so nothing is out of bag'
        )
    return name, found


def given(voters: Voters, examples: Any, name: str, *, used: bool = False) -> Examples:
    """Examples that a user gives: (X, y) or (X, y, sample_weight)."""
    if not isinstance(examples, tuple) or len(examples) not in (2, 3):
        raise ValueError(f"{name} must be a tuple (X, y) or (X, y, sample_weight), got a {type(examples).__name__}")
    try:
        truth = check_examples(voters, examples[0], examples[1])
        weight = read_weights(examples[2], len(truth)) if len(examples) == 3 else None
        return Examples.of(Asked(voters, examples[0]), truth, weight, used=used)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def check_selection(selection: Any) -> None:
    """Refuse what names no rows."""
    if isinstance(selection, Real) and not isinstance(selection, bool):
        check_number("selection", selection, 0, 1, open_low=True, open_high=True)
    elif not (isinstance(selection, tuple) or (isinstance(selection, str) and selection in ("train", "oob"))):
        got = repr(selection) if isinstance(selection, str) else f"a {type(selection).__name__}"
        raise ValueError(
            f'selection must be "train", "oob", a share in (0, 1) of the rows, or a tuple (X, y), got {got}'
        )


def split(
    truth: NDArray[Any], share: float, stratified: bool, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A share of the rows, of all classes where that is possible, and the others."""
    n = len(truth)
    if not 1 <= round(share * n) < n:
        raise ValueError(f"selection={share} of {n} rows leaves one side without any: give more rows or another share")
    size, rows = round(share * n), np.arange(n)
    if stratified:
        _, code, counts = np.unique(truth, return_inverse=True, return_counts=True, axis=0)
        # Of several targets a class is what they are together.
        truth = code = code.reshape(n)
        # A class with one row stays with the others, who learn it.
        common = rows[counts[code] > 1]
        stratified = (counts > 1).sum() <= min(size, len(common) - size)
        rows = common if size < len(common) else rows
    _, inside = train_test_split(
        rows, test_size=size, stratify=truth[rows] if stratified else None, random_state=random_state
    )
    return np.sort(inside), np.setdiff1d(np.arange(n), inside)


def _part(
    voters: Voters, X: Any, truth: NDArray[Any], weight: Any, rows: NDArray[np.intp], *, used: bool = False
) -> Examples:
    asked = Asked(voters, select(X, rows))
    return Examples.of(asked, truth[rows], None if weight is None else weight[rows], used=used)
