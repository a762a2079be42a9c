"""Ensembles of models: build them, combine them, order and prune them, understand them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Estimators and what they hand out; the contract tests and model files know them from here.
_HOMES = {
    "AdaBoostClassifier": "conjunto.ensembles.adaboost",
    "AdaBoostRegressor": "conjunto.ensembles.adaboost_regressor",
    "ArbiterClassifier": "conjunto.combiners.arbiter",
    "ArcX4Classifier": "conjunto.ensembles.arc_x4",
    "BaggingClassifier": "conjunto.ensembles.bagging",
    "BaggingRegressor": "conjunto.ensembles.bagging",
    "BayesianAveragingClassifier": "conjunto.combiners.bayesian_averaging",
    "BayesianAveragingRegressor": "conjunto.combiners.bayesian_averaging",
    "C45Classifier": "conjunto.learners.c45",
    "CARTClassifier": "conjunto.learners.cart",
    "CARTRegressor": "conjunto.learners.cart",
    "CascadeClassifier": "conjunto.combiners.cascade",
    "ClassSwitchingClassifier": "conjunto.ensembles.class_switching",
    "CostSensitiveClassifier": "conjunto.combiners.cost_sensitive",
    "DoubleBaggingClassifier": "conjunto.ensembles.double_bagging",
    "ECOCClassifier": "conjunto.ensembles.ecoc",
    "ExtraTreesClassifier": "conjunto.ensembles.extra_trees",
    "ExtraTreesRegressor": "conjunto.ensembles.extra_trees",
    "FlippingClassifier": "conjunto.ensembles.flipping",
    "GreedySelectionClassifier": "conjunto.combiners.greedy_selection",
    "GreedySelectionRegressor": "conjunto.combiners.greedy_selection",
    "IGPBoostingClassifier": "conjunto.ensembles.igp_boosting",
    "IGPCommitteesClassifier": "conjunto.ensembles.igp_committees",
    "IGPEnsembleClassifier": "conjunto.ensembles.igp_ensemble",
    "IGPTreeClassifier": "conjunto.learners.igp",
    "LocalSelectionClassifier": "conjunto.combiners.local_selection",
    "LocalSelectionRegressor": "conjunto.combiners.local_selection",
    "MultiBoostClassifier": "conjunto.ensembles.multiboost",
    "NaiveBayesCombinationClassifier": "conjunto.combiners.naive_bayes",
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
    "StackingClassifier": "conjunto.combiners.stacking",
    "StackingRegressor": "conjunto.combiners.stacking",
    "ThreeBoostClassifier": "conjunto.ensembles.three_boost",
    "Votes": "conjunto.votes",
    "VotingClassifier": "conjunto.combiners.voting",
    "VotingRegressor": "conjunto.combiners.voting",
    "WaggingClassifier": "conjunto.ensembles.wagging",
}
# What is done with them.
_TOOLS = {
    "Budget": "conjunto.pruning.keep",
    "PruningCurveDisplay": "conjunto.plots.pruning_curve",
    "TablePreparation": "conjunto.learners.preparation",
    "TreeDisplay": "conjunto.plots.tree",
    "distil": "conjunto.pruning.distil",
    "export_graphviz": "conjunto.learners.graphviz",
    "export_rules": "conjunto.learners.text",
    "export_text": "conjunto.learners.text",
    "from_sklearn": "conjunto.exchange.from_sklearn",
    "merge": "conjunto.ensembles.merging",
    "order": "conjunto.pruning.prune",
    "plot_tree": "conjunto.plots.tree",
    "prune": "conjunto.pruning.prune",
    "to_sklearn": "conjunto.exchange.to_sklearn",
}

if TYPE_CHECKING:
    # Written by `python tools/write_names.py` from the table above.
    from conjunto.combiners.arbiter import ArbiterClassifier as ArbiterClassifier
    from conjunto.combiners.bayesian_averaging import BayesianAveragingClassifier as BayesianAveragingClassifier
    from conjunto.combiners.bayesian_averaging import BayesianAveragingRegressor as BayesianAveragingRegressor
    from conjunto.combiners.cascade import CascadeClassifier as CascadeClassifier
    from conjunto.combiners.cost_sensitive import CostSensitiveClassifier as CostSensitiveClassifier
    from conjunto.combiners.greedy_selection import GreedySelectionClassifier as GreedySelectionClassifier
    from conjunto.combiners.greedy_selection import GreedySelectionRegressor as GreedySelectionRegressor
    from conjunto.combiners.local_selection import LocalSelectionClassifier as LocalSelectionClassifier
    from conjunto.combiners.local_selection import LocalSelectionRegressor as LocalSelectionRegressor
    from conjunto.combiners.naive_bayes import NaiveBayesCombinationClassifier as NaiveBayesCombinationClassifier
    from conjunto.combiners.stacking import StackingClassifier as StackingClassifier
    from conjunto.combiners.stacking import StackingRegressor as StackingRegressor
    from conjunto.combiners.voting import VotingClassifier as VotingClassifier
    from conjunto.combiners.voting import VotingRegressor as VotingRegressor
    from conjunto.ensembles.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from conjunto.ensembles.adaboost_regressor import AdaBoostRegressor as AdaBoostRegressor
    from conjunto.ensembles.arc_x4 import ArcX4Classifier as ArcX4Classifier
    from conjunto.ensembles.bagging import BaggingClassifier as BaggingClassifier
    from conjunto.ensembles.bagging import BaggingRegressor as BaggingRegressor
    from conjunto.ensembles.class_switching import ClassSwitchingClassifier as ClassSwitchingClassifier
    from conjunto.ensembles.double_bagging import DoubleBaggingClassifier as DoubleBaggingClassifier
    from conjunto.ensembles.ecoc import ECOCClassifier as ECOCClassifier
    from conjunto.ensembles.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
    from conjunto.ensembles.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
    from conjunto.ensembles.flipping import FlippingClassifier as FlippingClassifier
    from conjunto.ensembles.igp_boosting import IGPBoostingClassifier as IGPBoostingClassifier
    from conjunto.ensembles.igp_committees import IGPCommitteesClassifier as IGPCommitteesClassifier
    from conjunto.ensembles.igp_ensemble import IGPEnsembleClassifier as IGPEnsembleClassifier
    from conjunto.ensembles.merging import merge as merge
    from conjunto.ensembles.multiboost import MultiBoostClassifier as MultiBoostClassifier
    from conjunto.ensembles.output_smearing import OutputSmearingRegressor as OutputSmearingRegressor
    from conjunto.ensembles.pasting import PastingClassifier as PastingClassifier
    from conjunto.ensembles.pasting import PastingRegressor as PastingRegressor
    from conjunto.ensembles.random_forest import RandomForestClassifier as RandomForestClassifier
    from conjunto.ensembles.random_forest import RandomForestRegressor as RandomForestRegressor
    from conjunto.ensembles.random_subspace import RandomSubspaceClassifier as RandomSubspaceClassifier
    from conjunto.ensembles.random_subspace import RandomSubspaceRegressor as RandomSubspaceRegressor
    from conjunto.ensembles.randomization import RandomizationClassifier as RandomizationClassifier
    from conjunto.ensembles.round_robin import RoundRobinClassifier as RoundRobinClassifier
    from conjunto.ensembles.three_boost import ThreeBoostClassifier as ThreeBoostClassifier
    from conjunto.ensembles.wagging import WaggingClassifier as WaggingClassifier
    from conjunto.exchange.from_sklearn import from_sklearn as from_sklearn
    from conjunto.exchange.to_sklearn import to_sklearn as to_sklearn
    from conjunto.learners.c45 import C45Classifier as C45Classifier
    from conjunto.learners.cart import CARTClassifier as CARTClassifier
    from conjunto.learners.cart import CARTRegressor as CARTRegressor
    from conjunto.learners.graphviz import export_graphviz as export_graphviz
    from conjunto.learners.igp import IGPTreeClassifier as IGPTreeClassifier
    from conjunto.learners.preparation import TablePreparation as TablePreparation
    from conjunto.learners.text import export_rules as export_rules
    from conjunto.learners.text import export_text as export_text
    from conjunto.plots.pruning_curve import PruningCurveDisplay as PruningCurveDisplay
    from conjunto.plots.tree import TreeDisplay as TreeDisplay
    from conjunto.plots.tree import plot_tree as plot_tree
    from conjunto.pruning.distil import distil as distil
    from conjunto.pruning.estimators import PrunedClassifier as PrunedClassifier
    from conjunto.pruning.estimators import PrunedRegressor as PrunedRegressor
    from conjunto.pruning.keep import Budget as Budget
    from conjunto.pruning.prune import order as order
    from conjunto.pruning.prune import prune as prune
    from conjunto.votes import Votes as Votes

__all__ = [*_HOMES, *_TOOLS, "__version__"]


if not TYPE_CHECKING:
    # To a type checker a module with this function has every name there is.
    def __getattr__(name: str) -> Any:
        # Names are resolved on first use: scikit-learn takes more than a second to import.
        home = _HOMES.get(name) or _TOOLS.get(name)
        if home:
            return getattr(import_module(home), name)
        raise AttributeError(f"module 'conjunto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_TOOLS])
