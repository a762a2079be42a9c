"""Random subspaces: every member on all rows and a random subset of the columns (Ho 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from conjunto.checks import check_share_or_count
from conjunto.draw import Draw, Outline
from conjunto.ensembles._answers import ClassAnswers, ValueAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.generation.columns import column_subset
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class SubspaceDraw(Draw):
    """A random subset of the columns."""

    width: int

    def columns(self, stream: Stream, outline: Outline) -> NDArray[Any]:
        """Without replacement."""
        return column_subset(stream, outline.m, self.width)


class _RandomSubspace:
    """The parameters of random subspaces, in classification and in regression."""

    several_outputs: ClassVar[bool] = True

    draws_per_row = False

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_features: float = 0.5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _draw(self, problem: Problem) -> SubspaceDraw:
        return SubspaceDraw(check_share_or_count("max_features", self.max_features, problem.m))


class RandomSubspaceClassifier(ClassAnswers, _RandomSubspace, IndependentEnsemble):
    """Random subspaces for classification.

    Parameters
    ----------
    max_features : float or int, default=0.5
        Columns that a member sees: a share or a number, drawn without replacement once per member.
    estimator, n_estimators, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    References
    ----------
    Ho (1998). The random subspace method for constructing decision forests. IEEE TPAMI 20, 832-844.

    Examples
    --------
    >>> from conjunto import RandomSubspaceClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = RandomSubspaceClassifier(max_features=5, random_state=0).fit(X, y)
    >>> len(model.estimators_features_[0])
    5
    """


class RandomSubspaceRegressor(ValueAnswers, _RandomSubspace, IndependentEnsemble):
    """Random subspaces for regression. Parameters as in `RandomSubspaceClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto import RandomSubspaceRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = RandomSubspaceRegressor(random_state=0).fit(X, X.sum(axis=1))
    >>> bool(model.score(X, X.sum(axis=1)) > 0.8)
    True
    """
