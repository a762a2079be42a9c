"""Every criterion returns the permutation that its definition, carried out literally, returns (`oracles.py`)."""

import warnings
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from conjunto import Votes, ordering
from conjunto.combination import decide
from conjunto.evaluation import error_curve

from . import oracles
from .cases import ClassCase, class_cases, value_cases

# Whoever joins the table joins these tests.
ALL = [name for name in ordering.ORDERINGS if name != "random_order"]
WEIGHED = [name for name in ALL if "sample_weight" in signature(ordering.ORDERINGS[name]).parameters]
ON_VALUES = [name for name in ALL if ordering.CRITERIA[name].values]


def order_of(name, case, **options):
    """What the function returns; orientation may warn of an unstable direction, which is not the question here."""
    if name in WEIGHED:
        options["sample_weight"] = case.sample_weight
    with warnings.catch_warnings():
        if name == "orientation":
            warnings.simplefilter("ignore", UserWarning)
        order = ordering.ORDERINGS[name](case.votes, case.y, **options)
    assert order.dtype == np.intp
    return order.tolist()


def agree(name, case, **options):
    assert order_of(name, case, **options) == getattr(oracles, name)(case, **options)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=300)
@given(case=class_cases())
def test_on_labels(name, case):
    agree(name, case)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=300)
@given(case=class_cases(scores=True))
def test_on_scores(name, case):
    agree(name, case)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=100)
@given(case=class_cases(groups=True), scored=class_cases(groups=True, scores=True))
def test_groups_decide_first(name, case, scored):
    agree(name, case)
    agree(name, scored)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=100)
@given(case=class_cases(weights=("whole or 0",)))
def test_members_of_weight_0(name, case):
    agree(name, case)


@pytest.mark.parametrize("name", ON_VALUES)
@settings(max_examples=200)
@given(case=value_cases())
def test_on_values(name, case):
    agree(name, case)


@settings(max_examples=200)
@given(class_cases(), class_cases(scores=True), st.integers(1, 12))
def test_reduce_error_with_backfitting(labels, scores, backfit):
    agree("reduce_error", labels, backfit=min(backfit, len(labels)))
    agree("reduce_error", scores, backfit=min(backfit, len(scores)))


@settings(max_examples=200)
@given(class_cases(), st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.99]))
def test_margin_distance_to_other_points(case, p):
    agree("margin_distance", case, p=p)


def test_backfitting_by_hand():
    # Ties are wrong: two members are right where both are, on 2 of 6 (0 and 1), 1 (0 and 2) or 3 (1 and 2).
    votes = np.array([[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    y = np.ones(6, dtype=int)
    assert ordering.reduce_error(votes, y).tolist() == [0, 1, 2]
    assert ordering.reduce_error(votes, y, backfit=2).tolist() == [2, 1, 0]


def test_orientation_by_hand():
    # c_ens = (1, 1/2, -1/2), the example of the thesis: 3 c_ref = (1, 2, 4).
    votes = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 0]])
    assert ordering.orientation(votes, [1, 1, 1]).tolist() == [1, 0, 3, 2]


def test_margin_distance_by_hand():
    # p - s after 1 and 2: -0.1, -0.1, 0.4; squares 0.4675 with 3, and 0.5675 with 0.
    votes = np.array([[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 0]])
    assert ordering.margin_distance(votes, [1, 1, 1], p=0.4).tolist() == [1, 2, 3, 0]


def test_boosting_by_hand():
    # After 0, example 0 weighs 1/2: the others err on 3/4 and 5/8 of the weight. Equal weights: 3/5 and 2/5.
    votes = np.array([[0, 1, 1, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
    assert ordering.boosting_based(votes, np.ones(5, dtype=int)).tolist() == [0, 2, 1]


def test_orientation_has_no_direction():
    # Everybody is right as often on each example: c_ens lies on the diagonal, and c_ref is 0.
    votes = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]])
    y, weights = np.ones(4, dtype=int), [1, 1, 2, 2]
    with pytest.warns(UserWarning, match="individual_error"):
        assert ordering.orientation(votes, y).tolist() == [1, 2, 0, 3]
    with pytest.warns(UserWarning, match="individual_error"):
        order = ordering.orientation(votes, y, sample_weight=weights)
    assert order.tolist() == ordering.individual_error(votes, y, sample_weight=weights).tolist() == [1, 2, 3, 0]


