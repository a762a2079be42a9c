"""The truth is the outline and geometry: every node has one box, no two boxes overlap, nothing leaves the picture."""

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

from conjunto import (
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    TreeDisplay,
    export_rules,
    export_text,
    plot_tree,
)
from conjunto.datasets import make_waveform
from conjunto.learners.conditions import Subset
from conjunto.learners.outline import TreeOutline, TreeOutlineNode, outline
from conjunto.plots._tree_layout import lay_out

mpl.use("Agg")


def data(n=300, seed=0, classes=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    score = X @ [1, 2, -1, 0.5] + X[:, 0] * X[:, 1] + random.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def labels(display):
    boxes = set(display.boxes_.values())
    return [text for text in display.ax_.texts if text not in boxes and not isinstance(text, Annotation)]


def rectangles(display):
    display.figure_.draw_without_rendering()
    return {number: text.get_bbox_patch().get_window_extent() for number, text in display.boxes_.items()}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("leaves", [2, 8, 30])
@pytest.mark.parametrize("given", [None, (6, 4), (30, 12)])
def test_boxes_and_labels_stand_clear_inside_the_picture(seed, leaves, given):
    X, y = data(seed=seed)
    tree = CARTClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y)
    ax = None if given is None else mpl.figure.Figure(figsize=given).add_axes((0.05, 0.05, 0.9, 0.9))
    display = plot_tree(tree, ax=ax)
    found = list(rectangles(display).values())
    assert len(found) == 2 * leaves - 1
    words = [text.get_window_extent() for text in labels(display)]
    assert len(words) == len(found) - 1
    for one, other in itertools.combinations(found, 2):
        assert not one.overlaps(other)
    for one, other in itertools.combinations(words, 2):
        assert not one.overlaps(other)
    for box, word in itertools.product(found, words):
        assert not box.overlaps(word)
    inside = display.ax_.get_window_extent()
    for box in found + words:
        assert inside.x0 - 1 <= box.x0 < box.x1 <= inside.x1 + 1
        assert inside.y0 - 1 <= box.y0 < box.y1 <= inside.y1 + 1


def test_children_stand_below_yes_on_the_left_and_parents_in_the_middle():
    X, y = data()
    display = plot_tree(CARTClassifier(max_depth=4, random_state=0).fit(X, y))
    place = {number: text.get_position() for number, text in display.boxes_.items()}
    sides = {"yes": [], "no": []}
    for text in labels(display):
        sides[text.get_text()].append(text.get_position()[0])
    for number, node in enumerate(display.outline.nodes):
        if node.children:
            left, right = (place[child] for child in node.children)
            assert left[0] < place[number][0] < right[0]
            assert left[1] == right[1] < place[number][1]
            assert place[number][0] == pytest.approx((left[0] + right[0]) / 2)
    assert len(sides["yes"]) == len(sides["no"]) == sum(bool(node.children) for node in display.outline.nodes)
    lines = [text for text in display.ax_.texts if isinstance(text, Annotation)]
    assert len(lines) == len(place) - 1


@pytest.mark.parametrize("seed", range(10))
def test_the_layout_keeps_boxes_of_any_width_and_any_number_of_branches_apart(seed):
    random = np.random.default_rng(seed)
    children, depths, waiting, names = {}, {}, [(0, 0)], itertools.count(1)
    while waiting:
        number, depth = waiting.pop()
        depths[number] = depth
        children[number] = tuple(
            next(names) for _ in range(random.integers(2, 5) if random.random() < 0.75 - depth / 9 else 0)
        )
        waiting += [(child, depth + 1) for child in reversed(children[number])]
    texts = {number: (float(random.uniform(5, 200)), 10.0) for number in depths}
    layout = lay_out(children, depths, texts, {number: (20.0, 8.0) for number in depths if number})
    for one, other in itertools.combinations(depths, 2):
        if depths[one] == depths[other]:
            assert layout.middles[one][1] == layout.middles[other][1]
            apart = abs(layout.middles[one][0] - layout.middles[other][0])
            assert apart > (texts[one][0] + texts[other][0]) / 2 + 8
    for offspring in children.values():
        across = [layout.middles[child][0] for child in offspring]
        assert across == sorted(across)


def test_leaves_show_class_and_shares_in_the_colour_of_the_class():
    X, y = data()
    tree = CARTClassifier(max_depth=3, random_state=0).fit(X, y)
    display = plot_tree(tree, class_names=["low", "middle", "high"])
    colours = {}
    for number, text in display.boxes_.items():
        node = display.outline.nodes[number]
        if node.children:
            assert "<=" in text.get_text()
            continue
        name = ["low", "middle", "high"][node.label]
        assert text.get_text().startswith(name)
        if max(node.shares) < 1:
            assert text.get_text().split("\n")[0] == f"{name}: {node.shares[node.label]:.2f}"
        colours.setdefault(node.label, []).append(text.get_bbox_patch().get_facecolor())
    # The strongest part of a colour is the same for all shades of it.
    assert all(len({np.argmax(colour[:3]) for colour in shades}) == 1 for shades in colours.values())
    assert len({to_hex(shades[0]) for shades in colours.values()}) == len(colours)
    plain = plot_tree(tree, show_shares=False)
    assert all("\n" not in text.get_text() for text in plain.boxes_.values())


