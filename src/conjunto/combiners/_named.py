"""`NamedModels`: an estimator of models that have names, `[(name, model), …]`, as scikit-learn has them.

Names are parameters: `set_params(svc="drop")` leaves a model out, `set_params(svc__C=2)` changes one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from inspect import Parameter, signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

DROPPED = "drop"
# What metadata are routed to beside models.
RESERVED = ("splitter", "final_estimator_", "pool")


class NamedModels(MetaEstimatorMixin, BaseEstimator):
    """Models with names, fitted or to be fitted."""

    estimators: Any
    estimators_: list[Any]
    prefit: bool
    task: str
    _names: list[str]
    """Of the fitted models."""
    _all_names: list[str]
    """Of all models when they were fitted, those left out too."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with `deep` the models by their names and their parameters too."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name, model in _pairs(self.estimators):
                params[name] = model
                if hasattr(model, "get_params") and not isinstance(model, type):
                    params.update({f"{name}__{key}": value for key, value in model.get_params(deep=True).items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a model is replaced by its name, or left out by setting it to "drop"."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in _pairs(self.estimators)]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, model)) for name, model in self.estimators]
        super().set_params(**params)
        return self

    def __sklearn_clone__(self) -> Self:
        """A copy with clones of the models; models that are fitted already are shared, since clones would not be."""
        return clone_sharing(self, "estimators" if self._is_prefit() else "")

    def _is_prefit(self) -> bool:
        return bool(getattr(self, "prefit", False))

    @property
    def named_estimators(self) -> Bunch:
        """The models as given, by name."""
        return Bunch(**dict(_pairs(self.estimators)))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted models by name; "drop" for those left out."""
        fitted = dict(zip(self._names, self.estimators_, strict=True))
        return Bunch(**{name: fitted.get(name, DROPPED) for name in self._all_names})

    @property
    def n_features_in_(self) -> int:
        """Number of columns, as the first model that knows it has it."""
        return int(self._known_by_members("n_features_in_"))

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where a model knows them."""
        return self._known_by_members("feature_names_in_")

    def _known_by_members(self, what: str) -> Any:
        found = [getattr(model, what) for model in self.__dict__.get("estimators_", ()) if hasattr(model, what)]
        if found:
            # Names that a library has rewritten are not the user's: they have fewer signs and blanks.
            return max(found, key=lambda each: len(re.findall(r"\W", "".join(map(str, np.atleast_1d(each))))))
        raise AttributeError(f"{type(self).__name__} object has no attribute {what}")

    def _is_list(self) -> bool:
        """Whether these are models with names; some take an ensemble in place of them."""
        return isinstance(self.estimators, Sequence) and not isinstance(self.estimators, str)

    def _entries(self, name: str, given: Any) -> NDArray[np.float64]:
        """Numbers that were given for all models, of those that take part; refuses other lengths and no numbers."""
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be numbers, one for each of the estimators, got {given!r}") from error
        if numbers.shape != (len(self.estimators),):
            got = f"{len(given)} {name}" if numbers.ndim == 1 else f"{name} of shape {numbers.shape}"
            raise ValueError(
                f"Number of `estimators` and {name} must be equal; got {got}, {len(self.estimators)} estimators"
            )
        return numbers[[not _is_dropped(model) for _, model in self.estimators]]

    def _models(self) -> list[tuple[str, Any]]:
        """The models that take part, with their names; refuses what is no list of them."""
        check_named(self.estimators, self.get_params(deep=False))
        taking_part = [(name, model) for name, model in self.estimators if not _is_dropped(model)]
        if not taking_part:
            raise ValueError("All estimators are dropped. At least one is required to be an estimator.")
        for name, model in taking_part:
            self._check_kind(name, model)
        return taking_part

    def _check_kind(self, name: str, model: Any) -> None:
        """Refuse what cannot take part. Fitted models of no library need have no more than `predict`."""
        if isinstance(model, type) or not hasattr(model, "predict" if self._is_prefit() else "fit"):
            raise ValueError(f"The estimator {name!r} must be a model, an object with fit and predict, got {model!r}")
        # Exactly the other kind: models of no library do not say what they are.
        known = hasattr(model, "__sklearn_tags__")
        if self.task == "classification" and known and not is_classifier(model) and not hasattr(model, "classes_"):
            raise ValueError(f"The estimator {type(model).__name__} should be a classifier.")
        if self.task == "regression" and (hasattr(model, "classes_") or (known and not is_regressor(model))):
            raise ValueError(f"The estimator {type(model).__name__} should be a regressor.")

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata the models, and the splitter, ask for in `fit`."""
        router = MetadataRouter(owner=self)
        for name, model in _pairs(self.estimators):
            if not _is_dropped(model):
                router.add(**{name: model}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        splitter = getattr(self, "cv", None)
        if hasattr(splitter, "get_metadata_routing"):
            router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _routed(
        self, models: list[tuple[str, Any]], given: dict[str, Any]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What goes to the fit of each model, and to the splitter, of what `fit` was given beside X and y."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            split = routed["splitter"]["split"] if "splitter" in routed else {}
            return [dict(routed[name]["fit"]) for name, _ in models], dict(split)
        weight = given.get("sample_weight")
        arguments = [{} if weight is None else weighed(name, model, weight) for name, model in models]
        return arguments, {"groups": given["groups"]} if "groups" in given else {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        models = [model for _, model in _pairs(self.estimators) if hasattr(model, "__sklearn_tags__")]
        inputs = [get_tags(model).input_tags for model in models if not isinstance(model, type)]
        tags.input_tags.allow_nan = all(each.allow_nan for each in inputs)
        tags.input_tags.sparse = all(each.sparse for each in inputs)
        return tags


def clone_sharing(estimator: Any, shared: str) -> Any:
    """A clone whose parameter `shared` is the same object: a model that is fitted already would not be in a clone."""
    params = estimator.get_params(deep=False).items()
    return type(estimator)(**{key: value if key == shared else clone(value, safe=False) for key, value in params})


def given_metadata(owner: Any, params: dict[str, Any]) -> dict[str, Any]:
    """What `fit` was given beside X and y; refuses what nobody would know where to send."""
    given = {key: value for key, value in params.items() if value is not None}
    others = sorted(set(given) - {"sample_weight", "groups"})
    if others and not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"[{', '.join(others)}] passed to {type(owner).__name__}.fit beside sample_weight and groups is only "
            "supported if enable_metadata_routing=True: see sklearn.set_config"
        )
    return given


def weighed(name: str, model: Any, weight: Any) -> dict[str, Any]:
    """The weights of rows as the fit of a model takes them; a pipeline takes them for its last step."""
    if isinstance(model, Pipeline) and not get_config()["enable_metadata_routing"]:
        last, step = model.steps[-1]
        return {f"{last}__{key}": value for key, value in weighed(name, step, weight).items()}
    collects = any(each.kind is Parameter.VAR_KEYWORD for each in signature(model.fit).parameters.values())
    if not collects and not has_fit_parameter(model, "sample_weight"):
        raise TypeError(
            f"Underlying estimator {type(model).__name__} does not support sample weights. Leave {name!r} out, or say "
            "who gets them: sklearn.set_config(enable_metadata_routing=True) and set_fit_request"
        )
    return {"sample_weight": weight}


def check_named(estimators: Any, taken: Any) -> None:
    """Refuse what is no list of models with names of their own; `taken` are the names of the parameters."""
    fine = isinstance(estimators, Sequence) and not isinstance(estimators, str) and len(estimators) > 0
    if not fine or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in estimators):
        raise ValueError(
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) tuples."
        )
    names = [name for name, _ in estimators]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) tuples."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"Names provided are not unique: {names!r}")
    if conflicts := sorted(set(names) & {*taken, *RESERVED}):
        raise ValueError(f"Estimator names conflict with constructor arguments: {conflicts!r}")
    if invalid := [name for name in names if "__" in name]:
        raise ValueError(f"Estimator names must not contain __: got {invalid!r}")


def spelled(names: Any) -> list[str]:
    """Names of columns as far as all libraries keep them: LightGBM puts an underscore for signs and blanks."""
    return [re.sub(r"\W", "_", str(name)) for name in names]


def _pairs(estimators: Any) -> Iterator[tuple[str, Any]]:
    """The pairs of names and models, as far as these are such."""
    if isinstance(estimators, Sequence) and not isinstance(estimators, str):
        yield from (tuple(pair) for pair in estimators if isinstance(pair, (tuple, list)) and len(pair) == 2)


def _is_dropped(model: Any) -> bool:
    return isinstance(model, str) and model == DROPPED
