"""`ReadableTree`: a fitted tree shows itself in a notebook as an outline that can be folded.

Jupyter asks for `_repr_mimebundle_` first and other front ends for `_repr_html_`; scikit-learn answers both with the
diagram of the parameters, which an unfitted tree keeps. `sklearn.set_config(display="text")` turns both off.
"""

from __future__ import annotations

import html
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from conjunto.learners.outline import TreeOutline, TreeOutlineNode, forest_outline
from conjunto.learners.wording import Wording

MOST_DEPTH, MOST_NODES = 8, 250
"""What is deeper, or more, is only counted: a page holds many cells."""
OPEN_DEPTH = 3
"""Nodes above this depth start unfolded."""
COLORS = ("#0b6fb8", "#c24e00", "#0a8060", "#b0468c", "#94700a", "#4d5560", "#6a4fc4", "#8c2d19")
"""One colour for each class, told apart by colour-blind readers too; from the ninth class on they repeat."""

# All shades are mixed with the colour of the text or let the page shine through, so that they suit light and dark.
_STYLE = """
.conjunto-tree{font:13px/1.5 system-ui,sans-serif;color:inherit;overflow-x:auto}
.conjunto-tree p{margin:0 0 .3em;font-family:monospace;white-space:pre-wrap}
.conjunto-tree ul{list-style:none;margin:0 0 0 .45em;padding:0 0 0 1em;border-left:1px solid rgba(128,128,128,.45)}
.conjunto-tree>ul{border:0;margin:0;padding:0}
.conjunto-tree li{margin:.1em 0;padding:0;white-space:nowrap}
.conjunto-tree li.leaf{padding-left:1em}
.conjunto-tree summary{cursor:pointer}
.conjunto-tree b{font-weight:600;padding:0 .4em;border-radius:.3em}
.conjunto-tree small{font-size:.85em;opacity:.7;margin-left:.5em}
""".strip()


class ReadableTree(BaseEstimator):
    """A tree with a description of itself. A tree that is not kept in `forest_` overrides `_outline`."""

    def _outline(self) -> TreeOutline:
        return forest_outline(self)

    @property
    def _repr_html_(self) -> Any:
        """scikit-learn's property raises AttributeError where the configuration asks for text."""
        diagram = super()._repr_html_
        return (lambda: tree_html(self)) if _is_fitted(self) else diagram

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if get_config()["display"] != "diagram" or not _is_fitted(self):
            return super()._repr_mimebundle_(**options)
        return {"text/plain": repr(self), "text/html": tree_html(self)}


def _is_fitted(tree: Any) -> bool:
    try:
        check_is_fitted(tree)
    except NotFittedError:
        return False
    return True


def tree_html(tree: Any) -> str:
    """A fitted tree as nested `<details>`, with its own style and nothing from elsewhere."""
    described = tree._outline()
    title, body = html.escape(repr(tree)), _Page(described).body()
    return f'<div class="conjunto-tree"><style>{_STYLE}</style><p>{title}</p><ul>{body}</ul></div>'


class _Page:
    """The list items of an outline."""

    def __init__(self, described: TreeOutline) -> None:
        self.outline = described
        self.short = Wording(described, most_categories=4)
        self.full = Wording(described, show_missing=True)
        self.leaves = described.leaf_counts()
        self.unfolded = _unfolded(described)
        self.sizes = [1] * len(described.nodes)
        for number in reversed(range(len(described.nodes))):
            self.sizes[number] += sum(self.sizes[child] for child in described.nodes[number].children)

    def body(self) -> str:
        parts: list[str] = []
        heads = {0: ""}
        closing: list[int] = []  # depths of the lists that are open
        for number, depth in self.outline.walk(MOST_DEPTH):
            while closing and closing[-1] >= depth:
                closing.pop()
                parts.append("</ul></details></li>")
            if number not in heads:  # below a node that is shown folded up for good
                continue
            node, head = self.outline.nodes[number], heads.pop(number)
            below = self.sizes[number] - 1
            if number not in self.unfolded:
                note = f"<small>… {below} nodes hidden; export_text shows them</small>" if below else ""
                parts.append(f'<li class="leaf">{head}{self._answer(node)}{note}</li>')
                continue
            heads |= {child: self._head(branch) for child, branch in zip(node.children, node.branches, strict=True)}
            parts.append(f"<li><details{' open' if depth < OPEN_DEPTH else ''}>")
            note = f"<small>{self.leaves[number]} leaves</small>"
            parts.append(f"<summary>{head or 'all rows'}{self._answer(node)}{note}</summary><ul>")
            closing.append(depth)
        return "".join([*parts, *("</ul></details></li>" for _ in closing)])

    def _head(self, branch: Any) -> str:
        """A condition; all its categories and where missing values go are told on pointing at it."""
        short, full = html.escape(self.short.condition(branch)), html.escape(self.full.condition(branch))
        return f'<span title="{full}">{short}</span>'

    def _answer(self, node: TreeOutlineNode) -> str:
        answer = html.escape(self.short.answer(node))
        if not answer:
            return ""
        color = "" if node.label is None else f' style="background:{COLORS[node.label % len(COLORS)]}66"'
        impure = node.shares is not None and max(node.shares) < 1
        shares = f"<small>{html.escape(', '.join(self.short.shares(node, 4)))}</small>" if impure else ""
        return f" <b{color}>{answer}</b>{shares}"


def _unfolded(described: TreeOutline) -> set[int]:
    """The inner nodes whose children are shown: from the root downwards, level by level, as long as there is room."""
    chosen, room, level = set(), MOST_NODES - 1, [0]
    for _ in range(MOST_DEPTH):
        below: list[int] = []
        for number in level:
            children = described.nodes[number].children
            if children and len(children) <= room:
                room -= len(children)
                chosen.add(number)
                below += children
        level = below
    return chosen
