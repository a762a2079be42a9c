"""Estimators of users by name: `module:Class`, imported when it is named."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from inspect import Parameter, isabstract, signature
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor

from conjunto.checks import suggest


def find_class(name: str) -> Any:
    """The class that `module:Class` names; where there is none, an error says what is missing.

    A module that is not installed is looked for in the current folder too, which stays on the path from then on, behind
    everything else: what the module imports later may lie beside it, and nothing that is installed is hidden.
    """
    module, _, kind = name.partition(":")
    if not all(part.isidentifier() for part in module.split(".")) or not kind.isidentifier():
        raise ValueError(f"{name!r} is no method: an estimator of your own is named module:Class")
    try:
        found = getattr(_module(module), kind, None)
    except ModuleNotFoundError as error:
        if not _is_part(str(error.name), module):
            raise ValueError(f"{name}: {module} needs {error.name!r}, which is not installed") from error
        raise ValueError(
            f"{name}: there is no module {error.name!r}; install it, or start where its file is ({os.getcwd()} is not)"
        ) from error
    except Exception as error:  # whatever happens inside a user's module
        raise ValueError(f"{name}: importing {module} failed: {type(error).__name__}: {error}") from error
    if found is None:
        classes = [each for each, value in vars(sys.modules[module]).items() if isinstance(value, type)]
        hint = f"; {suggest(kind, classes)}" if classes else ""
        raise ValueError(f"{name}: module {module} has no class {kind!r}{hint}")
    if not isinstance(found, type) or isabstract(found) or not all(hasattr(found, each) for each in _NEEDED):
        raise ValueError(f"{name} is no estimator: a class with fit, predict and get_params is needed")
    return found


_NEEDED = ("fit", "predict", "get_params", "set_params")


def does_task(kind: Any, task: str) -> bool:
    """Whether a class does a task, as far as that can be told: one that is nothing in particular may do both."""
    kinds = {"classification": (ClassifierMixin, is_classifier), "regression": (RegressorMixin, is_regressor)}
    does = {each: issubclass(kind, mixin) for each, (mixin, _) in kinds.items()}
    if not any(does.values()) and (model := made(kind)) is not None:
        does = {each: _says(says, model) for each, (_, says) in kinds.items()}
    return does[task] or not any(does.values())


def made(kind: Any) -> Any:
    """An estimator with default parameters; None where it cannot be made without some."""
    try:
        return kind()
    except Exception:  # of a user's constructor nothing is known
        return None


def known_parameters(kind: Any) -> set[str]:
    """The parameters that an estimator of another library takes, nested ones included."""
    taken = signature(kind).parameters.values()
    named = {each.name for each in taken if each.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)}
    model = made(kind)
    return named if model is None else named | set(model.get_params())


def takes_any(kind: Any) -> bool:
    """Whether a class takes parameters that it does not list, as LightGBM's do."""
    return any(each.kind is Parameter.VAR_KEYWORD for each in signature(kind).parameters.values())


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        here = os.getcwd()
        if not _is_part(str(error.name), name) or here in sys.path:
            raise
    sys.path.append(here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if _is_part(str(error.name), name):
            sys.path.remove(here)
        raise


def _is_part(missing: str, module: str) -> bool:
    """Whether what is missing is the module itself or a package that it is in."""
    return f"{module}.".startswith(f"{missing}.")


def _says(question: Any, model: Any) -> bool:
    try:
        return bool(question(model))
    except Exception:  # an estimator without scikit-learn's tags answers nothing
        return False
