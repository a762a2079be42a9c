"""The truth is `predict`: what is printed is read back and evaluated, and every rule against every row."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.tree

from conjunto import CARTClassifier, CARTRegressor, RandomForestClassifier, export_rules, export_text
from conjunto.learners.conditions import Interval, Subset
from conjunto.learners.outline import TreeOutline, TreeOutlineNode, outline
from conjunto.learners.wording import distinct_words, shorten


def frame(seed, n=250, gaps=0.2):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "number": random.normal(size=n),
            "whole": random.integers(0, 12, n).astype(float),
            "colour": random.choice(["red", "green", "blue", "black", "white"], n),
            "flag": pd.Series(random.random(n) < 0.5, dtype=object),
        }
    )
    for name in X:
        X.loc[random.random(n) < gaps, name] = None
    known = X["number"].fillna(1) + (X["colour"] == "red") * 2 - X["colour"].isna() + X["whole"].fillna(0) / 9
    new = X.sample(frac=1, random_state=seed, ignore_index=True)
    new.loc[:20, "colour"] = "violet"
    return X, known.to_numpy() + random.normal(size=n) / 2, new


def condition_holds(text, row):
    """Evaluate a printed condition on a row that maps names to text or numbers; None is missing."""
    if found := re.fullmatch(r"(\w+) is missing", text):
        return row[found[1]] is None
    missing = text.endswith(" or missing")
    text = text.removesuffix(" or missing")
    if found := re.fullmatch(r"(\w+) (?:= (\w+)|in \{(.*)\})", text):
        value, allowed = row[found[1]], [found[2]] if found[2] else found[3].split(", ")
        return missing if value is None else value in allowed
    if found := re.fullmatch(r"(\w+) > (\S+)", text):
        name, low, high = found[1], found[2], "inf"
    else:
        low, name, high = re.fullmatch(r"(?:(\S+) < )?(\w+) <= (\S+)", text).groups("-inf")
    return missing if row[name] is None else float(low) < row[name] <= float(high)


def rows_of(X, known):
    """Rows for `condition_holds`: unseen categories are missing."""
    for row in X.to_dict("records"):
        yield {
            name: None
            if value is None or value != value or (name in known and str(value) not in known[name])
            else (str(value) if name in known else value)
            for name, value in row.items()
        }


def predict_text(text, row):
    """Follow the printed lines."""
    lines = [re.fullmatch(r"((?:\|   )*)(.*?)(?:: (.*))?", line).groups() for line in text.split("\n")]
    depth = 0
    for bars, condition, answer in lines:
        if len(bars) // 4 == depth and condition_holds(condition, row):
            if answer is not None:
                return answer
            depth += 1
    raise AssertionError("no branch is open")


KNOWN = {"colour": {"red", "green", "blue", "black", "white"}, "flag": {"True", "False"}}


@pytest.mark.parametrize("seed", range(6))
def test_the_text_says_what_predict_says(seed):
    X, score, new = frame(seed)
    tree = CARTClassifier(random_state=seed).fit(X, np.where(score > np.median(score), "up", "down"))
    text = export_text(tree, decimals=None, show_missing=True)
    assert [predict_text(text, row) for row in rows_of(new, KNOWN)] == tree.predict(new).tolist()
    tree = CARTRegressor(random_state=seed, max_depth=6).fit(X, score)
    text = export_text(tree, decimals=None, show_missing=True)
    assert [float(predict_text(text, row)) for row in rows_of(new, KNOWN)] == tree.predict(new).tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("combination", [None, 2])
def test_every_row_is_covered_by_one_rule_which_says_what_predict_says(seed, combination):
    X, score, new = frame(seed)
    tree = CARTClassifier(random_state=seed, combination_features=combination)
    tree.fit(X, np.digitize(score, np.quantile(score, [0.3, 0.6])) + 10)
    rules = export_rules(tree)
    assert len(rules) == tree.get_n_leaves()
    covered = np.array([[rule.covers(row) for row in new.to_numpy(dtype=object)] for rule in rules])
    np.testing.assert_array_equal(covered.sum(axis=0), 1)
    which = covered.argmax(axis=0)
    np.testing.assert_array_equal([rules[i].label for i in which], tree.predict(new))
    np.testing.assert_array_equal([rules[i].shares for i in which], tree.predict_proba(new))


@pytest.mark.parametrize("seed", range(6))
def test_the_words_of_rules_say_the_same_with_one_condition_for_each_column(seed):
    X, score, new = frame(seed)
    tree = CARTRegressor(random_state=seed, min_samples_leaf=4).fit(X, score)
    rules = export_rules(tree, decimals=None, show_missing=True)
    rows = list(rows_of(new, KNOWN))
    for rule in rules:
        names = [re.search("number|whole|colour|flag", text)[0] for text in rule.conditions]
        assert len(set(names)) == len(names) == len(rule.tests)
        held = [all(condition_holds(text, row) for text in rule.conditions) for row in rows]
        np.testing.assert_array_equal(held, [rule.covers(row) for row in new.to_numpy(dtype=object)])
        assert float(rule.answer) == rule.value
        assert rule.label is None


@pytest.mark.parametrize("seed", range(3))
def test_the_structure_is_that_of_scikit_learn(seed):
    random = np.random.default_rng(seed)
    X = np.stack([random.permutation(200) for _ in range(4)], axis=1) / 8.0
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] / 25 + random.normal(size=200), [15, 25])
    ours = CARTClassifier(max_depth=3).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    lines = []
    for line in sklearn.tree.export_text(theirs, feature_names=["a", "b", "c", "d"], decimals=4).splitlines():
        depth, text = line.count("|") - 1, line.split("|--- ")[1]
        if text.startswith("class"):
            lines[-1] += text.removeprefix("class")
        else:
            name, sign, number = text.split()
            lines.append("|   " * depth + f"{name} {sign} {float(number):g}")
    assert export_text(ours, feature_names=["a", "b", "c", "d"], decimals=4).splitlines() == lines


def test_a_rule_reads_as_a_sentence():
    X = pd.DataFrame({"width": [1.0, 1, 2, 3, 3], "colour": ["red", "blue", "red", "blue", "green"]})
    tree = CARTClassifier(random_state=0).fit(X, ["a", "a", "b", "a", "a"])
    rules = export_rules(tree)
    first, second = outline(tree).nodes[0].branches[0], outline(tree).nodes[1].branches[0]
    assert {type(first), type(second)} == {Interval, Subset}
    expected = ["width > 1.5", "colour = red"]
    expected = expected if isinstance(first, Interval) else expected[::-1]
    assert f"if {' and '.join(expected)} then b (1.00)" in str(rules).split("\n")
    assert str(rules) == "\n".join(map(str, rules))
    with pytest.raises(AttributeError):
        rules[0].label = "c"
    shown = export_rules(tree, show_missing=True)
    assert any("or missing)" in str(rule) for rule in shown)


def test_what_only_missing_values_reach_is_said_so():
    X = pd.DataFrame({"colour": ["red", "blue", None, None] * 3})
    tree = CARTClassifier().fit(X, ["known", "known", "gap", "gap"] * 3)
    assert sorted(map(str, export_rules(tree))) == [
        "if colour in {blue, red} then known (1.00)",
        "if colour is missing then gap (1.00)",
    ]


def test_two_thresholds_of_one_column_never_look_the_same():
    X = np.array([[1.0], [1.0002], [1.0004], [1.3], [2e-9], [3e-9]])
    tree = CARTClassifier().fit(X, [0, 1, 2, 3, 4, 5])
    text = export_text(tree, feature_names=["x"], decimals=1)
    printed = re.findall(r"<= ([^\s:]+)", text)
    assert len(printed) == len(set(printed)) == 5


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("pair", [(), (1 / 3, 1 / 3 + 1e-14), (0.15, 0.151)])
def test_shortened_numbers_stay_different_and_near(seed, pair):
    random = np.random.default_rng(seed)
    values = set(random.normal(size=30) * 10.0 ** random.integers(-12, 18, 30)) | {0.0, *pair}
    for decimals in (0, 1, 2, 5, None):
        words = distinct_words(values, decimals)
        assert len(set(words.values())) == len(values)
        for value, text in words.items():
            assert math.isclose(float(text), value, rel_tol=0.5 if decimals in (0, 1) else 0.05)
            assert decimals is not None or float(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8, "0.8"), (2.0, "2"), (-0.004, "-0.004"), (1234.567, "1234.57"), (100.0, "100"), (-0.0, "0"), (1e20, "1e+20")],
)
def test_numbers(value, text):
    assert shorten(value, 2) == text


def test_a_single_leaf():
    tree = CARTClassifier().fit([[1.0], [1.0], [1.0]], ["no", "no", "yes"])
    assert export_text(tree) == "no"
    assert export_text(tree, show_shares=True) == "no (no: 0.67, yes: 0.33)"
    (rule,) = export_rules(tree)
    assert str(rule) == "always no (0.67)"
    assert rule.covers([None])
    assert str(export_rules(CARTRegressor().fit([[1.0], [1.0]], [1.0, 2.0]))) == "always 1.5"


def test_max_depth_counts_what_is_hidden():
    X, score, _ = frame(0)
    tree = CARTRegressor(max_depth=4, random_state=0).fit(X, score)
    leaves = tree.get_n_leaves()
    assert export_text(tree, max_depth=0) == f"... {leaves} leaves"
    two = export_text(tree, max_depth=1).split("\n")
    assert sum(int(re.search(r"\.\.\. (\d+) leaves", line)[1]) for line in two) == leaves
    assert export_text(tree, max_depth=4) == export_text(tree)
    with pytest.raises(ValueError, match="max_depth"):
        export_text(tree, max_depth=-1)


def test_names_may_be_any_text():
    names = ["a < b", 'it\'s "x"', "größe\u2009€"]
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X.sum(axis=1) > 0).astype(int) + (X[:, 0] > 1)
    tree = CARTClassifier(random_state=0).fit(pd.DataFrame(X, columns=names), y)
    text = export_text(tree, class_names=["<low>", "übrig", "it's"])
    assert all(name in text for name in (*names, "<low>", "übrig", "it's"))
    assert export_text(CARTClassifier(random_state=0).fit(X, y), feature_names=names) == export_text(tree)
    assert "x0" in export_text(CARTClassifier(random_state=0).fit(X, y))


def test_categories_that_would_be_confused_are_quoted():
    X = pd.DataFrame({"odd": pd.Series([1, "1", "a, b", "a"] * 5, dtype=object)})
    text = export_text(CARTClassifier().fit(X, ["one", "text", "pair", "single"] * 5))
    assert "'a, b'" in text
    assert "odd = 1:" in text
    assert "odd = '1':" in text


def test_26_classes_and_labels_of_any_type():
    X = np.repeat(np.arange(26.0), 3)[:, None]
    letters = [chr(97 + i) for i in range(26)]
    for labels in (letters, list(range(26)), [i * 0.5 for i in range(0, 52, 2)]):
        rules = export_rules(CARTClassifier().fit(X, np.repeat(labels, 3)))
        assert {rule.label for rule in rules} == set(labels)
    stump = export_text(CARTClassifier(max_depth=1).fit(X, np.repeat(letters, 3)), show_shares=True)
    assert all(f"{letter}: " in stump for letter in letters)


def test_members_of_a_forest_have_the_names_of_the_frame():
    X, score, _ = frame(0)
    model = RandomForestClassifier(3, random_state=0).fit(X, score > 0)
    assert re.search("number|whole|colour|flag", export_text(model.estimators_[0]))
    # Members know the codes of the classes, as in scikit-learn.
    assert ": 1" in export_text(model.estimators_[0])
    assert ": True" not in export_text(model.estimators_[0])
    assert ": True" in export_text(model.estimators_[0], class_names=model.classes_)


@pytest.mark.parametrize("export", [export_text, export_rules])
def test_wrong_names_are_refused(export):
    X, score, _ = frame(0)
    tree = CARTClassifier(max_depth=2).fit(X, score > 0)
    with pytest.raises(ValueError, match="feature_names must have one name for each column: the tree has 4 columns"):
        export(tree, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="2 classes, got 3 names"):
        export(tree, class_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="got the text 'abcd'"):
        export(tree, feature_names="abcd")
    with pytest.raises(ValueError, match="decimals"):
        export(tree, decimals=-1)
    with pytest.raises(ValueError, match="no classes"):
        export(CARTRegressor().fit([[1.0], [2.0]], [0, 1]), class_names=["a"])


def golf():
    """Quinlan's golf tree: three branches at the root."""
    sky, wind = ("overcast", "rain", "sunny"), (False, True)
    nodes = (
        TreeOutlineNode(tuple(Subset(0, (name,), sky) for name in sky), (1, 2, 3)),
        TreeOutlineNode(label=1, shares=(0.0, 1.0)),
        TreeOutlineNode(tuple(Subset(2, (blows,), wind) for blows in wind), (4, 5)),
        TreeOutlineNode((Interval(1, high=77.5), Interval(1, low=77.5)), (6, 7)),
        *(TreeOutlineNode(label=label) for label in (1, 0, 1, 0)),
    )
    return TreeOutline(nodes, ("outlook", "humidity", "windy"), ("don't", "play"), divides_missing=True)


def test_more_than_two_branches():
    assert export_text(golf()).split("\n") == [
        "outlook = overcast: play",
        "outlook = rain",
        "|   windy = False: play",
        "|   windy = True: don't",
        "outlook = sunny",
        "|   humidity <= 77.5: play",
        "|   humidity > 77.5: don't",
    ]
    assert export_text(golf(), show_missing=True).endswith("in proportion to the rows of training.")
    rules = export_rules(golf())
    assert str(rules[-1]) == "if outlook = sunny and humidity > 77.5 then don't"
    for row in (["sunny", 70, True], ["rain", 99, False], ["overcast", 70, True]):
        assert sum(rule.covers(row) for rule in rules) == 1