def test_orientation_of_perfect_members_has_no_direction():
    with pytest.warns(UserWarning, match="individual_error"):
        assert ordering.orientation(np.ones((3, 4), dtype=int), np.ones(4, dtype=int)).tolist() == [0, 1, 2]


# Most cases have a direction; those that have none are what is asked for.
@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much])
@given(class_cases())
def test_orientation_warns_where_it_has_no_direction(case):
    assume(not oracles.has_direction(case))
    with pytest.warns(UserWarning, match="individual_error"):
        ordering.orientation(case.votes, case.y, sample_weight=case.sample_weight)


def test_orientation_puts_members_that_never_vote_last():
    # The cosine of the member that is always wrong is -1; the one in the middle has no angle at all.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert ordering.orientation([[0], [-1], [1]], [0]).tolist() == [0, 2, 1]


def test_orientation_where_the_members_cancel_out():
    # 0.1 + 0.2 - 0.3 is 0 but for rounding: c_ens = 0, c_ref = o, and angles go by the share of right answers.
    labels = np.array([[1, 0, 1, 1], [1, 0, 1, 1], [0, 1, 0, 0]])
    for weights in ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            votes = Votes(labels=labels, weights=np.array(weights))
            assert ordering.orientation(votes, np.ones(4, dtype=int)).tolist() == [0, 1, 2]
            assert ordering.orientation(votes, np.zeros(4, dtype=int)).tolist() == [2, 0, 1]


def test_orientation_of_a_member_that_votes_only_where_the_reference_vanishes():
    # c_ens = (s / T, 0), so c_ref = (0, 1), but for rounding. The last member votes on the first example only, and has
    # no angle; it counts as a right one, between those of the members right and wrong on the second example.
    for n_members in range(3, 43, 2):
        half = n_members // 2
        for wrong in range(half):
            labels = np.ones((n_members, 2), dtype=int)
            labels[:wrong, 0] = 0
            labels[:half, 1] = 0
            labels[-1, 1] = -1
            case = ClassCase(labels, np.array([1, 1]), 2)
            order = order_of("orientation", case)
            assert order == oracles.orientation(case)
            assert order[half] == n_members - 1


def test_values_no_nearer_but_for_rounding():
    # Truth 0.3. 0.5 is 0.2 away, and with -0.3 it becomes 0.1, as far away, though 0.3 - 0.1 < 0.5 - 0.3 in doubles.
    values = np.array([[0.5], [-0.3], [0.0]])
    assert ordering.complementarity(values, [0.3]).tolist() == [0, 2, 1]


def test_sums_that_differ_by_rounding_tie():
    # Members 0 and 1 together are as heavy as 2; the tie goes to class 0, whichever way the sum is rounded.
    labels = np.array([[0, 1], [0, 1], [1, 0]])
    for weights in ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [0.7, 0.1, 0.8]):
        votes = Votes(labels=labels, weights=np.array(weights))
        for y in ([0, 1], [1, 0], [0, 0], [1, 1]):
            exact = ClassCase(labels, np.array(y), 2, np.round(10 * np.array(weights)))
            assert ordering.reduce_error(votes, y).tolist() == oracles.reduce_error(exact)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=50)
@given(case=class_cases(), scored=class_cases(scores=True), values=value_cases())
def test_any_number_of_threads(name, case, scored, values):
    for each in (case, scored, values) if name in ON_VALUES else (case, scored):
        assert order_of(name, each, n_jobs=1) == order_of(name, each, n_jobs=2) == order_of(name, each, n_jobs=-1)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=50)
@given(case=class_cases(), values=value_cases())
def test_the_whole_ensemble_is_the_last_point_of_the_curve(name, case, values):
    case = replace(case, named=False)
    for each in (case, values) if name in ON_VALUES else (case,):
        said = decide(each.votes)
        spoke = ~np.isnan(said) if each is values else said >= 0
        loss = (said - each.truth) ** 2 if each is values else said != each.truth
        last = error_curve(each.votes, each.y, order_of(name, each))[-1]
        np.testing.assert_allclose(last, loss[spoke].mean() if spoke.any() else np.nan, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=100)
