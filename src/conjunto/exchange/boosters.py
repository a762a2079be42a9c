"""`StoredBooster`: a fitted model of LightGBM, XGBoost or CatBoost as the text of its library, for model files.

The text is data: nothing in it is executed, and it is checked before the library reads it (`booster_checks`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from conjunto.exchange.booster_checks import check_catboost, check_lightgbm, check_xgboost
from conjunto.pickles import ModelFileError

_CHECKS: dict[str, Callable[[str, int, int], None]] = {
    "lightgbm": check_lightgbm,
    "xgboost": check_xgboost,
    "catboost": check_catboost,
}


def _classifies(model: StoredBooster) -> bool:
    return model.classes_ is not None


class StoredBooster(BaseEstimator):
    """A fitted booster that is read from its text when it is first asked.

    Attributes
    ----------
    library : str
    text : str
        As the library writes it.
    classes_ : ndarray of shape (K,) or None
        None in regression.
    n_features_in_ : int
        Columns that the booster was fitted on.
    """

    def __init__(self, library: str = "", text: str = "", classes: Any = None, n_columns: int = 0) -> None:
        self.library = library
        self.text = text
        self.classes = classes
        self.n_columns = n_columns

    @property
    def classes_(self) -> Any:
        """The labels, in the order of the probabilities; None in regression."""
        return self.classes

    @property
    def n_features_in_(self) -> int:
        """Columns that the booster was fitted on."""
        return self.n_columns

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.text)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.target_tags.required = True
        if self.classes is None:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # What the library has made of the text is made again where it is needed.
        return {name: value for name, value in super().__getstate__().items() if name != "_read"}

    def fit(self, X: Any, y: Any) -> None:
        """Refuse: the text does not say how the booster was fitted."""
        raise ValueError("a booster from a model file predicts; make another one to fit it")

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,): labels, or values."""
        if self.classes is None:
            return np.asarray(self._booster().predict(X), dtype=np.float64).ravel()
        answers: NDArray[Any] = self.classes[self.predict_proba(X).argmax(axis=1)]
        return answers

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, K): the probabilities of the classes."""
        booster = self._booster()
        if self.library != "lightgbm":
            return np.asarray(booster.predict_proba(X), dtype=np.float64)
        shares = np.asarray(booster.predict(X), dtype=np.float64)
        return np.stack([1 - shares, shares], axis=1) if shares.ndim == 1 else shares

    def _booster(self) -> Any:
        """The model of the library."""
        if "_read" not in vars(self):
            self._read = _read(self)
        return self._read


def is_booster(estimator: Any) -> bool:
    """Whether an estimator is of one of the three libraries."""
    return type(estimator).__module__.split(".")[0] in _CHECKS


def store_booster(estimator: Any) -> Any:
    """The fitted booster as its text; itself where the text would not say everything or could not be checked."""
    library = type(estimator).__module__.split(".")[0]
    classes = getattr(estimator, "classes_", None) if "Classifier" in type(estimator).__name__ else None
    try:
        text = _WRITERS[library](estimator)
        columns = int(estimator.n_features_in_)
        stored = StoredBooster(library, text, None if classes is None else np.asarray(classes), columns)
        _CHECKS[library](text, columns, _outputs(stored))
    except (KeyError, TypeError, ValueError, AttributeError):
        return estimator
    return stored


def _outputs(stored: StoredBooster) -> int:
    """How many numbers the trees add up for a row: two classes share one."""
    return 1 if stored.classes is None or len(stored.classes) <= 2 else len(stored.classes)


def _write_lightgbm(estimator: Any) -> str:
    if not isinstance(estimator.objective_, str):
        raise ValueError("the text does not hold an objective of the user")
    return str(estimator.booster_.model_to_string())


def _write_xgboost(estimator: Any) -> str:
    if callable(estimator.objective):
        raise ValueError("the text does not hold an objective of the user")
    return bytes(estimator.get_booster().save_raw(raw_format="json")).decode()


def _write_catboost(estimator: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        return path.read_text(encoding="utf-8")


_WRITERS: dict[str, Callable[[Any], str]] = {
    "lightgbm": _write_lightgbm,
    "xgboost": _write_xgboost,
    "catboost": _write_catboost,
}


def _read(stored: StoredBooster) -> Any:
    """The booster of a text, which is checked first: the libraries believe what they read."""
    try:
        check = _CHECKS[stored.library]
        check(stored.text, stored.n_columns, _outputs(stored))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        raise ModelFileError(f"the model of {stored.library} in the file is damaged: {error}") from error
    try:
        library = import_module(stored.library)
    except ImportError:
        raise ImportError(
            f"the model needs {stored.library}, which is not installed: pip install 'conjunto[rivals]'"
        ) from None
    if stored.library == "lightgbm":
        return library.Booster(model_str=stored.text)
    name = "Regressor" if stored.classes is None else "Classifier"
    if stored.library == "xgboost":
        booster = getattr(library, f"XGB{name}")(enable_categorical=True)
        booster.load_model(bytearray(stored.text.encode()))
        return booster
    booster = getattr(library, f"CatBoost{name}")()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(stored.text, encoding="utf-8")
        booster.load_model(str(path), format="json")
    return booster
