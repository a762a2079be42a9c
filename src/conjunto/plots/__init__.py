"""Displays: numbers from `evaluation` as matplotlib pictures."""

from conjunto.plots.error_curve import ErrorCurveDisplay

__all__ = ["ErrorCurveDisplay"]
