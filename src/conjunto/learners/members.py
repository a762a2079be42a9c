"""Members: many fitted models as one object, whatever learner they come from.

Our trees are grown by one native call and stay packed in one `Forest`; any other scikit-learn estimator is
fitted view by view with joblib. The loops above see no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier

from conjunto.classes import Classes
from conjunto.problem import Problem, Rows, select
from conjunto.sparse import any_missing


class TreeMembers:
    """Our own trees, packed: a `Forest`, or a `C45Forest`, which answers the same questions but for leaves."""

    native = True

    def __init__(self, forest: Any, learner: Any) -> None:
        self.forest = forest
        self.learner = learner

    def __len__(self) -> int:
        return len(self.forest)

    def labels(self, X: Rows, threads: int) -> NDArray[np.int32]:
        """(T, n) class codes."""
        return self.forest.labels(X.encoded, threads)

    def values(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(T, n) predicted values."""
        return self.forest.values(X.encoded, threads)

    def shares(self, t: int, X: Rows) -> NDArray[np.float64]:
        """(n, K) class shares of one member."""
        return self.forest.take(np.array([t])).share_sums(X.encoded)

    def of_output(self, output: int) -> TreeMembers:
        """The same trees, which answer for one of several targets."""
        return TreeMembers(self.forest.of_output(output), self.learner)

    def reserve(self, factor: float) -> None:
        """Make room for so many times as many trees, which spares copies while trees are added."""
        self.forest.reserve(factor)

    def join(self, other: Any) -> None:
        """Take in the trees of another object."""
        self.forest.append(other.forest)

    def take(self, members: NDArray[Any]) -> TreeMembers:
        """Some of the trees."""
        return TreeMembers(self.forest.take(np.asarray(members, dtype=np.int64)), self.learner)

    def estimators(self, like: Any) -> list[Any]:
        """The trees as estimators of their own kind."""
        return [self._estimator(like, t) for t in range(len(self))]

    def _estimator(self, like: Any, t: int) -> Any:
        tree = clone(self.learner)
        tree.forest_ = self.forest.take(np.array([t]))
        take_over(tree, like)
        return tree


class ForeignMembers:
    """Estimators of another library, each with the columns it was fitted on."""

    native = False

    def __init__(
        self,
        fitted: list[Any],
        columns: list[NDArray[np.intp] | None],
        classes: Any,
        coded: bool = False,
        known: list[NDArray[Any] | None] | None = None,
        output: int | None = None,
    ) -> None:
        self.fitted = fitted
        self.columns = columns
        self.classes = classes
        self.coded = coded
        """Whether members were told class codes in place of labels."""
        self.known: list[NDArray[Any] | None] = [None] * len(fitted) if known is None else known
        """Where a member was told codes without gaps: the classes that they stand for."""
        self.output = output
        """The target that is asked for, where members have several."""

    def __len__(self) -> int:
        return len(self.fitted)

    def _each(self, X: Rows) -> list[tuple[Any, Any]]:
        pairs = zip(self.fitted, self.columns, strict=True)
        return [(model, select(X.source, columns=columns)) for model, columns in pairs]

    def labels(self, X: Rows, threads: int) -> NDArray[np.int32]:
        """(T, n) class codes."""
        out = np.empty((len(self), len(X)), dtype=np.int32)
        for t, (model, rows) in enumerate(self._each(X)):
            out[t] = self._codes(t, self._said(model, rows, X), "predicts")
        return out

    def _said(self, model: Any, rows: Any, X: Rows) -> Any:
        """What a member predicts, (n,)."""
        said = model.predict(rows, **_asked(model, X))
        return said if self.output is None else np.asarray(said)[:, self.output]

    def _codes(self, t: int, told: Any, verb: str) -> NDArray[np.int32]:
        """The codes of what a member calls classes."""
        assert self.classes is not None
        known = self.known[t]
        names = self.classes if not self.coded else np.arange(len(self.classes) if known is None else len(known))
        codes = Classes(names).encode(told, who=f"member {t} {verb}")
        return codes if known is None else known[codes].astype(np.int32)

    def values(self, X: Rows, threads: int) -> NDArray[np.float64]:
        """(T, n) predicted values."""
        return np.stack([np.asarray(self._said(model, rows, X), dtype=np.float64) for model, rows in self._each(X)])

    def shares(self, t: int, X: Rows) -> NDArray[np.float64]:
        """(n, K) class shares of one member; all for the class that it predicts where it tells no probabilities."""
        assert self.classes is not None
        out = np.zeros((len(X), len(self.classes)))
        ((model, rows),) = self.take(np.array([t]))._each(X)
        if hasattr(model, "predict_proba"):
            shares, classes = model.predict_proba(rows, **_asked(model, X)), model.classes_
            if self.output is not None:
                shares, classes = shares[self.output], classes[self.output]
            # A member whose sample missed a class has no column for it.
            out[:, self._codes(t, classes, "knows")] = shares
        else:
            out[np.arange(len(X)), self._codes(t, self._said(model, rows, X), "predicts")] = 1
        return out

    def decisions(self, X: Rows) -> NDArray[np.float64]:
        """The mean of what the members' `decision_function` say."""
        return np.mean([model.decision_function(rows, **_asked(model, X)) for model, rows in self._each(X)], axis=0)

    def of_output(self, output: int) -> ForeignMembers:
        """The same models, asked for one of several targets."""
        classes = None if self.classes is None else self.classes[output]
        return ForeignMembers(self.fitted, self.columns, classes, self.coded, self.known, output)

    def reserve(self, factor: float) -> None:
        """Nothing to do for a list."""

    def join(self, other: Any) -> None:
        """Take in the models of another object."""
        self.fitted += other.fitted
        self.columns += other.columns
        self.known += other.known

    def take(self, members: NDArray[Any]) -> ForeignMembers:
        """Some of the models."""
        parts = ([values[t] for t in members] for values in (self.fitted, self.columns, self.known))
        fitted, columns, known = parts
        return ForeignMembers(fitted, columns, self.classes, self.coded, known, self.output)

    def estimators(self, like: Any) -> list[Any]:
        """The models themselves."""
        return list(self.fitted)


