"""Out-of-bag estimates that a fit keeps: votes, decision function or prediction, and score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from conjunto.combination import combine
from conjunto.problem import Problem
from conjunto.ties import leaders
from conjunto.voters.protocol import rows_seen
from conjunto.votes import RollCall

# Scores of so many members, rows and classes are kept with the model: 128 MB.
KEPT_CELLS = 1 << 24


def keep_out_of_bag(ensemble: Any, problem: Problem) -> None:
    """Set the out-of-bag attributes of an ensemble that was just fitted on the problem."""
    seen = rows_seen(ensemble, problem.n)
    call: RollCall = ensemble.contributions(problem.rows())
    if call.kind != "scores" or len(call) * problem.n * problem.n_classes <= KEPT_CELLS:
        votes = ensemble.votes(problem.rows()).without(seen)
        ensemble._oob_votes = votes
        counts, known = combine(votes)
    else:
        counts, known = combine(call.without(seen))
    if ensemble.task == "regression":
        ensemble.oob_prediction_ = np.where(known, counts, np.nan)
        truth, predicted, measure = problem.y, ensemble.oob_prediction_, r2_score
    else:
        with np.errstate(invalid="ignore"):
            ensemble.oob_decision_function_ = counts / counts.sum(axis=1, keepdims=True)
        truth, predicted, measure = ensemble.classes_[problem.y], ensemble.classes_[leaders(counts)], accuracy_score
    ensemble.oob_score_ = _measured(ensemble.oob_score, measure, truth, predicted, known)


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
