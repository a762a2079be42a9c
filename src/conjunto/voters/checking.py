"""A user's rows and answers against any voters: columns as they were fitted on, labels as class codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from conjunto.classes import Classes, listed
from conjunto.problem import is_frame
from conjunto.voters.protocol import Voters


def check_examples(voters: Voters, X: Any, y: Any) -> NDArray[Any]:
    """Check rows and their answers against an ensemble; return class codes or targets, of several (n, targets)."""
    check_columns(voters, X)
    y, outputs = np.asarray(y), outputs_of_voters(voters)
    if outputs == 1 and y.ndim != 1:
        raise ValueError(f"y must have one dimension, one answer per row of X, got shape {y.shape}")
    if outputs > 1 and (y.ndim != 2 or y.shape[1] != outputs):
        raise ValueError(f"y must have {outputs} columns, one for each target of the ensemble, got shape {y.shape}")
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(y):
        raise ValueError(f"X has {rows} rows and y has {len(y)}: they must have as many")
    if rows == 0:
        raise ValueError("X and y have no rows: give at least one")
    classes = classes_of_voters(voters)
    if classes is None:
        return _targets(y)
    if outputs == 1:
        return Classes(classes).encode(y)
    return np.stack([Classes(each).encode(y[:, o]) for o, each in enumerate(classes)], axis=1)


def classes_of_voters(voters: Voters) -> Any:
    """The labels, in the order of class codes, of several targets a list of them; None in regression."""
    return getattr(voters, "classes_", None)


def outputs_of_voters(voters: Voters) -> int:
    """How many targets there are."""
    return int(getattr(voters, "n_outputs_", 1))


def fitted_of(voters: Voters) -> Any:
    """The fitted ensemble behind voters: an ensemble of conjunto is its own."""
    return getattr(voters, "fitted", voters)


def check_columns(voters: Voters, X: Any) -> None:
    """Refuse rows with other columns, and say which; scikit-learn's message says neither whose nor what."""
    model = getattr(voters, "knows_columns", voters)
    if picks_columns(model):
        return
    names = getattr(voters, "column_names", getattr(model, "feature_names_in_", None))
    spelled = getattr(voters, "spelled", list)
    if names is not None and is_frame(X) and spelled(X.columns) != list(names):
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


def check_voters(voters: Any, count: int, *, distinct: bool = True) -> list[int]:
    """The numbers of voters, checked against how many there are."""
    chosen = np.atleast_1d(np.asarray(voters))
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not len(chosen):
        raise ValueError("members must be a list of at least one number of a member")
    if chosen.min() < 0 or chosen.max() >= count:
        wrong = chosen[(chosen < 0) | (chosen >= count)][0]
        raise ValueError(f"members holds {wrong}, and there are {count} members, numbered from 0")
    if distinct and len(np.unique(chosen)) < len(chosen):
        raise ValueError("members holds a number twice: an ensemble has every member once")
    return [int(t) for t in chosen]


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


def one_answer(answers: Any, who: str) -> NDArray[Any]:
    """(n,): the answers, of which there may be one per row."""
    answers = np.asarray(answers)
    if answers.ndim == 2 and answers.shape[1] == 1:
        return answers[:, 0]
    if answers.ndim != 1:
        raise TypeError(f"{who} has several outputs, its answers are {answers.shape}, and members vote on one")
    return answers


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
        return f"X has the columns of the ensemble in another order: put them as {listed(expected)}"
    lacks = f" lacks {listed(missing)}" if missing else ""
    has = f" has {listed(extra)}, which the ensemble does not know" if extra else ""
    return f"X{lacks}{' and' if lacks and has else ''}{has}; it was fitted on {listed(expected)}"