def _asked(model: Any, X: Rows) -> dict[str, Any]:
    """What a member is asked with beside the rows; one that stands in for a learner, having seen one class, not."""
    return {} if X.asked is None or isinstance(model, DummyClassifier) else X.asked


def take_over(model: Any, like: Any) -> None:
    """Give a member made on demand what it needs to read a user's X, and the classes that it decides between."""
    for name in ("_columns", "n_features_in_", "feature_names_in_", "classes_", "n_classes_", "n_outputs_"):
        if hasattr(like, name):
            setattr(model, name, getattr(like, name))


def check_missing(learner: Any, X: Any) -> None:
    """Refuse missing values at the door where every member would: a sample may spare some members the sight of them.

    What a learner made of other estimators takes only these know.
    """
    composed = hasattr(learner, "steps") or any(hasattr(value, "fit") for value in learner.get_params().values())
    if composed or not hasattr(learner, "__sklearn_tags__") or learner.__sklearn_tags__().input_tags.allow_nan:
        return
    if any_missing(X):
        raise ValueError(
            f"Input X contains NaN, and {type(learner).__name__} takes no missing values: fill them in, for example by "
            "a pipeline with sklearn.impute.SimpleImputer as estimator"
        )


def check_constraints(learner: Any, problem: Problem) -> None:
    """Refuse monotone constraints where members see two classes or values, and the ensemble decides between more."""
    given = getattr(learner, "monotonic_cst", None)
    if given is not None and problem.n_classes > 2 and np.any(np.asarray(given) != 0):
        raise ValueError("Monotonicity constraints are not supported with multiclass classification.")


def check_learner(learner: Any, *, classification: bool, use: str = "") -> None:
    """Refuse what cannot be a member; `use` goes on with the message, as in " for 'r2'"."""
    kind = "classifier" if classification else "regressor"
    if not (hasattr(learner, "fit") and hasattr(learner, "get_params")) or isinstance(learner, type):
        raise TypeError(
            f"estimator must be a scikit-learn {kind} (an object with fit, predict and get_params), got {learner!r}"
        )
    if (is_regressor if classification else is_classifier)(learner):
        raise TypeError(f"estimator must be a {kind}{use}, got {learner!r}")
