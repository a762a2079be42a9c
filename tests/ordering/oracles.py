"""What the orders of members are compared with: every definition carried out literally, on a case of `cases.py`.

Nothing is updated from step to step: a sub-ensemble is judged by counting the votes of its members again.
"""

from dataclasses import replace
from functools import wraps
from itertools import combinations

import numpy as np

from .cases import ClassCase

ROUNDING = 1e-10


def choose(candidates, values, scale=None):
    """The first candidate whose value is the least, up to rounding."""
    if scale is None:
        scale = max((abs(x) for x in values if np.isfinite(x)), default=0.0)
    limit = min(values) + ROUNDING * scale
    return next(c for c, x in zip(candidates, values, strict=True) if x <= limit)


def greedily(n_members, value, scale=None):
    """Take the member of least value(chosen, candidate) until none is left."""
    chosen = []
    while len(chosen) < n_members:
        rest = [t for t in range(n_members) if t not in chosen]
        values = [value(chosen, t) for t in rest]
        chosen.append(choose(rest, values, None if scale is None else scale(values)))
    return chosen


def by_groups(oracle):
    """Let groups of members decide, order them as voters of weight 1, and list their members."""

    @wraps(oracle)
    def order(case, **options):
        if case.groups is None:
            return oracle(case, **options)
        members = [np.flatnonzero(case.groups == name).tolist() for name in sorted(set(case.groups.tolist()))]
        decided = np.array([answers(case, group) for group in members])
        voters = replace(case, labels=decided, weights=None, scores=None, groups=None)
        return [t for voter in oracle(voters, **options) for t in members[voter]]

    return order


def answers(case, members):
    """(n,): what a sub-ensemble says: a class, -1 where none of its members votes; or a value, NaN there."""
    if isinstance(case, ClassCase):
        return _plurality(case, members)
    weights = case.w
    ballots = [[(case.values[t, i], weights[t]) for t in members] for i in range(len(case.truth))]
    average = _median if case.median else _mean
    return np.array([average([(x, weight) for x, weight in ballot if not np.isnan(x)]) for ballot in ballots])


def _plurality(case, members):
    counts, voted = np.zeros((len(case.truth), case.n_classes)), np.zeros(len(case.truth), dtype=bool)
    for t in members:
        here = case.labels[t] >= 0
        said = np.eye(case.n_classes)[case.labels[t]] if case.scores is None else case.scores[t]
        counts[here] += case.w[t] * said[here]
        voted |= here
    enough = counts.max(axis=1) - ROUNDING * np.abs(counts).max(axis=1)
    return np.where(voted, (counts >= enough[:, None]).argmax(axis=1), -1)


def _mean(ballot):
    total = sum(weight for _, weight in ballot)
    return sum(weight * x for x, weight in ballot) / total if total > 0 else np.nan


def _median(ballot):
    """The least value that at least half of the weight lies at or below."""
    total, below = sum(weight for _, weight in ballot), 0.0
    for x, weight in sorted(ballot):
        below += weight
        if below >= total / 2:
            return x
    return np.nan


def error(case, members, whole=False):
    """Weighted share of wrong answers, or mean squared error, where somebody votes; 1 or inf where nobody does.

    Values, if asked: where nobody of these members votes, the whole ensemble answers.
    """
    said = answers(case, members)
    if whole and not isinstance(case, ClassCase):
        said = np.where(np.isnan(said), answers(case, range(len(case))), said)
    if isinstance(case, ClassCase):
        voted, loss, otherwise = said >= 0, said != case.truth, 1.0
    else:
        voted, loss, otherwise = ~np.isnan(said), (said - case.truth) ** 2, np.inf
    total = case.v[voted].sum()
    return (case.v[voted] * loss[voted]).sum() / total if total > 0 else otherwise


def correctness(case):
    """(T, n): +1 right, -1 wrong, 0 abstains."""
    return np.where(case.labels < 0, 0, np.where(case.labels == case.truth, 1, -1))


@by_groups
def reduce_error(case, backfit=None):
    chosen = []
    while len(chosen) < len(case):
        rest = [t for t in range(len(case)) if t not in chosen]
        chosen.append(choose(rest, [error(case, [*chosen, t], whole=True) for t in rest]))
        if backfit is not None and 2 <= len(chosen) <= backfit:
            for _ in range(100):
                before = list(chosen)
                for slot in range(len(chosen)):
                    rest = [t for t in range(len(case)) if t not in chosen]
                    subsets = {t: [*chosen[:slot], t, *chosen[slot + 1 :]] for t in [chosen[slot], *rest]}
                    chosen = subsets[
                        choose(list(subsets), [error(case, members, whole=True) for members in subsets.values()])
                    ]
                if chosen == before:
                    break
    return chosen


