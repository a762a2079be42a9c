"""`make`: an unfitted estimator from the name of a method, a task and parameters; what cannot be made is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from numbers import Real
from types import MappingProxyType
from typing import Any

from conjunto.checks import suggest
from conjunto.experiments.methods import METHODS, PREPARATIONS, TREES, estimator_name, installed, library, registered
from conjunto.experiments.own import find_class, known_parameters, takes_any
from conjunto.learners.coded import CodedClassifier

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
# How alike two names are, from 0 to 1, of which one is taken for a slip of the other.
SLIP = 0.85
# The steps of a method of another library: what prepares the table for it, and itself.
STEPS = ("prepare", "model")
# What says how many threads an estimator uses, where that is not `n_jobs`: scikit-learn's logistic regression has one
# that does nothing, and warns where it is set.
THREADS = {
    "CatBoostClassifier": ("thread_count",),
    "CatBoostRegressor": ("thread_count",),
    "LogisticRegression": (),
}


def make(name: str, task: str, parameters: Mapping[str, Any] = NONE, random_state: Any = None) -> Any:
    """An unfitted estimator of a registered method, or of a user's own as "module:Class".

    A method of another library is a pipeline with what prepares the table for it; parameters are those of the method.

    Examples
    --------
    >>> from conjunto.experiments import make
    >>> make("bagging", "regression", {"n_estimators": 5}, random_state=0)
    BaggingRegressor(n_estimators=5, random_state=0)
    >>> len(make("bagging", "classification", {"pruning__keep": 0.1}, random_state=0).fit([[0], [1]], [0, 1]))
    10
    >>> make("logistic-regression", "classification", {"C": 0.1}, random_state=0)["model"].C
    0.1
    """
    check_registered(name, parameters, task)
    kind = _class(estimator_name(name, task))
    if _is_foreign(name):
        return _make_foreign(name, kind, task, parameters, random_state)
    # Not every method is random.
    seed = {"random_state": random_state} if "random_state" in signature(kind).parameters else {}
    stated = registered(name).parameters
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
        given["estimator"] = _tree(given.get("estimator", registered(name).trees[0]), task)(**tree)
    if not pruning:
        return kind(**given)
    pruned = _class("PrunedClassifier" if task == "classification" else "PrunedRegressor")
    return pruned(kind(**given), **pruning, random_state=random_state)


def can_be_pruned(name: str, parameters: Mapping[str, Any] = NONE) -> bool:
    """Whether a method is an ensemble that can be pruned, and is not pruned already."""
    pruned = any(key.startswith(PRUNING) for key in (*registered(name).parameters, *parameters))
    return not pruned and not _why_not_pruned(name)


def parameters_of(model: Any) -> dict[str, Any]:
    """The parameters of an estimator that `make` made, under the names by which it takes them."""
    if isinstance(getattr(model, COMBINED, None), list):
        return {**model.get_params(deep=False), COMBINED: "+".join(name for name, _ in model.estimators)}
    if tuple(getattr(model, "named_steps", ())) == STEPS:
        # Within what tells it codes or scaled values, where something does.
        wrapped = getattr(model[-1], "estimator", None) or getattr(model[-1], "regressor", None)
        return dict((wrapped or model[-1]).get_params())
    if not isinstance(model, (_class("PrunedClassifier"), _class("PrunedRegressor"))):
        return dict(model.get_params())
    pruning = {PRUNING + name: getattr(model, name) for name in PRUNING_PARAMETERS}
    return {**parameters_of(model.estimator), **pruning}


def with_threads(model: Any, threads: int) -> Any:
    """The estimator, told how many threads to use wherever it, or a part of it, leaves that open.

    What a user set stays. The estimator itself is changed and returned, as by `set_params`.
    """
    parts = {"": model, **{f"{path}__": part for path, part in model.get_params().items() if _is_estimator(part)}}
    chosen = {}
    for path, part in parts.items():
        stated = part.get_params(deep=False)
        for name in THREADS.get(type(part).__name__, ("n_jobs",)):
            # CatBoost lists only what is set.
            if (name in stated or name == "thread_count") and stated.get(name) is None:
                chosen[path + name] = threads
    return model.set_params(**chosen) if chosen else model


def _is_estimator(part: Any) -> bool:
    return hasattr(part, "get_params") and not isinstance(part, type)


def check_registered(name: str, parameters: Mapping[str, Any], task: str | None = None) -> None:
    """Refuse a method that does not exist, is not installed or does not do the task, and parameters it does not have.

    A user's own estimator, "module:Class", is imported and checked in the same way.
    """
    method = registered(name)
    if task is not None and estimator_name(name, task) is None:
        raise ValueError(f"{name} does not do {task}")
    _check_installed(name)
    combined = parameters.get(COMBINED, method.parameters.get(COMBINED))
    if method.parameters.get(COMBINED) and combined is not None:
        _check_combined(name, combined, task)
    if not parameters:
        return
    both = (method.classifier, method.regressor) if task is None else (estimator_name(name, task),)
    kinds = [_class(kind) for kind in both if kind is not None]
    if _is_foreign(name):
        _check_foreign(name, kinds, parameters)
        return
    known = {parameter for kind in kinds for parameter in signature(kind).parameters}
    if "estimator" in known:
        base = parameters.get("estimator", method.trees[0])
        if base not in method.trees:
            raise ValueError(f"{name}: estimator must be one of {', '.join(method.trees)}, got {base!r}")
        tasks = [task] if task is not None else ["classification", "regression"]
        trees = [_tree(base, t) for t in tasks if t == "classification" or TREES[base][1] is not None]
        if not trees:
            raise ValueError(f"{name}: {base} does not do {task}")
        known |= {NESTED + parameter for tree in trees for parameter in signature(tree).parameters}
    pruned = [parameter for parameter in parameters if parameter.startswith(PRUNING)]
    if pruned and (why := _why_not_pruned(name)):
        raise ValueError(f"{name} cannot be pruned by {pruned[0]}: {why}; leave it out, or name another ensemble")
    known |= {PRUNING + parameter for parameter in PRUNING_PARAMETERS} if not _why_not_pruned(name) else set()
    check_parameters(name, known, parameters)
    _check_sizes(name, parameters)
    _check_pruning(name, parameters)


def _is_foreign(name: str) -> bool:
    """Whether a method is of another library: a rival of the table, or a user's own."""
    return registered(name).rival or name not in METHODS


