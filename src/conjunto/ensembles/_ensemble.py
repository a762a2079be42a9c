"""`Ensemble`: what every fitted ensemble of conjunto can do, however its members were built.

It meets the protocol of `conjunto.voters.Voters`: `votes`, `contributions`, `seen`, `take`, and a length, which is the
number of voters.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.atomic import all_or_nothing
from conjunto.callbacks import CallbackSupportMixin, with_callbacks
from conjunto.draw import Drawn
from conjunto.ensembles._members import MemberList, seated
from conjunto.ensembles._panel import Panel
from conjunto.ensembles._warm_start import FirstFit
from conjunto.jobs import count_jobs
from conjunto.learners.members import ForeignMembers, TreeMembers
from conjunto.learners.nodes import leaf_nodes
from conjunto.learners.rows import read_fitted_rows, rows_of
from conjunto.learners.scoring import Scoring
from conjunto.outputs import class_counts, one_or_list
from conjunto.problem import Columns, Problem, Rows, read_problem
from conjunto.voters.checking import check_voters
from conjunto.voters.protocol import Seen, Unknown
from conjunto.voters.row_sketch import other_rows

# Attributes that a part of an ensemble cannot take over, and a new fit makes untrue: they are about all members
# together, or about an earlier pruning.
ABOUT_ALL = ("oob_score_", "oob_decision_function_", "oob_prediction_", "bound_", "validation_errors_", "_oob_votes")
ABOUT_PRUNING = ("order_", "curve_", "pruning_report_")


def _of_binary_trees(what: str) -> Callable[[Any], bool]:
    """Whether rows have one leaf in each member, or why not; an ensemble that is not fitted may have."""

    def check(ensemble: Any) -> bool:
        return "_panel" not in ensemble.__dict__ or ensemble._binary_trees(what) is not None

    return check


class Ensemble(CallbackSupportMixin, BaseEstimator):
    """A door for rows, and a panel of members behind it."""

    n_jobs: int | None
    n_features_in_: int
    classes_: Any
    _panel: Panel
    _columns: Columns

    # Facts about a method, which tests and experiments read.
    task: ClassVar[str] = "classification"
    indivisible: ClassVar[str] = ""
    """Why its voters cannot be taken apart; nothing where they can."""
    takes_sparse: ClassVar[bool] = True
    """Whether X may be sparse, if the members take it."""
    several_outputs: ClassVar[bool] = False
    """Whether y may have several columns, if the members take them."""
    no_out_of_bag: ClassVar[str] = ""
    """Why out-of-bag votes would mislead; nothing where they would not."""
    size_parameter: ClassVar[str] = "n_estimators"
    """The parameter that says how many voters there are; "" where the data decide."""
    draws_per_row: ClassVar[bool] = True
    """Whether something random is drawn for each row, so that two copies of a row are not a row of weight 2."""
    grows: ClassVar[bool] = True
    """Whether the first members do not depend on how many follow, so that a warm start can add more."""
    on_columns: ClassVar[bool] = True
    """Whether members are trees on the columns of X, which have importances and leaves."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, m)
            Rows; NaN is missing, DataFrame columns of text, category or bool type are categorical.
        y : array-like of shape (n,), or (n, targets)
            Labels or targets; forests, extra trees, bagging and single trees take several.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, on top of what the method draws; boosting starts from them.
        """
        with all_or_nothing(self):
            problem = read_problem(self, X, y, sample_weight, classification=self.task == "classification")
            self._fit_problem(problem)
        return self

    def fit_problem(self, problem: Problem, like: Any) -> Self:
        """Fit on data that were read already, by an estimator whose columns these are."""
        with all_or_nothing(self):
            self.__dict__.pop("feature_names_in_", None)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(like, name):
                    setattr(self, name, getattr(like, name))
            self._fit_problem(problem)
        return self

    def _fit_problem(self, problem: Problem) -> None:
        raise NotImplementedError("a loop says how members are fitted")

    def _settle(self, problem: Problem, panel: Panel) -> None:
        """Keep what was fitted; forget what was known about other members."""
        self._columns = problem.columns
        self._panel = panel
        if problem.classes is not None:
            self.classes_ = problem.classes
            self.n_classes_ = class_counts(problem.classes)
        self.n_outputs_ = problem.n_outputs
        for name in (*ABOUT_ALL, *ABOUT_PRUNING):
            self.__dict__.pop(name, None)

    def _voting(self) -> Panel:
        """The panel, as it votes now."""
        panel: Panel | None = self.__dict__.get("_panel")
        if panel is None:
            check_is_fitted(self)
        assert panel is not None
        return panel

    def _threads(self) -> int:
        return 1 if self.n_jobs is None else count_jobs(self.n_jobs)

    def read(self, X: Any) -> Rows:
        """Return X checked and encoded; every other method takes this in place of X, and reads nothing again."""
        return rows_of(self, X)

    def votes(self, X: Any) -> Any:
        """Return what each member says about each row, which is what the ensemble decides by: a `Votes`.

        Labels where votes are counted, scores where they are added up, values in regression; in boosting a member is a
        round. `conjunto.combination.decide` makes of them what `predict` returns. With several targets a list of
        `Votes`, one for each.
        """
        rows = self.read(X)
        return one_or_list([panel.votes(rows, self._threads()) for panel in self._voting().by_output()])

    def contributions(self, X: Any, voters: Sequence[int] | NDArray[Any] | None = None) -> Any:
        """Return the same of some voters (None: all), one after another, never held whole: a `RollCall`, or a list."""
        rows = self.read(X)
        chosen = None if voters is None else check_voters(voters, len(self), distinct=False)
        return one_or_list([panel.contributions(rows, chosen, self._threads()) for panel in self._voting().by_output()])

    def scoring(self) -> Scoring:
        """Return the ensemble as data: trees, what each leaf adds, and how the sum becomes an answer."""
        check_is_fitted(self)
        found = self._voting().scoring
        if found is None:
            raise AttributeError("scoring needs members that are binary trees of conjunto, whose answers are added up")
        return found

    def seen(self) -> Seen | Unknown:
        """Return which training rows each voter learned from, or the reason why that is not known."""
        check_is_fitted(self)
        if self.no_out_of_bag:
            return Unknown(f"{type(self).__name__} has no out-of-bag votes: {self.no_out_of_bag}")
        drawn: Drawn | None = self.__dict__.get("_drawn")
        seen = None if drawn is None else drawn.seen()
        if seen is None:
            return Unknown(f"{type(self).__name__} shows all rows to every member: nothing is out of bag")
        return Seen(type(self).__name__, known=seen, refutes=self._refutes)

    def _refutes(self, rows: Rows, _: Any) -> bool:
        """Whether the rows are not those of the fit, in its order."""
        first: FirstFit | None = self.__dict__.get("_first_fit")
        return first is not None and first.sketch is not None and other_rows(first.sketch, rows.encoded)

    def take(self, voters: Sequence[int] | NDArray[Any]) -> Self:
        """Return a fitted copy with some of the voters, in this order; the ensemble itself stays as it is."""
        check_is_fitted(self)
        if self.indivisible:
            raise TypeError(f"{type(self).__name__} cannot be taken apart: {self.indivisible}")
        chosen = check_voters(voters, len(self))
        part = copy.copy(self)
        part._panel = self._panel.take(chosen)
        if "_drawn" in self.__dict__:
            part._drawn = self._drawn.take(chosen)
        for name in ABOUT_ALL:
            part.__dict__.pop(name, None)
        # What a warm start would go on from belongs to the whole.
        part.__dict__.pop("_run", None)
        setattr(part, self.size_parameter, len(chosen))
        return part

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self._panel)

    def __getitem__(self, t: Any) -> Any:
        """Member t, or a list of the members of a slice."""
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def n_stages_(self) -> int:
        """Stages of `staged_predict`: members, in boosting rounds. Committees are more than one stage each."""
        check_is_fitted(self)
        return self._panel.n_rounds

    @property
    def estimators_(self) -> Any:
        """The members as fitted estimators, made when first asked for: a list, or (rounds, classes) with one per class.

        A list that is assigned becomes the members, where each has one vote.
        """
        check_is_fitted(self)
        kept = self._panel.kept
        if "estimators" not in kept:
            kept["estimators"] = self._estimators(self._panel)
        return kept["estimators"]

    @estimators_.setter
    def estimators_(self, estimators: Any) -> None:
        check_is_fitted(self)
        estimators = list(estimators)
        if len(estimators) == len(self._panel.members) and all(map(operator.is_, estimators, self.estimators_)):
            return
        self._check_replaceable()
        self._panel = seated(self._panel, estimators)
        # What is known of the members that were there is not true of these.
        for name in (*ABOUT_ALL, *ABOUT_PRUNING, "_drawn", "_first_fit", "_run"):
            self.__dict__.pop(name, None)

    def _check_replaceable(self) -> None:
        """Say why no others can take the place of the members, where none can."""
        if self.indivisible:
            raise TypeError(f"the members of {type(self).__name__} cannot be replaced: {self.indivisible}")

    def _estimators(self, panel: Panel) -> Any:
        members = panel.members.estimators(self._like(panel))
        self._finish_estimators(members)
        if panel.width == 1:
            return MemberList(members)
        # Filled one by one: numpy would take apart members that have a length.
        grid = np.empty((panel.n_rounds, panel.width), dtype=object)
        for t, member in enumerate(members):
            grid[divmod(t, panel.width)] = member
        return grid

    def _finish_estimators(self, members: list[Any]) -> None:
        """Tell members that were made on demand what only the loop knows, such as their random streams."""

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """The weight of each member's vote, or of each round's."""
        check_is_fitted(self)
        return np.ones(self._panel.n_rounds) if self._panel.weights is None else self._panel.weights

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean of the members' importances, weighted by their votes."""
        check_is_fitted(self)
        members = self._panel.members
        if isinstance(members, ForeignMembers) and all(columns is None for columns in members.columns):
            try:
                each = np.stack([model.feature_importances_ for model in members.fitted])
            except AttributeError as error:
                raise AttributeError("feature_importances_ needs members that have feature_importances_") from error
        else:
            each = self._trees("feature_importances_").importances()
        total = np.average(each, axis=0, weights=np.repeat(self.estimator_weights_, self._panel.width))
        return total / total.sum() if total.sum() > 0 else total

    @property
    def nbytes_(self) -> int:
        """Bytes that the packed trees take."""
        return self._trees("nbytes_").nbytes

    @available_if(_of_binary_trees("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree, (n, trees), by its number in the `tree_` of the member."""
        return leaf_nodes(self._binary_trees("apply"), read_fitted_rows(self, X), self._threads())

    @available_if(_of_binary_trees("decision_path"))  # type: ignore[untyped-decorator]
    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return the nodes that each row passes.

        Returns
        -------
        indicator : sparse matrix of shape (n, nodes of all trees)
        n_nodes_ptr : ndarray of shape (trees + 1,)
            The columns of tree t are those from `n_nodes_ptr[t]` up to `n_nodes_ptr[t + 1]`.
        """
        self._binary_trees("decision_path")
        rows = self.read(X)
        trees = [tree.tree_ for tree in np.ravel(self._panel.members.estimators(self._like(self._panel)))]
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        return hstack([tree.decision_path(rows.encoded) for tree in trees]).tocsr(), starts

    def _trees(self, what: str) -> Any:
        """The packed trees, of whichever kind."""
        check_is_fitted(self)
        if not isinstance(self._panel.members, TreeMembers):
            raise AttributeError(f"{what} needs members that are trees of conjunto on the columns of X alone")
        return self._panel.members.forest

    def _binary_trees(self, what: str) -> _core.Forest:
        """The packed trees, where every row has one leaf in each of them."""
        forest = self._trees(what)
        if not isinstance(forest, _core.Forest):
            raise AttributeError(f"{what} needs trees in which a row has one leaf, which C4.5 trees are not")
        return forest

    def _like(self, panel: Panel) -> SimpleNamespace:
        """What members that are made on demand take over: the columns, and the classes that they decide between."""
        like = SimpleNamespace(_columns=self._columns, n_features_in_=self.n_features_in_, n_outputs_=panel.n_outputs)
        if hasattr(self, "feature_names_in_"):
            like.feature_names_in_ = self.feature_names_in_
        kind = panel.how.member_classes
        if kind != "none":
            like.classes_ = np.array([0, 1]) if kind == "sides" else panel.classes
            like.n_classes_ = class_counts(like.classes_)
        return like

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner: Any = getattr(self, "estimator", None)
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.takes_sparse
        tags.target_tags.multi_output = self.several_outputs
        tags.target_tags.positive_only = getattr(self, "criterion", None) == "poisson"
        if hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type):
            takes = learner.__sklearn_tags__()
            tags.input_tags.allow_nan = takes.input_tags.allow_nan
            tags.input_tags.sparse = self.takes_sparse and takes.input_tags.sparse
            tags.target_tags.multi_output = self.several_outputs and takes.target_tags.multi_output
            tags.target_tags.positive_only = takes.target_tags.positive_only
        return tags
