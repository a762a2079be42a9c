"""The methods that experiments and the command line know: one literal table.

A new method joins by one line here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any

from conjunto.checks import check_choice, suggest

NONE: Mapping[str, Any] = MappingProxyType({})
# Parameters of the base learner, a tree, are named as scikit-learn names nested ones; `estimator` names the tree.
NESTED = "estimator__"
# With one of these parameters the ensemble is pruned after it is fitted; the rest is left at the defaults of pruning.
PRUNING = "pruning__"
PRUNING_PARAMETERS = ("method", "keep", "selection")
TREES: dict[str, tuple[str, str | None]] = {
    "cart": ("CARTClassifier", "CARTRegressor"),
    "c45": ("C45Classifier", None),
    "igp": ("IGPTreeClassifier", None),
}


@dataclass(frozen=True)
class Registered:
    """A method: what it is called, the estimators behind it, and the parameters it starts from."""

    title: str
    classifier: str | None
    regressor: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    panel: bool = False
    """Whether `conjunto compare` runs it by default."""
    trees: tuple[str, ...] = ("cart", "c45", "igp")
    """The base learners that can be named, of those in `TREES`; the first is the default."""


METHODS: dict[str, Registered] = {
    "cart": Registered("single tree (CART)", "CARTClassifier", "CARTRegressor", panel=True),
    "cart-pruned": Registered(
        "single tree (CART, pruned by cross-validation)", "CARTClassifier", "CARTRegressor", {"prune": "cv"}
    ),
    "c45": Registered("single tree (C4.5)", "C45Classifier"),
    "igp": Registered("single tree (IGP)", "IGPTreeClassifier"),
    "bagging": Registered("bagging", "BaggingClassifier", "BaggingRegressor", {"n_estimators": 100}, panel=True),
    "balanced-bagging": Registered(
        "balanced bagging", "BaggingClassifier", "BaggingRegressor", {"n_estimators": 100, "balanced": True}
    ),
    "pruned-bagging": Registered(
        "bagging of pruned trees, a fifth of them kept",
        "BaggingClassifier",
        "BaggingRegressor",
        {
            "n_estimators": 200,
            "estimator__prune": "cv",
            "pruning__method": "margin_distance",
            "pruning__keep": 0.2,
            "pruning__selection": "train",
        },
    ),
    "double-bagging": Registered("double-bagging", "DoubleBaggingClassifier", parameters={"n_estimators": 100}),
    "pasting": Registered("pasting", "PastingClassifier", "PastingRegressor", {"n_estimators": 100}),
    "random-subspace": Registered(
        "random subspaces",
        "RandomSubspaceClassifier",
        "RandomSubspaceRegressor",
        {"n_estimators": 100},
        panel=True,
    ),
    "random-forest": Registered(
        "random forest", "RandomForestClassifier", "RandomForestRegressor", {"n_estimators": 100}, panel=True
    ),
    "forest-rc": Registered(
        "random forest, linear combinations",
        "RandomForestClassifier",
        "RandomForestRegressor",
        {"n_estimators": 100, "split": "combination"},
    ),
    "randomization": Registered(
        "randomization", "RandomizationClassifier", parameters={"n_estimators": 100}, panel=True
    ),
    "wagging": Registered("wagging", "WaggingClassifier", parameters={"n_estimators": 100}, panel=True),
    "class-switching": Registered(
        "class-switching", "ClassSwitchingClassifier", parameters={"n_estimators": 1000}, panel=True
    ),
    "flipping": Registered("flipping", "FlippingClassifier", parameters={"n_estimators": 1000}),
    "igp-ensemble": Registered(
        "IGP ensemble", "IGPEnsembleClassifier", parameters={"n_estimators": 100}, trees=("igp",)
    ),
    "ecoc": Registered("error-correcting output codes", "ECOCClassifier", parameters={"n_estimators": 100}),
    "round-robin": Registered("round robin", "RoundRobinClassifier"),
    "adaboost": Registered(
        "AdaBoost (SAMME or R2)",
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        {"n_estimators": 100, "estimator__max_depth": 3},
        panel=True,
    ),
    "adaboost-stumps": Registered("AdaBoost (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100}),
    "adaboost-m1": Registered(
        "AdaBoost.M1",
        "AdaBoostClassifier",
        parameters={"n_estimators": 100, "algorithm": "m1", "restart": "bootstrap", "estimator__max_depth": 3},
    ),
    "adaboost-m2": Registered(
        "AdaBoost.M2 (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100, "algorithm": "m2"}
    ),
    "adaboost-mh": Registered(
        "AdaBoost.MH (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100, "algorithm": "mh"}
    ),
    "real-adaboost": Registered(
        "SAMME.R (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100, "algorithm": "samme.r"}
    ),
    "gentle-adaboost": Registered(
        "Gentle AdaBoost (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100, "algorithm": "gentle"}
    ),
    "logitboost": Registered(
        "LogitBoost (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100, "algorithm": "logit"}, panel=True
    ),
    "adaboost-r": Registered("AdaBoost.R", None, "AdaBoostRegressor", {"n_estimators": 100, "algorithm": "r"}),
    "arc-x4": Registered("arc-x4", "ArcX4Classifier", parameters={"n_estimators": 100}),
    "multiboost": Registered("MultiBoost", "MultiBoostClassifier", parameters={"n_estimators": 100}, panel=True),
    "igp-boosting": Registered(
        "boosting of IGP trees", "IGPBoostingClassifier", parameters={"n_estimators": 100}, trees=("igp",)
    ),
    "igp-committees": Registered("IGP committees", "IGPCommitteesClassifier", trees=("igp",)),
    "three-boost": Registered("three-member boosting", "ThreeBoostClassifier"),
    "output-smearing": Registered(
        "output smearing", None, "OutputSmearingRegressor", {"n_estimators": 100}, panel=True
    ),
}


def panel(task: str) -> list[str]:
    """The methods that are compared when none are named."""
    return [name for name, method in METHODS.items() if method.panel and estimator_name(name, task) is not None]


def can_be_pruned(name: str, parameters: Mapping[str, Any] = NONE) -> bool:
    """Whether a method is an ensemble that can be pruned, and is not pruned already."""
    pruned = any(key.startswith(PRUNING) for key in (*METHODS[name].parameters, *parameters))
    return not pruned and not _why_whole(name)


def estimator_name(name: str, task: str) -> str | None:
    """The class behind a method for a task; None where it has none."""
    method = METHODS[name]
    check_choice("task", task, ("classification", "regression"))
    return method.classifier if task == "classification" else method.regressor


def make(name: str, task: str, parameters: Mapping[str, Any] = NONE, random_state: Any = None) -> Any:
    """An unfitted estimator of a registered method.

    Examples
    --------
    >>> from conjunto.experiments import make
    >>> make("bagging", "regression", {"n_estimators": 5}, random_state=0)
    BaggingRegressor(n_estimators=5, random_state=0)
    >>> len(make("bagging", "classification", {"pruning__keep": 0.1}, random_state=0).fit([[0], [1]], [0, 1]))
    10
    """
    check_method(name, parameters, task)
    kind = _class(estimator_name(name, task))
    # Not every method is random.
    seed = {"random_state": random_state} if "random_state" in signature(kind).parameters else {}
    stated = METHODS[name].parameters
    if "estimator" in parameters:
        # What the table says of its own tree does not hold for another one.
        stated = {key: value for key, value in stated.items() if not key.startswith(NESTED)}
    given = {**stated, **parameters, **seed}
    tree, pruning = _take(given, NESTED), _take(given, PRUNING)
    if tree or "estimator" in given:
        given["estimator"] = _tree(given.get("estimator", METHODS[name].trees[0]), task)(**tree)
    if not pruning:
        return kind(**given)
    pruned = _class("PrunedClassifier" if task == "classification" else "PrunedRegressor")
    return pruned(kind(**given), **pruning, random_state=random_state)


def parameters_of(model: Any) -> dict[str, Any]:
    """The parameters of an estimator that `make` made, under the names by which it takes them."""
    if not isinstance(model, (_class("PrunedClassifier"), _class("PrunedRegressor"))):
        return dict(model.get_params())
    pruning = {PRUNING + name: getattr(model, name) for name in PRUNING_PARAMETERS}
    return {**model.estimator.get_params(), **pruning}


def check_method(name: str, parameters: Mapping[str, Any], task: str | None = None) -> None:
    """Refuse a method that does not exist or does not do the task, and parameters that it does not have."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}; {suggest(name, METHODS, len(METHODS))}")
    if task is not None and estimator_name(name, task) is None:
        raise ValueError(f"{name} does not do {task}")
    if parameters:
        both = (METHODS[name].classifier, METHODS[name].regressor) if task is None else (estimator_name(name, task),)
        kinds = [_class(kind) for kind in both if kind is not None]
        known = {parameter for kind in kinds for parameter in signature(kind).parameters}
        if "estimator" in known:
            base = parameters.get("estimator", METHODS[name].trees[0])
            if base not in METHODS[name].trees:
                raise ValueError(f"{name}: estimator must be one of {', '.join(METHODS[name].trees)}, got {base!r}")
            tasks = [task] if task is not None else ["classification", "regression"]
            trees = [_tree(base, t) for t in tasks if t == "classification" or TREES[base][1] is not None]
            if not trees:
                raise ValueError(f"{name}: {base} does not do {task}")
            known |= {NESTED + parameter for tree in trees for parameter in signature(tree).parameters}
        pruned = [parameter for parameter in parameters if parameter.startswith(PRUNING)]
        if pruned and (why := _why_whole(name)):
            raise ValueError(f"{name} cannot be pruned by {pruned[0]}: {why}; leave it out, or name another ensemble")
        known |= {PRUNING + parameter for parameter in PRUNING_PARAMETERS} if not _why_whole(name) else set()
        check_parameters(name, known, parameters)
        _check_pruning(name, parameters)


