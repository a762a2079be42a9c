"""What a fitted sequential ensemble says: the weighted vote of its members, at the end and after every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.ballot import decide, leaders, prefix_values
from conjunto.ensembles._fitted import log_probabilities
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles.rules import RULES, Rule
from conjunto.ensembles.rules._rule import add_scores, both_sides
from conjunto.learners.fitting import Members
from conjunto.learners.members import ForeignMembers, Rows, TreeMembers
from conjunto.learners.rounds import answers
from conjunto.votes import Votes

Array = NDArray[Any]

# Answers of so many members, rows and classes are held at a time.
STAGE_CELLS = 1 << 22


class FittedSequence(SequentialEnsemble):
    """What classifiers and regressors share after the fit."""

    _members: Members

    @property
    def _rule(self) -> type[Rule]:
        check_is_fitted(self)
        return RULES[self._fitted_rule]

    def _width(self) -> int:
        return self._rule.width(getattr(self, "n_classes_", 0))

    def _rounds(self, rows: Rows) -> Iterator[Array]:
        """What the members of each round say, (members, n[, K])."""
        width = self._width()
        by_leaf = self._leaf_scores is not None
        cells = len(rows.encoded) * width * (self.n_classes_ if by_leaf or self._rule.answer == "shares" else 1)
        step = max(1, STAGE_CELLS // cells)
        for first in range(0, len(self), step):
            chunk = np.arange(first * width, min(first + step, len(self)) * width)
            members = self._members.take(chunk)
            said = self._by_leaf(chunk, members, rows) if by_leaf else self._ask(members, rows)
            yield from said.reshape(len(chunk) // width, width, *said.shape[1:])

    def _ask(self, members: Members, rows: Rows) -> Array:
        return answers(members, rows, self._rule.answer, self._threads())

    def _by_leaf(self, numbers: Array, members: Any, rows: Rows) -> Array:
        """What the rule has made of the leaves: (members, n, K)."""
        assert self._leaf_scores is not None
        start = np.concatenate([[0], self._forest("leaves").leaf_counts().cumsum()])[numbers]
        return self._leaf_scores[start[:, None] + members.forest.leaves(rows.encoded, self._threads()).T]

    @property
    def estimators_(self) -> Any:
        """The members as fitted estimators, made on demand: a list, or (rounds, classes) if there is one per class."""
        check_is_fitted(self)
        classes = None
        if self._classification and self._rule.answer != "values":
            classes = np.array([0, 1]) if self._rule.per_class else self.classes_
        members = self._members.estimators(self._like(classes))
        if self._width() == 1:
            return members
        # Filled one by one: numpy would take apart members that have a length.
        grid = np.empty((len(self), self._width()), dtype=object)
        for t, member in enumerate(members):
            grid[divmod(t, self._width())] = member
        return grid

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean of the members' importances, weighted by their votes."""
        check_is_fitted(self)
        if isinstance(self._members, TreeMembers):
            each = self._members.forest.importances()
        else:
            assert isinstance(self._members, ForeignMembers)
            try:
                each = np.stack([model.feature_importances_ for model in self._members.fitted])
            except AttributeError as error:
                raise AttributeError("feature_importances_ needs members that have feature_importances_") from error
        total = np.average(each, axis=0, weights=np.repeat(self.estimator_weights_, self._width()))
        return total / total.sum() if total.sum() > 0 else total

    def _seen(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        if self._resamples:
            raise ValueError(
                f"{type(self).__name__} draws samples by weights that are not kept: what is out of bag cannot be known"
            )
        return super()._seen()

    def _with_members(self, members: Any) -> Any:
        rounds, width = np.asarray(members, dtype=np.intp), self._width()
        numbers = (rounds[:, None] * width + np.arange(width)).ravel()
        part = self._part(numbers)
        part.estimator_weights_ = self.estimator_weights_[rounds]
        part.estimator_errors_ = self.estimator_errors_[rounds]
        part._groups = self._groups[rounds]
        part._run = None
        if self._leaf_scores is not None:
            ends = self._forest("leaves").leaf_counts().cumsum()[:-1]
            by_tree = np.split(self._leaf_scores, ends)
            part._leaf_scores = np.concatenate([by_tree[t] for t in numbers])
        if "n_estimators" in self.get_params(deep=False):
            part.n_estimators = len(rounds)
        return part

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.estimator_weights_)


