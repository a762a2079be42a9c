"""Pickles that others wrote: a fitted estimator by `pickle.dump` or `joblib.dump`, compressed or not.

Reading a pickle can execute anything: whoever calls `read_pickle` has been told that the file is the user's own.
"""

from __future__ import annotations

import io
from typing import Any

# How pickles (from protocol 2 on) and what joblib compresses begin: zlib (four levels), gzip, bz2, xz, lzma, lz4.
_BEGINNINGS = (
    b"\x80",
    *(b"\x78" + level for level in (b"\x01", b"\x5e", b"\x9c", b"\xda")),
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x5d\x00",
    b"\x04\x22\x4d\x18",
)


class ModelFileError(ValueError):
    """A file is not a model that may be read; the message says why."""


def looks_pickled(data: bytes) -> bool:
    """Whether bytes begin as a pickle or a compressed one does."""
    return data.startswith(_BEGINNINGS)


def read_pickle(name: str, data: bytes) -> Any:
    """What a pickle holds, whether pickle or joblib wrote it; `name` is that of the file, for messages."""
    import joblib

    try:
        return joblib.load(io.BytesIO(data))
    except (ImportError, AttributeError) as error:
        raise ModelFileError(
            f"{name} needs code that is not here: {first_line(error)}; install what it was written with"
        ) from error
    except Exception as error:  # whatever a damaged pickle raises
        if not looks_pickled(data):
            raise ModelFileError(
                f"{name} is no model: neither conjunto nor pickle.dump nor joblib.dump wrote it"
            ) from error
        raise ModelFileError(
            f"{name} is a pickle that cannot be read ({first_line(error)}): it is damaged, or other versions of its "
            "libraries wrote it; write it again"
        ) from error


def describe_estimator(name: str, estimator: Any) -> dict[str, Any]:
    """What a fitted estimator itself says of the table it expects: `columns`, their kinds, and the `task`.

    Columns are empty where it was fitted on an array and knows them by their place only.
    """
    from sklearn.base import is_classifier, is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    kind = type(estimator).__name__
    if not hasattr(estimator, "predict") or not (is_classifier(estimator) or is_regressor(estimator)):
        raise ModelFileError(f"{name} holds no classifier or regressor but a {kind}: save a fitted model")
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise ModelFileError(f"{name} holds a {kind} that is not fitted: fit it, and save it again") from None
    names = [str(column) for column in getattr(estimator, "feature_names_in_", ())]
    kinds = ["any"] * len(names)
    if hasattr(estimator, "_columns"):
        kinds = ["number" if codes is None else "category" for codes in estimator._columns.codes]
    task = "classification" if is_classifier(estimator) else "regression"
    return {"columns": dict(zip(names, kinds, strict=False)), "task": task}


def first_line(error: BaseException) -> str:
    """The type of an error and the first line of its text."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"[:200]
