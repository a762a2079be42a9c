"""The pictures of one model on rows with known answers: curves and calibration of classes, or values against truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.measures.scored import Scored
from conjunto.report import curves
from conjunto.report.answered import precision_recall, reliability, roc
from conjunto.report.pictures import LINE, Painter, new_axes
from conjunto.report.words import Scale, count, listed

MOST_DOTS = 800
"""Rows that are drawn as dots; more make a page slow and a cloud black."""
BANDS, ROWS_OF_A_BAND = 12, 20
"""Of predictions, in which the middle and the spread of the errors are shown; fewer where rows are."""
_LETTERS = 16
# In pictures: the page says elsewhere which one it is, and its name may be long.
_MODEL = "this model"


def pictures_of(scored: Scored) -> list[dict[str, str]]:
    """`svg` and `caption` of every picture that the answers of a model allow."""
    painter = Painter([_MODEL])
    if scored.classes is None:
        return [_against_truth(scored, painter), _errors(scored, painter)]
    if scored.proba is None:
        return []
    curved = _curves(scored, painter) if len(scored.classes) == 2 else []
    return [*curved, _calibration(scored, painter)]


def _curves(scored: Scored, painter: Painter) -> list[dict[str, str]]:
    """ROC and precision-recall of the positive one of two classes; none where the rows are all of one."""
    assert scored.proba is not None
    assert scored.classes is not None
    label = str(scored.classes[scored.positive])
    positive = scored.codes == scored.positive
    proba = scored.proba[:, scored.positive].astype(np.float32)
    rates, precise = roc(positive, proba), precision_recall(positive, proba)
    if rates is None or precise is None:
        return []
    share = float(positive.mean())
    return [
        {
            "svg": curves.shares(
                painter,
                {_MODEL: rates},
                (f"others taken for {_short(label)}", f"{_short(label)} found"),
                None,
                f"ROC curve of {_MODEL}, positive class {label}; the area under it is {rates.area:.3f}.",
            ),
            "caption": f"ROC: the share of “{label}” that is found, by the share of others that is taken for it, at "
            "every threshold. The number is the area under the curve; dotted: guessing (0.5).",
        },
        {
            "svg": curves.shares(
                painter,
                {_MODEL: precise},
                (f"{_short(label)} found (recall)", "right among them (precision)"),
                share,
                f"Precision-recall curve of {_MODEL}, positive class {label}; average precision {precise.area:.3f}.",
            ),
            "caption": f"Precision and recall: the share of “{label}” among the rows that are taken for it, by the "
            f"share of it that is found. The number is the average precision; dotted: guessing ({share:.3f}).",
        },
    ]


def _calibration(scored: Scored, painter: Painter) -> dict[str, str]:
    """Whether what the model is sure of is so."""
    assert scored.classes is not None
    bins = reliability(scored)
    what, axes = "the class that is predicted", ("probability of the likeliest class", "share that is right")
    if len(scored.classes) == 2:
        label = str(scored.classes[scored.positive])
        what, axes = f"“{label}”", (f"probability of {_short(label)}", f"share that is {_short(label)}")
    points = listed([f"{so:.2f} at {sure:.2f}" for sure, so, _ in bins])
    error = MEASURES["calibration-error"].of(scored)
    return {
        "svg": curves.reliability(
            painter, _MODEL, bins, axes, f"Calibration of {_MODEL}, share by probability: {points}."
        ),
        "caption": f"Calibration: how often {what} is true, by the probability that it is given, in "
        f"{count(len(bins), 'bin')} of equal counts. On the diagonal, probabilities can be taken at their word. "
        f"Calibration error (mean distance, over ten bins of equal width): {error:.3f}.",
    }


def _against_truth(scored: Scored, painter: Painter) -> dict[str, str]:
    """What is predicted against what is true."""
    true, said = scored.y.astype(float), scored.predicted.astype(float)
    chosen = _some(len(true))
    ends = [float(min(true.min(), said.min())), float(max(true.max(), said.max()))]

    def draw() -> Any:
        ax = new_axes(3.5)
        ax.plot(ends, ends, color=LINE, linewidth=1, linestyle=(0, (2, 2)))
        ax.scatter(said[chosen], true[chosen], color=painter.colors[_MODEL], s=9, alpha=0.55, linewidths=0)
        return _finished(ax, "predicted", "true")

    value = MEASURES["r2"].of(scored)
    alt = f"True values against those that {_MODEL} predicts, R² {Scale.of('r2', [value]).write(value)}."
    return {
        "svg": painter.svg(draw, alt),
        "caption": f"Truth against prediction{_of_all(chosen, len(true))}. On the dotted line they are the same.",
    }


def _errors(scored: Scored, painter: Painter) -> dict[str, str]:
    """Errors by prediction, with their middle and spread in bands of equal counts."""
    said = scored.predicted.astype(float)
    errors = scored.y.astype(float) - said
    chosen = _some(len(said))
    bands = _bands(said, errors)

    def draw() -> Any:
        ax = new_axes(3.5)
        ax.axhline(0, color=LINE, linewidth=1, linestyle=(0, (2, 2)))
        color = painter.colors[_MODEL]
        ax.scatter(said[chosen], errors[chosen], color=color, s=9, alpha=0.3, linewidths=0)
        places, low, middle, high = bands.T
        ax.vlines(places, low, high, color=color, linewidth=1.6)
        ax.scatter(places, middle, color=color, s=26, zorder=3)
        return _finished(ax, "predicted", "true less predicted")

    scale = Scale.of("mae", np.abs(bands[:, 2]))
    points = listed([f"{scale.write(middle)} at {scale.write(place)}" for place, _, middle, _ in bands])
    return {
        "svg": painter.svg(draw, f"Errors of {_MODEL} by prediction; medians: {points}."),
        "caption": f"Errors by prediction{_of_all(chosen, len(said))}. Large dots and bars: the median and the middle "
        f"80 % of the errors in {count(len(bands), 'band')} of equal counts. Dots above the line: predicted too low.",
    }


def _bands(said: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(bands, 4): the middle prediction, and the 10th, 50th and 90th percentile of the errors."""
    parts = np.array_split(np.argsort(said, kind="stable"), max(1, min(BANDS, len(said) // ROWS_OF_A_BAND)))
    return np.array([[np.median(said[rows]), *np.quantile(errors[rows], [0.1, 0.5, 0.9])] for rows in parts])


def _some(n: int) -> NDArray[np.intp]:
    """Rows to draw: all, or some by chance, always the same."""
    if n <= MOST_DOTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_DOTS, replace=False))


def _of_all(chosen: NDArray[np.intp], n: int) -> str:
    return "" if len(chosen) == n else f", {len(chosen):,} of the {n:,} rows"


def _finished(ax: Any, xlabel: str, ylabel: str) -> Any:
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=1)
    ax.set_axisbelow(True)
    return ax.figure


def _short(label: str) -> str:
    """A label for an axis."""
    return label if len(label) <= _LETTERS else label[: _LETTERS - 1] + "…"
