"""The truth is the core itself: walking the conditions of the outline ends in the leaf that the core tells."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from conjunto import AdaBoostClassifier, BaggingClassifier, CARTClassifier, CARTRegressor, RandomForestClassifier
from conjunto.learners.conditions import Combination, Interval, Subset, Term, merge
from conjunto.learners.outline import TreeOutline, TreeOutlineNode, outline
from conjunto.learners.rows import read_fitted_rows


def frame(seed, n=300, gaps=0.15):
    """Numbers with ties, text, bool, and mixed categories, each with gaps; one category only in new rows."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "whole": random.integers(0, 9, n).astype(float),
            "real": random.normal(size=n),
            "colour": random.choice(["red", "green", "blue", "black"], n),
            "mixed": pd.Series(random.choice(np.array([1, "1", "a, b", "ü"], dtype=object), n), dtype=object),
            "flag": pd.Series(random.random(n) < 0.5, dtype=object),
        }
    )
    for name in X:
        X.loc[random.random(n) < gaps, name] = None
    score = (
        X["whole"].fillna(9) / 4 + X["real"].fillna(-1) + 2 * X["colour"].isin(["red", "blue"]) + random.normal(size=n)
    )
    new = X.sample(frac=1, random_state=seed, ignore_index=True)
    new.loc[: n // 10, "colour"] = "violet"
    return X, score.to_numpy(), new


def walk(described, row):
    """The leaf of a row; exactly one branch may be open at every node."""
    number = 0
    while described.nodes[number].children:
        node = described.nodes[number]
        open_branches = [branch.holds(row) for branch in node.branches]
        assert sum(open_branches) == 1
        number = node.children[open_branches.index(True)]
    return number


def check(tree, X):
    described = outline(tree)
    inner = sum(bool(node.children) for node in described.nodes)
    found = [walk(described, row) for row in X.to_numpy(dtype=object)]
    np.testing.assert_array_equal(np.array(found) - inner, tree.forest_.leaves(read_fitted_rows(tree, X))[:, 0])
    # `apply` counts all nodes, in the order of a walk that goes left first.
    order = {number: place for place, (number, _) in enumerate(described.walk())}
    np.testing.assert_array_equal([order[number] for number in found], tree.apply(X))
    return described, found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("combination", [None, 3])
def test_rows_end_in_the_leaf_that_the_core_says(seed, combination):
    X, score, new = frame(seed)
    labels = np.array(["low", "middle", "high"])[np.digitize(score, np.quantile(score, [0.3, 0.7]))]
    tree = CARTClassifier(random_state=seed, min_samples_leaf=3, combination_features=combination).fit(X, labels)
    described, found = check(tree, new)
    assert described.classes == ("high", "low", "middle")
    assert described.features == tuple(X.columns)
    leaves = [described.nodes[number] for number in found]
    np.testing.assert_array_equal([described.classes[leaf.label] for leaf in leaves], tree.predict(new))
    np.testing.assert_array_equal([leaf.shares for leaf in leaves], tree.predict_proba(new))


@pytest.mark.parametrize("seed", range(4))
def test_regression(seed):
    X, score, new = frame(seed)
    tree = CARTRegressor(random_state=seed, max_depth=6).fit(X, score)
    described, found = check(tree, new)
    assert described.classes is None
    np.testing.assert_array_equal([described.nodes[number].value for number in found], tree.predict(new))


@pytest.mark.parametrize("seed", range(4))
def test_a_category_is_named_only_where_it_can_come(seed):
    X, score, _ = frame(seed)
    described = outline(CARTRegressor(random_state=seed).fit(X, score))
    reachable = {0: {column: set(X.iloc[:, column].dropna()) for column in (2, 3, 4)}}
    tests = 0
    for number, _ in described.walk():
        node = described.nodes[number]
        for child, branch in zip(node.children, node.branches, strict=True):
            reachable[child] = reachable[number]
            if isinstance(branch, Subset):
                tests += 1
                reachable[child] = reachable[number] | {branch.column: set(branch.categories)}
                sides = [set(side.categories) for side in node.branches]
                assert set.union(*sides) == reachable[number][branch.column]
                assert not set.intersection(*sides)
    assert tests > 10


def test_categories_that_share_a_code_are_all_named():
    random = np.random.default_rng(0)
    names = np.array([f"c{i}" for i in range(400)])
    X = pd.DataFrame({"name": np.concatenate([names, random.choice(names[:40], 1600)])})
    y = random.normal(size=len(X))
    tree = CARTRegressor(max_depth=3).fit(X, y)
    check(tree, X)
    left, right = outline(tree).nodes[0].branches
    assert sorted(left.categories + right.categories) == sorted(names)


@pytest.mark.parametrize("make", [BaggingClassifier, RandomForestClassifier, AdaBoostClassifier])
def test_members_of_ensembles(make):
    X, score, new = frame(0)
    model = make(n_estimators=3, random_state=0).fit(X, score > np.median(score))
    for member in model.estimators_:
        check(member, new)


def test_a_single_leaf():
    described = outline(CARTClassifier().fit([[1.0], [1.0], [1.0]], [4, 4, 7]))
    assert described.nodes == (TreeOutlineNode(label=0, shares=(2 / 3, 1 / 3)),)
    assert described.classes == (4, 7)
    assert list(described.walk()) == [(0, 0)]
    assert described.leaf_counts() == [1]


def test_walk_and_counts_of_a_tree_deeper_than_python_can_recurse():
    depth = 5000
    inner = [TreeOutlineNode((Interval(0, high=i), Interval(0, low=i)), (i + 1, depth + 1 + i)) for i in range(depth)]
    chain = TreeOutline((*inner, *(TreeOutlineNode(value=float(i)) for i in range(depth + 1))), ("x",))
    assert [number for number, _ in chain.walk()][: depth + 1] == list(range(depth + 1))
    assert max(depth for _, depth in chain.walk()) == depth
    assert len(list(chain.walk(most_depth=2))) == 5
    assert chain.leaf_counts()[:2] == [depth + 1, depth]


def test_an_estimator_may_describe_itself():
    described = TreeOutline((TreeOutlineNode(value=1.0),), ("x",))

    class Other:
        def _outline(self):
            return described

    assert outline(Other()) is described
    assert outline(described) is described


def test_conditions_meet():
    one, other = Interval(0, low=1.0, missing=True), Interval(0, high=3.0, missing=False)
    assert one.meet(other) == Interval(0, 1.0, 3.0, False)
    assert Interval(0, 3.0, 3.0).empty
    known = ("a", "b", "c")
    colours = Subset(1, ("a", "b"), known, True)
    assert colours.meet(Subset(1, ("b", "c"), known, True)) == Subset(1, ("b",), known, True)
    total = Combination((Term(2.0, 0), Term(-1.0, 1, Subset(1, ("a",), known))), high=4.0, missing=True)
    assert [total.holds(row) for row in ([2.5, "a"], [2.5, "b"], [None, "a"], [2.5, "z"])] == [True, False, True, True]
    assert merge((one, colours, other, total)) == (one.meet(other), colours, total)


def fitted(make):
    X, score, _ = frame(0, gaps=0)
    return make.fit(X[["whole", "real"]].to_numpy(), score > np.median(score))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: CARTClassifier, "got the class CARTClassifier"),
        (lambda: fitted(BaggingClassifier(n_estimators=3)), r"model\.estimators_\[0\]"),
        (lambda: BaggingClassifier(n_estimators=3), r"model\.estimators_\[0\]"),
        (lambda: fitted(make_pipeline(StandardScaler(), CARTClassifier())), r"model\[-1\]"),
        (lambda: fitted(GridSearchCV(CARTClassifier(), {"max_depth": [1]}, cv=2)), "best_estimator_"),
        (lambda: fitted(DecisionTreeClassifier()), r"sklearn\.tree"),
        (StandardScaler, "got StandardScaler"),
        (lambda: 3, "got 3"),
        (lambda: None, "got None"),
    ],
)
def test_what_is_no_tree_is_refused_with_a_way_out(given, message):
    with pytest.raises(TypeError, match=message):
        outline(given())


@pytest.mark.parametrize("make", [CARTClassifier, CARTRegressor])
def test_unfitted(make):
    with pytest.raises(NotFittedError, match="fit"):
        outline(make())


def test_more_than_one_tree():
    tree = fitted(CARTClassifier())
    tree.forest_ = tree.forest_.take(np.array([0, 0]))
    with pytest.raises(ValueError, match="forest of 2"):
        outline(tree)
