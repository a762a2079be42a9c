"""The oracles against closed forms, other libraries and examples worked out by hand: nobody else checks them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_squared_error

from conjunto.combination import weighted_median
from conjunto.evaluation import error_curve
from conjunto.ties import leaders

from . import oracles
from .cases import ClassCase, ValueCase, class_cases, value_cases


def right_on(*rows, **more):
    """A case of two classes from rows of +1, -1 and 0; the truth is class 1, so that a tied vote is wrong."""
    c = np.array(rows)
    return ClassCase(np.where(c == 0, -1, (c > 0).astype(int)), np.ones(c.shape[1], dtype=int), 2, **more)


def test_reference_vector_of_the_thesis():
    # Martínez-Muñoz (2006), section 5.4.2: lambda = -2/3, c_ref = (1/3, 2/3, 4/3).
    c_ens, v = np.array([1.0, 0.5, -0.5]), np.ones(3)
    np.testing.assert_allclose(oracles.reference(c_ens, v), [1 / 3, 2 / 3, 4 / 3])


@given(class_cases(weights=("none", "whole")))
def test_the_reference_is_the_projection_of_the_diagonal(case):
    # Independently of lambda: the residual of the weighted regression of o on c_ens through the origin. Weights are
    # whole, because least squares would take what rounding leaves of a c_ens of 0 for a direction.
    signed, total, v = oracles._margins(case)
    c_ens = signed.sum(axis=0) / total
    root = np.sqrt(v)[:, None]
    slope, *_ = np.linalg.lstsq(root * c_ens[:, None], root[:, 0], rcond=None)
    np.testing.assert_allclose(root[:, 0] * oracles.reference(c_ens, v), root[:, 0] * (1 - slope * c_ens), atol=1e-9)


def test_orientation_by_hand():
    # The mean of these four is the c_ens of the thesis.
    case = right_on([1, 1, -1], [1, 1, 1], [1, -1, -1], [1, 1, -1])
    np.testing.assert_allclose(oracles.correctness(case).mean(axis=0), [1.0, 0.5, -0.5])
    # Products with 3 c_ref = (1, 2, 4): -1, 7, -5 and -1; the lengths are equal.
    assert oracles.orientation(case) == [1, 0, 3, 2]


def test_orientation_over_the_examples_voted_on():
    # c_ens = (1, 0), c_ref = (0, 1): the third member votes only where c_ref vanishes, and has
    # no angle; it counts as a right one.
    case = right_on([1, 1], [1, -1], [1, 0])
    np.testing.assert_allclose(oracles.reference(np.array([1.0, 0.0]), np.ones(2)), [0.0, 1.0])
    assert oracles.orientation(case) == [0, 2, 1]


def test_orientation_without_a_direction_is_the_individual_error():
    case = right_on([1, 1, -1, -1], [1, 1, 1, 1], [1, 1, 1, 1], [-1, -1, 1, 1])
    assert not oracles.has_direction(case)
    assert oracles.orientation(case) == oracles.individual_error(case) == [1, 2, 0, 3]


def test_margin_distance_by_hand():
    # p = 1/2, T = 2, one example: |1/2 - 1/2| = 0 for the second; then (1/2 - 0)² for both together.
    assert oracles.margin_distance(right_on([-1], [1]), p=0.5) == [1, 0]
    # p = 0.4, T = 4. Right on all: p - s = 0.15 everywhere, the least. Next 1 1 -1: p - s = -0.1, -0.1, 0.4. Then
    # 1 -1 -1 makes it -0.35, 0.15, 0.65, squares 0.5675; -1 -1 -1 makes it 0.15, 0.15, 0.65, squares 0.4675.
    case = right_on([1, -1, -1], [1, 1, 1], [1, 1, -1], [-1, -1, -1])
    assert oracles.margin_distance(case, p=0.4) == [1, 2, 3, 0]


@given(class_cases(weights=("none",), sample_weights=False))
def test_margin_distance_is_equation_5_7(case):
    if (case.labels < 0).any():
        case = ClassCase(np.where(case.labels < 0, 0, case.labels), case.truth, case.n_classes)
    c, objective = oracles.correctness(case), np.full(len(case.truth), 0.075)
    order = oracles.margin_distance(case)
    for u in range(1, len(case) + 1):
        distances = [
            np.linalg.norm(objective - (c[k] + c[order[: u - 1]].sum(axis=0)) / len(case)) for k in order[u - 1 :]
        ]
        assert distances[0] <= min(distances) + 1e-9


def test_reduce_error_by_hand():
    # Each of the first three is wrong on two of six, and each pair of them ties on four and is wrong: 4/6. The last is
    # wrong on three.
    c = [[-1, -1, 1, 1, 1, 1], [1, 1, -1, -1, 1, 1], [1, 1, 1, 1, -1, -1], [1, 1, 1, -1, -1, -1]]
    case = right_on(*c)
    assert oracles.error(case, [0]) == 2 / 6
    assert oracles.error(case, [0, 1]) == 4 / 6
    assert oracles.error(case, [0, 1, 2]) == 0
    # With the first, the last leaves 5/6 to the others' 4/6.
    assert oracles.reduce_error(case) == [0, 1, 2, 3]


def test_backfitting_by_hand():
    # A tie is wrong, so two members are right where both are. Right are 0 on 0123, 1 on 2345, 2 on 345. The first two
    # share two examples, the last two three, the first and the last one.
    case = right_on([1, 1, 1, 1, -1, -1], [-1, -1, 1, 1, 1, 1], [-1, -1, -1, 1, 1, 1])
    assert oracles.reduce_error(case) == [0, 1, 2]
    assert oracles.reduce_error(case, backfit=1) == [0, 1, 2]
    # 2 takes the place of 0, and 0 comes back as the third.
    assert oracles.reduce_error(case, backfit=2) == [2, 1, 0]
    assert oracles.reduce_error(case, backfit=3) == [2, 1, 0]


@given(class_cases())
def test_backfitting_never_leaves_a_better_exchange(case):
    m = min(len(case), 4)
    order = oracles.reduce_error(case, backfit=m)
    chosen, rest = order[:m], order[m:]
    assert sorted(order) == list(range(len(case)))
    if m > 1:
        least = oracles.error(case, chosen)
        for slot in range(m):
            for t in rest:
                assert oracles.error(case, [*chosen[:slot], t, *chosen[slot + 1 :]]) >= least - 1e-12


@given(class_cases())
def test_reduce_error_step_by_step(case):
    order = oracles.reduce_error(case)
    for u in range(len(case)):
        errors = {t: oracles.error(case, [*order[:u], t]) for t in order[u:]}
        ties = [t for t, e in errors.items() if e <= min(errors.values()) + 1e-12]
        assert order[u] == min(ties)


@given(class_cases(sample_weights=False))
def test_errors_are_those_of_the_curve(case):
    order = np.random.default_rng(len(case)).permutation(len(case))
    curve = error_curve(case.votes, case.y, order)
    ours = [oracles.error(case, order[: t + 1]) for t in range(len(case))]
    np.testing.assert_allclose(np.where(np.isnan(curve), 1.0, curve), ours)


@given(value_cases())
def test_squared_errors_are_those_of_the_curve(case):
    curve = error_curve(case.votes, case.y)
    plain = ValueCase(case.values, case.truth, case.weights, None, case.median)
    ours = [oracles.error(plain, range(t + 1)) for t in range(len(case))]
    np.testing.assert_allclose(np.where(np.isnan(curve), np.inf, curve), ours)


@given(class_cases(scores=True))
def test_the_labels_of_scores_are_their_leaders(case):
    for t in range(len(case)):
        spoke = case.labels[t] >= 0
        np.testing.assert_array_equal(leaders(case.scores[t][spoke]), case.labels[t][spoke])
        assert np.isnan(case.scores[t][~spoke]).any(axis=1).all()


@given(value_cases())
def test_medians_are_those_of_the_ballot(case):
    medians = oracles.answers(ValueCase(case.values, case.truth, case.weights, median=True), range(len(case)))
    np.testing.assert_array_equal(medians, weighted_median(case.values, case.w))


def test_complementarity_by_hand():
    # The first is best (4 of 6). Of its two errors the second mends none, the third one, the last both.
    c = [[1, 1, 1, 1, -1, -1], [1, 1, 1, -1, -1, -1], [-1, -1, 1, -1, 1, -1], [-1, -1, -1, -1, 1, 1]]
    case = right_on(*c)
    # After 0 and 3 everything is a tie and wrong: the second is right on three, the third on two.
    assert oracles.complementarity(case) == [0, 3, 1, 2]


def test_complementarity_counts_examples_on_which_nobody_votes():
    case = right_on([1, 1, 0, 0], [1, 1, 1, -1], [-1, 0, 1, 1])
    assert oracles.complementarity(case) == [0, 2, 1]


@given(class_cases())
def test_boosting_makes_the_last_member_as_good_as_a_coin(case):
    # AdaBoost's weights: the odds of every example are those of the exponential loss of the votes ln((1 - e) / e) / 2.
    case = ClassCase(np.maximum(case.labels, 0), case.truth, case.n_classes)
    c = oracles.correctness(case)
    order = oracles.boosting_based(case)
    exponent = np.zeros(len(case.truth))
    for u, chosen in enumerate(order):
        rest = order[u:]
        b = np.exp(exponent) / np.exp(exponent).sum()
        errors = [b[c[t] < 0].sum() for t in rest]
        if min(errors) >= 0.5 - 1e-9:
            exponent = np.zeros(len(case.truth))
            b = np.full(len(case.truth), 1 / len(case.truth))
            errors = [b[c[t] < 0].sum() for t in rest]
        e = errors[0]
        assert chosen == min(t for t, other in zip(rest, errors, strict=True) if other <= min(errors) + 1e-9)
        if 1e-9 < e < 0.5 - 1e-9:
            exponent = exponent - c[chosen] * np.log((1 - e) / e) / 2


def test_boosting_by_hand():
    # Errors 1/4, 1/4, 2/4. After the first, example 0 weighs 1/2 and the others 1/6: the errors are 1/6 and 2/3.
    case = right_on([-1, 1, 1, 1], [1, -1, 1, 1], [-1, -1, 1, 1])
    assert oracles.boosting_based(case) == [0, 1, 2]
    # Errors 1/5, 2/5, 2/5. After the first, example 0 weighs 1/2 and the others 1/8: the second has 5/8, the third 1/4.
    case = right_on([-1, 1, 1, 1, 1], [-1, -1, 1, 1, 1], [1, -1, -1, 1, 1])
    assert oracles.boosting_based(case) == [0, 2, 1]


def test_boosting_starts_again_where_nobody_is_better_than_a_coin():
    # After the first (wrong on example 0, which then weighs 1/2) the others err on 1/2 + 2/8 and 1/2 + 1/8. By equal
    # weights it is 3/5 and 2/5; the one that is worse than a coin under any weights is taken all the same.
    case = right_on([-1, 1, 1, 1, 1], [-1, -1, -1, 1, 1], [-1, -1, 1, 1, 1])
    assert oracles.boosting_based(case) == [0, 2, 1]


@given(class_cases(weights=("none",)))
def test_individual_error_against_scikit_learn(case):
    order = oracles.individual_error(case)
    scores = []
    for t in order:
        spoke = (case.labels[t] >= 0) & (case.v > 0)
        y, said, v = case.truth[spoke], case.labels[t][spoke], case.v[spoke]
        scores.append(accuracy_score(y, said, sample_weight=v) if spoke.any() else 0.0)
    for (t, score), (u, other) in pairwise(zip(order, scores, strict=True)):
        assert score > other + 1e-9 or (t < u and score == pytest.approx(other, abs=1e-9))


@given(value_cases())
def test_individual_squared_error_against_scikit_learn(case):
    scores = []
    for t in oracles.individual_error(case):
        spoke = ~np.isnan(case.values[t]) & (case.v > 0)
        truth, said, v = case.truth[spoke], case.values[t][spoke], case.v[spoke]
        scores.append(mean_squared_error(truth, said, sample_weight=v) if spoke.any() else np.inf)
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(scores))


@given(class_cases())
def test_kappa_statistic_against_scikit_learn(case):
    a, b = case.labels[0], case.labels[-1]
    both = (a >= 0) & (b >= 0)
    if len(set(a[both]) | set(b[both])) > 1:
        assert oracles.kappa_statistic(a[both], b[both]) == pytest.approx(
            cohen_kappa_score(a[both], b[both]), abs=1e-12
        )
    elif both.any():
        assert oracles.kappa_statistic(a[both], b[both]) == 1.0


def test_kappa_by_hand():
    # 0 and 2 are opposites, 3 copies 0, and 1 agrees with each of them as often as chance would have it.
    labels = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    # Kappa is -1 for (0, 2) and (2, 3), then 0 for (0, 1), (1, 2) and (1, 3).
    assert oracles.kappa(ClassCase(labels, np.zeros(4, dtype=int), 2)) == [0, 2, 3, 1]
    assert oracles.kappa(ClassCase(labels[:1], np.zeros(4, dtype=int), 2)) == [0]


def test_kappa_pairs_without_a_common_example_come_last():
    labels = np.array([[0, 1, -1, -1], [-1, -1, 0, 1], [0, 1, 0, 1]])
    # (0, 2) and (1, 2) agree wholly, and (0, 1) have nothing in common.
    assert oracles.kappa(ClassCase(labels, np.zeros(4, dtype=int), 2)) == [0, 2, 1]


def test_regression_by_hand():
    # Truth 0 0. Alone 1, 4, 1; means: of 0 and 1 (1/2)², of 0 and 2 zero.
    case = ValueCase(np.array([[1.0, 1.0], [-2.0, -2.0], [-1.0, -1.0]]), np.zeros(2))
    assert oracles.reduce_error(case) == [0, 2, 1]
    assert oracles.margin_distance(case) == [0, 2, 1]
    assert oracles.individual_error(case) == [0, 2, 1]
    # Both come nearer on both examples: the lowest index.
    assert oracles.complementarity(case) == [0, 1, 2]
    # Medians are the lower of two: -2, or -1, no nearer than 1.
    median = ValueCase(case.values, case.truth, median=True)
    np.testing.assert_array_equal(oracles.answers(median, [0, 2]), [-1.0, -1.0])
    assert oracles.complementarity(median) == [0, 1, 2]


@pytest.mark.parametrize("name", ["reduce_error", "complementarity", "margin_distance", "individual_error"])
def test_orders_of_values_that_nobody_gives(name):
    case = ValueCase(np.full((3, 2), np.nan), np.zeros(2))
    assert getattr(oracles, name)(case) == [0, 1, 2]


def test_groups_decide_first():
    # Group 3 (members 1 and 3) decides 0 by its heavier member and is wrong everywhere; group 7 is right.
    labels = np.array([[1, 1], [1, 1], [1, 0], [0, 0]])
    case = ClassCase(labels, np.array([1, 1]), 2, np.array([3.0, 1.0, 1.0, 2.0]), groups=np.array([7, 3, 7, 3]))
    assert oracles.individual_error(case) == [0, 2, 1, 3]
    assert oracles.kappa(case) == [1, 3, 0, 2]
