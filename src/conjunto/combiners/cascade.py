"""Cascades: cheap members answer what they are sure of, and hand the rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto.checks import check_number
from conjunto.combiners._asking import Question
from conjunto.combiners._combiner import ClassVotes
from conjunto.combiners._fitting import Unseen, silent
from conjunto.problem import as_rows, select
from conjunto.ties import leaders
from conjunto.votes import Votes

Array = NDArray[Any]


class CascadeClassifier(ClassVotes):
    """Classifiers in a row, each of which answers the rows that it is sure of; the last answers what is left.

    A member is sure where its largest probability reaches its threshold. Thresholds are chosen one after another, on
    rows that members did not see: each as low as the loss of accuracy allows, compared with the last member alone. No
    member is asked about a row that one before it has answered.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Models that give probabilities, with their names: cheap ones first, the one to be relied on last, which need not
        give them: its label then has all of the probability.
    loss : float, default=0.005
        The share of the rows on which the cascade may be wrong more often than its last member.
    prefit : bool, default=False
        Whether the models are fitted already, by whichever library; X and y of `fit` are then rows that none of them
        saw.
    cv : int, splitter or iterable, default=None
        Folds in which thresholds are chosen; None is 5.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    classes_ : ndarray
        The labels.
    thresholds_ : ndarray
        The probability from which on each member answers; infinite where it never does, 0 for the last.
    answered_ : ndarray
        The share of the rows that each member answered when thresholds were chosen.
    accuracy_, accuracy_of_last_ : float
        Of the cascade and of its last member, on the rows that thresholds were chosen on.

    References
    ----------
    Pudil, Novovičová, Bláha, Kittler (1992). Multistage pattern recognition with reject option. ICPR 2, 92-95.
    Viola, Jones (2001). Rapid object detection using a boosted cascade of simple features. CVPR, 511-518.

    Examples
    --------
    >>> from conjunto import CascadeClassifier, RandomForestClassifier
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(1000, random_state=0)
    >>> models = [(str(size), RandomForestClassifier(size, random_state=0)) for size in (10, 200)]
    >>> model = CascadeClassifier(models, loss=0.01).fit(X, y)
    >>> bool(model.answered_[0] > 0.5), bool(model.accuracy_ >= model.accuracy_of_last_ - 0.01)
    (True, True)
    """

    def __init__(
        self,
        estimators: Any,
        *,
        loss: float = 0.005,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.loss = loss
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def stage(self, X: Any) -> NDArray[np.intp]:
        """Return the number of the member that answers each row, from 0."""
        answered = ~np.isnan(self.votes(X).answers[:, :, 0])
        return np.where(answered.any(axis=0), answered.argmax(axis=0), len(self) - 1)

    def votes(self, X: Any) -> Votes:
        """Return what the members say, each about the rows that it answers."""
        check_is_fitted(self)
        X = as_rows(X)
        n = X.shape[0]
        scores = np.full((len(self), n, len(self.classes_)), np.nan)
        left = np.arange(n)
        for t, threshold in enumerate(self.thresholds_):
            if not len(left) and t:
                break
            said = self._shares(self._said(X if len(left) == n else select(X, left), [t])[0])
            sure = _sure(said, threshold) | (t == len(self) - 1)
            scores[t, left[sure]] = said[sure]
            left = left[~sure]
        return Votes(scores=scores, rule="sum", classes=self.classes_)

    def _check_parameters(self, models: list[tuple[str, Any]]) -> None:
        check_number("loss", self.loss, 0, 1)

    def _check_answers(self, models: Sequence[tuple[str, Any]]) -> None:
        super()._check_answers(models[:-1])

    def _questions(self, models: Sequence[tuple[str, Any]], n_classes: int) -> list[Question]:
        asked = ["shares" if hasattr(model, "predict_proba") else "labels" for _, model in models]
        return [Question(answer, n_classes) for answer in asked]  # type: ignore[arg-type]

    def _shares(self, said: Array) -> Array:
        """(n, K): probabilities, or all of it for the label where a member gives that alone."""
        if said.ndim == 2:
            return said
        one_hot = (said[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        return np.where((said < 0)[:, None], np.nan, one_hot)

    def _learn(self, unseen: Unseen) -> None:
        answers = [self._shares(said) for said in unseen.answers]
        weights = unseen.weights / unseen.weights.sum()
        right = [(leaders(np.nan_to_num(said)) == unseen.y) & ~silent(said) for said in answers]
        last = len(answers) - 1
        spare = self.loss
        left = np.ones(len(unseen.y), dtype=bool)
        self.thresholds_, self.answered_ = np.zeros((2, len(answers)))
        accuracy = 0.0
        for t, said in enumerate(answers):
            lost = weights * (right[-1].astype(float) - right[t])
            if t < last:
                asked = left & ~silent(said)
                self.thresholds_[t] = _threshold(said.max(axis=1)[asked], lost[asked], spare)
            sure = left & (_sure(said, self.thresholds_[t]) | (t == last))
            spare -= lost[sure].sum()
            accuracy += weights[sure] @ right[t][sure]
            self.answered_[t] = weights[sure].sum()
            left &= ~sure
        self.accuracy_, self.accuracy_of_last_ = float(accuracy), float(weights @ right[-1])


def _sure(said: Array, threshold: float) -> NDArray[np.bool_]:
    """The rows that a member answers: none where it abstains."""
    return ~silent(said) & (np.nan_to_num(said).max(axis=1) >= threshold)


def _threshold(confidence: Array, lost: Array, spare: float) -> float:
    """The least confidence such that answering from there on loses no more than is to spare."""
    order = np.argsort(-confidence, kind="stable")
    ordered, total = confidence[order], np.cumsum(lost[order])
    # Rows of one confidence are answered together.
    last = np.append(ordered[1:] < ordered[:-1], True) if len(ordered) else np.zeros(0, dtype=bool)
    fine = np.flatnonzero(last & (total <= spare + 1e-12))
    return float(ordered[fine[-1]]) if len(fine) else np.inf
