"""The members of a fitted ensemble as a list of estimators, and the way back.

A panel keeps trees packed. `estimators_` makes estimators of them, once; a list that is assigned to it is packed again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.ensembles._panel import Panel
from conjunto.learners.fitting import Members
from conjunto.learners.members import ForeignMembers, TreeMembers
from conjunto.learners.outline import COMBINATION, MISSING_LEFT
from conjunto.problem import Columns


class MemberList(list[Any]):
    """The members. What is done to the list itself would not reach the ensemble, and is refused; assign a new one."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "the list of members cannot be changed in place: assign one, as in model.estimators_ = "
            "[*model.estimators_, more], or use conjunto.merge"
        )

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __imul__ = _refuse

    def __iadd__(self, other: Any) -> list[Any]:  # type: ignore[override,misc]
        """A new list, which `model.estimators_ += more` then assigns."""
        return [*self, *other]

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle fills lists by `extend`.
        return list, (list(self),)


def on_columns(tree: Any, columns: NDArray[Any]) -> None:
    """Let a tree that was grown on some columns take these columns alone, as it would if it was fitted on them."""
    place = np.zeros(tree.forest_.columns, dtype=np.uint32)
    # Of a column that was drawn twice the first place is as good as the second.
    place[columns[::-1]] = np.arange(len(columns), dtype=np.uint32)[::-1]
    tree.forest_ = _renumbered(tree.forest_, place, columns)
    tree.n_features_in_ = len(columns)
    tree._columns = Columns(tuple(tree._columns.codes[c] for c in columns.tolist()))
    if hasattr(tree, "feature_names_in_"):
        tree.feature_names_in_ = tree.feature_names_in_[columns]


def _renumbered(forest: Any, place: NDArray[np.uint32], columns: NDArray[Any]) -> Any:
    arrays = forest.arrays()
    arrays["columns"] = len(columns)
    arrays["categories"] = arrays["categories"][columns]
    if isinstance(forest, _core.Forest):
        test = arrays["test"]
        index = test & np.uint32(MISSING_LEFT - 1)
        of_one = (test & COMBINATION) == 0
        arrays["test"] = np.where(of_one, test - index + place[np.where(of_one, index, 0)], test).astype(np.uint32)
        arrays["term_column"] = place[arrays["term_column"]]
    else:
        arrays["column"] = place[arrays["column"]]
    return type(forest)(arrays)


def seated(panel: Panel, estimators: list[Any]) -> Panel:
    """A panel like this one with other members, each with one vote; says what cannot be a member."""
    plain = panel.weights is None and panel.groups is None and panel.code is None and panel.width == 1
    if not plain or panel.leaf_scores is not None:
        raise TypeError("the members of this ensemble have weights or sides of their own: fit it with other members")
    if not estimators:
        raise ValueError("an ensemble needs one member or more")
    return replace(panel, members=_packed(panel, estimators), abstaining=None, errors=None, committees=None)


def _packed(panel: Panel, estimators: list[Any]) -> Members:
    if isinstance(panel.members, TreeMembers):
        return TreeMembers(_one_forest(panel, estimators), panel.members.learner)
    if isinstance(panel.members, ForeignMembers):
        if any(columns is not None for columns in panel.members.columns):
            raise TypeError("members of this ensemble see columns of their own: fit it with other members")
        # Members that were told codes without gaps know fewer classes than there are.
        told = dict(zip(map(id, panel.members.fitted), panel.members.known, strict=True))
        known = [told.get(id(member)) for member in estimators]
        return ForeignMembers(
            estimators, [None] * len(estimators), panel.members.classes, coded=panel.members.coded, known=known
        )
    raise TypeError("members of this ensemble see computed columns of their own: fit it with other members")


def _one_forest(panel: Panel, estimators: list[Any]) -> Any:
    assert isinstance(panel.members, TreeMembers)
    like = panel.members.forest
    whole = like.take(np.zeros(0, dtype=np.int64))
    for number, tree in enumerate(estimators):
        forest: Any = getattr(tree, "forest_", None)
        if type(forest) is not type(like):
            raise TypeError(
                f"member {number} must be a fitted tree of the kind that this ensemble has, "
                f"{type(panel.members.learner).__name__}, got {tree!r}"
            )
        if (forest.columns, forest.classes) != (like.columns, like.classes):
            raise ValueError(
                f"member {number} was fitted on {forest.columns} columns and {forest.classes} classes, the ensemble on "
                f"{like.columns} and {like.classes}: conjunto.merge aligns classes"
            )
        whole.append(forest)
    return whole
