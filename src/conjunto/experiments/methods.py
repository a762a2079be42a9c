"""The methods that experiments and the command line know: one literal table.

A new method joins by one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from conjunto.checks import check_choice, suggest

NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Registered:
    """A method: what it is called, the estimators behind it, and the parameters it starts from."""

    title: str
    classifier: str | None
    regressor: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    panel: bool = False
    """Whether `conjunto compare` runs it by default."""


METHODS: dict[str, Registered] = {
    "cart": Registered("single tree (CART)", "CARTClassifier", "CARTRegressor", panel=True),
    "bagging": Registered("bagging", "BaggingClassifier", "BaggingRegressor", {"n_estimators": 100}, panel=True),
    "balanced-bagging": Registered(
        "balanced bagging", "BaggingClassifier", "BaggingRegressor", {"n_estimators": 100, "balanced": True}
    ),
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
    "output-smearing": Registered(
        "output smearing", None, "OutputSmearingRegressor", {"n_estimators": 100}, panel=True
    ),
}


def panel(task: str) -> list[str]:
    """The methods that are compared when none are named."""
    return [name for name, method in METHODS.items() if method.panel and estimator_name(name, task) is not None]


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
    """
    check_method(name, parameters)
    wanted = estimator_name(name, task)
    if wanted is None:
        raise ValueError(f"{name} does not do {task}")
    kind = getattr(import_module("conjunto"), wanted)
    return kind(**{**METHODS[name].parameters, **parameters, "random_state": random_state})


def check_method(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse a method that does not exist, and parameters that it does not have."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}; {suggest(name, METHODS, len(METHODS))}")
    if not parameters:
        return
    method = METHODS[name]
    kind = getattr(import_module("conjunto"), method.classifier or method.regressor or "")
    check_parameters(name, kind(), parameters)


def check_parameters(name: str, estimator: Any, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that an estimator does not have, and a random state, which the seed decides."""
    known = sorted(estimator.get_params())
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; {suggest(parameter, known, len(known))}")
        if parameter.endswith("random_state"):
            raise ValueError(f"{name}: {parameter} follows from the seed of the experiment; leave it out")