def test_values_are_the_darker_the_greater():
    X, _ = data()
    display = plot_tree(CARTRegressor(max_leaf_nodes=7).fit(X, X[:, 0]))
    leaves = [number for number in display.boxes_ if not display.outline.nodes[number].children]
    leaves.sort(key=lambda number: display.outline.nodes[number].value)
    light = [sum(display.boxes_[number].get_bbox_patch().get_facecolor()) for number in leaves]
    assert light == sorted(light, reverse=True)
    assert [float(display.boxes_[number].get_text()) for number in leaves] == pytest.approx(
        [display.outline.nodes[number].value for number in leaves], abs=0.006
    )


def test_the_boxes_say_what_the_rules_say():
    X, y = data()
    tree = CARTClassifier(max_depth=1, random_state=0).fit(X, y)
    display = plot_tree(tree, feature_names=["a", "b", "c", "d"])
    assert display.boxes_[0].get_text() == export_rules(tree, feature_names=["a", "b", "c", "d"])[0].conditions[0]


def test_categories_and_missing_values():
    X = pd.DataFrame({"state": [f"s{i % 9}" for i in range(90)]})
    tree = CARTClassifier(max_depth=1).fit(X, ["a" if i % 9 < 6 else "b" for i in range(90)])
    display = plot_tree(tree, show_missing=True)
    assert display.boxes_[0].get_text() == "state in {s0, s1, s2, 3 more}"
    assert sorted(text.get_text() for text in labels(display)) == ["no", "yes, missing"]
    assert plot_tree(tree, max_categories=None).boxes_[0].get_text() == "state in {s0, s1, s2, s3, s4, s5}"


def test_more_than_two_branches_carry_their_conditions():
    sky = ("overcast", "rain", "sunny")
    root = TreeOutlineNode(tuple(Subset(0, (name,), sky) for name in sky), (1, 2, 3))
    display = TreeDisplay(
        TreeOutline((root, *(TreeOutlineNode(label=i) for i in (0, 1, 1))), ("outlook",), ("no", "yes"))
    ).plot()
    assert [text.get_text() for text in display.boxes_.values()] == ["outlook", "no", "yes", "yes"]
    assert [text.get_text() for text in labels(display)] == ["= overcast", "= rain", "= sunny"]
    display.figure_.draw_without_rendering()
    words = [text.get_window_extent() for text in labels(display)]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(words, 2))


def test_max_depth():
    X, y = data()
    tree = CARTClassifier(random_state=0).fit(X, y)
    assert [text.get_text() for text in plot_tree(tree, max_depth=0).boxes_.values()] == [
        f"…\n{tree.get_n_leaves()} leaves"
    ]
    display = plot_tree(tree, max_depth=2)
    assert {depth for number, depth in outline(tree).walk() if number in display.boxes_} == {0, 1, 2}
    with pytest.raises(ValueError, match="max_depth"):
        plot_tree(tree, max_depth=-1)


def test_a_single_leaf_and_a_title(tmp_path):
    display = plot_tree(CARTClassifier().fit([[1.0], [1.0]], ["yes", "yes"]), title="nothing to tell apart")
    display.figure_.savefig(tmp_path / "leaf.svg")
    assert display.boxes_[0].get_text() == "yes"
    title, whole = display.ax_.title.get_window_extent(), display.figure_.bbox
    assert whole.x0 <= title.x0 < title.x1 <= whole.x1
    assert whole.y0 <= title.y0 < title.y1 <= whole.y1


def test_names_are_no_formulas(tmp_path):
    X, y = data()
    names = ["$a_1$", "<b>", 'größe "x"', "100 % $"]
    display = plot_tree(
        CARTClassifier(max_depth=4, random_state=0).fit(X, y), feature_names=names, class_names=["$", "$$", "^_"]
    )
    display.figure_.savefig(tmp_path / "tree.png")
    assert display.boxes_[0].get_text().rsplit(" <= ")[0] in names


def test_26_classes():
    X = np.repeat(np.arange(26.0), 3)[:, None]
    display = plot_tree(CARTClassifier().fit(X, np.repeat(list("abcdefghijklmnopqrstuvwxyz"), 3)))
    assert {text.get_text() for number, text in display.boxes_.items()} > set("abcdefghijklmnopqrstuvwxyz")


def test_fonts_shrink_in_small_axes_only():
    X, y = data()
    tree = CARTClassifier(max_leaf_nodes=20, random_state=0).fit(X, y)
    small = plot_tree(tree, ax=mpl.figure.Figure(figsize=(4, 3)).add_subplot())
    own = plot_tree(tree)
    assert small.boxes_[0].get_fontsize() < own.boxes_[0].get_fontsize() == 9
    few = plot_tree(tree, max_depth=1)
    assert few.figure_.get_figwidth() < own.figure_.get_figwidth()


def test_what_cannot_be_drawn_is_refused():
    X, y = data()
    tree = CARTClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="feature_names"):
        plot_tree(tree, feature_names=["a"])
    with pytest.raises(ValueError, match="class_names"):
        plot_tree(tree, class_names=["a"])
    with pytest.raises(TypeError, match="from_estimator"):
        TreeDisplay(tree)
    with pytest.raises(TypeError, match=r"estimators_\[0\]"):
        plot_tree(BaggingClassifier(n_estimators=2).fit(X, y))


def test_long_combinations_take_several_lines():
    X, y = make_waveform(200, random_state=0)
    tree = CARTClassifier(splits="oblique", max_depth=2, random_state=0).fit(X, y)
    texts = [text.get_text() for text in plot_tree(tree, show_shares=False).boxes_.values()]
    written = export_text(tree)
    inner = [text for text in texts if "*" in text]
    assert any("\n" in text for text in inner)
    for text in inner:
        assert text.replace("\n", " ") in written
        assert max(map(len, text.split("\n"))) < 45
