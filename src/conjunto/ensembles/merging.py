"""`merge`: the members of several fitted ensembles in one."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import _core
from conjunto.ensembles._ensemble import ABOUT_ALL, ABOUT_PRUNING
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles._panel import Panel
from conjunto.learners.fitting import Members
from conjunto.learners.members import ForeignMembers, TreeMembers
from conjunto.outputs import class_counts, several


def merge(first: Any, *others: Any) -> Any:
    """Return a fitted ensemble with the members of all of these, each with one vote.

    Parameters
    ----------
    first, *others : fitted ensembles of independent members, of the same type and columns
        Their classes may differ: the merged ensemble knows all of them, and a member votes for those that it knows.

    Returns
    -------
    ensemble : fitted ensemble
        Of the type and the parameters of the first. Which rows its members saw is not known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import RandomForestClassifier, merge
    >>> X, y = load_iris(return_X_y=True)
    >>> forests = [RandomForestClassifier(50, random_state=seed).fit(X, y) for seed in range(2)]
    >>> len(merge(*forests))
    100
    """
    every = (first, *others)
    for number, ensemble in enumerate(every):
        _check(number, ensemble, first)
    merged = copy.copy(first)
    classes = None
    if first.task == "classification":
        classes = _all_classes(every)
        merged.classes_, merged.n_classes_ = classes, class_counts(classes)
    members: Members | None = None
    for ensemble in every:
        part = _aligned(ensemble._panel, classes)
        if members is None:
            members = part
        else:
            members.join(part)
    assert members is not None
    merged._panel = Panel(members, first._panel.reading, classes, n_outputs=first._panel.n_outputs)
    for name in (*ABOUT_ALL, *ABOUT_PRUNING, "_drawn", "_first_fit"):
        merged.__dict__.pop(name, None)
    merged.n_estimators = len(members)
    return merged


def _check(number: int, ensemble: Any, first: Any) -> None:
    """Refuse what cannot be merged."""
    if not isinstance(ensemble, IndependentEnsemble) or ensemble.indivisible:
        why = getattr(ensemble, "indivisible", "") or "merge takes ensembles whose members are independent"
        raise TypeError(f"ensemble {number} is {type(ensemble).__name__}: {why}")
    panel, like = ensemble._voting(), first._voting()
    plain = panel.weights is None and panel.groups is None and panel.code is None and panel.abstaining is None
    if not plain or type(ensemble) is not type(first) or type(panel.members) is not type(like.members):
        raise TypeError(
            f"ensemble {number} must be one like the first, a {type(first).__name__} of the same kind of members with "
            "equal votes"
        )
    if not isinstance(panel.members, TreeMembers | ForeignMembers):
        raise TypeError(f"members of {type(ensemble).__name__} see computed columns of their own and cannot be merged")
    names = [list(getattr(model, "feature_names_in_", ())) for model in (ensemble, first)]
    if ensemble.n_features_in_ != first.n_features_in_ or names[0] != names[1]:
        raise ValueError(f"ensemble {number} was fitted on other columns than the first")
    if panel.n_outputs != like.n_outputs:
        raise ValueError(f"ensemble {number} has {panel.n_outputs} targets, and the first {like.n_outputs}")
    if ensemble._columns.codes != first._columns.codes:
        raise ValueError(
            f"ensemble {number} numbers categories otherwise than the first: give columns the same categories, as a "
            "pandas column of type category has, before the fits"
        )


def _all_classes(every: Sequence[Any]) -> Any:
    """The labels of all; of several targets they must be the same."""
    first = every[0].classes_
    if not several(first):
        return np.unique(np.concatenate([ensemble.classes_ for ensemble in every]))
    for number, ensemble in enumerate(every):
        if not all(map(np.array_equal, ensemble.classes_, first)):
            raise ValueError(
                f"ensemble {number} knows other classes than the first, of several targets: they must agree"
            )
    return first


def _aligned(panel: Panel, classes: Any) -> Members:
    """A copy of the members that knows all classes."""
    members = panel.members.take(np.arange(len(panel.members)))
    if classes is None or several(classes) or len(classes) == len(panel.classes):
        return members
    place = np.searchsorted(classes, panel.classes).astype(np.int32)
    if isinstance(members, TreeMembers):
        return TreeMembers(_renamed(members.forest, place, len(classes)), members.learner)
    assert isinstance(members, ForeignMembers)
    known: list[NDArray[Any] | None] = [place if codes is None else place[codes] for codes in members.known]
    return ForeignMembers(members.fitted, members.columns, classes, members.coded, known)


def _renamed(forest: Any, place: NDArray[np.int32], count: int) -> Any:
    """The trees with other codes for their classes."""
    if not isinstance(forest, _core.Forest):
        raise TypeError("C4.5 trees of different classes cannot be merged: fit them with the same classes")
    arrays = forest.arrays()
    label = arrays["leaf_label"]
    arrays["leaf_label"] = np.where(label >= 0, place[np.maximum(label, 0)], label).astype(np.int32)
    arrays["share_label"] = place[arrays["share_label"]]
    shares = np.zeros((len(arrays["share_label"]), count))
    shares[:, place] = arrays["shares"].reshape(-1, len(place))
    return _core.Forest(arrays | {"shares": shares.ravel(), "classes": count})