@given(case=class_cases(), factor=st.sampled_from([0.1, 3.0, 7.3, 1e-6, 1e6]))
def test_scales_of_weights_do_not_matter(name, case, factor):
    order = order_of(name, case)
    assert order_of(name, replace(case, weights=factor * case.w)) == order
    assert order_of(name, replace(case, sample_weight=factor * case.v)) == order


@pytest.mark.parametrize("name", ON_VALUES)
@settings(max_examples=100)
@given(case=value_cases(), factor=st.sampled_from([0.25, 3.0, 1024.0]))
def test_scales_of_weights_do_not_matter_to_values(name, case, factor):
    order = order_of(name, case)
    assert order_of(name, replace(case, weights=factor * case.w)) == order
    assert order_of(name, replace(case, sample_weight=factor * case.v)) == order


@pytest.mark.parametrize("name", WEIGHED)
@settings(max_examples=100)
@given(case=class_cases(), scored=class_cases(scores=True), values=value_cases(), data=st.data())
def test_an_example_of_weight_2_is_two_examples(name, case, scored, values, data):
    for each in (case, scored, values) if name in ON_VALUES else (case, scored):
        n = len(each.truth)
        times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
        times[0] += not times.any()
        repeated = replace(each, sample_weight=None).take(np.repeat(np.arange(n), times))
        assert order_of(name, replace(each, sample_weight=times.astype(float))) == order_of(name, repeated)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(case=class_cases())
def test_codes_and_names_of_classes_are_alike(name, case):
    assert order_of(name, replace(case, named=False)) == order_of(name, replace(case, named=True, n_classes=4))


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(case=class_cases(), scored=class_cases(scores=True))
def test_any_layout_and_type_of_arrays(name, case, scored):
    strided = np.repeat(case.labels, 2, axis=1)[:, ::2]
    for labels in (np.asfortranarray(case.labels), case.labels.astype(np.int8), case.labels.astype(np.int64), strided):
        assert order_of(name, replace(case, labels=labels)) == order_of(name, case)
    for scores in (np.asfortranarray(scored.scores), np.repeat(scored.scores, 2, axis=2)[:, :, ::2]):
        assert order_of(name, replace(scored, scores=scores)) == order_of(name, scored)


@pytest.mark.parametrize("name", ALL)
def test_input_is_only_read(name):
    random = np.random.default_rng(0)
    labels, y, weights = random.integers(0, 2, (5, 8)), random.integers(0, 2, 8), random.uniform(1, 2, 5)
    arrays = labels, y, weights, random.uniform(1, 2, 8), random.random((5, 8, 2)), random.random((5, 8))
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    *_, sample_weight, scores, values = arrays
    options = {} if name == "kappa" else {"sample_weight": sample_weight}
    getattr(ordering, name)(Votes(labels=labels, weights=weights), y, **options)
    getattr(ordering, name)(Votes(scores=scores, weights=weights), y, **options)
    if name in ON_VALUES:
        getattr(ordering, name)(Votes(values=values, weights=weights), y, **options)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", ["orientation", "boosting_based", "kappa"])
def test_criteria_about_right_and_wrong_refuse_values(name):
    with pytest.raises(ValueError, match=name):
        getattr(ordering, name)(np.zeros((2, 3)), np.zeros(3))


VOTES = np.array([[0, 1, 1], [1, 1, 0]])
NAMED = Votes(labels=VOTES, classes=np.array(["no", "yes"]))
Y = [0, 1, 1]


