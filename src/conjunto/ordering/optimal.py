"""The provably best subset of a given size, as a mixed-integer program.

Minimise the sum of w_i e_i over subsets of u members, where e_i says that example i is answered wrongly: for each other
class k, (votes for the truth) - (votes for k) + M e_i >= 1 if k has the lower code and would win a tie, else >= 0. M is
the least that lets every subset satisfy the line. Where members abstain, the error is a ratio, wrong over covered:
Dinkelbach's iterations minimise wrong - r covered, with r the ratio of the best subset so far, until that is 0.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array

from conjunto.checks import check_count, check_number
from conjunto.ordering._reading import ClassBallot, first_best, read_classes
from conjunto.ordering._subsets import SubsetErrors, is_counted, voter_margins
from conjunto.ties import ROUNDING
from conjunto.votes import Votes

# What the solver takes for zero, in lines of the program and in the objective.
SOLVER = 1e-6
# Real margins closer to zero than this share of the largest count are ties to the solver; well above its own tolerance.
TIE = 1e-5


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best subset found, and how good a better one could be."""

    chosen: NDArray[np.intp]
    """The members of the subset, sorted."""
    error: float
    """Its error."""
    bound: float
    """No subset of this size has a smaller error."""
    gap: float
    """error - bound; 0.0 when the subset is proven to be the best."""
    proven: bool
    """Whether the subset is proven to be the best."""


def optimal(
    votes: Votes | ArrayLike,
    y: ArrayLike,
    size: int,
    *,
    time_limit: float = 60.0,
    sample_weight: ArrayLike | None = None,
) -> Optimum:
    """Find a subset of `size` members with the least error, and prove that there is none with less.

    The program is solved by HiGHS. What is within reach depends on how close the best subset comes to no error at all:
    hundreds of examples and tens of members take a moment where it makes none, while with errors of 30 % 15 members and
    100 examples take seconds, and for 25 and 200 the answer after a minute is a good subset with a bound. Which of
    several best subsets is found is the solver's choice. Some releases of HiGHS print a line that ends in
    "tmpSolver.run();" although they are told to be silent; it means nothing.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say about the examples of the selection set; class codes, -1 where a member abstains. Where
        groups of members vote, `size` counts groups.
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, or codes.
    size : int
        Number of members to choose.
    time_limit : float
        Seconds for the solver. When they run out the answer is the best subset found so far, at least as good as the
        greedy one of reduce-error, and the bound reached.
    sample_weight : array-like of shape (n,), optional
        Weights of the examples.

    Returns
    -------
    Optimum
        The subset, its error, the bound, and whether they meet. The bound is up to the solver's tolerance: with weights
        of members, or scores, counts that differ by less than 1e-5 of the largest possible count are a tie to it, and
        with sample weights that are not whole numbers, 1e-6 of their mean is nothing.

    References
    ----------
    Dinkelbach (1967). On nonlinear fractional programming. Management Science 13, 492-498.

    Huangfu, Hall (2018). Parallelizing the dual revised simplex method. Mathematical Programming Computation 10,
    119-142 (HiGHS).

    Examples
    --------
    >>> from conjunto.ordering.optimal import optimal
    >>> votes = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1], [0, 0, 1, 1]]
    >>> best = optimal(votes, [0, 1, 0, 1], 3)
    >>> best.chosen, best.error, best.proven
    (array([0, 1, 2]), 0.25, True)
    """
    ballot = read_classes(votes, y, sample_weight, "optimal")
    size = check_count("size", size)
    if size > len(ballot):
        raise ValueError(f"size must be at most the number of voters, {len(ballot)}, got {size}")
    time_limit = check_number("time_limit", time_limit, 0, math.inf, open_low=True)
    errors_of = SubsetErrors(ballot)
    chosen = _greedy(errors_of, len(ballot), size)
    error = float(errors_of(chosen[None])[0])
    bound = 0.0
    program = _Program(ballot, size)
    deadline = time.monotonic() + time_limit
    while error - bound > program.tolerance and (left := deadline - time.monotonic()) > 0:
        found, least = program.solve(chosen, error, left)
        bound = max(bound, least)
        # The objective is rounded, and near ties are the solver's own: the error is that of the subset itself.
        found_error = float(errors_of(found[None])[0])
        if found_error >= error:
            break
        chosen, error = found, found_error
    proven = bool(error - bound <= program.tolerance)
    bound = error if proven else bound
    return Optimum(np.sort(ballot.permutation(np.flatnonzero(chosen))), error, bound, error - bound, proven)


def _greedy(errors_of: SubsetErrors, voters: int, size: int) -> NDArray[np.bool_]:
    """Reduce-error: add the voter that leaves the least error."""
    chosen = np.zeros(voters, dtype=bool)
    for _ in range(size):
        errors = errors_of.after_adding(chosen)
        errors[chosen] = np.inf
        chosen[first_best(errors)] = True
    return chosen


