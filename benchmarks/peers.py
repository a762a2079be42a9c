"""Every library's version of a task, as an estimator with `fit` and `predict`.

A factory returns None where its library has no such method. Libraries other than scikit-learn are imported only when
they are asked for: a benchmark must run without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn.ensemble
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import conjunto
from benchmarks.loops import HalfTrees, PrunedTrees, SwitchedTrees
from benchmarks.workloads import P_HAT, Task

OURS = "conjunto"
SCIKIT_LEARN = "scikit-learn"
Factory = Callable[[Task, int, int], Any]

# Methods that a library of forests has: with all columns at every node a forest is bagging.
_FORESTS = ("bagging", "forest", "regression")
_LOOPS = {"switching": SwitchedTrees, "pruned": PrunedTrees, "igp": HalfTrees}


def ours(task: Task, threads: int, seed: int) -> Any:
    """The method of conjunto."""
    settings = {"n_estimators": task.trees, "n_jobs": threads, "random_state": seed}
    if task.method == "bagging":
        return conjunto.BaggingClassifier(**settings)
    if task.method == "pruned":
        return conjunto.BaggingClassifier(conjunto.CARTClassifier(prune="cv"), **settings)
    if task.method == "igp":
        return conjunto.IGPEnsembleClassifier(**settings)
    if task.method == "switching":
        return conjunto.ClassSwitchingClassifier(p_hat=P_HAT, **settings)
    if task.method in ("forest", "binned"):
        max_bins = 255 if task.method == "binned" else None
        return conjunto.RandomForestClassifier(max_features="sqrt", max_bins=max_bins, **settings)
    if task.method == "boosting" and task.classes:
        return conjunto.AdaBoostClassifier(algorithm="samme", **settings)
    if task.method == "boosting":
        return conjunto.AdaBoostRegressor(conjunto.CARTRegressor(max_depth=3), resample=True, **settings)
    return conjunto.RandomForestRegressor(max_features=1.0, **settings)


def scikit_learn(task: Task, threads: int, seed: int) -> Any:
    """The method of scikit-learn, or a loop over its trees where it has none; boosting has one thread only."""
    settings = {"n_estimators": task.trees, "n_jobs": threads, "random_state": seed}
    if task.method == "bagging":
        return sklearn.ensemble.BaggingClassifier(DecisionTreeClassifier(), **settings)
    if task.method in _LOOPS:
        return _LOOPS[task.method](task, threads, seed)
    if task.method == "boosting":
        settings = {"n_estimators": task.trees, "random_state": seed}
        if task.classes:
            return sklearn.ensemble.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **settings)
        return sklearn.ensemble.AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), **settings)
    return _forest(sklearn.ensemble, task, settings)


def intelex(task: Task, threads: int, seed: int) -> Any:
    """The forests of scikit-learn-intelex."""
    if task.method not in _FORESTS:
        return None
    settings = {"n_estimators": task.trees, "n_jobs": threads, "random_state": seed}
    return _forest(import_module("sklearnex.ensemble"), task, settings)


def lightgbm(task: Task, threads: int, seed: int) -> Any:
    """LightGBM in its random forest mode.

    It cannot draw with replacement, so that each tree sees 63.2 % of the rows, and it wants a limit of leaves, which
    costs time and memory even where it is not reached: one leaf for eight rows is more than these trees need in
    classification, and spares it work in regression. It is spared several threads on few rows: they wait for each
    other at every node, and on a busy machine that takes a thousand times longer than the work.
    """
    if task.method not in _FORESTS or (threads > 1 and task.rows <= 1000):
        return None
    library = import_module("lightgbm")
    model = library.LGBMRegressor if task.method == "regression" else library.LGBMClassifier
    return model(
        boosting_type="rf",
        n_estimators=task.trees,
        num_leaves=min(131_072, max(64, task.rows // 8)),
        min_child_samples=1,
        min_child_weight=0.0,
        subsample=0.632,
        subsample_freq=1,
        feature_fraction_bynode=int(np.sqrt(task.columns)) / task.columns if task.method == "forest" else 1.0,
        n_jobs=threads,
        random_state=seed,
        verbose=-1,
    )


def yggdrasil(task: Task, threads: int, seed: int) -> Any:
    """The random forest of YDF, which is measured for classification only."""
    return Ydf(task, threads, seed) if task.method in ("bagging", "forest") and task.classes else None


class Ydf:
    """The random forest of YDF, in scikit-learn's words."""

    def __init__(self, task: Task, threads: int, seed: int) -> None:
        self.library = import_module("ydf")
        self.library.verbose(0)
        self.settings = {
            "num_trees": task.trees,
            "num_threads": threads,
            "random_seed": seed,
            "num_candidate_attributes": 0 if task.method == "forest" else -1,
            "min_examples": 1,
            "max_depth": -1,
            "compute_oob_performances": False,
        }

    def fit(self, X: Any, y: Any) -> Ydf:
        """Fit on columns by number."""
        self.classes = np.unique(y)
        columns = {f"c{i}": X[:, i] for i in range(X.shape[1])}
        learner = self.library.RandomForestLearner(label="y", **self.settings)
        self.model = learner.train({**columns, "y": y.astype(str)})
        return self

    def predict(self, X: Any) -> Any:
        """The most likely class."""
        shares = self.model.predict({f"c{i}": X[:, i] for i in range(X.shape[1])})
        names = self.model.label_classes()
        codes = (shares > 0.5).astype(int) if shares.ndim == 1 else shares.argmax(axis=1)
        return np.array(names)[codes].astype(self.classes.dtype)


def _forest(library: Any, task: Task, settings: dict[str, Any]) -> Any:
    if task.method == "regression":
        return library.RandomForestRegressor(max_features=1.0, **settings)
    return library.RandomForestClassifier(max_features="sqrt" if task.method == "forest" else None, **settings)


FACTORIES: dict[str, Factory] = {
    OURS: ours,
    SCIKIT_LEARN: scikit_learn,
    "scikit-learn-intelex": intelex,
    "LightGBM": lightgbm,
    "YDF": yggdrasil,
}

_MODULES = {"scikit-learn-intelex": "sklearnex", "LightGBM": "lightgbm", "YDF": "ydf"}


def entrants(task: Task, threads: int, libraries: Sequence[str]) -> list[str]:
    """Those of the libraries that have the method."""
    return [library for library in libraries if FACTORIES[library](task, threads, 0) is not None]


def on_threads(model: Any, threads: int) -> Any:
    """The model, set to use so many threads if it can use several."""
    known = model.get_params() if hasattr(model, "get_params") else {}
    return model.set_params(n_jobs=threads) if "n_jobs" in known else model


def installed() -> tuple[list[str], list[str]]:
    """Names of the libraries that can be imported, and of those that cannot."""
    missing = [name for name, module in _MODULES.items() if find_spec(module) is None]
    return [name for name in FACTORIES if name not in missing], missing
