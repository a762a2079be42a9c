"""What fitted models of any library say about rows, in the terms of one problem: class codes, shares, values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conjunto.classes import Classes
from conjunto.problem import is_missing
from conjunto.voters.checking import one_answer

Answer = Literal["labels", "shares", "decisions", "values"]
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The labels that a member says, and the class codes that they stand for."""

    labels: Array
    codes: Array

    @staticmethod
    def of_codes(codes: Array) -> Vocabulary:
        """Of a member that was fitted on 0 .. k - 1 in place of these codes."""
        return Vocabulary(np.arange(len(codes)), codes)

    @staticmethod
    def of_known(known: Array, classes: Array) -> Vocabulary:
        """Of who knows these labels.

        Numbers 0 .. K - 1 where the labels are text are their codes: some libraries take nothing else, and
        `LabelEncoder` numbers labels in this order.
        """
        codes = np.arange(len(classes))
        return Vocabulary(codes if _speaks_codes(known, classes) else classes, codes)

    @staticmethod
    def of_member(model: Any, told: Array | None, classes: Array) -> Vocabulary:
        """Of a fitted member that was told 0 .. k - 1 in place of the codes `told`; None: it was fitted elsewhere.

        A member that knows other labels than it was told was fitted elsewhere too (a frozen one, or a vote of such).
        """
        known = np.asarray(getattr(model, "classes_", [] if told is None else np.arange(len(told))))
        if told is not None and known.tolist() == list(range(len(told))):
            return Vocabulary.of_codes(told)
        return Vocabulary.of_known(known, classes)

    def encode(self, said: Array, who: str) -> NDArray[np.int32]:
        """(n,): the codes of what a member says; -1, an abstention, for a missing label."""
        if said.dtype.kind == "f":
            missing = np.isnan(said)
        elif said.dtype.kind == "O":
            missing = np.array([is_missing(label) for label in said], dtype=bool)
        else:
            missing = np.zeros(len(said), dtype=bool)
        codes = np.full(len(said), -1, dtype=np.int32)
        codes[~missing] = self.codes[Classes(self.labels).encode(said[~missing], who=f"{who} predicts")]
        return codes

    def places(self, known: Any, who: str) -> Array:
        """The codes of the classes that a member has probabilities for."""
        return self.codes[Classes(self.labels).places(known, who)]


@dataclass(frozen=True, eq=False)
class Question:
    """What members are asked for."""

    answer: Answer
    n_classes: int = 0
    ignorance: bool = False
    """Whether a class that a member does not know has 1 / K of its probability in place of nothing: where probabilities
    are multiplied, nothing would be a veto."""

    def ask(self, model: Any, X: Any, vocabulary: Vocabulary | None, who: str) -> Array:
        """(n,) class codes or values, (n, K) shares, or what `decision_function` gives."""
        if self.answer == "values":
            return one_answer(model.predict(X), who).astype(np.float64)
        if self.answer == "decisions":
            return self._decisions(model, X, who)
        assert vocabulary is not None
        if self.answer == "labels":
            return vocabulary.encode(one_answer(model.predict(X), who), who)
        return self._shares(model, X, vocabulary, who)

    def _shares(self, model: Any, X: Any, vocabulary: Vocabulary, who: str) -> NDArray[np.float64]:
        shares = np.asarray(model.predict_proba(X), dtype=np.float64)
        known = vocabulary.places(model.classes_, who)
        if shares.ndim != 2 or shares.shape[1] != len(known):
            raise ValueError(f"{who} gives probabilities of shape {shares.shape}, and knows {len(known)} classes")
        if len(known) == self.n_classes and (known == np.arange(self.n_classes)).all():
            return shares
        aligned = np.full((len(shares), self.n_classes), 1 / self.n_classes if self.ignorance else 0.0)
        aligned[:, known] = shares * (len(known) / self.n_classes if self.ignorance else 1.0)
        aligned[np.isnan(shares).any(axis=1)] = np.nan
        return aligned

    def _decisions(self, model: Any, X: Any, who: str) -> NDArray[np.float64]:
        decisions = np.asarray(model.decision_function(X), dtype=np.float64)
        if self.n_classes and len(model.classes_) < self.n_classes:
            raise ValueError(
                f"{who} saw {len(model.classes_)} of the {self.n_classes} classes, so that its decision_function has "
                "other columns: give a cv that shows all classes to every member, or another stack_method"
            )
        return decisions


def _speaks_codes(known: Array, classes: Array) -> bool:
    """Whether numbers stand for labels that are text."""
    text = classes.dtype.kind in "OUST" and known.dtype.kind in "iu"
    return text and set(known.tolist()) <= set(range(len(classes)))


def classes_known_to(models: Sequence[tuple[str, Any]], labels: Array | None) -> Array:
    """The labels that any of the fitted models knows, and those of y; text where only some members know codes of it."""
    known = []
    for name, model in models:
        if not hasattr(model, "classes_"):
            raise ValueError(f"the member {name!r} has no classes_: give a classifier that tells which labels it knows")
        if isinstance(model.classes_, list) or np.ndim(model.classes_) != 1:
            raise ValueError(f"the member {name!r} has several outputs, and members vote on one")
        known.append(np.asarray(model.classes_))
    names = [f"the member {name!r}" for name, _ in models]
    if labels is not None:
        known.append(labels)
        names.append("y")
    texts = [each for each in known if each.dtype.kind in "OUST"]
    if not texts or len(texts) == len(known):
        found = np.unique(np.concatenate(known))
    else:
        found = np.unique(np.concatenate(texts))
        for name, each in zip(names, known, strict=True):
            # Fewer numbers than labels may be codes of any of them; y may lack a class.
            whole = name == "y" or len(each) == len(found)
            if each.dtype.kind not in "OUST" and not (whole and _speaks_codes(each, found)):
                raise ValueError(
                    f"members must agree on the labels: {name} has the numbers {each.tolist()[:5]}, which are not the "
                    f"codes 0 .. {len(found) - 1} of the labels {found.tolist()[:5]} of others"
                )
    _check_overlap(models, found)
    if not texts:
        _warn_of_codes(names, known)
    return found


def _warn_of_codes(names: Sequence[str], known: Sequence[Array]) -> None:
    """Say so where some have 0 .. k - 1 and others k other numbers: these may be codes of those."""
    codes = [name for name, each in zip(names, known, strict=True) if each.tolist() == list(range(len(each)))]
    for name, each in zip(names, known, strict=True):
        if codes and each.dtype.kind in "iu" and 0 not in each and len(each) == len(known[names.index(codes[0])]):
            warnings.warn(
                f"{codes[0]} knows the numbers 0 .. {len(each) - 1} and {name} {each.tolist()[:5]}: they are taken for "
                "labels; if the former are codes of the latter, fit it on the labels",
                UserWarning,
                stacklevel=6,
            )
            return


def _check_overlap(models: Sequence[tuple[str, Any]], classes: Array) -> None:
    """Refuse members of which no two know a class together: their votes are about different things."""
    spoken = [
        set(vocabulary.places(model.classes_, name).tolist())
        for name, model in models
        for vocabulary in [Vocabulary.of_member(model, None, classes)]
    ]
    for t, one in enumerate(spoken):
        if len(spoken) > 1 and not any(one & other for s, other in enumerate(spoken) if s != t):
            labels = [classes[code].item() if hasattr(classes[code], "item") else classes[code] for code in sorted(one)]
            raise ValueError(
                f"the classes of the member {models[t][0]!r}, {labels[:5]}, do not overlap with those of any other "
                "member: they were fitted on different problems"
            )
