"""Why a test of scikit-learn fails with our classes in its place."""

from __future__ import annotations

import re

REASONS: tuple[tuple[str, str], ...] = ()


def reason_of(test: str, message: str) -> str:
    """The first reason whose pattern is found in the name of the test or in its message."""
    for pattern, reason in REASONS:
        if re.search(pattern, f"{test}\n{message}"):
            return reason
    return f"**not explained**: {message.splitlines()[0][:100] if message else ''}"
