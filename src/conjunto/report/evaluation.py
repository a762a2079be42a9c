"""`write_evaluation`: one model on rows with known answers, as one page of HTML that needs nothing else.

The page depends on the facts and the answers alone. What users wrote (names, labels) is escaped by the template.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conjunto.atomic import whole_file
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.measures.scored import Scored
from conjunto.report.confusion import confusion_section
from conjunto.report.templates import templates
from conjunto.report.words import DASH, Scale, count, title

PAGES = ("evaluation.html", "parts.html", "style.css")
MOST_CLASSES = 25
"""Classes in the table, those that are recognised least often."""


def write_evaluation(out: str | Path, facts: dict[str, Any], scored: Scored) -> Path:
    """Write the page of an evaluation.

    Parameters
    ----------
    out : path
        The HTML file; replaced as a whole or not at all.
    facts : dict
        What `judged` (`conjunto.experiments.measures.judged`) returns, with `model` (the name of its file), `method`
        ("" where it is not known), `data`, `target`, `left_out`, `threshold` and `by`.
    scored : Scored
        What the model says about the rows.

    Returns
    -------
    Path
        `out`.
    """
    out = Path(out)
    template = templates(*PAGES).get_template("evaluation.html")
    from conjunto.report.evaluation_pictures import pictures_of

    text = template.render(
        facts=facts,
        sentence=sentence(facts),
        measures=[_measure(name, numbers) for name, numbers in facts["measures"].items()],
        level=f"{100 * facts['level']:g} % interval",
        constant=constant_words(facts),
        parts=_parts(facts),
        main=title(next(iter(facts["measures"]))),
        classes=_classes(facts),
        more_classes=max(0, len(facts.get("classes", ())) - MOST_CLASSES),
        confusion=_confusion(facts),
        pictures=pictures_of(scored),
        rows=count(facts["rows"], "row"),
        left_out=count(facts["left_out"], "row") if facts["left_out"] else "",
        combined=(),
    )
    with whole_file(out) as part:
        # The name of a file may hold bytes that are no UTF-8.
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return out


def sentence(facts: dict[str, Any]) -> str:
    """The result in words: the main measure, its interval, and whether the best constant is as good."""
    name, numbers = next(iter(facts["measures"].items()))
    scale = Scale.of(name, [numbers["value"], numbers["constant"]])
    what = MEASURES[name].title
    text = f"On {count(facts['rows'], 'row')} of {facts['data']} the {what} is {scale.full(numbers['value'])}"
    low, high = scale.write(numbers["low"]), scale.full(numbers["high"])
    text += "." if low == DASH else f" ({100 * facts['level']:g} % interval: {low} to {high})."
    if (constant := scale.full(numbers["constant"])) == DASH:
        return text
    near = numbers["low"] <= numbers["constant"] <= numbers["high"]
    better = (numbers["value"] > numbers["constant"]) == MEASURES[name].greater_is_better
    if near:
        verdict = "which is inside the interval: these rows do not show that the model has learned anything"
    else:
        verdict = "so the model has learned something" if better else "which is better than the model"
    return f"{text} The best constant on these rows has {constant}, {verdict}."


def constant_words(facts: dict[str, Any]) -> str:
    """What the best constant says: `always “good”`, or `always the mean`."""
    if "classes" not in facts:
        return "always the mean"
    return f"always “{max(facts['classes'], key=lambda line: line['rows'])['label']}”"


def _measure(name: str, numbers: dict[str, float]) -> dict[str, str]:
    scale = Scale.of(name, [numbers["value"], numbers["constant"]])
    return {
        "title": MEASURES[name].title,
        "value": scale.full(numbers["value"]),
        "interval": interval(scale, numbers),
        "constant": scale.full(numbers["constant"]),
        "better": "higher" if MEASURES[name].greater_is_better else "lower",
    }


def _parts(facts: dict[str, Any]) -> list[dict[str, str]]:
    name = next(iter(facts["measures"]))
    scale = Scale.of(name, [part["value"] for part in facts["parts"]])
    return [
        {
            "name": part["name"],
            "rows": f"{part['rows']:,}",
            "value": scale.write(part["value"]),
            "interval": interval(scale, part),
        }
        for part in facts["parts"]
    ]


def shown_classes(classes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All classes in their order, or of many those that are recognised least often."""
    if len(classes) <= MOST_CLASSES:
        return classes
    there = [line for line in classes if line["rows"]]
    return sorted(there, key=lambda line: line["recall"]["value"])[:MOST_CLASSES]


def _classes(facts: dict[str, Any]) -> list[dict[str, str]]:
    shares, f1 = Scale(True, 1), Scale(False, 3)
    return [
        {
            "label": line["label"],
            "rows": f"{line['rows']:,}",
            "predicted": f"{line['predicted']:,}",
            "recall": shares.write(line["recall"]["value"]),
            "recall_interval": interval(shares, line["recall"]),
            "precision": shares.write(line["precision"]["value"]),
            "precision_interval": interval(shares, line["precision"]),
            "f1": f1.write(line["f1"]),
        }
        for line in shown_classes(facts.get("classes", []))
    ]


def _confusion(facts: dict[str, Any]) -> dict[str, Any] | None:
    if "classes" not in facts:
        return None
    pairs = {
        (true, said): number for true, row in enumerate(facts["confusion"]) for said, number in enumerate(row) if number
    }
    return confusion_section([line["label"] for line in facts["classes"]], pairs)


def interval(scale: Scale, numbers: dict[str, float]) -> str:
    """`19.2 to 28.4`; a dash where there is none."""
    low, high = scale.write(numbers["low"]), scale.write(numbers["high"])
    return low if low == high else f"{low} to {high}"
