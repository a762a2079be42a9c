"""`Combiner`: the one fit of whatever combines models, and what it answers.

A method says what members are asked for (`_answer`), what it learns from their answers about rows that they did not see
(`_learn`) and how their answers become votes (`_cast`). All else is here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from conjunto.classes import listed
from conjunto.combination import FINISHES, combine
from conjunto.combiners._asking import Answer, Question, Vocabulary, classes_known_to
from conjunto.combiners._fitting import Task, Unseen, fit_and_ask, unseen_of, votes_of
from conjunto.combiners._named import NamedModels, given_metadata, spelled
from conjunto.outputs import logarithm
from conjunto.problem import as_rows, read_weights
from conjunto.ties import leaders
from conjunto.voters.checking import picks_columns
from conjunto.votes import Votes

Array = NDArray[Any]


class Combiner(NamedModels):
    """Models that answer together."""

    n_jobs: int | None
    verbose: Any
    cv: Any = None
    indivisible = "how its members are combined was learned for all of them together"
    learns: Literal["unseen", "training", "nothing"] = "unseen"
    """From what the combination is learned: answers about rows that members did not see, answers about those that they
    were fitted on, or nothing."""

    def fit(self, X: Any = None, y: Any = None, **fit_params: Any) -> Self:
        """Fit the members, and learn how to combine them.

        Parameters
        ----------
        X, y : array-like or DataFrame, array-like
            Training data. Where members are fitted already, rows that none of them saw, for the combination to learn
            from; they may be left out where it learns nothing.
        **fit_params : dict
            `sample_weight` for all members, `groups` for the splitter; others as metadata routing says.
        """
        fit_params = given_metadata(self, fit_params)
        models = self._models()
        self._check_parameters(models)
        if self._is_prefit():
            _check_fitted(models)
            if X is None and y is None and self.learns == "nothing":
                self._seat(models, self._classes_of(models, None), coded=False)
                return self
        self._learn_from(self._task(models, X, y, fit_params))
        return self

    def _learn_from(self, task: Task) -> None:
        """Fit what is not fitted yet, then learn from what the members say."""
        learns = self.learns
        self._check_answers(task.models)
        if self._is_prefit():
            self._seat(task.models, task.classes, coded=False)
            unseen = None if learns == "nothing" else unseen_of(task, self._said(task.X))
        else:
            questions = self._questions(task.models, task.n_classes) if learns == "unseen" else None
            members, unseen = fit_and_ask(task, questions, self.cv, self.n_jobs, int(self.verbose))
            named = [(name, member) for (name, _), member in zip(task.models, members, strict=True)]
            self._seat(named, task.classes, coded=True)
            if learns == "training":
                unseen = unseen_of(task, self._said(task.X))
        if unseen is not None:
            self._learn(unseen)

    def _task(self, models: list[tuple[str, Any]], X: Any, y: Any, fit_params: dict[str, Any]) -> Task:
        """The training data, checked as far as members do not do it themselves."""
        if X is None or y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        check_consistent_length(X, y)
        X = as_rows(X)
        codes, classes = self._read_answers(models, y)
        # Members that are fitted already take nothing any more.
        arguments, to_splitter = ([], {}) if self._is_prefit() else self._routed(models, fit_params)
        weight = read_weights(fit_params.get("sample_weight"), len(codes))
        return Task(models, X, codes, classes, arguments, weight, to_splitter)

    def _seat(self, members: Sequence[tuple[str, Any]], classes: Array | None, *, coded: bool) -> None:
        """Take the fitted members in; `coded`: they were told class codes in place of labels."""
        self._check_answers(members)
        if classes is not None:
            self.classes_ = classes
        self._all_names = [name for name, _ in self.estimators] if self._is_list() else ["pool"]
        self.estimators_ = [member for _, member in members]
        self._names = [name for name, _ in members]
        self._coded = coded

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.estimators_)

    def __getitem__(self, t: int) -> Any:
        check_is_fitted(self)
        return self.estimators_[t]

    def __sklearn_is_fitted__(self) -> bool:
        return "estimators_" in self.__dict__

    def _said(self, X: Any, members: Sequence[int] | None = None) -> list[Array]:
        """What the members (None: all) say about rows."""
        questions = self._questions(list(zip(self._names, self.estimators_, strict=True)), self._n_classes())
        chosen = range(len(self.estimators_)) if members is None else members
        return [
            questions[t].ask(self.estimators_[t], X, self._vocabulary(t), f"the member {self._names[t]!r}")
            for t in chosen
        ]

    # What a method, or its task, says.

    def _answer(self) -> Answer:
        """What members are asked for."""
        raise NotImplementedError("a method says what members are asked for")

    def _learn(self, unseen: Unseen) -> None:
        """Learn how to combine from answers whose truth is known."""

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        """Refuse parameters that make no sense, before anything is fitted."""

    def _questions(self, models: Sequence[tuple[str, Any]], n_classes: int) -> list[Question]:
        return [Question(self._answer(), n_classes)] * len(models)

    def _check_answers(self, models: Sequence[tuple[str, Any]]) -> None:
        """Refuse members that cannot answer what they are asked for."""
        if self._answer() != "shares":
            return
        for name, model in models:
            if not hasattr(model, "predict_proba"):
                raise ValueError(
                    f"the member {name!r}, {type(model).__name__}, has no predict_proba, and "
                    f"{self._who_needs_shares()} combines probabilities: leave it out, or calibrate it "
                    "(sklearn.calibration.CalibratedClassifierCV)"
                )

    def _who_needs_shares(self) -> str:
        return type(self).__name__

    def _n_classes(self) -> int:
        return 0

    def _classes_of(self, models: Sequence[tuple[str, Any]], labels: Array | None) -> Array | None:
        """The classes of fitted members, and of y where it is given; None in regression."""
        return None

    def _vocabulary(self, t: int) -> Vocabulary | None:
        return None

    def _read_answers(self, models: Sequence[tuple[str, Any]], y: Any) -> tuple[Array, Array | None]:
        """Class codes and the labels in their order, or targets."""
        raise NotImplementedError("the task says what answers are")


class ClassCombiner(ClassifierMixin, Combiner):
    """Classifiers that answer together."""

    task = "classification"
    classes_: NDArray[Any]

    def _answer(self) -> Answer:
        return "shares"

    def _n_classes(self) -> int:
        return len(self.classes_)

    def _vocabulary(self, t: int) -> Vocabulary:
        told = np.arange(len(self.classes_)) if self._coded else None
        return Vocabulary.of_member(self.estimators_[t], told, self.classes_)

    def _read_answers(self, models: Sequence[tuple[str, Any]], y: Any) -> tuple[Array, Array | None]:
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            raise NotImplementedError(
                f"{type(self).__name__} only supports binary or multiclass classification. Multilabel and multi-output "
                "classification are not supported."
            )
        labels = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=None, input_name="y")
        check_classification_targets(labels)
        found = np.unique(labels)
        classes = self._classes_of(models, found)
        return Vocabulary.of_known(found, classes).encode(labels, "y").astype(np.intp), classes

    def _classes_of(self, models: Sequence[tuple[str, Any]], labels: Array | None) -> Array:
        return classes_known_to(models, labels) if self._is_prefit() or labels is None else labels


class ValueCombiner(RegressorMixin, Combiner):
    """Regressors that answer together."""

    task = "regression"

    def _answer(self) -> Answer:
        return "values"

    def _read_answers(self, models: Sequence[tuple[str, Any]], y: Any) -> tuple[Array, Array | None]:
        values = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype="numeric", input_name="y")
        return values.astype(np.float64), None


class Casting(Combiner):
    """Members whose answers become votes: whoever decides by votes and nothing else."""

    def votes(self, X: Any) -> Votes:
        """Return what the members say, as it is combined: `conjunto.combination.decide` gives the prediction."""
        check_is_fitted(self)
        return self._cast(self._heard(X), X)

    def _heard(self, X: Any) -> list[Array]:
        """What those that are asked say; a method need not ask all."""
        return self._said(X)

    def _mean_of(self, said: list[Array], weights: Any, rule: str = "mean") -> Votes:
        """Votes of given weights, averaged or combined by another rule."""
        classes = getattr(self, "classes_", None)
        return votes_of(said, self._n_classes(), weights=weights, rule=rule, classes=classes)

    def _cast(self, said: list[Array], X: Any) -> Votes:
        """Answers of members as votes, with weights and rule."""
        raise NotImplementedError("a method says how answers become votes")


class ClassVotes(ClassCombiner, Casting):
    """Classifiers whose votes decide."""

    finish = "share-of-cast"
    """How sums of votes become probabilities, by its name in `FINISHES`."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that the members decide for; ties go to the lowest class."""
        sums = self._sums(X)
        return self.classes_[leaders(sums)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, (n, K)."""
        return FINISHES[self.finish].probabilities(self._sums(X), 1.0)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        return logarithm(self.predict_proba(X))

    def _sums(self, X: Any) -> NDArray[np.float64]:
        return combine(self.votes(X)).counts


class ValueVotes(ValueCombiner, Casting):
    """Regressors whose votes decide."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the combined value; NaN where all members abstain."""
        return combine(self.votes(X)).answers()


def _check_fitted(members: Sequence[tuple[str, Any]]) -> None:
    """Refuse members that are not fitted, or expect different columns of X."""
    for name, member in members:
        if isinstance(member, BaseEstimator):
            try:
                check_is_fitted(member)
            except NotFittedError as error:
                raise NotFittedError(f"prefit=True, and the member {name!r} is not fitted: {error}") from error
    known = [(name, m) for name, m in members if hasattr(m, "n_features_in_") and not picks_columns(m)]
    for name, member in known[1:]:
        first_name, first = known[0]
        counts = first.n_features_in_, member.n_features_in_
        names = [list(getattr(model, "feature_names_in_", [])) for model in (first, member)]
        if counts[0] != counts[1] or (all(names) and spelled(names[0]) != spelled(names[1])):
            told = [listed(each, 5) for each in names] if counts[0] == counts[1] else counts
            raise ValueError(
                f"members were fitted on different columns: {first_name!r} on {told[0]} and {name!r} on {told[1]}; put "
                "what differs into a pipeline with the model"
            )
