"""The methods that experiments and the command line know: one literal table.

A new method joins by one line here; `making.py` turns a line into an estimator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conjunto.checks import check_choice

TREES: dict[str, tuple[str, str | None]] = {
    "cart": ("CARTClassifier", "CARTRegressor"),
    "c45": ("C45Classifier", None),
    "igp": ("IGPTreeClassifier", None),
}
"""The trees that can be base learners: their classifiers and regressors."""


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


# What is combined where nothing else is named: strong, and unlike each other. What does not do the task is left out.
COMBINED = {"estimators": ("random-forest", "extra-trees", "adaboost", "logitboost", "output-smearing")}

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
        {"n_estimators": 100, "splits": "combination"},
    ),
    "extra-trees": Registered(
        "extremely randomised trees", "ExtraTreesClassifier", "ExtraTreesRegressor", {"n_estimators": 100}
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
    "voting": Registered("vote of different ensembles, or their mean", "VotingClassifier", "VotingRegressor", COMBINED),
    "soft-voting": Registered(
        "mean of the probabilities of different ensembles",
        "VotingClassifier",
        parameters={**COMBINED, "voting": "soft"},
    ),
    "stacking": Registered("stacking of different ensembles", "StackingClassifier", "StackingRegressor", COMBINED),
    "greedy-selection": Registered(
        "greedy selection among different ensembles", "GreedySelectionClassifier", "GreedySelectionRegressor", COMBINED
    ),
    "bayesian-averaging": Registered(
        "Bayesian averaging of different ensembles",
        "BayesianAveragingClassifier",
        "BayesianAveragingRegressor",
        COMBINED,
    ),
    "naive-bayes-combination": Registered(
        "naive-Bayes combination of different ensembles", "NaiveBayesCombinationClassifier", parameters=COMBINED
    ),
    "arbiter": Registered("arbiters between different ensembles", "ArbiterClassifier", parameters=COMBINED),
    "cascade": Registered(
        "cascade of a pruned tree and a random forest",
        "CascadeClassifier",
        parameters={"estimators": ("cart-pruned", "random-forest")},
    ),
    "local-selection": Registered(
        "local selection among the trees of bagging", "LocalSelectionClassifier", "LocalSelectionRegressor"
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
