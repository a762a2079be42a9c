"""`Adapter`: any fitted ensemble as voters that can be asked one by one and taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from conjunto.ballot import leaders
from conjunto.problem import is_frame
from conjunto.pruning._labels import one_answer
from conjunto.votes import Votes

# Labels and names that a message lists.
LISTED = 10


class Read:
    """Rows that an adapter has read already, and what its members said about them, once they were asked."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.said: Votes | None = None


class Adapter:
    """A fitted ensemble as voters. One subclass per family of ensembles.

    A family says how rows are read (`_read`), what its members answer about them (`_answers`, `_share`), which rows
    they saw (`seen`) and how a part of it is put together (`take`).

    Attributes
    ----------
    fitted : estimator, or sequence of models
        As given.
    classes : ndarray or None
        The labels, in the order of class codes; None in regression.
    soft : bool
        Whether the ensemble adds up class scores instead of counting votes.
    """

    fitted: Any
    classes: NDArray[Any] | None
    soft: bool = False
    labels_tell: bool = True
    """Whether a member's label says what it votes for; not where it votes for a set of classes."""
    _rule: str = "plurality"

    def __init__(self, fitted: Any) -> None:
        self.fitted = fitted

    def __len__(self) -> int:
        raise NotImplementedError("a family says how many voters there are")

    def read(self, X: Any) -> Read:
        """Check and convert X once; `votes` and `shares` take what this returns in place of X."""
        return X if isinstance(X, Read) else Read(self._read(X))

    def _read(self, X: Any) -> Any:
        """X as the members take it."""
        return X

    def votes(self, X: Any) -> Votes:
        """Return what each member says about each row.

        Labels are class codes, values those of a regression. Where the ensemble adds up class scores, a member's label
        is the class of its largest score.
        """
        rows = self.read(X).rows
        answers = [one_answer(self._answer(t, rows), f"member {t} of {self._name}") for t in range(len(self))]
        if self.classes is None:
            return Votes(values=np.stack(answers).astype(np.float64), weights=self._weights(), rule=self._rule)
        return Votes(labels=np.stack(answers).astype(np.int32), weights=self._weights(), classes=self.classes)

    def shares(self, t: int, X: Any) -> NDArray[np.float64]:
        """Return what member t adds to the classes, (n, K), times its weight; for ensembles that are `soft`."""
        if not self.soft:
            raise TypeError(f"{self._name} counts votes and adds up no class scores: use votes")
        weights = self._weights()
        share = self._share(t, self.read(X).rows)
        return share if weights is None else weights[t] * share

    def each_share(self, members: NDArray[np.intp], X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the shares of several members, one after the other."""
        rows = self.read(X)
        return (self.shares(int(t), rows) for t in members)

    def seen(self, n: int) -> NDArray[np.bool_]:
        """Return which of the n training rows each member saw, (T, n)."""
        raise ValueError(f"{self._name} does not tell which rows its members saw: give rows that none of them saw")

    def take(self, members: Any) -> Any:
        """Return a fitted estimator of the same type with these members, in this order; members are shared."""
        raise NotImplementedError("a family says how it is put together")

    def check(self, X: Any, y: Any) -> NDArray[Any]:
        """Check rows and their answers against the ensemble; return class codes or targets."""
        self._check_columns(X)
        y = np.asarray(y)
        if y.ndim != 1:
            raise ValueError(f"y must have one dimension, one answer per row of X, got shape {y.shape}")
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if rows != len(y):
            raise ValueError(f"X has {rows} rows and y has {len(y)}: they must have as many")
        if rows == 0:
            raise ValueError("X and y have no rows: give at least one")
        return _targets(y) if self.classes is None else _codes(y, self.classes)

    @property
    def _name(self) -> str:
        return type(self.fitted).__name__

    @property
    def _of_columns(self) -> Any:
        """The model that knows what columns X must have."""
        return self.fitted

    def _answer(self, t: int, rows: Any) -> NDArray[Any]:
        """What member t says about rows: class codes or values."""
        if self.soft:
            return leaders(self._share(t, rows))
        return self._said(t, rows)

    def _said(self, t: int, rows: Any) -> NDArray[Any]:
        """What member t predicts, as class codes or values."""
        raise NotImplementedError("a family says what its members predict")

    def _share(self, t: int, rows: Any) -> NDArray[np.float64]:
        """(n, K): what member t adds to the classes, before its weight."""
        raise NotImplementedError("a soft family says what its members add")

    def _weights(self) -> NDArray[np.float64] | None:
        """The weight of each member; None where all are equal."""
        return None

    def _chosen(self, members: Any) -> list[int]:
        """The numbers of members, checked."""
        chosen = np.atleast_1d(np.asarray(members))
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not len(chosen):
            raise ValueError("members must be a list of at least one number of a member")
        if chosen.min() < 0 or chosen.max() >= len(self):
            wrong = chosen[(chosen < 0) | (chosen >= len(self))][0]
            raise ValueError(f"members holds {wrong}, and there are {len(self)} members, numbered from 0")
        if len(np.unique(chosen)) < len(chosen):
            raise ValueError("members holds a number twice: an ensemble has every member once")
        return [int(t) for t in chosen]

    def _names(self) -> Any:
        """The names of the columns that the ensemble was fitted on; None where they had none."""
        return getattr(self._of_columns, "feature_names_in_", None)

    def _spelled(self, names: Any) -> list[Any]:
        """Names as the ensemble spells them."""
        return list(names)

    def _check_columns(self, X: Any) -> None:
        # scikit-learn's message about other names says neither whose they are nor what was expected.
        model = self._of_columns
        if picks_columns(model):
            return
        names = self._names()
        if names is not None and is_frame(X) and self._spelled(X.columns) != list(names):
            raise ValueError(_other_columns(list(X.columns), list(names)))
        expected, shape = getattr(model, "n_features_in_", None), getattr(X, "shape", None)
        if shape is None and isinstance(X, Sequence) and len(X):
            shape = np.shape(X[:1])
        if expected is None or shape is None:
            return
        if len(shape) != 2:
            raise ValueError(f"X must have two dimensions, rows and {expected} columns, got shape {shape}")
        if shape[1] != expected:
            raise ValueError(f"X has {shape[1]} columns, and the ensemble was fitted on {expected}")


def picks_columns(model: Any) -> bool:
    """Whether a model takes the columns that it needs from whatever X has, and says itself which are missing."""
    if isinstance(model, Pipeline):
        return picks_columns(model.steps[0][1])
    return isinstance(model, ColumnTransformer)


def columns_expected_by(models: Sequence[Any]) -> Any:
    """A model that speaks for all of them about the columns of X; None where they do not agree."""
    known = [model for model in models if hasattr(model, "n_features_in_")]
    if not known or any(picks_columns(model) for model in known) or len({m.n_features_in_ for m in known}) > 1:
        return None
    return next((model for model in known if hasattr(model, "feature_names_in_")), known[0])


def rows_seen(samples: Sequence[NDArray[np.intp]], n: int, name: str) -> NDArray[np.bool_]:
    """(T, n): members by the numbers of the rows in their samples."""
    seen = np.zeros((len(samples), n), dtype=bool)
    for t, rows in enumerate(samples):
        if rows.max(initial=-1) >= n:
            raise ValueError(f"{name} was fitted on more than {n} rows: out-of-bag rows need the training data")
        seen[t, rows] = True
    # Rows at the end that nobody saw, where chance would have shown them to somebody, are rows of other data.
    unseen = n - 1 - int(np.flatnonzero(seen.any(axis=0)).max(initial=-1))
    if unseen * len(samples) * np.log1p(-min(seen.mean(), 1 - 1e-12)) < np.log(1e-9):
        raise ValueError(f"{name} was fitted on fewer than {n} rows: out-of-bag rows need the training data")
    return seen


def _codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    known = {label: k for k, label in enumerate(classes.tolist())}
    labels = y.tolist()
    codes = np.array([known.get(label, -1) for label in labels], dtype=np.int32)
    if (codes < 0).any():
        label = labels[int((codes < 0).argmax())]
        if label is None or label != label:
            raise ValueError("y has missing values: remove these rows")
        raise ValueError(
            f"y has the label {label!r}, which the ensemble does not know; it knows {_listed(classes.tolist())}"
        )
    return codes


def _targets(y: NDArray[Any]) -> NDArray[np.float64]:
    try:
        targets = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("y must hold numbers: the ensemble is a regressor") from error
    if not np.isfinite(targets).all():
        raise ValueError("y must be finite: it holds NaN or an infinite number; remove these rows")
    return targets


def _other_columns(given: list[Any], expected: list[Any]) -> str:
    missing, extra = ([c for c in one if c not in other] for one, other in ((expected, given), (given, expected)))
    if not missing and not extra:
        return f"X has the columns of the ensemble in another order: put them as {_listed(expected)}"
    lacks = f" lacks {_listed(missing)}" if missing else ""
    has = f" has {_listed(extra)}, which the ensemble does not know" if extra else ""
    return f"X{lacks}{' and' if lacks and has else ''}{has}; it was fitted on {_listed(expected)}"


def _listed(names: Any) -> str:
    # numpy's texts would show their type.
    shown = [str(name) if isinstance(name, str) else name for name in list(names)]
    return ", ".join(map(repr, shown[:LISTED])) + (", …" if len(shown) > LISTED else "")
