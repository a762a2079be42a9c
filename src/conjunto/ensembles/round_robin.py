"""Round robin: one member for every pair of classes, on the rows of these two (Fürnkranz 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.draw import Draw, Outline
from conjunto.ensembles._answers import ClassAnswers
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles._panel import Panel
from conjunto.generation.labels import class_pairs
from conjunto.learners.fitting import Members
from conjunto.problem import Problem
from conjunto.streams import Stream


@dataclass(frozen=True)
class PairDraw(Draw):
    """The rows of two classes."""

    needs_codes = True

    def rows(self, stream: Stream, outline: Outline) -> NDArray[np.int32]:
        """1 for the rows of the pair, 0 for the others."""
        assert outline.codes is not None
        return np.isin(outline.codes, class_pairs(outline.n_classes)[stream.member]).astype(np.int32)


class RoundRobinClassifier(ClassAnswers, IndependentEnsemble):
    """Round robin: K (K - 1) / 2 members, each of which votes for one of its two classes.

    A member whose classes have no row of positive weight has learned nothing and abstains. The labels of the training
    rows are kept: they say which rows each member saw.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; None is a fully grown `CARTClassifier`, which is built natively.
    n_jobs, random_state, verbose
        As in `BaggingClassifier`; only base learners that are random depend on `random_state` (a `CARTClassifier`
        decides between equally good splits).

    Attributes
    ----------
    pairs_ : ndarray of shape (T, 2)
        The two classes of each member; a single class is paired with itself.
    estimators_, estimators_samples_ : list
        The members and the rows that each saw; made on demand.

    References
    ----------
    Fürnkranz (2002). Round robin classification. Journal of Machine Learning Research 2, 721-747.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conjunto import RoundRobinClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RoundRobinClassifier().fit(X, y).pairs_.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    no_out_of_bag = "a row is left out by the members that cannot answer its class, and by no other"
    indivisible = "every member is the only one that tells its two classes apart"
    size_parameter = ""
    draws_per_row = False
    grows = False

    def __init__(
        self, estimator: Any = None, *, n_jobs: int | None = None, random_state: Any = None, verbose: int = 0
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _count(self, problem: Problem) -> int:
        return len(class_pairs(problem.n_classes))

    def _draw(self, problem: Problem) -> PairDraw:
        return PairDraw()

    def _reading(self) -> str:
        return "labels-cast"

    def _seated(self, members: Members, problem: Problem) -> Panel:
        assert problem.classes is not None
        self.pairs_ = problem.classes[class_pairs(problem.n_classes)]
        nothing_learned = self._drawn.learned_from_all()
        abstaining = nothing_learned if nothing_learned.any() else None
        return Panel(members, self._reading(), problem.classes, abstaining=abstaining)
