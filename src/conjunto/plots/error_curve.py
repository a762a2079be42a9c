"""The error against the number of members."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.evaluation.curves import error_curve
from conjunto.plots._figure import new_figure


class ErrorCurveDisplay:
    """Error curves of one or more ensembles.

    Parameters
    ----------
    curves : dict of name to array
        The error of the first 1, 2, …, T members, by name.

    Attributes
    ----------
    ax_, figure_
        The matplotlib axes and figure, after `plot`.

    Examples
    --------
    >>> from conjunto.plots import ErrorCurveDisplay
    >>> display = ErrorCurveDisplay({"bagging": [0.3, 0.2, 0.1]})
    >>> display.curves["bagging"]
    array([0.3, 0.2, 0.1])
    """

    # Told apart by dash as well as by colour.
    STYLES = ("-", "--", "-.", ":")

    def __init__(self, curves: dict[str, ArrayLike]) -> None:
        if not isinstance(curves, dict):
            raise TypeError(f"curves must be a dict of name to curve, got {type(curves).__name__}")
        self.curves: dict[str, NDArray[np.float64]] = {
            name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()
        }

    @classmethod
    def from_estimators(cls, estimators: dict[str, Any], X: Any, y: ArrayLike, *, ax: Any = None) -> ErrorCurveDisplay:
        """Compute the curves of fitted ensembles, by name, on (X, y) and plot them."""
        if not isinstance(estimators, dict):
            raise TypeError(f"estimators must be a dict of name to fitted ensemble, got {type(estimators).__name__}")
        return cls({name: error_curve(fitted.votes(X), y) for name, fitted in estimators.items()}).plot(ax=ax)

    def plot(self, *, ax: Any = None, title: str | None = None) -> ErrorCurveDisplay:
        """Draw the curves."""
        if ax is None:
            ax = new_figure(6.4, 4.0, layout="constrained").add_subplot()
        for i, (name, curve) in enumerate(self.curves.items()):
            ax.plot(np.arange(1, len(curve) + 1), curve, self.STYLES[i % 4], label=name, linewidth=1.5)
        ax.set(xlabel="members", ylabel="error", title=title or "", xscale="log")
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
