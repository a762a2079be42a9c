"""Displays: numbers from `evaluation` and `experiments`, and trees, as matplotlib pictures."""

from conjunto.plots.critical_difference import CriticalDifferenceDisplay
from conjunto.plots.error_curve import ErrorCurveDisplay
from conjunto.plots.pruning_curve import PruningCurveDisplay
from conjunto.plots.score_box import ScoreBoxDisplay
from conjunto.plots.trade_off import TradeOffDisplay
from conjunto.plots.tree import TreeDisplay, plot_tree

__all__ = [
    "CriticalDifferenceDisplay",
    "ErrorCurveDisplay",
    "PruningCurveDisplay",
    "ScoreBoxDisplay",
    "TradeOffDisplay",
    "TreeDisplay",
    "plot_tree",
]