def check_parameters(name: str, known: Collection[str], parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that are not known, and a random state, which the seed decides."""
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; {suggest(parameter, sorted(known), len(known))}")
        if parameter.endswith("random_state"):
            raise ValueError(f"{name}: {parameter} follows from the seed of the experiment; leave it out")


def _check_pruning(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse before anything is fitted what the pruning would refuse after it."""
    from conjunto.pruning.choosing import check_method
    from conjunto.pruning.estimators import MOST_MEMBERS
    from conjunto.pruning.keep import check_keep
    from conjunto.pruning.selection import check_selection

    try:
        check_method(parameters.get(PRUNING + "method", "margin_distance"))
        check_selection(parameters.get(PRUNING + "selection", "train"))
        check_keep(parameters.get(PRUNING + "keep", 0.2), MOST_MEMBERS)
    except ValueError as error:
        raise ValueError(f"{name}, parameters {PRUNING}…: {error}") from error


def _why_whole(name: str) -> str:
    """Why a method cannot be pruned; nothing where it can."""
    if any(METHODS[name].classifier == tree for tree, _ in TREES.values()):
        return "it is a single tree"
    return str(getattr(_class(METHODS[name].classifier or METHODS[name].regressor), "_not_voters", ""))


def _take(given: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The parameters of a prefix, taken out, without it."""
    return {key.removeprefix(prefix): given.pop(key) for key in list(given) if key.startswith(prefix)}


def _tree(base: str, task: str) -> Any:
    return _class(TREES[base][task == "regression"])


def _class(name: str | None) -> Any:
    return getattr(import_module("conjunto"), str(name))
