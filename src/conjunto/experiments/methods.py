"""The methods that experiments and the command line know: one literal table.

A new method joins by one line here; `making.py` turns a line into an estimator. Methods of other libraries, the rivals,
stand in the same table; their libraries are not imported until one is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from conjunto.checks import check_choice, suggest
from conjunto.experiments.own import does_task, find_class

TASKS = ("classification", "regression")
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
    """A name of ours, or "module:Class" for a class of another library."""
    regressor: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    panel: bool | tuple[str, ...] = False
    """Whether `conjunto compare` runs it by default, or the tasks for which it does."""
    trees: tuple[str, ...] = ("cart", "c45", "igp")
    """The base learners that can be named, of those in `TREES`; the first is the default."""
    rival: bool = False
    """Whether it is a method of another library, to compare with."""
    preparation: str = ""
    """How a table is prepared for it, a name in `PREPARATIONS`; "": it takes the table as it is."""
    codes: bool = False
    """Whether the classifier is told class codes in place of labels."""
    scaled: bool = False
    """Whether the regressor is told values of mean 0 and variance 1: its parameters mean nothing on any other scale."""
    extra: str = ""
    """The extra of this package that installs its library; "": it is always there."""


PREPARATIONS: dict[str, dict[str, Any]] = {
    "numbers": {},
    # For models that keep the rows: a file holds no sparse ones, whose indices nobody checks.
    "kept": {"sparse_output": "as-given"},
    "dense": {"sparse_output": False},
    "unscaled": {"scale": False, "sparse_output": False},
    "gaps": {"scale": False, "impute": False},
    "native": {"categories": "native", "scale": False, "impute": False, "max_categories": 255},
    "native-dense": {
        "categories": "native",
        "scale": False,
        "impute": False,
        "max_categories": 255,
        "sparse_output": False,
    },
}
"""Parameters of `TablePreparation`, by name.

