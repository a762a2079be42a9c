"""`from_sklearn`: a fitted model of scikit-learn as one of ours, with equal predictions.

Its trees are packed: a fraction of the memory, predicted by the core, saved in files that are safe to read.
scikit-learn compares rows in single precision; thresholds are moved so that every double takes the branch that its
float takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.ensembles._panel import Panel
from conjunto.ensembles.adaboost import AdaBoostClassifier
from conjunto.ensembles.adaboost_regressor import AdaBoostRegressor
from conjunto.ensembles.bagging import BaggingClassifier, BaggingRegressor
from conjunto.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from conjunto.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor
from conjunto.exchange.single_precision import for_doubles
from conjunto.learners.cart import CARTClassifier, CARTRegressor
from conjunto.learners.members import TreeMembers
from conjunto.learners.outline import MISSING_LEFT
from conjunto.outputs import class_counts, count_classes, several
from conjunto.problem import Columns

_TREES = (sklearn.tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeRegressor)
_OURS: dict[type, tuple[type, str]] = {
    sklearn.ensemble.RandomForestClassifier: (RandomForestClassifier, "shares"),
    sklearn.ensemble.RandomForestRegressor: (RandomForestRegressor, "values"),
    sklearn.ensemble.ExtraTreesClassifier: (ExtraTreesClassifier, "shares"),
    sklearn.ensemble.ExtraTreesRegressor: (ExtraTreesRegressor, "values"),
    sklearn.ensemble.BaggingClassifier: (BaggingClassifier, "shares"),
    sklearn.ensemble.BaggingRegressor: (BaggingRegressor, "values"),
    sklearn.ensemble.AdaBoostClassifier: (AdaBoostClassifier, "samme"),
    sklearn.ensemble.AdaBoostRegressor: (AdaBoostRegressor, "medians"),
}
"""Ours, and how the answers of its members are read."""


def from_sklearn(fitted: Any) -> Any:
    """Return a model of conjunto with the trees of a fitted model of scikit-learn.

    Parameters
    ----------
    fitted : fitted DecisionTree*, ExtraTree*, RandomForest*, ExtraTrees*, Bagging* or AdaBoost* of scikit-learn
        The members of bagging and AdaBoost are trees.

    Returns
    -------
    model : fitted estimator
        A `CART*`, `RandomForest*`, `ExtraTrees*`, `Bagging*` or `AdaBoost*` with the parameters that both know. Which
        rows its members saw is not kept: prune the original, and convert what is left.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from conjunto import from_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> bool((from_sklearn(theirs).predict(X) == theirs.predict(X)).all())
    True
    """
    if type(fitted).__module__.startswith("conjunto."):
        return fitted
    kind = next((base for base in (*_TREES, *_OURS) if isinstance(fitted, base)), None)
    if kind is None:
        raise TypeError(
            "from_sklearn takes fitted trees, forests, extra trees, bagging of trees and AdaBoost of trees of "
            f"scikit-learn, got {type(fitted).__name__}"
        )
    check_is_fitted(fitted)
    model = _tree(fitted) if isinstance(fitted, _TREES) else _ensemble(fitted, *_OURS[kind])
    model.n_features_in_ = fitted.n_features_in_
    model._columns = Columns((None,) * fitted.n_features_in_)
    if hasattr(fitted, "feature_names_in_"):
        model.feature_names_in_ = fitted.feature_names_in_
    model.n_outputs_ = (fitted if hasattr(fitted, "n_outputs_") else fitted.estimators_[0]).n_outputs_
    if hasattr(fitted, "classes_"):
        model.classes_ = fitted.classes_ if several(fitted.classes_) else np.asarray(fitted.classes_)
        model.n_classes_ = class_counts(model.classes_)
    return model


def _tree(fitted: Any) -> CARTClassifier | CARTRegressor:
    ours: type[Any] = CARTClassifier if hasattr(fitted, "classes_") else CARTRegressor
    tree = ours(**_shared(ours, fitted))
    everything = np.arange(fitted.n_features_in_)
    tree.forest_ = _forest([fitted], [everything], fitted.n_features_in_, getattr(fitted, "classes_", None))
    tree.max_features_ = fitted.max_features_
    return tree


def _ensemble(fitted: Any, ours: type[Any], reading: str) -> Any:
    members = list(fitted.estimators_)
    for member in members:
        if not isinstance(member, _TREES):
            raise TypeError(
                f"from_sklearn takes {type(fitted).__name__} of scikit-learn's trees, and this one has members of type "
                f"{type(member).__name__}"
            )
    everything = np.arange(fitted.n_features_in_)
    columns = getattr(fitted, "estimators_features_", None) or [everything] * len(members)
    classes = getattr(fitted, "classes_", None)
    forest = _forest(members, columns, fitted.n_features_in_, classes, labelled=reading == "samme")
    tree: type[Any] = CARTRegressor if classes is None else CARTClassifier
    learner = tree(**_shared(tree, members[0]))
    model = ours(**_shared(ours, fitted))
    if reading == "shares":
        model.vote = "soft"
    weights = None
    if hasattr(fitted, "estimator_weights_"):
        weights = np.asarray(fitted.estimator_weights_[: len(members)], dtype=np.float64)
        model.estimator = learner
    errors = None if weights is None else np.asarray(fitted.estimator_errors_[: len(members)], dtype=np.float64)
    model._panel = Panel(
        TreeMembers(forest, learner), reading, classes, weights, errors=errors, n_outputs=members[0].n_outputs_
    )
    model.estimator_ = learner
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        if hasattr(fitted, name):
            setattr(model, name, getattr(fitted, name))
    return model


def _shared(ours: type[Any], fitted: Any) -> dict[str, Any]:
    """The parameters that ours has too."""
    known = set(ours().get_params(deep=False)) - {"estimator"}
    return {name: value for name, value in fitted.get_params(deep=False).items() if name in known}


def _forest(
    trees: Sequence[Any],
    columns: Sequence[NDArray[Any]],
    n_columns: int,
    classes: Any,
    labelled: bool = False,
) -> _core.Forest:
    """The trees, packed; `labelled` where members know labels and not codes."""
    n_classes, n_outputs = count_classes(classes), trees[0].n_outputs_
    parts = [_packed(tree, used, classes, labelled) for tree, used in zip(trees, columns, strict=True)]
    starts = {name: np.cumsum([0, *(part[name] for part in parts)]).astype(np.uint64) for name in ("nodes", "leaves")}
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name not in starts}
    if n_classes:
        # Rows of shares are numbered over the forest.
        impure = arrays["leaf_label"] < 0
        arrays["leaf_label"][impure] = ~np.arange(impure.sum(), dtype=np.int32)
    nothing = np.zeros(0, dtype=np.uint32)
    return _core.Forest(
        {
            "format": _core.Forest.FORMAT,
            "columns": n_columns,
            "classes": n_classes,
            "categories": np.zeros(n_columns, dtype=np.uint32),
            "outputs": _class_counts_by_output(classes, n_outputs),
            "node_start": starts["nodes"],
            "leaf_start": starts["leaves"],
            "weight_unit": np.ones(len(trees)),
            "target_unit": np.ones(len(trees)),
            "sets": nothing,
            "term_coefficient": np.zeros(0),
            "term_column": nothing,
            "term_set": np.zeros(0, dtype=np.int32),
            "term_start": np.zeros(1, dtype=np.uint32),
            **arrays,
        }
    )


def _class_counts_by_output(classes: Any, n_outputs: int) -> NDArray[np.uint32]:
    """As a forest has them: nothing for one target, 0 for each of several in regression."""
    counts = [] if n_outputs == 1 else [0] * n_outputs if classes is None else class_counts(classes)
    return np.array(counts, dtype=np.uint32)


def _packed(fitted: Any, columns: NDArray[Any], classes: Any, labelled: bool) -> dict[str, Any]:
    """The arrays of one tree of scikit-learn, as a forest holds them."""
    tree = fitted.tree_
    left, right = tree.children_left, tree.children_right
    inner = left >= 0
    # Inner nodes and leaves are numbered apart; a leaf is written as ~number.
    number = np.where(inner, np.cumsum(inner) - 1, ~(np.cumsum(~inner) - 1)).astype(np.int32)
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    lost = weight * impurity
    gain = (lost[inner] - lost[left[inner]] - lost[right[inner]]) / weight[0]
    missing = np.asarray(tree.missing_go_to_left)[inner].astype(bool)
    column = np.asarray(columns)[tree.feature[inner]].astype(np.uint32)
    # Values that do not follow from those of the leaves are kept.
    apart = classes is None and (fitted.criterion == "absolute_error" or fitted.monotonic_cst is not None)
    packed: dict[str, Any] = {
        "nodes": int(inner.sum()),
        "leaves": int((~inner).sum()),
        "threshold": for_doubles(tree.threshold[inner]),
        "left": number[left[inner]],
        "right": number[right[inner]],
        "test": column | np.where(missing, np.uint32(MISSING_LEFT), np.uint32(0)),
        "gain": np.maximum(0.0, gain).astype(np.float32),
        "leaf_rows": tree.n_node_samples[~inner].astype(np.uint32),
        "leaf_weight": weight[~inner].astype(np.float32),
        "inner_value": tree.value[inner, :, 0].ravel() if apart else np.zeros(0),
        "leaf_label": np.zeros(0, dtype=np.int32),
        "leaf_value": np.zeros(0),
        "leaf_impurity": np.zeros(0),
        "shares": np.zeros(0),
        "share_label": np.zeros(0, dtype=np.int32),
        "output_label": np.zeros(0, dtype=np.int32),
    }
    if classes is None:
        return packed | {"leaf_value": tree.value[~inner, :, 0].ravel(), "leaf_impurity": impurity[~inner]}
    names, known = (classes, fitted.classes_) if several(classes) else ([classes], [fitted.classes_])
    parts = [
        _shares(tree.value[~inner, o], those, of_target, labelled)
        for o, (those, of_target) in enumerate(zip(known, names, strict=True))
    ]
    label = np.stack([part.argmax(axis=1) for part in parts], axis=1).astype(np.int32)
    pure = np.all([part.max(axis=1) == 1 for part in parts], axis=0)
    packed["shares"] = np.hstack(parts)[~pure].ravel()
    if several(classes):
        return packed | {"leaf_label": np.where(pure, 0, -1).astype(np.int32), "output_label": label.ravel()}
    return packed | {
        "leaf_label": np.where(pure, label[:, 0], -1).astype(np.int32),
        "share_label": label[~pure, 0],
    }


def _shares(value: NDArray[Any], known: NDArray[Any], classes: NDArray[Any], labelled: bool) -> NDArray[np.float64]:
    """(leaves, K): of one target. A member knows classes by codes, or labels, and its sample may have missed some."""
    value = value[:, : len(known)]
    shares = np.zeros((len(value), len(classes)))
    places = np.arange(len(classes))
    if len(known) < len(classes):
        places = np.asarray(np.searchsorted(classes, known) if labelled else known, dtype=np.intp)
    shares[:, places] = value / value.sum(axis=1, keepdims=True)
    return shares
