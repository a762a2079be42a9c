"""Ensembles of models: build them, combine them, order and prune them, understand them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Estimators and what they hand out; the contract tests and model files know them from here.
_HOMES = {
    "AdaBoostClassifier": "conjunto.ensembles.adaboost",
    "AdaBoostRegressor": "conjunto.ensembles.adaboost_regressor",
    "ArcX4Classifier": "conjunto.ensembles.arc_x4",
    "BaggingClassifier": "conjunto.ensembles.bagging",
    "BaggingRegressor": "conjunto.ensembles.bagging",
    "C45Classifier": "conjunto.learners.c45",
    "CARTClassifier": "conjunto.learners.cart",
    "CARTRegressor": "conjunto.learners.cart",
    "ClassSwitchingClassifier": "conjunto.ensembles.class_switching",
    "DoubleBaggingClassifier": "conjunto.ensembles.double_bagging",
    "ECOCClassifier": "conjunto.ensembles.ecoc",
    "FlippingClassifier": "conjunto.ensembles.flipping",
    "IGPBoostingClassifier": "conjunto.ensembles.igp_boosting",
    "IGPCommitteesClassifier": "conjunto.ensembles.igp_committees",
    "IGPEnsembleClassifier": "conjunto.ensembles.igp_ensemble",
    "IGPTreeClassifier": "conjunto.learners.igp",
    "MultiBoostClassifier": "conjunto.ensembles.multiboost",
    "OutputSmearingRegressor": "conjunto.ensembles.output_smearing",
    "PastingClassifier": "conjunto.ensembles.pasting",
    "PastingRegressor": "conjunto.ensembles.pasting",
    "PrunedClassifier": "conjunto.pruning.estimators",
    "PrunedRegressor": "conjunto.pruning.estimators",
    "RandomForestClassifier": "conjunto.ensembles.random_forest",
    "RandomForestRegressor": "conjunto.ensembles.random_forest",
    "RandomSubspaceClassifier": "conjunto.ensembles.random_subspace",
    "RandomSubspaceRegressor": "conjunto.ensembles.random_subspace",
    "RandomizationClassifier": "conjunto.ensembles.randomization",
    "RoundRobinClassifier": "conjunto.ensembles.round_robin",
    "ThreeBoostClassifier": "conjunto.ensembles.three_boost",
    "Votes": "conjunto.votes",
    "WaggingClassifier": "conjunto.ensembles.wagging",
}
# What is done with them.
_TOOLS = {
    "Budget": "conjunto.pruning.keep",
    "PruningCurveDisplay": "conjunto.plots.pruning_curve",
    "TreeDisplay": "conjunto.plots.tree",
    "distil": "conjunto.pruning.distil",
    "export_rules": "conjunto.learners.text",
    "export_text": "conjunto.learners.text",
    "order": "conjunto.pruning.prune",
    "plot_tree": "conjunto.plots.tree",
    "prune": "conjunto.pruning.prune",
}

__all__ = [*_HOMES, *_TOOLS, "__version__"]


def __getattr__(name: str) -> Any:
    # Names are resolved on first use: scikit-learn takes more than a second to import.
    home = _HOMES.get(name) or _TOOLS.get(name)
    if home:
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'conjunto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_TOOLS])
