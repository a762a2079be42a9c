"""Out-of-bag estimates that a fit keeps: votes, decision function or prediction, and score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import type_of_target

from conjunto.combination import Count, combine
from conjunto.outputs import as_list, one_or_list
from conjunto.problem import Problem
from conjunto.ties import leaders
from conjunto.voters.protocol import rows_seen
from conjunto.votes import RollCall

# Scores of so many members, rows and classes are kept with the model: 128 MB.
KEPT_CELLS = 1 << 24


def keep_out_of_bag(ensemble: Any, problem: Problem) -> None:
    """Set the out-of-bag attributes of an ensemble that was just fitted on the problem."""
    seen = rows_seen(ensemble, problem.n)
    calls: list[RollCall] = as_list(ensemble.contributions(problem.rows()))
    if calls[0].kind != "scores" or len(calls[0]) * problem.n * problem.n_classes <= KEPT_CELLS:
        votes = [each.without(seen) for each in as_list(ensemble.votes(problem.rows()))]
        ensemble._oob_votes = one_or_list(votes)
        counts = [combine(each) for each in votes]
    else:
        counts = [combine(call.without(seen)) for call in calls]
    # Who saw a row saw all of its targets.
    known = counts[0].voted
    if ensemble.task == "regression":
        predicted = _columns([np.where(known, count.counts, np.nan) for count in counts])
        ensemble.oob_prediction_ = predicted
        truth, measure = problem.y, r2_score
    else:
        ensemble.oob_decision_function_ = _shares(counts)
        classes = as_list(ensemble.classes_)
        predicted = _columns([of[leaders(count.counts)] for of, count in zip(classes, counts, strict=True)])
        truth, measure = problem.labels(), _accuracy
    ensemble.oob_score_ = _measured(ensemble.oob_score, measure, truth, predicted, known)


def _columns(by_output: list[NDArray[Any]]) -> NDArray[Any]:
    """(n,), or (n, targets)."""
    return by_output[0] if len(by_output) == 1 else np.stack(by_output, axis=1)


def _shares(counts: list[Count]) -> NDArray[np.float64]:
    """(n, K), or (n, K, targets) with zeros behind the classes of a target that has fewer."""
    out = np.zeros((len(counts[0].counts), max(count.counts.shape[1] for count in counts), len(counts)))
    with np.errstate(invalid="ignore"):
        for o, (each, _) in enumerate(counts):
            out[:, : each.shape[1], o] = each / each.sum(axis=1, keepdims=True)
    return out[:, :, 0] if len(counts) == 1 else out


def _accuracy(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """scikit-learn's accuracy; the mean over targets of several classes, of which scikit-learn has none."""
    if type_of_target(truth) != "multiclass-multioutput":
        return float(accuracy_score(truth, predicted))
    return float((truth == predicted).mean())


def _measured(
    given: Any, default: Any, truth: NDArray[Any], predicted: NDArray[Any], known: NDArray[np.bool_]
) -> float:
    """The measure given as `oob_score`, or the default one, over the rows that somebody judged."""
    if not known.all():
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
            f"reliable oob estimates. ({(~known).sum()} of {len(known)} rows are out of bag for no member, and left "
            "out of oob_score_)",
            stacklevel=6,
        )
    if known.sum() < 2:
        return float("nan")
    return float((given if callable(given) else default)(truth[known], predicted[known]))
