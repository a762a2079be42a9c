"""`to_sklearn`: a fitted tree or ensemble of ours as a genuine fitted model of scikit-learn.

Tools that ask for scikit-learn's own classes (`sklearn.tree.plot_tree`, shap, skl2onnx, treelite) take it from there.
Models are made by fitting scikit-learn's on a few rows, which sets whatever a version of scikit-learn sets, and
replacing the trees: the state of a tree is public.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.ensembles._ensemble import Ensemble
from conjunto.ensembles._panel import Panel
from conjunto.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from conjunto.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor
from conjunto.exchange.fitting_rows import placed_between, same_answers
from conjunto.exchange.node_arrays import NodeArrays, check_tests
from conjunto.exchange.one_hot import OneHotColumns
from conjunto.learners.growing import criterion_of
from conjunto.learners.rows import read_fitted_rows
from conjunto.learners.tree import BinaryTree
from conjunto.problem import is_frame, select

_FORESTS = {
    RandomForestClassifier: "RandomForestClassifier",
    RandomForestRegressor: "RandomForestRegressor",
    ExtraTreesClassifier: "ExtraTreesClassifier",
    ExtraTreesRegressor: "ExtraTreesRegressor",
}


def to_sklearn(fitted: Any, X: Any = None, *, one_hot: bool = False) -> Any:
    """Return a fitted scikit-learn model with the same predictions.

    A tree becomes a `DecisionTree*`, a forest a `RandomForest*` or `ExtraTrees*`, AdaBoost (SAMME, R2) an `AdaBoost*`,
    and any other ensemble of trees with equal votes a `Bagging*`. Where members vote by label, the leaves of the trees
    are all for one class, so that scikit-learn's average of shares counts the votes.

    Parameters
    ----------
    fitted : fitted tree or ensemble of conjunto
        Its trees test one column at a time.
    X : array-like or DataFrame, default=None
        Training rows. scikit-learn rounds rows to single precision; thresholds are rounded down to it, so that rows of
        floats take the same branches. Where X holds doubles, thresholds are placed so that none of these rows changes
        side, and the predictions for X are compared.
    one_hot : bool, default=False
        Write tests on sets of categories over one-hot columns. The result is then a pipeline that takes the DataFrames
        that the model takes.

    Returns
    -------
    model : fitted estimator of scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> from conjunto import CARTClassifier, to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> print(export_text(to_sklearn(CARTClassifier(max_depth=1).fit(X[:, 2:3], y))).strip())
    |--- feature_0 <= 2.45
    |   |--- class: 0
    |--- feature_0 >  2.45
    |   |--- class: 1
    """
    check_is_fitted(fitted)
    X = X if X is None or is_frame(X) else np.asarray(X)
    forest = _forest_of(fitted)
    check_tests(forest, categories=one_hot)
    columns = OneHotColumns.of(fitted) if one_hot else None
    trees = _trees(fitted, forest, columns)
    if X is not None:
        encoded = read_fitted_rows(fitted, X)
        rows = encoded if columns is None else columns.matrix(encoded)
        trees = [placed_between(tree, rows) for tree in trees]
        whole = np.flatnonzero(~np.isnan(rows).any(axis=1))
    width = forest.columns if columns is None else columns.width
    model = _model(fitted, trees, width)
    takes_missing = get_tags(model).input_tags.allow_nan
    if columns is not None:
        model = columns.pipeline(model)
    elif hasattr(fitted, "feature_names_in_"):
        model.feature_names_in_ = fitted.feature_names_in_
    if X is not None and (takes_missing or len(whole)):
        same_answers(fitted, model, X if takes_missing else select(X, whole))
    return model


def _forest_of(fitted: Any) -> _core.Forest:
    """The packed trees of what can be converted, or why it cannot."""
    if isinstance(fitted, BinaryTree):
        return fitted.forest_
    if not isinstance(fitted, Ensemble):
        raise TypeError(f"a fitted tree or ensemble of conjunto is needed, got {type(fitted).__name__}")
    panel = fitted._voting()
    if panel.forest is None:
        raise TypeError(
            f"the members of this {type(fitted).__name__} are no binary trees of conjunto on the columns of X"
        )
    votes_alike = panel.weights is None and panel.groups is None and panel.code is None and panel.leaf_scores is None
    if getattr(fitted, "n_outputs_", 1) > 1 and hasattr(fitted, "classes_") and type(fitted) not in _FORESTS:
        raise TypeError("scikit-learn's bagging of classifiers has one target: convert a forest, or single trees")
    if not votes_alike and panel.reading not in ("samme", "medians"):
        raise TypeError(
            f"scikit-learn has no ensemble that adds up votes as this {type(fitted).__name__} does ({panel.reading!r})"
        )
    return panel.forest


def _trees(fitted: Any, forest: _core.Forest, columns: OneHotColumns | None) -> list[NodeArrays]:
    learner = fitted if isinstance(fitted, BinaryTree) else fitted._voting().members.learner
    criterion = criterion_of(learner, forest)
    trees = NodeArrays.of(forest, criterion) if columns is None else columns.trees(forest, criterion)
    if not forest.classes:
        return trees
    if isinstance(fitted, BinaryTree):
        return [tree.with_labels_leading() for tree in trees]
    return trees if fitted._voting().reading == "shares" else [tree.deciding_by_label() for tree in trees]


def _model(fitted: Any, trees: Sequence[NodeArrays], width: int) -> Any:
    """A scikit-learn model with these trees."""
    y = _some_answers(fitted)
    X = np.repeat(np.arange(len(y), dtype=np.float64)[:, None], width, axis=1)
    if isinstance(fitted, BinaryTree):
        model = _theirs(sklearn.tree, "DecisionTree", fitted)().fit(X, y)
        model.tree_ = _tree(model, trees[0])
        return _with_parameters(model, fitted)
    panel = fitted._voting()
    model = _ensemble(fitted, panel)
    model.set_params(n_estimators=1, random_state=0).fit(X, y)
    first = model.estimators_[0]
    model.estimators_ = [_member(first, tree) for tree in trees]
    if hasattr(model, "estimators_features_"):
        model.estimators_features_ = [np.arange(width)] * len(trees)
    if panel.weights is not None:
        model.estimator_weights_ = np.array(panel.weights)
        model.estimator_errors_ = np.array(panel.errors)
    # Which rows the members saw is not known to it, and must not be made up from the few rows above.
    for name in ("_n_samples", "_n_samples_bootstrap", "_seeds"):
        vars(model).pop(name, None)
    return _with_parameters(model, fitted).set_params(n_estimators=len(trees))


def _some_answers(fitted: Any) -> Any:
    """Answers for one row per class, all different, so that any learner fits them; of several targets in columns."""
    classes = getattr(fitted, "classes_", None)
    outputs = getattr(fitted, "n_outputs_", 1)
    if classes is None:
        values = np.arange(2.0)
        return values if outputs == 1 else np.repeat(values[:, None], outputs, axis=1)
    if outputs == 1:
        return classes
    count = max(map(len, classes))
    return np.stack([np.resize(each, count) for each in classes], axis=1)


def _theirs(room: ModuleType, stem: str, fitted: Any) -> Any:
    return getattr(room, f"{stem}{'Classifier' if hasattr(fitted, 'classes_') else 'Regressor'}")


def _ensemble(fitted: Any, panel: Panel) -> Any:
    """The ensemble of scikit-learn that counts as ours does, not fitted."""
    if type(fitted) in _FORESTS:
        return getattr(sklearn.ensemble, _FORESTS[type(fitted)])(bootstrap=False)
    tree = _theirs(sklearn.tree, "DecisionTree", fitted)()
    if panel.weights is not None:
        return _theirs(sklearn.ensemble, "AdaBoost", fitted)(tree)
    return _theirs(sklearn.ensemble, "Bagging", fitted)(tree, bootstrap=False)


def _member(first: Any, nodes: NodeArrays) -> Any:
    tree = copy.copy(first)
    tree.tree_ = _tree(first, nodes)
    return tree


def _tree(fitted: Any, nodes: NodeArrays) -> Any:
    """The nodes in scikit-learn's own structure, whose type and state a fitted tree tells."""
    like = fitted.tree_
    state = like.__getstate__()
    table = np.zeros(len(nodes), dtype=state["nodes"].dtype)
    table["left_child"], table["right_child"] = nodes.left, nodes.right
    table["feature"], table["threshold"] = nodes.feature, nodes.threshold
    table["impurity"], table["n_node_samples"] = nodes.impurity, nodes.rows
    table["weighted_n_node_samples"] = nodes.weight
    table["missing_go_to_left"] = nodes.missing_left
    state |= {
        "max_depth": nodes.depth,
        "node_count": len(nodes),
        "nodes": table,
        "values": np.ascontiguousarray(nodes.value),
    }
    tree = type(like)(like.n_features, np.array(like.n_classes), like.n_outputs)
    tree.__setstate__(state)
    return tree


def _with_parameters(model: Any, fitted: Any) -> Any:
    """With the parameters that both know, so that a clone is fitted as ours would be."""
    ours = fitted.get_params(deep=False)
    shared = {name: ours[name] for name in model.get_params(deep=False) if name in ours and name != "estimator"}
    return model.set_params(**shared)
