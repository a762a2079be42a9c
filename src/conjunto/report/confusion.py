"""What a method confuses: the matrix of true and predicted classes, or, of many classes, the worst pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conjunto.experiments.measures.scored import Scored
from conjunto.report.words import DASH

MOST_CLASSES = 25
"""Up to so many classes the whole confusion matrix is shown; beyond, the pairs confused most often."""
MOST_PAIRS = 15


def count_pairs(scored: Scored) -> dict[tuple[int, int], int]:
    """Rows by (true, predicted) code; for answers at a threshold, which are not those of the run."""
    pairs, counts = np.unique(np.stack([scored.codes, scored.predicted]), axis=1, return_counts=True)
    return {(int(true), int(said)): int(number) for true, said, number in zip(*pairs, counts, strict=True)}


def confusion_section(classes: Sequence[str] | None, counts: Mapping[tuple[int, int], int]) -> dict[str, Any] | None:
    """The confusion matrix by (true, predicted) code, or the pairs confused most often; None for regression."""
    if not classes or not counts or max(max(pair) for pair in counts) >= len(classes):
        return None
    if len(classes) > MOST_CLASSES:
        totals: dict[int, int] = {}
        for (true, _), number in counts.items():
            totals[true] = totals.get(true, 0) + number
        wrong = sorted(((n, t, p) for (t, p), n in counts.items() if t != p), key=lambda item: (-item[0], *item[1:]))
        pairs = [
            {"true": classes[t], "predicted": classes[p], "count": n, "of": totals[t]} for n, t, p in wrong[:MOST_PAIRS]
        ]
        return {"pairs": pairs, "classes": len(classes)}
    rows = []
    for true, label in enumerate(classes):
        numbers = [counts.get((true, predicted), 0) for predicted in range(len(classes))]
        total = sum(numbers)
        cells = [
            {"count": f"{number:,}", "share": number / total if total else 0.0, "right": predicted == true}
            for predicted, number in enumerate(numbers)
        ]
        recall = f"{100 * numbers[true] / total:.1f}" if total else DASH
        rows.append({"label": label, "cells": cells, "recall": recall})
    return {"labels": classes, "rows": rows, "upright": len(classes) > 6}
