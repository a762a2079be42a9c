"""A figure of its own for a display that was given no axes."""

from __future__ import annotations

from typing import Any


def new_figure(width: float, height: float, **options: Any) -> Any:
    """A pyplot figure, so that `plt.show()` and notebooks show it, as scikit-learn's displays do."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'conjunto[plot]'") from None
    return pyplot.figure(figsize=(width, height), **options)