Boosting libraries read missing numbers themselves, and get categories as they take them natively. CatBoost alone gets
one-hot columns: on one split of adult, two thirds for training, they cost it nothing (12.3 % of errors, native
categories 12.2 %, with a deviation of 0.3 %), and its native statistics of categories take seven times as long. Its
competitors differ as little (LightGBM: one-hot 12.2 %, native 12.4 %; XGBoost: 12.5 %, 12.7 %; histogram gradient
boosting: 12.4 % both), and what is native does not grow with the number of categories.
"""


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
        panel=True,
    ),
    "double-bagging": Registered("double-bagging", "DoubleBaggingClassifier", parameters={"n_estimators": 100}),
    "pasting": Registered("pasting", "PastingClassifier", "PastingRegressor", {"n_estimators": 100}),
    "random-subspace": Registered(
        "random subspaces",
        "RandomSubspaceClassifier",
        "RandomSubspaceRegressor",
        {"n_estimators": 100},
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
    "randomization": Registered("randomization", "RandomizationClassifier", parameters={"n_estimators": 100}),
    "wagging": Registered("wagging", "WaggingClassifier", parameters={"n_estimators": 100}),
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
        panel=("regression",),
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
        "LogitBoost (stumps)", "AdaBoostClassifier", parameters={"n_estimators": 100, "algorithm": "logit"}
    ),
    "boosting": Registered(
        "boosting (LogitBoost, trees of depth 3)",
        "AdaBoostClassifier",
        parameters={"n_estimators": 300, "algorithm": "logit", "learning_rate": 0.1, "estimator__max_depth": 3},
        panel=True,
    ),
    "adaboost-r": Registered("AdaBoost.R", None, "AdaBoostRegressor", {"n_estimators": 100, "algorithm": "r"}),
    "arc-x4": Registered("arc-x4", "ArcX4Classifier", parameters={"n_estimators": 100}),
    "multiboost": Registered("MultiBoost", "MultiBoostClassifier", parameters={"n_estimators": 100}),
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
    "logistic-regression": Registered(
        "logistic regression",
        "sklearn.linear_model:LogisticRegression",
        parameters={"max_iter": 1000},
        panel=True,
        rival=True,
        preparation="numbers",
    ),
    "ridge": Registered(
        "ridge regression", None, "sklearn.linear_model:Ridge", panel=True, rival=True, preparation="numbers"
    ),
    # Without a tree: in the many columns of categories it would not be faster, and its arrays cannot be saved safely.
    "knn": Registered(
        "k nearest neighbours",
        "sklearn.neighbors:KNeighborsClassifier",
        "sklearn.neighbors:KNeighborsRegressor",
        {"algorithm": "brute"},
        rival=True,
        preparation="kept",
    ),
    # Shrunk a little: columns of categories add up to one, and their covariance cannot be inverted.
    "lda": Registered(
        "linear discriminant analysis",
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
        parameters={"solver": "lsqr", "shrinkage": "auto"},
        rival=True,
        preparation="dense",
    ),
    "naive-bayes": Registered(
        "naive Bayes (Gaussian)", "sklearn.naive_bayes:GaussianNB", rival=True, preparation="unscaled"
    ),
    "svm": Registered(
        "support vector machine (RBF kernel)",
        "sklearn.svm:SVC",
        "sklearn.svm:SVR",
        rival=True,
        preparation="kept",
        scaled=True,
    ),
    "mlp": Registered(
        "multilayer perceptron",
        "sklearn.neural_network:MLPClassifier",
        "sklearn.neural_network:MLPRegressor",
        {"max_iter": 1000, "early_stopping": True, "n_iter_no_change": 50},
        rival=True,
        preparation="numbers",
        scaled=True,
    ),
    "hist-gradient-boosting": Registered(
        "histogram gradient boosting (scikit-learn)",
        "sklearn.ensemble:HistGradientBoostingClassifier",
        "sklearn.ensemble:HistGradientBoostingRegressor",
        panel=True,
        rival=True,
        preparation="native-dense",
    ),
    "lightgbm": Registered(
        "gradient boosting (LightGBM)",
        "lightgbm:LGBMClassifier",
        "lightgbm:LGBMRegressor",
        {"verbose": -1},
        rival=True,
        preparation="native",
        extra="rivals",
    ),
    "xgboost": Registered(
        "gradient boosting (XGBoost)",
        "xgboost:XGBClassifier",
        "xgboost:XGBRegressor",
        {"enable_categorical": True},
        rival=True,
        preparation="native",
        codes=True,
        extra="rivals",
    ),
    "catboost": Registered(
        "gradient boosting (CatBoost)",
        "catboost:CatBoostClassifier",
        "catboost:CatBoostRegressor",
        {"verbose": False, "allow_writing_files": False},
        rival=True,
        preparation="gaps",
        codes=True,
        extra="rivals",
    ),
    "constant": Registered(
        "the most frequent class, or the mean",
        "sklearn.dummy:DummyClassifier",
        "sklearn.dummy:DummyRegressor",
        panel=True,
        rival=True,
    ),
}


def registered(name: str) -> Registered:
    """The method of this name: a line of the table, or a user's own estimator as "module:Class".

    The one way from a name to a method: everything that is not known ends in its error.
    """
    if name in METHODS:
        return METHODS[name]
    if ":" not in name:
        raise ValueError(f"unknown method {name!r}; {suggest(name, METHODS, len(METHODS))}")
    kind = find_class(name)
    own = {task: name if does_task(kind, task) else None for task in TASKS}
    return Registered(name, own["classification"], own["regression"], trees=())


def panel(task: str) -> list[str]:
    """The methods that are compared when none are named."""
    return [name for name in of_task(task) if METHODS[name].panel is True or task in _named_tasks(name)]


def rivals(task: str) -> list[str]:
    """The methods of other libraries that do the task, as far as they are installed."""
    return [name for name in of_task(task) if METHODS[name].rival and installed(name)]


def of_task(task: str) -> list[str]:
    """The methods of the table that do the task, installed or not."""
    return [name for name in METHODS if estimator_name(name, task) is not None]


def estimator_name(name: str, task: str) -> str | None:
    """The class behind a method for a task; None where it has none."""
    method = registered(name)
    check_choice("task", task, TASKS)
    return method.classifier if task == "classification" else method.regressor


def library(name: str) -> str:
    """The library of another project that a method needs; "" where it needs none."""
    method = registered(name)
    return str(method.classifier or method.regressor).split(":")[0].split(".")[0] if method.extra else ""


def installed(name: str) -> bool:
    """Whether the library of a method is there; nothing is imported to look."""
    return not library(name) or find_spec(library(name)) is not None


def _named_tasks(name: str) -> tuple[str, ...]:
    tasks = METHODS[name].panel
    return tasks if isinstance(tasks, tuple) else ()
