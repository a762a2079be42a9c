"""What the page says of a run itself: data sets, methods, threads, versions, failures and warnings."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from conjunto.experiments.measures.scored import rarest
from conjunto.experiments.methods import METHODS
from conjunto.experiments.results import Results
from conjunto.experiments.store import Store
from conjunto.report.words import DASH, count, human_bytes, listed, parameters


def dataset_row(name: str, facts: dict[str, Any] | None) -> dict[str, Any]:
    """A line of the table of data sets, and what is told of it below."""
    if facts is None:
        return {"name": name, "known": False}
    classes = facts.get("classes")
    return {
        "name": name,
        "known": True,
        "task": facts["task"],
        "target": facts["target"],
        "rows": f"{facts['rows']:,}" if facts["rows"] is not None else "drawn afresh",
        "attributes": f"{facts['attributes']:,}",
        "categorical": facts["categorical"],
        "classes": f"{len(classes):,}" if classes else DASH,
        "missing": f"{100 * facts['missing']:.1f}" if facts["missing"] else "0",
        "about": [
            *_roles(facts),
            *(
                (head, facts[key])
                for head, key in (("Source", "source"), ("Licence", "licence"), ("Citation", "citation"))
                if facts.get(key)
            ),
        ],
        "notes": [*facts.get("notes", []), *facts.get("warnings", [])],
    }


def _roles(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Which class is the positive one, and what columns that are no attributes did."""
    found = []
    classes, counts = facts.get("classes") or [], facts.get("counts") or []
    if len(classes) == 2:
        # Of a distribution there is no rarer class: its last one is the positive one.
        positive = 1 if facts["rows"] is None or not counts else rarest(np.array(counts))
        share = f", {100 * counts[positive] / sum(counts):.1f} % of the rows" if counts and facts["rows"] else ""
        found.append(("Positive class", f"{classes[positive]} (the {'rarer' if share else 'last'} one{share})"))
    if groups := facts.get("groups"):
        together = f"rows with the same {groups['column']} are never in training and test at once"
        found.append(("Groups", f"{together}; {count(groups['count'], 'group')}"))
    if time := facts.get("time"):
        found.append(("Time", f"rows in the order of {time['column']}, from {time['first']} to {time['last']}"))
    return found


def split_by(datasets: list[str], facts: dict[str, dict[str, Any]]) -> list[str]:
    """What the partitions of data sets with groups or times kept apart, in words."""
    found = []
    for name in datasets:
        for head, text in _roles(facts[name]) if name in facts else []:
            if head != "Positive class":
                found.append(text if len(datasets) == 1 else f"{name}: {text}")
    return found


def method_row(method: dict[str, Any]) -> dict[str, Any]:
    """A line of the table of methods; a combination has what it combines in place of parameters."""
    if "combines" in method:
        title = f"combination: {method['name'].replace('-', ' ')}"
        return {"label": method["label"], "title": title, "parameters": f"combines {listed(method['combines'])}"}
    registered = METHODS.get(method["name"]) if "estimator" not in method else None
    given = method.get("parameters", {})
    return {
        "label": method["label"],
        "title": registered.title if registered else method.get("estimator", method["name"]),
        "parameters": parameters({**(registered.parameters if registered else {}), **given}),
    }


def threads(whole: Any) -> str:
    """`each model could use 1 thread`; several numbers where runs differed."""
    found = sorted({int(number) for number in whole["threads"].dropna() if number > 0})
    if not found:
        return ""
    return f"each model could use {' or '.join(map(str, found))} thread{'s' if found != [1] else ''}"


def kept(store: Store) -> str:
    """How much room the answers take that were kept."""
    size = store.answer_bytes()
    return f"{human_bytes(size)} of what models said about test rows" if size else "none were kept"


def versions(whole: Any) -> list[str]:
    """The versions that the cells were run with; several where an update came between two runs."""
    found = dict.fromkeys(whole.sort_values("finished", kind="stable")["versions"])
    return [", ".join(f"{name} {version}" for name, version in json.loads(text).items()) for text in found]


def failures(results: Results) -> list[dict[str, Any]]:
    """Failed cells, grouped by data set, method and last line of the traceback."""
    groups: dict[tuple[str, str, str], dict[str, Any]] = {}
    failed = results.failures()
    traces = results.frame["traceback"].loc[failed.index]
    for line, trace in zip(failed.to_dict("records"), traces, strict=True):
        key = (line["dataset"], line["method"], line["reason"])
        group = groups.setdefault(key, {"count": 0, "traceback": trace.strip()})
        group["count"] += 1
    return [
        {"dataset": dataset, "method": method, "reason": reason, **group}
        for (dataset, method, reason), group in groups.items()
    ]


def warnings(whole: Any) -> list[dict[str, Any]]:
    """The warnings of cells, each with its methods and its number of cells."""
    groups: dict[str, dict[str, Any]] = {}
    for method, text in zip(whole["method"], whole["warnings"], strict=True):
        for warning in json.loads(text):
            group = groups.setdefault(warning, {"methods": {}, "count": 0})
            group["methods"][method] = None
            group["count"] += 1
    return [
        {"text": warning, "methods": listed(list(group["methods"])), "count": group["count"]}
        for warning, group in groups.items()
    ]
