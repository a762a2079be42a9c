"""Extremely randomised trees: random cuts in place of the best ones (Geurts, Ernst and Wehenkel 2006).

At every node one cut is drawn at random for each of `max_features` columns, and the best of these cuts is taken. Every
tree sees all rows, unless `bootstrap` says otherwise.
"""

from __future__ import annotations

from typing import Any

from conjunto.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor


class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomised trees for classification.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Columns tried at each node, each with one random cut.
    bootstrap : bool, default=False
        Draw a bootstrap sample for each tree; else all rows.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, max_samples, ccp_alpha, monotonic_cst, class_weight, vote, oob_score, warm_start, n_jobs, \
random_state, verbose
        As in `RandomForestClassifier`.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006). Extremely randomized trees. Machine Learning 63, 3-42.

    Examples
    --------
    >>> from conjunto import ExtraTreesClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> bool(ExtraTreesClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.95)
    True
    """

    splitter = "random"
    draws_per_row = False

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = "sqrt",
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: float | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        vote: str = "soft",
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            max_features=max_features,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            max_samples=max_samples,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            class_weight=class_weight,
            vote=vote,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomised trees for regression. Parameters as in `ExtraTreesClassifier`, `max_features` is 1.0.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import ExtraTreesRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> forest = ExtraTreesRegressor(random_state=0).fit(X[:100], X[:100, 0])
    >>> bool(forest.score(X[100:], X[100:, 0]) > 0.8)
    True
    """

    splitter = "random"
    draws_per_row = False

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = 1.0,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: float | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            max_features=max_features,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            max_samples=max_samples,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
