"""Checks of the texts in which boosting libraries keep their models, before a library reads one.

Their readers believe what stands there: a child or a column that does not exist is an address outside an array, and a
file of somebody else could end the process, or worse. Here every node is followed and every number that becomes an
index is compared with what it points into, as `Forest` does for trees of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

# A category is a bit of a set that the library makes as long as the largest one.
MOST_CATEGORIES = 1_000_000
# CatBoost's own limit is 16.
DEEPEST = 24


class BoosterTextError(ValueError):
    """The text of a booster is damaged, or was never one."""


def check_lightgbm(text: str, n_columns: int, n_outputs: int) -> None:
    """Refuse a text of LightGBM whose trees point outside themselves, or to columns that rows do not have."""
    _need(not re.search(r"[\x00-\x09\x0b-\x1f]", text), "a character that prints nothing")
    head, *trees = re.split(r"^(?=Tree=)", text, flags=re.MULTILINE)
    if not trees:
        raise BoosterTextError("it has no trees")
    trees[-1] = re.split(r"^(?=end of trees)", trees[-1], flags=re.MULTILINE)[0]
    facts = _lines(head)
    _need(_int(facts["max_feature_idx"]) + 1 == n_columns, "its columns")
    for name in ("feature_names", "feature_infos"):
        _need(len(facts[name].split()) == n_columns, name)
    _need(_int(facts["num_class"]) == _int(facts["num_tree_per_iteration"]) == n_outputs, "its number of classes")
    # The library cuts the text by these sizes, and the objective writes an answer for each of its classes.
    _need(_whole(facts["tree_sizes"]) == [len(tree.encode()) for tree in trees], "tree_sizes")
    for number in re.findall(r"num_class:(\S+)", facts.get("objective", "")):
        _need(_int(number) == n_outputs, "the classes of its objective")
    _need(len(trees) % n_outputs == 0, "its number of trees")
    for tree in trees:
        _check_lightgbm_tree(_lines(tree), n_columns)


def _check_lightgbm_tree(tree: dict[str, str], n_columns: int) -> None:
    leaves = _int(tree["num_leaves"])
    _need(leaves >= 1 and _int(tree.get("is_linear", 0)) == 0, "a tree")
    _need(len(tree["leaf_value"].split()) == leaves, "leaf_value")
    if leaves == 1:
        return
    inner = leaves - 1
    left, right, columns, kinds = (
        _whole(tree[name]) for name in ("left_child", "right_child", "split_feature", "decision_type")
    )
    thresholds = [float(value) for value in tree["threshold"].split()]
    _need(all(len(part) == inner for part in (left, right, columns, kinds, thresholds)), "the nodes of a tree")
    # Leaf k is written as -k - 1.
    ways = [[child if child >= 0 else inner - child - 1 for child in pair] for pair in zip(left, right, strict=True)]
    _follow([*ways, *([] for _ in range(leaves))], 2 * leaves - 1)
    _within(columns, n_columns, "split_feature")
    sets = _int(tree["num_cat"])
    chosen = [threshold for threshold, kind in zip(thresholds, kinds, strict=True) if kind & 1]
    _need(all(value == int(value) for value in chosen), "the categories of a tree")
    _within([int(value) for value in chosen], sets, "the categories of a tree")
    if sets:
        ends, words = _whole(tree["cat_boundaries"]), _whole(tree["cat_threshold"])
        _segments(ends, sets, len(words), "cat_boundaries")


def check_xgboost(text: str, n_columns: int, n_outputs: int) -> None:
    """Refuse a text of XGBoost whose trees point outside themselves, or to columns that rows do not have."""
    learner = _json(text)["learner"]
    parameters = learner["learner_model_param"]
    _need(_int(parameters["num_feature"]) == n_columns and _int(parameters["num_target"]) == 1, "its columns")
    _need(max(1, _int(parameters["num_class"])) == n_outputs, "its number of classes")
    multi = learner["objective"].get("softmax_multiclass_param", {"num_class": n_outputs})
    _need(max(1, _int(multi["num_class"])) == n_outputs, "the classes of its objective")
    _need(learner["gradient_booster"]["name"] == "gbtree", "its kind of booster")
    for name in ("feature_names", "feature_types"):
        _need(len(learner.get(name, [])) in (0, n_columns), name)
    model = learner["gradient_booster"]["model"]
    trees, parts = model["trees"], model["gbtree_model_param"]
    _need(_int(parts["num_trees"]) == len(trees) == len(model["tree_info"]), "its number of trees")
    _need(_int(parts["num_parallel_tree"]) >= 1, "num_parallel_tree")
    _within(model["tree_info"], n_outputs, "tree_info")
    rounds = model["iteration_indptr"]
    _segments(rounds, len(rounds) - 1, len(trees), "iteration_indptr")
    _check_xgboost_categories(model.get("cats", {}), n_columns)
    for number, tree in enumerate(trees):
        _need(_int(tree["id"]) == number, "the order of its trees")
        _check_xgboost_tree(tree, n_columns)


def _check_xgboost_tree(tree: dict[str, Any], n_columns: int) -> None:
    facts = tree["tree_param"]
    nodes = _int(facts["num_nodes"])
    _need(nodes >= 1 and _int(facts["num_feature"]) == n_columns, "a tree")
    _need(_int(facts["size_leaf_vector"]) in (0, 1) and _int(facts["num_deleted"]) >= 0, "a tree")
    same = ("left_children", "right_children", "parents", "split_indices", "split_conditions", "split_type")
    for name in (*same, "default_left", "base_weights", "loss_changes", "sum_hessian"):
        _need(len(tree[name]) == nodes, name)
    ways = []
    for pair in zip(tree["left_children"], tree["right_children"], strict=True):
        _need((pair[0] == -1) == (pair[1] == -1), "the nodes of a tree")
        ways.append([] if pair[0] == -1 else list(pair))
    reached = _follow(ways)
    for node in reached:
        for child in ways[node]:
            _need(tree["parents"][child] == node, "parents")
    _within(tree["split_indices"], n_columns, "split_indices")
    _need(all(kind in (0, 1) for kind in tree["split_type"]), "split_type")
    starts, sizes, owners = (tree[f"categories_{name}"] for name in ("segments", "sizes", "nodes"))
    _need(len(starts) == len(sizes) == len(owners), "the categories of a tree")
    _within(owners, nodes, "categories_nodes")
    _need(all(one < other for one, other in pairwise(owners)), "categories_nodes")
    chosen = {node for node in range(nodes) if tree["split_type"][node] == 1 and ways[node]}
    _need(chosen == set(owners), "categories_nodes")
    _within(tree["categories"], MOST_CATEGORIES, "categories")
    for start, size in zip(starts, sizes, strict=True):
        _need(start >= 0 and size >= 1 and start + size <= len(tree["categories"]), "categories_segments")


def _check_xgboost_categories(cats: dict[str, Any], n_columns: int) -> None:
    """The categories of training, by which those of rows are numbered."""
    ends, order = cats.get("feature_segments", []), cats.get("sorted_idx", [])
    if not ends and not order and not cats.get("enc"):
        return
    _segments(ends, n_columns, len(order), "feature_segments")
    _need(len(cats["enc"]) == n_columns, "enc")
    for each, (begin, end) in zip(cats["enc"], pairwise(ends), strict=True):
        _need(sorted(order[begin:end]) == list(range(end - begin)), "sorted_idx")
        values = each.get("values", [])
        if each.get("offsets"):  # text, as the places where one word ends
            _segments(each["offsets"], end - begin, len(values), "offsets")
        else:
            _need(len(values) == end - begin, "values")


def check_catboost(text: str, n_columns: int, n_outputs: int) -> None:
    """Refuse a text of CatBoost whose trees point to columns or borders that do not exist."""
    model = _json(text)
    _need(set(model) <= {"features_info", "model_info", "oblivious_trees", "scale_and_bias"}, "its parts")
    _need(set(model["features_info"]) == {"float_features"}, "its columns")
    features = model["features_info"]["float_features"]
    for place, feature in enumerate(features):
        _need(feature["feature_index"] == feature["flat_feature_index"] == place, "the order of its columns")
    _need(len(features) == n_columns, "its columns")
    borders = [feature["borders"] or [] for feature in features]
    for each in borders:
        _need(all(one < other for one, other in pairwise(each)), "borders")
    scale, bias = model["scale_and_bias"]
    _need(isinstance(scale, (int, float)) and len(bias) == n_outputs, "scale_and_bias")
    places = [(column, border) for column, each in enumerate(borders) for border in each]
    for tree in model["oblivious_trees"]:
        splits = tree["splits"] or []
        _need(len(splits) <= DEEPEST, "the depth of a tree")
        _need(len(tree["leaf_values"]) == n_outputs << len(splits), "leaf_values")
        _need(len(tree.get("leaf_weights") or []) in (0, 1 << len(splits)), "leaf_weights")
        for split in splits:
            _need(split["split_type"] == "FloatFeature", "split_type")
            _within([split["split_index"]], len(places), "split_index")
            _need(places[split["split_index"]] == (split["float_feature_index"], split["border"]), "a split")


def _lines(text: str) -> dict[str, str]:
    """The lines name=value of a text; one that stands twice could be read either way."""
    pairs = [line.split("=", 1) for line in text.split("\n") if "=" in line]
    found = {pair[0]: pair[1] for pair in pairs}
    _need(len(found) == len(pairs), "a line that stands twice")
    return found


def _whole(text: str) -> list[int]:
    return [_int(part) for part in text.split(" ") if part]


def _int(value: Any) -> int:
    """A whole number as every reader of texts understands it: Python takes 1_0 for ten, others for one."""
    _need(re.fullmatch(r"-?[0-9]+", str(value)) is not None, f"the number {str(value)[:20]!r}")
    return int(value)


def _json(text: str) -> Any:
    """What a text in JSON says; a key that stands twice could be read either way."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        _need(len(found) == len(pairs), "a key that stands twice")
        return found

    return json.loads(text, object_pairs_hook=once)


def _need(right: bool, what: str) -> None:
    if not right:
        raise BoosterTextError(f"{what} cannot be right")


def _within(places: Sequence[int], size: int, what: str) -> None:
    _need(all(type(place) is int and 0 <= place < size for place in places), what)


def _segments(ends: Sequence[int], count: int, whole: int, what: str) -> None:
    """Where `count` segments of an array of a size begin and end."""
    _need(len(ends) == count + 1 and ends[0] == 0 and ends[-1] == whole, what)
    _need(all(one <= other for one, other in pairwise(ends)), what)


def _follow(ways: Sequence[Sequence[int]], expected: int | None = None) -> set[int]:
    """The nodes that are reached from the first one, no way twice and none outside."""
    reached, waiting = {0}, [0]
    while waiting:
        for child in ways[waiting.pop()]:
            _within([child], len(ways), "the nodes of a tree")
            _need(child not in reached, "the nodes of a tree")
            reached.add(child)
            waiting.append(child)
    _need(expected is None or len(reached) == expected, "the nodes of a tree")
    return reached