@by_groups
def complementarity(case):
    """Count, after the best member, the examples that a member gets right, or improves, where help is needed."""
    alone = own_errors(case)

    def value(chosen, t):
        return -(case.v * helped(chosen, t)).sum() if chosen else alone[t]

    def helped(chosen, t):
        if isinstance(case, ClassCase):
            return (case.labels[t] == case.truth) & (answers(case, chosen) != case.truth)
        old, new = (np.abs(answers(case, members) - case.truth) for members in (chosen, [*chosen, t]))
        sizes = [np.abs(case.truth), *(np.abs(answers(case, members)) for members in (chosen, [*chosen, t]))]
        nearer = new < old - 1e-12 * np.nanmax(sizes, axis=0)
        return ~np.isnan(case.values[t]) & (np.isnan(old) | nearer)

    return greedily(len(case), value)


@by_groups
def margin_distance(case, p=0.075):
    if not isinstance(case, ClassCase):
        return reduce_error(case)
    signed, total, v = _margins(case)

    def value(chosen, t):
        return (v * (p - signed[[*chosen, t]].sum(axis=0) / total) ** 2).sum()

    return greedily(len(case), value, scale=lambda values: (v * p**2).sum() + max(map(abs, values)))


def _margins(case):
    """Weighted correctness, the weight of all voters, and the sample weight, of the examples that have voters."""
    total = (case.w[:, None] * (case.labels >= 0)).sum(axis=0)
    known = total > 0
    return (case.w[:, None] * correctness(case))[:, known], total[known], case.v[known]


def reference(c_ens, v):
    """c_ref = o + lambda c_ens, perpendicular to c_ens."""
    c_ens = np.where(np.abs(c_ens) < ROUNDING, 0.0, c_ens)
    square = (v * c_ens**2).sum()
    c_ref = 1 - (v * c_ens).sum() / square * c_ens if square > 0 else np.ones(len(v))
    return np.where(np.abs(c_ref) < ROUNDING, 0.0, c_ref)


def has_direction(case):
    """Whether |c_ref| is at least 1e-6 |o|; among no examples there is no direction either."""
    signed, total, v = _margins(case)
    return v.sum() > 0 and (v * reference(signed.sum(axis=0) / total, v) ** 2).sum() >= 1e-12 * v.sum()


@by_groups
def orientation(case):
    if not has_direction(case):
        return individual_error(case)
    signed, total, v = _margins(case)
    c_ref = reference(signed.sum(axis=0) / total, v)
    known = (case.w[:, None] * (case.labels >= 0)).sum(axis=0) > 0
    return sorted(range(len(case)), key=lambda t: (-_cosine(correctness(case)[t, known], c_ref, v), t))


def _cosine(c, c_ref, v):
    """Rounded cosine over the examples voted on; -2, less than any, if there is none; 0 where c_ref vanishes there."""
    norm, norm_ref = (v * c**2).sum(), (v * (c != 0) * c_ref**2).sum()
    if norm == 0:
        return -2.0
    return round((v * c * c_ref).sum() / np.sqrt(norm * norm_ref), 12) if norm_ref > 0 else 0.0


@by_groups
def boosting_based(case):
    c = correctness(case)
    start = case.v / case.v.sum()
    b, chosen = start, []

    def weighted_error(t):
        voted = b[c[t] != 0].sum()
        return b[c[t] < 0].sum() / voted if voted > 0 else 0.5

    while len(chosen) < len(case):
        rest = [t for t in range(len(case)) if t not in chosen]
        best = choose(rest, [weighted_error(t) for t in rest], scale=1.0)
        if weighted_error(best) >= 0.5 - ROUNDING:
            b = start
            best = choose(rest, [weighted_error(t) for t in rest], scale=1.0)
        chosen.append(best)
        e = weighted_error(best)
        if ROUNDING < e < 0.5 - ROUNDING:
            b = b / np.select([c[best] < 0, c[best] > 0], [2 * e, 2 * (1 - e)], 1.0)
            b = b / b.sum()
    return chosen


def own_errors(case):
    """The error of each member by what it says itself, whatever its weight."""
    if not isinstance(case, ClassCase):
        return [error(replace(case, weights=None), [t]) for t in range(len(case))]
    wrong = [case.v[c < 0].sum() for c in correctness(case)]
    voted = [case.v[c != 0].sum() for c in correctness(case)]
    return [a / b if b > 0 else 1.0 for a, b in zip(wrong, voted, strict=True)]


@by_groups
def individual_error(case):
    errors = own_errors(case)
    return greedily(len(case), lambda _, t: errors[t])


def kappa_statistic(a, b):
    """Agreement of two lists of labels beyond chance."""
    theta1 = np.mean(a == b)
    theta2 = sum(np.mean(a == k) * np.mean(b == k) for k in set(a.tolist()))
    return 1.0 if theta2 > 1 - 1e-12 else (theta1 - theta2) / (1 - theta2)


@by_groups
def kappa(case):
    def key(pair):
        both = (case.labels[list(pair)] >= 0).all(axis=0)
        agreement = kappa_statistic(*case.labels[list(pair)][:, both]) if both.any() else np.inf
        return np.round(agreement, 12), pair

    pairs = sorted(combinations(range(len(case)), 2), key=key)
    return list(dict.fromkeys(t for pair in pairs for t in pair)) or [0]
