from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conjunto import Votes, _core
from conjunto.combination import combine
from conjunto.ordering.exhaustive import exhaustive


def error(votes, y, weights, members):
    said = combine(votes.take(np.array(members))).winners()
    known = (said >= 0) & (weights > 0)
    return np.average(said[known] != y[known], weights=weights[known]) if known.any() else np.nan


def enumerated(votes, y, weights, size, prefer=()):
    """The definition: the least error of all subsets, how many attain it, and which of them is returned."""
    subsets = list(combinations(range(len(votes)), size))
    errors = np.array([error(votes, y, weights, members) for members in subsets])
    least = errors[np.isfinite(errors)].min(initial=np.inf)
    best = np.isclose(errors, least, rtol=1e-10, atol=0) if np.isfinite(least) else np.isnan(errors)
    attaining = [subset for subset, good in zip(subsets, best, strict=True) if good]
    first = min(attaining, key=lambda subset: (-len(set(subset) & set(list(prefer)[:size])), subset))
    return errors[best][0], len(attaining), first


def check(found, votes, y, weights, prefer=()):
    for size, least, count, members in zip(found.sizes, found.errors, found.counts, found.members, strict=True):
        truth = enumerated(votes, y, weights, size, prefer)
        np.testing.assert_allclose(least, truth[0], rtol=1e-12)
        assert (count, members.tolist()) == (truth[1], list(truth[2]))


@st.composite
def cases(draw):
    t, n, k = draw(st.integers(1, 9)), draw(st.integers(1, 30)), draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = random.integers(0, k, n)
    labels = np.where(random.random((t, n)) < draw(st.sampled_from([0.3, 0.6, 0.9])), y, random.integers(0, k, (t, n)))
    labels[random.random((t, n)) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.9]))] = -1
    # Few different weights make ties; tenths make sums that rounding parts.
    of_members = {
        "equal": None,
        "tenths": random.integers(1, 4, t) / 10,
        "zeros": np.append(random.integers(0, 3, t - 1) / 10, 0.7),
        "any": random.random(t),
    }
    of_examples = {
        "equal": np.ones(n),
        "tenths": random.integers(1, 4, n) / 10,
        "zeros": np.append(random.integers(0, 2, n - 1), 1) * 0.1,
        "any": random.random(n),
    }
    kinds = st.sampled_from(["equal", "equal", "tenths", "zeros", "any"])
    votes = Votes(labels=labels, weights=of_members[draw(kinds)])
    sizes = draw(st.none() | st.lists(st.integers(1, t), min_size=1, unique=True))
    prefer = random.permutation(t) if draw(st.booleans()) else None
    return votes, y, of_examples[draw(kinds)], sizes, prefer


@settings(max_examples=400)
@given(cases())
def test_the_result_is_that_of_plain_enumeration(case):
    votes, y, weights, sizes, prefer = case
    found = exhaustive(votes, y, size=sizes, prefer=prefer, sample_weight=weights)
    assert found.sizes.tolist() == (list(range(1, len(votes) + 1, 2)) if sizes is None else sizes)
    check(found, votes, y, weights, () if prefer is None else prefer)
    again = exhaustive(votes, y, size=sizes, prefer=prefer, sample_weight=weights, n_jobs=2)
    np.testing.assert_array_equal(found.errors, again.errors)
    np.testing.assert_array_equal(found.counts, again.counts)
    assert [a.tolist() for a in found.members] == [b.tolist() for b in again.members]


@pytest.mark.parametrize("silence", [0.0, 0.5])
def test_more_members_than_one_table_holds(silence):
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 45)
    labels = np.where(random.random((12, 45)) < 0.5, y, random.integers(0, 3, (12, 45)))
    labels[random.random((12, 45)) < silence] = -1
    prefer = random.permutation(12)
    found = exhaustive(labels, y, size=range(1, 13), prefer=prefer)
    check(found, Votes(labels=labels), y, np.ones(45), prefer)


def test_any_number_of_threads_finds_the_same():
    random = np.random.default_rng(2)
    y = random.integers(0, 3, 70)
    # Few good members: many subsets are equally good, and threads find them in another order every time.
    labels = np.where(random.random((26, 70)) < 0.4, y, random.integers(0, 3, (26, 70)))
    labels[8:] = labels[8]
    one, two, three = (exhaustive(labels, y, n_jobs=n_jobs) for n_jobs in (None, 2, 3))
    assert one.counts.max() > 1000
    for other in (two, three):
        np.testing.assert_array_equal(one.errors, other.errors)
        np.testing.assert_array_equal(one.counts, other.counts)
        assert [a.tolist() for a in one.members] == [b.tolist() for b in other.members]


@pytest.mark.parametrize("seed", range(8))
def test_scores_add_up(seed):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, 20)
    # Eighths tie often.
    scores = random.integers(-2, 9, (6, 20, 3)) / 8
    scores[random.random((6, 20)) < 0.2] = np.nan
    votes = Votes(scores=scores, weights=random.integers(1, 3, 6) / 2)
    check(exhaustive(votes, y, size=range(1, 7)), votes, y, np.ones(20))


def test_groups_are_chosen_whole():
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 40)
    labels = np.where(random.random((9, 40)) < 0.6, y, random.integers(0, 3, (9, 40)))
    groups = np.array([2, 0, 1, 3, 0, 2, 1, 1, 3])
    decided = np.stack([combine(Votes(labels=labels[groups == g])).winners() for g in range(4)])
    order = np.array([3, 8, 5, 2, 0, 6, 7, 1, 4])
    found = exhaustive(Votes(labels=labels, groups=groups), y, size=[1, 2, 3], prefer=order)
    of_groups = exhaustive(decided, y, size=[1, 2, 3], prefer=[3, 2, 1, 0])
    np.testing.assert_array_equal(found.errors, of_groups.errors)
    np.testing.assert_array_equal(found.counts, of_groups.counts)
    for members, chosen in zip(found.members, of_groups.members, strict=True):
        assert members.tolist() == np.flatnonzero(np.isin(groups, chosen)).tolist()


