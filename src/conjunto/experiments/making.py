"""`make`: an unfitted estimator from the name of a method, a task and parameters; what cannot be made is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from inspect import signature
from numbers import Real
from types import MappingProxyType
from typing import Any

from conjunto.checks import suggest
from conjunto.experiments.methods import METHODS, TREES, estimator_name

NONE: Mapping[str, Any] = MappingProxyType({})
# Parameters of the base learner, a tree, are named as scikit-learn names nested ones; `estimator` names the tree.
NESTED = "estimator__"
# With one of these parameters the ensemble is pruned after it is fitted; the others keep the defaults of pruning.
PRUNING = "pruning__"
PRUNING_PARAMETERS = ("method", "keep", "selection")
# What a method combines: names of other methods, in a text joined by "+".
COMBINED = "estimators"
# What says how many members there are, and how many an ensemble may have that is named, not written in Python: of more,
# nobody has seen the end.
SIZES = ("n_estimators", "n_committees", "committee_size")
MOST_MEMBERS = 1_000_000


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
    check_registered(name, parameters, task)
    kind = _class(estimator_name(name, task))
    # Not every method is random.
    seed = {"random_state": random_state} if "random_state" in signature(kind).parameters else {}
    stated = METHODS[name].parameters
    if "estimator" in parameters:
        # The parameters that the table gives its own tree are not meant for another one.
        stated = {key: value for key, value in stated.items() if not key.startswith(NESTED)}
    given = {**stated, **parameters, **seed}
    if given.get(COMBINED):
        given[COMBINED] = [
            (each, make(each, task, random_state=random_state)) for each in _combined(given[COMBINED], task)
        ]
    tree, pruning = _take(given, NESTED), _take(given, PRUNING)
    if tree or "estimator" in given:
        given["estimator"] = _tree(given.get("estimator", METHODS[name].trees[0]), task)(**tree)
    if not pruning:
        return kind(**given)
    pruned = _class("PrunedClassifier" if task == "classification" else "PrunedRegressor")
    return pruned(kind(**given), **pruning, random_state=random_state)


def can_be_pruned(name: str, parameters: Mapping[str, Any] = NONE) -> bool:
    """Whether a method is an ensemble that can be pruned, and is not pruned already."""
    pruned = any(key.startswith(PRUNING) for key in (*METHODS[name].parameters, *parameters))
    return not pruned and not _why_not_pruned(name)


def parameters_of(model: Any) -> dict[str, Any]:
    """The parameters of an estimator that `make` made, under the names by which it takes them."""
    if isinstance(getattr(model, COMBINED, None), list):
        return {**model.get_params(deep=False), COMBINED: "+".join(name for name, _ in model.estimators)}
    if not isinstance(model, (_class("PrunedClassifier"), _class("PrunedRegressor"))):
        return dict(model.get_params())
    pruning = {PRUNING + name: getattr(model, name) for name in PRUNING_PARAMETERS}
    return {**parameters_of(model.estimator), **pruning}


def check_registered(name: str, parameters: Mapping[str, Any], task: str | None = None) -> None:
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
        if COMBINED in parameters and COMBINED in known and METHODS[name].parameters.get(COMBINED):
            _check_combined(name, parameters[COMBINED], task)
        pruned = [parameter for parameter in parameters if parameter.startswith(PRUNING)]
        if pruned and (why := _why_not_pruned(name)):
            raise ValueError(f"{name} cannot be pruned by {pruned[0]}: {why}; leave it out, or name another ensemble")
        known |= {PRUNING + parameter for parameter in PRUNING_PARAMETERS} if not _why_not_pruned(name) else set()
        check_parameters(name, known, parameters)
        _check_sizes(name, parameters)
        _check_pruning(name, parameters)


def _combined(given: Any, task: str) -> list[str]:
    """The names of the methods that are combined, as far as they do the task."""
    names = given.split("+") if isinstance(given, str) else list(given)
    return [name for name in names if estimator_name(name, task) is not None]


def _check_combined(name: str, given: Any, task: str | None) -> None:
    """Refuse what is no list of methods, or none that does the task."""
    names = given.split("+") if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(each, str) for each in names):
        raise ValueError(f"{name}: estimators must be names of methods, as in random-forest+adaboost, got {given!r}")
    for each in names:
        if each not in METHODS:
            raise ValueError(f"{name}: estimators holds {each!r}; {suggest(each, METHODS, len(METHODS))}")
        if METHODS[each].parameters.get(COMBINED):
            raise ValueError(
                f"{name}: estimators holds {each!r}, which combines others itself: name ensembles or trees"
            )
    if len(set(names)) < len(names):
        raise ValueError(f"{name}: estimators names a method twice, got {given!r}")
    if task is not None and not _combined(names, task):
        raise ValueError(f"{name}: none of the estimators does {task}, got {given!r}")


def check_parameters(name: str, known: Collection[str], parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that are not known, and a random state, which the seed decides."""
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; {suggest(parameter, sorted(known), len(known))}")
        if parameter.endswith("random_state"):
            raise ValueError(f"{name}: {parameter} follows from the seed of the experiment; leave it out")


def _check_sizes(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse a number of members that would fill the memory or never end; others are judged by the estimator itself."""
    for parameter in SIZES:
        value = parameters.get(parameter)
        if isinstance(value, Real) and not value <= MOST_MEMBERS:
            raise ValueError(f"{name}: {parameter} must be at most {MOST_MEMBERS:,}, got {value!r}")


def _check_pruning(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse now, before anything is fitted, what the pruning would refuse after the fit."""
    from conjunto.pruning.choosing import check_criterion
    from conjunto.pruning.estimators import MOST_MEMBERS as ANY_NUMBER
    from conjunto.pruning.keep import check_keep
    from conjunto.pruning.selection import check_selection

    try:
        check_criterion(parameters.get(PRUNING + "method", "margin_distance"))
        check_selection(parameters.get(PRUNING + "selection", "train"))
        check_keep(parameters.get(PRUNING + "keep", 0.2), ANY_NUMBER)
    except ValueError as error:
        raise ValueError(f"{name}, parameters {PRUNING}…: {error}") from error


def _why_not_pruned(name: str) -> str:
    """Why a method cannot be pruned; empty where it can."""
    if any(METHODS[name].classifier == tree for tree, _ in TREES.values()):
        return "it is a single tree"
    return str(getattr(_class(METHODS[name].classifier or METHODS[name].regressor), "indivisible", ""))


def _take(given: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Take the parameters with a prefix out of `given`; return them without the prefix."""
    return {key.removeprefix(prefix): given.pop(key) for key in list(given) if key.startswith(prefix)}


def _tree(base: str, task: str) -> Any:
    return _class(TREES[base][task == "regression"])


def _class(name: str | None) -> Any:
    return getattr(import_module("conjunto"), str(name))
