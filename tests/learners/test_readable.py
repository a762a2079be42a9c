"""The truth is the outline: what an HTML parser finds in the page is the tree, and no name becomes markup."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conjunto import CARTClassifier, CARTRegressor
from conjunto.learners.conditions import Subset
from conjunto.learners.outline import TreeOutline, TreeOutlineNode, outline
from conjunto.learners.readable import MOST_NODES, ReadableTree
from conjunto.learners.wording import Wording


class Parser(HTMLParser):
    """Checks that tags are closed in order, and collects items and all tags and attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.data, self.deepest = [], [], [], [], 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += attrs
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.data.append(data)


def data(n=150, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, np.digitize(X @ [1, 2, -1] + random.normal(size=n), [-1, 1])


def test_the_items_are_the_nodes():
    X, y = data()
    tree = CARTClassifier(max_depth=4, random_state=0).fit(X, y)
    page = Parser(tree._repr_html_())
    described = outline(tree)
    wording = Wording(described)
    assert page.tags.count("li") == len(described.nodes)
    assert page.tags.count("details") == sum(bool(node.children) for node in described.nodes)
    assert page.tags.count("b") == tree.get_n_leaves()
    conditions = {
        number: wording.condition(branch)
        for node in described.nodes
        for number, branch in zip(node.children, node.branches, strict=True)
    }
    in_order = [conditions[number] for number, _ in described.walk() if number]
    assert [text for text in page.data if text in conditions.values()] == in_order
    assert page.deepest == tree.get_depth()


def test_nothing_from_elsewhere_is_needed():
    X, y = data()
    text = CARTClassifier().fit(X, y)._repr_html_()
    assert not re.search("https?:|<script|<link|@import|url[(]", text)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "a & b 'ü'", "</details>"])
def test_names_are_text(name):
    frame = pd.DataFrame({name: ["x", name, "x", name] * 3})
    tree = CARTClassifier().fit(frame, [name, "other"] * 6)
    page = Parser(tree._repr_html_())
    assert set(page.tags) == {"div", "style", "p", "ul", "li", "details", "summary", "span", "b", "small"}
    assert {key for key, _ in page.attributes} <= {"class", "title", "style", "open"}
    assert any(name in text for text in page.data)
    assert any(name in (value or "") for key, value in page.attributes if key == "title")


def test_large_trees_say_how_many_nodes_are_hidden():
    X, _ = data(3000)
    tree = CARTRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1])
    page = Parser(tree._repr_html_())
    shown = page.tags.count("li")
    hidden = sum(int(found[1]) for text in page.data if (found := re.match(r"… (\d+) nodes hidden", text)))
    assert shown <= MOST_NODES
    assert shown + hidden == 2 * tree.get_n_leaves() - 1


def test_a_node_with_very_many_branches_is_not_unfolded():
    known = tuple(range(1000))
    root = TreeOutlineNode(tuple(Subset(0, (name,), known) for name in known), tuple(range(1, 1001)))

    class Wide(ReadableTree):
        def fit(self):
            self.fitted_ = True
            return self

        def _outline(self):
            return TreeOutline((root, *(TreeOutlineNode(value=0.0) for _ in known)), ("x",))

    assert "… 1000 nodes hidden" in Wide().fit()._repr_html_()


@pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])
def test_a_single_leaf(make):
    page = Parser(make().fit([[1.0], [1.0]], [1, 1])._repr_html_())
    assert page.tags.count("li") == 1
    assert page.data[-1] == "1"


def test_unfitted_trees_keep_the_diagram_of_scikit_learn():
    tree = CARTClassifier(max_depth=3)
    assert "sk-estimator" in tree._repr_html_()
    assert "conjunto-tree" not in tree._repr_html_()
    assert "sk-estimator" in tree._repr_mimebundle_()["text/html"]


def test_jupyter_gets_the_tree_and_the_plain_text():
    tree = CARTClassifier(max_depth=2).fit(*data())
    bundle = tree._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"text/plain": repr(tree), "text/html": tree._repr_html_()}


@pytest.mark.parametrize("fit", [False, True])
def test_the_configuration_of_scikit_learn_is_respected(fit):
    tree = CARTClassifier(max_depth=2)
    if fit:
        tree.fit(*data())
    with sklearn.config_context(display="text"):
        assert not hasattr(tree, "_repr_html_")
        assert tree._repr_mimebundle_() == {"text/plain": repr(tree)}
    assert hasattr(tree, "_repr_html_")


def test_a_pipeline_with_a_tree_keeps_its_diagram():
    pipeline = make_pipeline(StandardScaler(), CARTClassifier(max_depth=2)).fit(*data())
    assert "sk-estimator" in pipeline._repr_html_()
