"""Displays: numbers from `evaluation` and `experiments` as matplotlib pictures."""

from conjunto.plots.critical_difference import CriticalDifferenceDisplay
from conjunto.plots.error_curve import ErrorCurveDisplay
from conjunto.plots.score_box import ScoreBoxDisplay
from conjunto.plots.trade_off import TradeOffDisplay

__all__ = ["CriticalDifferenceDisplay", "ErrorCurveDisplay", "ScoreBoxDisplay", "TradeOffDisplay"]