@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize(
    ("votes", "y", "argument"),
    [
        (VOTES, [0, 1], "y"),
        (VOTES, [[0, 1, 1]], "y"),
        (VOTES, [0, 1, -1], "y"),
        (VOTES, [0.5, 1.0, 0.0], "y"),
        (NAMED, ["no", "yes", "maybe"], "y.*'maybe'"),
    ],
)
def test_bad_truth(name, votes, y, argument):
    with pytest.raises(ValueError, match=rf"\b{argument}"):
        getattr(ordering, name)(votes, y)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("votes", "y", "argument"),
    [
        (VOTES[:, :, None], Y, "votes"),
        (VOTES[0], Y, "votes"),
        (VOTES[:0], Y, "votes"),
        (VOTES[:, :0], [], "votes"),
        (VOTES.astype(str), Y, "votes"),
        (Votes(labels=VOTES, weights=np.array([1.0, -1.0])), Y, "weights"),
        (Votes(labels=VOTES, weights=np.array([1.0, np.nan])), Y, "weights"),
        (Votes(labels=VOTES, weights=np.array([0.0, 0.0])), Y, "weights"),
        (Votes(labels=VOTES + 1, classes=np.array(["no", "yes"])), ["no", "yes", "no"], "votes hold"),
        (Votes(scores=np.full((2, 3, 2), np.inf)), Y, "scores"),
    ],
)
def test_bad_votes(name, votes, y, argument):
    with pytest.raises(ValueError, match=argument):
        getattr(ordering, name)(votes, y)


@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize(
    "sample_weight", [[1.0, 2.0], [1.0, 2.0, -1.0], [1.0, np.nan, 1.0], [0.0, 0.0, 0.0], [[1.0, 1.0, 1.0]]]
)
def test_bad_sample_weights(name, sample_weight):
    with pytest.raises(ValueError, match="sample_weight"):
        getattr(ordering, name)(VOTES, Y, sample_weight=sample_weight)


@pytest.mark.parametrize("name", ON_VALUES)
@pytest.mark.parametrize(
    ("values", "y"),
    [(np.zeros((2, 3)), [0.0, 1.0]), (np.full((2, 3), np.inf), Y), (np.zeros((2, 3)), [0.0, np.nan, 1.0])],
)
def test_bad_values(name, values, y):
    with pytest.raises(ValueError, match=r"\by\b"):
        getattr(ordering, name)(values, y)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_bad_objective_points(p):
    with pytest.raises(ValueError, match=r"\bp\b"):
        ordering.margin_distance(VOTES, Y, p=p)


@pytest.mark.parametrize("backfit", [0, -1, 3])
def test_bad_numbers_of_members_to_backfit(backfit):
    with pytest.raises(ValueError, match="backfit"):
        ordering.reduce_error(VOTES, Y, backfit=backfit)


def test_backfitting_is_for_classes():
    with pytest.raises(ValueError, match="backfit"):
        ordering.reduce_error(np.zeros((3, 2)), [0.0, 1.0], backfit=2)


@pytest.mark.parametrize("name", ALL)
def test_one_member_and_one_example(name):
    case = ClassCase(np.array([[1]]), np.array([1]), 2)
    assert order_of(name, case) == [0]
    assert order_of(name, replace(case, labels=np.array([[-1]]))) == [0]


@pytest.mark.parametrize("name", ALL)
def test_members_that_never_vote(name):
    case = ClassCase(np.full((3, 4), -1), np.array([0, 1, 0, 1]), 2)
    assert order_of(name, case) == [0, 1, 2]


def test_a_member_of_weight_0_answers_a_median_alone():
    values = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 5.0], [0.0, 1.0, 1.0]])
    votes = Votes(values=values, weights=np.array([0.0, 1.0, 2.0]), rule="weighted-median")
    assert ordering.reduce_error(votes, [1.0, 2.0, 3.0])[0] == 0
    assert ordering.complementarity(votes, [1.0, 2.0, 3.0])[0] == 0


def test_the_unit_of_values_does_not_matter():
    random = np.random.default_rng(0)
    values, y = random.normal(size=(8, 30)), random.normal(size=30)
    for scale in (1e-13, 1e-3, 1e9):
        assert (
            ordering.complementarity(scale * values, scale * y).tolist() == ordering.complementarity(values, y).tolist()
        )


def test_unsigned_codes_and_codes_that_are_no_classes():
    labels = np.array([[0, 1], [1, 1]])
    assert ordering.reduce_error(labels.astype(np.uint8), [0, 1]).tolist() == [0, 1]
    with pytest.raises(ValueError, match="class codes are numbered from 0"):
        ordering.reduce_error(np.array([[0, 2**33], [1, 1]]), [0, 1])
