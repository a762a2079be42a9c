"""All or nothing: a fit that fails leaves the estimator as it was, a file is written whole or not at all."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore the attributes of the estimator if the block raises."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        # scikit-learn's own callback state takes care of itself.
        for name in [name for name in estimator.__dict__ if name not in before and "callback" not in name]:
            del estimator.__dict__[name]
        estimator.__dict__.update(before)
        raise


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a path to write to; when the block ends well, what was written takes the place of `path`.

    Any number of processes may write the same file: each has a temporary one of its own.
    """
    path = Path(path)
    check_place(path)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Refuse a path where no file can be written: a folder, or a place in one that is not there."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and a file is needed: add a name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder of {path} does not exist")


def timestamp() -> str:
    """The time now, for the records."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
