"""`export_graphviz`: a tree in the DOT language of Graphviz."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conjunto.atomic import whole_file
from conjunto.checks import check_optional_count
from conjunto.learners.outline import TreeOutlineNode, outline
from conjunto.learners.readable import COLORS
from conjunto.learners.wording import Wording


def export_graphviz(
    tree: Any,
    out_file: str | Path | Any | None = None,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    filled: bool = False,
    rounded: bool = False,
    rotate: bool = False,
    decimals: int | None = 2,
) -> str | None:
    """Write a tree in the DOT language, for Graphviz's `dot`.

    Parameters
    ----------
    tree : fitted tree
        A tree of conjunto of any kind, or a member of an ensemble, as in `model.estimators_[0]`.
    out_file : path or file, default=None
        Where to write; None returns the text.
    max_depth : int, default=None
        Nodes deeper than this are shown as "...".
    feature_names, class_names, decimals
        As in `export_text`.
    filled : bool, default=False
        Paint leaves in the colour of their class.
    rounded : bool, default=False
        Round the corners of the boxes.
    rotate : bool, default=False
        From left to right instead of from top to bottom.

    Examples
    --------
    >>> from conjunto import CARTClassifier, export_graphviz
    >>> print(export_graphviz(CARTClassifier().fit([[1.0], [2.0]], ["no", "yes"])))
    digraph Tree {
    node [shape=box];
    0 [label="all rows"];
    1 [label="no"];
    0 -> 1 [label="x0 <= 1.5"];
    2 [label="yes"];
    0 -> 2 [label="x0 > 1.5"];
    }
    """
    described = outline(tree)
    wording = Wording(described, feature_names=feature_names, class_names=class_names, decimals=decimals)
    most_depth = check_optional_count("max_depth", max_depth, 0)
    styles = [name for name, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    style = f', style="{", ".join(styles)}", color="black", fillcolor="#ffffff"' if styles else ""
    lines = ["digraph Tree {", *(["rankdir=LR;"] if rotate else []), f"node [shape=box{style}];"]
    edges: dict[int, str] = {}
    for number, depth in described.walk(math.inf if most_depth is None else most_depth + 1):
        node = described.nodes[number]
        hidden = most_depth is not None and depth > most_depth
        text = "..." if hidden else _box(wording, node, number)
        color = "" if hidden or not filled or node.children or node.label is None else _fill(node.label)
        lines.append(f'{number} [label="{_quoted(text)}"{color}];')
        if number in edges:
            lines.append(edges.pop(number))
        if not hidden:
            for child, branch in zip(node.children, node.branches, strict=True):
                edges[child] = f'{number} -> {child} [label="{_quoted(wording.condition(branch))}"];'
    text = "\n".join([*lines, "}"])
    if out_file is None:
        return text
    if hasattr(out_file, "write"):
        out_file.write(text + "\n")
        return None
    with whole_file(out_file) as part:
        part.write_text(text + "\n", encoding="utf-8")
    return None


def _box(wording: Wording, node: TreeOutlineNode, number: int) -> str:
    answer = wording.answer(node)
    return answer or ("all rows" if number == 0 else "")


def _fill(label: int) -> str:
    return f', fillcolor="{COLORS[label % len(COLORS)]}66"'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
