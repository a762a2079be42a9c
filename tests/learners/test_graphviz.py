"""`export_graphviz` writes a graph with the nodes and conditions of the tree."""

import io
import re

import pandas as pd
from sklearn.datasets import load_iris

from conjunto import CARTClassifier, CARTRegressor, export_graphviz
from conjunto.learners.outline import outline
from conjunto.learners.wording import Wording


def test_every_node_and_branch_is_there(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = CARTClassifier(random_state=0).fit(X, y)
    text = export_graphviz(
        tree, class_names=["setosa", "versicolor", "virginica"], filled=True, rounded=True, rotate=True
    )
    nodes = outline(tree).nodes
    assert len(re.findall(r"^\d+ \[", text, re.M)) == len(nodes)
    edges = {(int(a), int(b)) for a, b in re.findall(r"^(\d+) -> (\d+) ", text, re.M)}
    assert edges == {(number, child) for number, node in enumerate(nodes) for child in node.children}
    assert f'0 -> {nodes[0].children[0]} [label="{Wording(outline(tree)).condition(nodes[0].branches[0])}"]' in text
    assert text.count("fillcolor") == 1 + sum(not node.children for node in nodes)
    export_graphviz(tree, tmp_path / "tree.dot")
    buffer = io.StringIO()
    export_graphviz(tree, buffer)
    assert (tmp_path / "tree.dot").read_text() == buffer.getvalue()


def test_depth_is_cut_and_texts_are_quoted():
    X = pd.DataFrame({'a "b"': ["x\\y", "u", "v", "w"] * 5, "n": range(20)})
    tree = CARTRegressor(random_state=0).fit(X, range(20))
    text = export_graphviz(tree, max_depth=0)
    assert text.count('label="..."') == 2
    whole = export_graphviz(CARTClassifier().fit(X[['a "b"']], ["p", "q", "q", "q"] * 5))
    assert 'a \\"b\\" = x\\\\y' in whole
