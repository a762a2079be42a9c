"""What the page shows of the answers that were kept: curves, calibration, a table by class, and the hardest rows."""

from __future__ import annotations

import math
from typing import Any

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.results import Results
from conjunto.report import curves
from conjunto.report.answered import Answered, Curve, of_classes, precision_recall, reliability, roc
from conjunto.report.pictures import Painter
from conjunto.report.words import DASH, Scale, count, listed

MOST_CLASSES = 25
"""Classes in the table."""
RARE = 0.1
"""With a class below this share, precision and recall say more than the ROC curve, and stand before it."""


def answers_section(
    results: Results, dataset: str, answered: Answered, best: str, painter: Painter, partitions: int
) -> dict[str, Any]:
    """Pictures and tables; what cannot be made of the answers is empty."""
    classes = results.facts[dataset].get("classes") or []
    pictures = _curves(dataset, classes, answered, painter) if len(classes) == 2 else []
    if (calibration := _calibration(dataset, classes, answered, best, painter)) is not None:
        pictures.append(calibration)
    return {
        "pictures": pictures,
        "classes": _classes(answered, classes),
        "positive": _positive(answered, classes),
        "more_classes": max(0, len(classes) - MOST_CLASSES),
        "hardest": _hardest(results, dataset, answered),
        "pooled": f"the first {answered.partitions} of {partitions}" if answered.partitions < partitions else "all",
    }


def _positive(answered: Answered, classes: list[str]) -> str | None:
    """The label of the class that counts as positive; None where there are not two."""
    if answered.best is None or len(classes) != 2:
        return None
    return str(classes[answered.best.positive])


def _curves(dataset: str, classes: list[str], answered: Answered, painter: Painter) -> list[dict[str, str]]:
    """ROC and precision-recall curves of the best few of two classes, the one that says more first."""
    label = _positive(answered, classes)
    if not answered.ranked or label is None:
        return []
    share = float(next(iter(answered.ranked.values()))[0].mean())
    found: list[dict[str, str]] = []
    for kind, make in (("ROC", roc), ("precision-recall", precision_recall)):
        made = {method: make(*said) for method, said in answered.ranked.items()}
        drawn: dict[str, Curve] = {method: curve for method, curve in made.items() if curve is not None}
        if not drawn:
            return []
        areas = "; ".join(f"{method} {curve.area:.3f}" for method, curve in drawn.items())
        if kind == "ROC":
            axes = (f"others taken for {_short(label)}", f"{_short(label)} found")
            alt = f"ROC curves on {dataset}, positive class {label}, with the area under each: {areas}."
            caption = (
                f"ROC: the share of “{label}” that is found, by the share of others that is taken for it, at every "
                "threshold. Numbers: area under the curve; dotted: guessing (0.5)."
            )
        else:
            axes = (f"{_short(label)} found (recall)", "right among them (precision)")
            alt = f"Precision-recall curves on {dataset}, positive class {label}, with the average precision: {areas}."
            caption = (
                f"Precision and recall: the share of “{label}” among the rows that are taken for it, by the share of "
                f"it that is found. Numbers: average precision; dotted: guessing ({share:.3f})."
            )
        chance = None if kind == "ROC" else share
        found.append({"svg": curves.shares(painter, drawn, axes, chance, alt), "caption": caption})
    return found[::-1] if min(share, 1 - share) < RARE else found


def _calibration(
    dataset: str, classes: list[str], answered: Answered, best: str, painter: Painter
) -> dict[str, str] | None:
    """Whether what the best is sure of is so."""
    if answered.best is None or not classes or answered.best.proba is None:
        return None
    bins = reliability(answered.best)
    error = MEASURES["calibration-error"].of(answered.best)
    label = _positive(answered, classes)
    if label is not None:
        what, axes = f"“{label}”", (f"probability of {_short(label)}", f"share that is {_short(label)}")
    else:
        what, axes = "the class that it predicts", ("probability of the likeliest class", "share that is right")
    points = listed([f"{so:.2f} at {sure:.2f}" for sure, so, _ in bins])
    alt = f"Calibration of {best} on {dataset}: share that is so, by the probability of {what}: {points}."
    caption = (
        f"Calibration of {best}: how often {what} is true, by the probability that it is given, in "
        f"{count(len(bins), 'bin')} of equal counts. Below the diagonal probabilities are too high. Calibration error "
        f"(mean distance, over ten bins of equal width): {error:.3f}."
    )
    return {"svg": curves.reliability(painter, best, bins, axes, alt), "caption": caption}


def _classes(answered: Answered, classes: list[str]) -> list[dict[str, str]]:
    """Precision, recall, F1 and AUC of the best by class."""
    if answered.best is None or not classes:
        return []

    def written(value: float) -> str:
        return f"{value:.3f}" if math.isfinite(value) else DASH

    return [
        {
            "label": line.label,
            "rows": f"{line.rows:,}",
            "precision": written(line.precision),
            "recall": written(line.recall),
            "f1": written(line.f1),
            "auc": written(line.auc),
        }
        for line in of_classes(answered.best, classes, MOST_CLASSES)
    ]


def _hardest(results: Results, dataset: str, answered: Answered) -> dict[str, Any] | None:
    """The rows that most methods get wrong, or that they are furthest from."""
    if not answered.tested:
        return None
    classes = results.facts[dataset].get("classes")
    of_truth = Scale.of("mae", [row.truth for row in answered.hardest] + [row.said for row in answered.hardest])
    of_error = Scale.of("mae", [row.lost for row in answered.hardest])
    return {
        "regression": not classes,
        "methods": count(answered.judges, "method"),
        "hard": answered.hard,
        "tested": answered.tested,
        "rows": [
            {
                "row": f"{row.row + 1:,}",
                "truth": classes[int(row.truth)] if classes else of_truth.write(row.truth),
                "said": classes[int(row.said)] if classes else of_truth.write(row.said),
                "lost": f"{100 * row.lost:.0f}" if classes else of_error.write(row.lost),
                "given": f"{row.given:.2f}" if math.isfinite(row.given) else DASH,
                "answers": f"{row.answers:,}",
            }
            for row in answered.hardest
        ],
    }


def _short(label: str, most: int = 16) -> str:
    """A label for an axis."""
    return label if len(label) <= most else label[: most - 1] + "…"