def test_of_equal_members_the_preferred_come_first():
    votes = np.tile([0, 1, 1], (5, 1))
    assert exhaustive(votes, [0, 1, 0], size=[3]).members[0].tolist() == [0, 1, 2]
    found = exhaustive(votes, [0, 1, 0], size=[3], prefer=[4, 1, 3, 0, 2])
    assert (found.errors[0], found.counts[0], found.members[0].tolist()) == (1 / 3, 10, [1, 3, 4])


def test_members_that_say_nothing_have_no_error():
    found = exhaustive([[-1, -1], [-1, -1], [0, -1]], [0, 1], size=[1, 2, 3])
    np.testing.assert_array_equal(found.errors, [0, 0, 0])
    assert found.counts.tolist() == [1, 2, 1]
    found = exhaustive([[-1, -1], [-1, -1]], [0, 1])
    assert np.isnan(found.errors[0])
    assert (found.counts[0], found.members[0].tolist()) == (2, [0])


def test_the_best_of_several_sizes_is_chosen():
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 40)
    labels = np.where(random.random((7, 40)) < 0.7, y, 1 - y)
    every = exhaustive(labels, y, size=range(1, 8))
    subsets = [members for size in range(1, 8) for members in combinations(range(7), size)]
    least = min(error(Votes(labels=labels), y, np.ones(40), members) for members in subsets)
    assert error(Votes(labels=labels), y, np.ones(40), every.chosen) == least
    for size in range(1, 8):
        one = exhaustive(labels, y, size=size)
        assert one.sizes.tolist() == [size]
        assert one.chosen.tolist() == every.members[size - 1].tolist()
    assert exhaustive([[-1, -1], [-1, -1]], [0, 1]).chosen.tolist() == [0]


def test_labels_of_classes_are_read():
    votes = Votes(labels=np.array([[0, 1], [1, 1]]), classes=np.array(["no", "yes"]))
    assert exhaustive(votes, ["yes", "yes"]).members[0].tolist() == [1]


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(ValueError, match="at most 40 members, votes have 41: use optimal, genetic"):
        exhaustive(np.zeros((41, 2), dtype=int), [0, 1])
    with pytest.raises(ValueError, match="exhaustive needs votes on classes"):
        exhaustive(np.zeros((3, 2)), [0.0, 1.0])
    votes = np.zeros((3, 2), dtype=int)
    for size in ([0], [4], [1, 1], [], [1.0], [[1]], 0, 4, 1.0, True):
        with pytest.raises(ValueError, match="size must be a whole number from 1 to 3, or several different ones"):
            exhaustive(votes, [0, 1], size=size)
    for prefer in ([0, 1], [0, 1, 1], [1, 2, 3], [0.0, 1.0, 2.0], [[0, 1, 2]]):
        with pytest.raises(ValueError, match="prefer must be a permutation of the 3 members"):
            exhaustive(votes, [0, 1], prefer=prefer)


def test_the_core_checks_its_arrays():
    good = {
        "truth": np.array([0, 1], dtype=np.int32),
        "classes": 2,
        "sizes": np.array([1], dtype=np.uint32),
        "labels": np.zeros((3, 2), dtype=np.int32),
    }
    assert _core.best_subsets(**good)[1].tolist() == [3]
    scores = np.zeros((3, 2, 2))
    for message, bad in (
        ("outside 0", {"truth": np.array([0, 2], dtype=np.int32)}),
        ("outside 0", {"truth": np.array([-1, 0], dtype=np.int32)}),
        ("truth needs", {"truth": np.array([0], dtype=np.int32)}),
        ("outside -1", {"labels": np.full((3, 2), 2, dtype=np.int32)}),
        ("outside -1", {"labels": np.full((3, 2), -2, dtype=np.int32)}),
        ("1 to 40 members", {"labels": np.zeros((41, 2), dtype=np.int32)}),
        ("examples", {"labels": np.zeros((3, 0), dtype=np.int32), "truth": np.zeros(0, dtype=np.int32)}),
        ("labels or scores", {"labels": None}),
        ("labels or scores", {"scores": scores}),
        ("scores must be", {"labels": None, "scores": np.zeros((3, 2, 1))}),
        ("infinite", {"labels": None, "scores": scores + np.inf}),
        ("classes", {"classes": 0}),
        ("sizes is empty", {"sizes": np.array([], dtype=np.uint32)}),
        ("sizes must", {"sizes": np.array([0], dtype=np.uint32)}),
        ("sizes must", {"sizes": np.array([4], dtype=np.uint32)}),
        ("sizes must", {"sizes": np.array([1, 1], dtype=np.uint32)}),
        ("weights needs", {"weights": np.ones(2)}),
        ("not finite", {"weights": np.array([1, 1, np.nan])}),
        ("sample_weight needs", {"sample_weight": np.ones(3)}),
        ("not finite", {"sample_weight": np.array([1, -1.0])}),
        ("prefer needs", {"prefer": np.array([0, 1], dtype=np.uint32)}),
        ("prefer must", {"prefer": np.array([0, 1, 3], dtype=np.uint32)}),
        ("prefer must", {"prefer": np.array([0, 1, 1], dtype=np.uint32)}),
    ):
        with pytest.raises(ValueError, match=message):
            _core.best_subsets(**{**good, **bad})
    for name in ("truth", "sizes", "labels"):
        with pytest.raises(TypeError):
            _core.best_subsets(**{**good, name: good[name].astype(np.float32)})