def _make_foreign(name: str, kind: Any, task: str, parameters: Mapping[str, Any], random_state: Any) -> Any:
    """An estimator of another library, with what tells it class codes and what prepares the table for it."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from conjunto.learners.preparation import TablePreparation

    method, known = registered(name), known_parameters(kind)
    seed = {"random_state": random_state} if "random_state" in known else {}
    given = {**method.parameters, **parameters, **seed}
    nested = {key: given.pop(key) for key in list(given) if "__" in key and key not in signature(kind).parameters}
    model = kind(**given)
    if nested:
        model.set_params(**nested)
    if method.codes and task == "classification":
        model = CodedClassifier(model)
    if method.scaled and task == "regression":
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    if not method.preparation:
        return model
    preparation = TablePreparation(**PREPARATIONS[method.preparation])
    return Pipeline(list(zip(STEPS, (preparation, model), strict=True)))


def _check_foreign(name: str, kinds: Collection[Any], parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that an estimator of another library does not have; their values it judges itself.

    Where it takes more than it lists, only what looks like a slip of a listed one is refused.
    """
    known = {parameter for kind in kinds for parameter in known_parameters(kind)}
    if any(takes_any(kind) for kind in kinds):
        known |= {parameter for parameter in parameters if not get_close_matches(parameter, known, 1, SLIP)}
    pruned = [parameter for parameter in parameters if parameter.startswith(PRUNING)]
    if pruned:
        raise ValueError(f"{name} cannot be pruned by {pruned[0]}: {_why_not_pruned(name)}; leave it out")
    check_parameters(name, known, parameters)
    _check_sizes(name, parameters)


def _check_installed(name: str) -> None:
    """Refuse a method whose library is not there, before anything is run."""
    if not installed(name):
        raise ValueError(f"{library(name)} is not installed: pip install 'conjunto[{registered(name).extra}]'")


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
        if each not in METHODS and ":" not in each:
            raise ValueError(f"{name}: estimators holds {each!r}; {suggest(each, METHODS, len(METHODS))}")
        _check_installed(each)
        if registered(each).parameters.get(COMBINED):
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
    if _is_foreign(name):
        return "it is an estimator of another library"
    if any(registered(name).classifier == tree for tree, _ in TREES.values()):
        return "it is a single tree"
    return str(getattr(_class(registered(name).classifier or registered(name).regressor), "indivisible", ""))


def _take(given: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Take the parameters with a prefix out of `given`; return them without the prefix."""
    return {key.removeprefix(prefix): given.pop(key) for key in list(given) if key.startswith(prefix)}


def _tree(base: str, task: str) -> Any:
    return _class(TREES[base][task == "regression"])


def _class(name: str | None) -> Any:
    """A class of ours by its name, or one of another library by "module:Class"."""
    if ":" in str(name):
        return find_class(str(name))
    return getattr(import_module("conjunto"), str(name))
