"""Where the boxes of a tree stand: subtrees pushed together until boxes of one depth would touch.

A parent stands in the middle above its children (Reingold and Tilford, Tidier drawings of trees, IEEE Transactions on
Software Engineering 7 (1981) 223-228), here with boxes of any width. Lengths are in points.
"""

from __future__ import annotations

from dataclasses import dataclass

Size = tuple[float, float]

PAD = 4.0
"""From the text to the border of its box."""
LABEL_PLACE = 2 / 3
"""How far down its edge the label of an edge stands."""
_ASIDE, _BETWEEN = 10.0, 30.0  # from box to box at one depth, and from one depth to the next


@dataclass(frozen=True)
class Layout:
    """Middles of boxes by node, y growing upwards, and the area that holds all of them."""

    middles: dict[int, tuple[float, float]]
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]

    @property
    def size(self) -> Size:
        """Width and height."""
        return self.x_limits[1] - self.x_limits[0], self.y_limits[1] - self.y_limits[0]


def lay_out(
    children: dict[int, tuple[int, ...]], depths: dict[int, int], texts: dict[int, Size], labels: dict[int, Size]
) -> Layout:
    """Place the boxes of a tree.

    `children` and `depths` list every node after its parent and before the nodes to its right, `texts` has the size of
    the text in each box and `labels` that of the label on the edge that leads to it.
    """
    # Labels stand nearer to the parent than boxes, where edges are closer together.
    room = {number: label[0] / LABEL_PLACE for number, label in labels.items()}
    widths = {number: max(text[0] + 2 * PAD, room.get(number, 0.0)) for number, text in texts.items()}
    across = _across(children, widths)
    heights = [0.0] * (max(depths.values()) + 1)
    for number, depth in depths.items():
        heights[depth] = max(heights[depth], texts[number][1] + 2 * PAD)
    down = _down(heights, max((height for _, height in labels.values()), default=0.0))
    left = min(across[number] - widths[number] / 2 for number in depths)
    right = max(across[number] + widths[number] / 2 for number in depths)
    return Layout(
        {number: (across[number], down[depth]) for number, depth in depths.items()},
        (left - PAD, right + PAD),
        (down[-1] - heights[-1] / 2 - PAD, PAD),
    )


def _across(children: dict[int, tuple[int, ...]], widths: dict[int, float]) -> dict[int, float]:
    """The middle of each box from left to right.

    Subtrees are joined from the leaves upwards. Each has a left and a right border at every depth, which the next
    subtree must not cross; a node keeps its distance from its parent.
    """
    aside = dict.fromkeys(children, 0.0)
    borders: dict[int, list[tuple[float, float]]] = {}
    for number in reversed(list(children)):
        joined: list[tuple[float, float]] = []
        for child in children[number]:
            own = borders.pop(child)
            shift = max((have[1] - new[0] + _ASIDE for have, new in zip(joined, own, strict=False)), default=0.0)
            aside[child] = shift
            moved = [(low + shift, high + shift) for low, high in own]
            both = [(have[0], new[1]) for have, new in zip(joined, moved, strict=False)]
            joined = both + joined[len(both) :] + moved[len(both) :]
        middle = (aside[children[number][0]] + aside[children[number][-1]]) / 2 if children[number] else 0.0
        for child in children[number]:
            aside[child] -= middle
        half = widths[number] / 2
        borders[number] = [(-half, half), *((low - middle, high - middle) for low, high in joined)]
    middles = {0: 0.0}
    for number in children:
        middles |= {child: middles[number] + aside[child] for child in children[number]}
    return middles


def _down(heights: list[float], label: float) -> list[float]:
    """The middle of each depth, downwards from 0 at the upper border of the root."""
    middles, top = [], 0.0
    for height in heights:
        middles.append(top - height / 2)
        top -= height + max(_BETWEEN, 2 * label + PAD)
    return middles
