"""A fit that fails leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