class _Program:
    """Variables: is a voter chosen, is an example wrong, is an example covered (if it may stay without a vote)."""

    def __init__(self, ballot: ClassBallot, size: int) -> None:
        examples, self._weights, self._whole = _merged(ballot)
        each, others, sign, self._voted, _ = voter_margins(ballot, examples)
        if is_counted(ballot):
            needed = np.where(sign > 0, 1.0, 0.0)
        else:
            each = each / (np.sort(np.abs(each).max(axis=(1, 2), initial=0.0))[-size:].sum() or 1.0)
            needed = sign * TIE
        least = np.sort(each, axis=0)[:size].sum(axis=0)
        lines = least < needed
        if ballot.scores is None:
            # Classes without a vote are all alike; the lowest code stands for them.
            lines &= (others == 0) | (ballot.labels[:, None, examples] == others).any(axis=0)
        example = np.nonzero(lines)[1]
        wrong, place = np.unique(example, return_inverse=True)
        n_voted = self._voted.sum(axis=0)
        avoidable = len(each) - n_voted >= size
        covered = np.flatnonzero(avoidable)
        # Without a vote the margin is 0, and the line need not hold.
        waived = np.flatnonzero(avoidable[example] & (needed[lines] > 0))
        rows = np.arange(len(example))
        voted = csr_array(self._voted[:, covered].T.astype(float))
        matrix = block_array(
            [
                [
                    csr_array(each[:, lines].T),
                    _entries(needed[lines] - least[lines], rows, place, (len(rows), len(wrong))),
                    _entries(
                        -needed[lines][waived],
                        waived,
                        np.searchsorted(covered, example[waived]),
                        (len(rows), len(covered)),
                    ),
                ],
                [voted, None, _diagonal(np.full(len(covered), -1.0))],
                [-voted, None, _diagonal(np.minimum(size, n_voted[covered]))],
                [csr_array(np.ones((1, len(each)))), None, None],
            ],
            format="csr",
        )
        low = np.concatenate([needed[lines], np.zeros(2 * len(covered)), [size]])
        low[waived] = 0.0
        high = np.append(np.full(len(low) - 1, np.inf), size)
        self._constraints = LinearConstraint(matrix, low, high)
        self._voters, self._wrong, self._covered = len(each), wrong, covered
        self._always = float(self._weights[~avoidable].sum())
        self._least_covered = max(self._always, _least_cover(self._voted @ self._weights, size)) or 1.0
        # What may lie between the error of the best subset and the bound; nothing but rounding where errors are ratios.
        self.tolerance = ROUNDING if len(covered) else max(ROUNDING, 2 * SOLVER / self._least_covered)

    def solve(self, chosen: NDArray[np.bool_], error: float, time_limit: float) -> tuple[NDArray[np.bool_], float]:
        """A subset that is better than `chosen`, if there is one, and a bound for the error of all."""
        weights = self._weights
        costs = np.concatenate([np.zeros(self._voters), weights[self._wrong], -error * weights[self._covered]])
        result = milp(
            costs,
            integrality=np.ones(len(costs)),
            bounds=Bounds(0, 1),
            constraints=self._constraints,
            options={"time_limit": time_limit, "mip_rel_gap": 0.0},
        )
        found = chosen if result.x is None else result.x[: self._voters] > 0.5
        least = result.fun if result.status == 0 else result.mip_dual_bound
        if least is None or not np.isfinite(least):
            return found, 0.0
        least -= error * self._always
        if self._whole:
            # The objective, wrong - (p / q) covered, is a multiple of 1 / q; where all are covered, of 1.
            unit = 1.0
            if len(self._covered):
                unit /= weights[self._voted[chosen].any(axis=0)].sum() or 1.0
            least = math.ceil((least - SOLVER) / unit) * unit
        return found, error if least > -2 * SOLVER else error + least / self._least_covered


def _entries(
    values: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]
) -> csr_array:
    return csr_array((values, (rows, columns)), shape)


def _diagonal(values: NDArray[Any]) -> csr_array:
    places = np.arange(len(values))
    return _entries(values, places, places, (len(values), len(values)))


def _least_cover(covers: NDArray[np.float64], size: int) -> float:
    """A lower bound of the weight, if not zero, that a subset covers: that of its voter who covers most."""
    covers = np.sort(covers)[size - 1 :]
    return float(covers[covers > 0].min(initial=np.inf)) if covers.any() else 0.0


def _merged(ballot: ClassBallot) -> tuple[NDArray[np.intp], NDArray[np.float64], bool]:
    """One example of each kind that somebody votes on, the weights of the kinds, and whether they are whole numbers.

    Other weights are scaled to a mean of 1, on which the solver's tolerance is set.
    """
    weights = np.ones(len(ballot.truth)) if ballot.sample_weight is None else ballot.sample_weight
    whole = bool((weights == np.floor(weights)).all() and weights.sum() < 1 / SOLVER)
    weights = weights if whole else weights / weights.mean()
    kept = np.flatnonzero((weights > 0) & (ballot.labels >= 0).any(axis=0))
    said = np.vstack([ballot.labels, ballot.truth])[:, kept].astype(float)
    if ballot.scores is not None:
        scores = np.nan_to_num(ballot.scores[:, kept]).swapaxes(1, 2)
        said = np.vstack([said, *scores])
    _, first, kind = np.unique(said, axis=1, return_index=True, return_inverse=True)
    return kept[first], np.bincount(kind.ravel(), weights[kept], len(first)).astype(np.float64), whole