class SequentialClassifier(ClassifierMixin, FittedSequence):
    """A sequential ensemble that decides between classes by the largest weighted vote."""

    _classification = True
    classes_: NDArray[Any]
    n_classes_: int

    def votes(self, X: Any) -> Votes:
        """Return what each round says about each row: its label, or the scores that it adds to the classes."""
        rows = self._read(X)
        said = list(self._rounds(rows))
        weights = self.estimator_weights_
        if not self._adds_scores():
            return Votes(labels=np.concatenate(said), weights=weights, classes=self.classes_)
        scores = np.zeros((len(self), len(rows.encoded), self.n_classes_))
        for t, answer in enumerate(said):
            add_scores(self._rule, scores[t], answer, 1.0)
        return Votes(scores=scores, weights=weights, classes=self.classes_)

    def _adds_scores(self) -> bool:
        return self._rule.answer != "labels" or self._rule.per_class

    def _shares(self, t: int, X: Any) -> Array:
        return self._with_members([t])._scores(X)

    def _scores(self, X: Any) -> Array:
        """(n, K): summed votes."""
        rows, rule, k = self._read(X), self._rule, self.n_classes_
        if not isinstance(self._members, TreeMembers) or not isinstance(self._members.forest, _core.Forest):
            *_, scores = self._staged_scores(rows)
            return scores
        forest, threads, width = self._members.forest, self._threads(), self._width()
        votes = np.repeat(np.repeat(self.estimator_weights_, width), forest.leaf_counts())
        if self._leaf_scores is not None:
            return forest.leaf_row_sums(rows.encoded, votes[:, None] * self._leaf_scores, threads)
        if rule.answer == "shares":
            return forest.leaf_row_sums(rows.encoded, votes[:, None] * rule.worth(forest.leaf_shares(), k), threads)
        if not rule.per_class:
            return forest.leaf_sums(rows.encoded, votes, forest.leaf_labels(), k, threads)
        said = forest.leaf_labels() if rule.answer == "labels" else forest.leaf_values()
        member = np.repeat(np.tile(np.arange(width, dtype=np.int32), len(self)), forest.leaf_counts())
        sums = forest.leaf_sums(rows.encoded, votes * rule.worth(said, k), member, width, threads)
        return sums if width > 1 else both_sides(sums[:, 0])[:, -k:]

    def _staged_scores(self, rows: Rows) -> Iterator[Array]:
        """Summed votes after every round: one array, updated in place."""
        scores = np.zeros((len(rows.encoded), self.n_classes_))
        for said, vote in zip(self._rounds(rows), self.estimator_weights_, strict=True):
            add_scores(self._rule, scores, said, vote)
            yield scores

    def _shown(self, scores: Array, total: float) -> Array:
        decision = self._rule.decision(scores, total)
        return decision[:, 1] - decision[:, 0] if self.n_classes_ == 2 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest weighted vote; ties go to the lowest class."""
        best = leaders(self._scores(X))
        return self.classes_[best]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes, (n, K); with two classes those of the second less the first, (n,)."""
        return self._shown(self._scores(X), self.estimator_weights_.sum())

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities: what the method's loss makes of the scores, or the share of the vote."""
        return self._rule.probabilities(self._scores(X), self.estimator_weights_.sum())

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return log_probabilities(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction after every round."""
        for scores in self._staged_scores(self._read(X)):
            yield self.classes_[leaders(scores)]

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield `decision_function` after every round."""
        for scores, total in zip(self._staged_scores(self._read(X)), self.estimator_weights_.cumsum(), strict=True):
            yield self._shown(scores.copy(), total)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield `predict_proba` after every round."""
        for scores, total in zip(self._staged_scores(self._read(X)), self.estimator_weights_.cumsum(), strict=True):
            yield self._rule.probabilities(scores.copy(), total)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after every round."""
        for said in self.staged_predict(X):
            yield accuracy_score(y, said, sample_weight=sample_weight)


class SequentialRegressor(RegressorMixin, FittedSequence):
    """A sequential ensemble that answers with the weighted median of its members."""

    _classification = False
    _keeps_a_poor_member = True

    def votes(self, X: Any) -> Votes:
        """Return the value that each member predicts for each row."""
        rows = self._read(X)
        values = np.concatenate(list(self._rounds(rows)))
        values = values if self._limits is None else values.clip(*self._limits)
        return Votes(values=values, weights=self.estimator_weights_, rule="median")

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the weighted median of the members' predictions."""
        return decide(self.votes(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the prediction after every round."""
        yield from prefix_values(self.votes(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield R² after every round."""
        for said in self.staged_predict(X):
            yield r2_score(y, said, sample_weight=sample_weight)
