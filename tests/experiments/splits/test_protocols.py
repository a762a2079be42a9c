import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

from conjunto import CARTClassifier
from conjunto.experiments import Protocol
from conjunto.experiments.splits.grouped import assign_group_folds

# Class sizes, from single rows to a few dozens.
COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=8)


def labels(counts, seed=0):
    y = np.repeat([f"class {code}" for code in range(len(counts))], counts)
    return np.random.default_rng(seed).permutation(y)


def by_class(y, rows, counts):
    return np.array([(y[rows] == f"class {code}").sum() for code in range(len(counts))])


def folds_of(protocol, y, repetition, seeds=(3,)):
    numbers = range(repetition * protocol.folds, (repetition + 1) * protocol.folds)
    return [protocol.split(y, number, list(seeds)) for number in numbers]


@given(COUNTS, st.integers(2, 10), st.booleans())
def test_folds_test_every_row_once_and_are_even(counts, folds, stratify):
    y = labels(counts)
    if len(y) < folds:
        return
    protocol = Protocol("k-fold", repetitions=2, folds=folds, stratify=stratify)
    assert protocol.partitions == 2 * folds
    for repetition in (0, 1):
        parts = folds_of(protocol, y, repetition)
        tested = np.concatenate([test for _, test in parts])
        assert sorted(tested) == list(range(len(y)))
        for train, test in parts:
            assert sorted([*train, *test]) == list(range(len(y)))
        assert np.ptp([len(test) for _, test in parts]) <= 1
        if stratify:
            table = np.array([by_class(y, test, counts) for _, test in parts])
            assert np.ptp(table, axis=0).max() <= 1


def test_repetitions_and_seeds_differ_and_are_the_same_again():
    y = labels([40, 30, 30])
    protocol = Protocol("k-fold", repetitions=3, folds=5)
    first, second = folds_of(protocol, y, 0), folds_of(protocol, y, 1)
    assert any(list(a[1]) != list(b[1]) for a, b in zip(first, second, strict=True))
    # No fold of one repetition is a fold of the next: the rows were dealt anew, not the folds renamed.
    assert not {tuple(test) for _, test in first} & {tuple(test) for _, test in second}
    again = folds_of(Protocol("k-fold", repetitions=3, folds=5), y, 0)
    assert all(np.array_equal(a, b) for x, y_ in zip(first, again, strict=True) for a, b in zip(x, y_, strict=True))
    other = folds_of(protocol, y, 0, seeds=(4,))
    assert any(list(a[1]) != list(b[1]) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("kind", ["holdout", "bootstrap-632"])
def test_partitions_differ_by_repetition_and_repeat_by_seed(kind):
    y = labels([50, 50])
    protocol = Protocol(kind, repetitions=2)
    trains = {tuple(protocol.split(y, repetition, [seed])[0]) for repetition in (0, 1) for seed in (0, 1)}
    assert len(trains) == 4
    assert tuple(protocol.split(y, 1, [1])[0]) in trains


def test_folds_do_not_depend_on_what_the_labels_are_called():
    y = labels([20, 10, 7])
    codes = np.unique(y, return_inverse=True)[1]
    protocol = Protocol("k-fold", folds=3)
    assert np.array_equal(protocol.split(y, 1, [0])[1], protocol.split(codes * 10.0, 1, [0])[1])


@given(COUNTS.filter(lambda counts: sum(counts) >= 2), st.data())
def test_holdout_is_exact_disjoint_and_proportional(counts, data):
    y, n = labels(counts), sum(counts)
    n_train = data.draw(st.integers(1, n - 1))
    n_test = data.draw(st.integers(1, n - n_train))
    seed = data.draw(st.integers(0, 99))
    train, test = Protocol("holdout", train=n_train, test=n_test).split(y, 0, [seed])
    assert (len(set(train)), len(set(test)), len(set(train) | set(test))) == (n_train, n_test, n_train + n_test)
    # The rule of StratifiedShuffleSplit: within one of the share of the whole, then of what was left.
    taken, left = by_class(y, train, counts), np.array(counts)
    assert np.abs(taken - n_train * left / n).max() < 1
    left = left - taken
    assert np.abs(by_class(y, test, counts) - n_test * left / left.sum()).max() < 1


@given(st.lists(st.integers(2, 30), min_size=2, max_size=8), st.floats(0.3, 0.7), st.integers(0, 99))
def test_the_rest_is_proportional_too(counts, share, seed):
    y, n = labels(counts), sum(counts)
    train, test = Protocol("holdout", train=share).split(y, 0, [seed])
    assert len(train) == round(share * n)
    assert len(test) == n - len(train)
    assert np.abs(by_class(y, test, counts) - len(test) * np.array(counts) / n).max() < 1


@pytest.mark.parametrize("counts", [[59, 71, 48], [70, 76, 17, 13, 9, 29], [9, 9, 9], [2, 50]])
def test_class_counts_are_those_of_scikit_learn(counts):
    """Where no remainders tie, the largest-remainder rule has one answer."""
    y, n = labels(counts), sum(counts)
    n_train = 2 * n // 3
    splitter = StratifiedShuffleSplit(1, train_size=n_train, test_size=n - n_train, random_state=0)
    theirs, _ = next(splitter.split(y, y))
    expected = by_class(y, theirs, counts)
    remainders = n_train * np.array(counts) % n
    ours = [by_class(y, Protocol("holdout", train=n_train).split(y, 0, [seed])[0], counts) for seed in range(20)]
    if len(set(remainders)) == len(counts):
        assert all(np.array_equal(found, expected) for found in ours)
    else:
        assert all(sorted(found) == sorted(expected) for found in ours)


def test_ties_of_remainders_are_drawn():
    """Three classes of three rows and four seats: every class gets the fourth seat about a third of the time."""
    y = labels([3, 3, 3])
    got = np.array([by_class(y, Protocol("holdout", train=4).split(y, 0, [s])[0], [3] * 3) for s in range(600)])
    assert (got.sum(axis=1) == 4).all()
    # 600 draws of 1/3: a standard deviation of 11.5.
    assert ((got == 2).sum(axis=0) > 140).all()


def test_every_row_is_equally_likely_to_be_trained_on():
    y = labels([10, 20, 30])
    hits = np.zeros(60)
    for seed in range(1000):
        hits[Protocol("holdout", train=0.5).split(y, 0, [seed])[0]] += 1
    assert np.abs(hits - 500).max() < 5 * np.sqrt(1000 / 4)


def test_holdout_without_strata_and_in_regression_ignores_y():
    y = labels([5, 95])
    rare = [
        by_class(y, Protocol("holdout", train=0.5, stratify=False).split(y, 0, [s])[0], [5, 95])[0] for s in range(50)
    ]
    assert len(set(rare)) > 2
    values = np.random.default_rng(0).normal(size=100)
    train, test = Protocol("holdout", train=0.3).split(values, 0, [0], classification=False)
    assert (len(train), len(test)) == (30, 70)
    assert sorted([*train, *test]) == list(range(100))


@pytest.mark.parametrize(
    ("train", "test", "sizes"),
    [(30, None, (30, 70)), (0.25, None, (25, 75)), (0.25, 0.5, (25, 50)), (10, 20, (10, 20)), (1, 99, (1, 99))],
)
def test_holdout_takes_counts_and_shares(train, test, sizes):
    found = Protocol("holdout", train=train, test=test).split(labels([50, 50]), 0, [0])
    assert tuple(map(len, found)) == sizes


def test_sizes_of_the_data_set_win():
    train, test = Protocol("holdout", train=0.9, test=0.1).split(labels([50, 50]), 0, [0], train=20, test=0.4)
    assert (len(train), len(test)) == (20, 40)


@given(st.integers(20, 60), st.integers(0, 50))
def test_bootstrap_trains_on_n_draws_and_tests_outside(n, seed):
    train, test = Protocol("bootstrap-632").split(np.zeros(n), 0, [seed])
    assert len(train) == n
    assert set(train) | set(test) == set(range(n))
    assert not set(train) & set(test)
    assert len(set(train)) < n
    assert len(set(test)) == len(test)


def test_about_a_share_of_one_over_e_is_out_of_the_bag():
    shares = [len(Protocol("bootstrap-632").split(np.zeros(500), r, [0])[1]) / 500 for r in range(200)]
    # One sample has a standard deviation of about 0.0139 (sqrt(1/e (1 - 2/e) / n)).
    assert np.mean(shares) == pytest.approx((1 - 1 / 500) ** 500, abs=5 * 0.0139 / np.sqrt(200))


def test_apparent_share_and_words():
    assert Protocol("bootstrap-632", 5).apparent_share == pytest.approx(0.368)
    assert Protocol("k-fold").apparent_share == 0
    assert str(Protocol("k-fold", 3, 5)) == "3 x 5-fold stratified cross-validation"
    assert str(Protocol("holdout", 3, train=0.25)) == "3 stratified partitions, 25% for training"
    assert str(Protocol("holdout", 3, train=1000, stratify=False)) == "3 partitions, 1,000 rows for training"
    assert str(Protocol("bootstrap-632", 7)) == "bootstrap .632, 7 samples"
    assert str(Protocol("forward", folds=5)) == "forward chaining, 5 blocks"
    assert Protocol("k-fold", 1, 5).describe() == str(Protocol("k-fold", 1, 5))
    assert Protocol("k-fold", 1, 5, stratify=False).describe(groups=True) == (
        "1 x 5-fold cross-validation, groups kept together"
    )


def test_only_what_matters_is_described():
    assert Protocol("k-fold", train=0.1).as_dict() == Protocol("k-fold").as_dict()
    assert Protocol("holdout", folds=3).as_dict() == Protocol("holdout").as_dict()
    assert Protocol("bootstrap-632", stratify=False, folds=3).as_dict() == Protocol("bootstrap-632").as_dict()
    assert Protocol("k-fold", folds=3).as_dict() != Protocol("k-fold").as_dict()
    assert Protocol("holdout", train=0.3).as_dict() != Protocol("holdout").as_dict()
    assert Protocol("forward", stratify=False, train=0.1).as_dict() == Protocol("forward").as_dict()
    assert Protocol("forward", folds=3).as_dict() != Protocol("forward").as_dict()
    for kind in ("k-fold", "holdout", "bootstrap-632", "forward"):
        assert Protocol(**Protocol(kind).as_dict()) == Protocol(kind)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("kind", "kfold"),
        ("kind", None),
        ("kind", ["k-fold"]),
        ("repetitions", 0),
        ("repetitions", 2.0),
        ("repetitions", "3"),
        ("folds", 1),
        ("folds", True),
        ("train", 2.5),
        ("train", 0),
        ("train", 0.0),
        ("train", 1.0),
        ("train", -3),
        ("train", True),
        ("train", "half"),
        ("train", None),
        ("train", float("nan")),
        ("train", [0.5]),
        ("test", 1.5),
        ("test", "rest"),
        ("stratify", "no"),
        ("stratify", None),
    ],
)
def test_errors_name_the_argument(argument, value):
    with pytest.raises(ValueError, match=f"^{argument} must be"):
        Protocol(**{argument: value})


@pytest.mark.parametrize(
    ("protocol", "match"),
    [
        (Protocol("k-fold", folds=11), "folds: 11 folds need"),
        (Protocol("holdout", train=11), "train and test: 11"),
        (Protocol("holdout", train=10), r"train and test: 10 \+ 0"),
        (Protocol("holdout", train=6, test=5), r"train and test: 6 \+ 5"),
        (Protocol("holdout", train=0.01), r"train and test: 0 \+ 10"),
    ],
)
def test_too_few_rows(protocol, match):
    with pytest.raises(ValueError, match=match):
        protocol.split(labels([5, 5]), 0, [0])


@st.composite
def grouped_labels(draw):
    """Group sizes from single rows to dozens, and a class for every row; rows of a group are scattered."""
    sizes = draw(st.lists(st.integers(1, 25), min_size=6, max_size=40))
    classes = draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    groups = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return groups, random.integers(0, classes, len(groups))


@settings(max_examples=40)
@given(grouped_labels(), st.integers(2, 6), st.booleans(), st.integers(0, 9))
def test_folds_of_groups_test_every_row_once_and_part_no_group(data, folds, stratify, seed):
    groups, y = data
    protocol = Protocol("k-fold", repetitions=2, folds=folds, stratify=stratify)
    for repetition in (0, 1):
        numbers = range(repetition * folds, (repetition + 1) * folds)
        parts = [protocol.split(y, number, [seed], groups=groups) for number in numbers]
        assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(y)))
        for train, test in parts:
            assert sorted([*train, *test]) == list(range(len(y)))
            assert not set(groups[train]) & set(groups[test])
            assert len(test)
        assert np.ptp([len(test) for _, test in parts]) <= np.bincount(groups).max()


def greedy(groups, strata, folds, order):
    """The rule word for word, with sums of fractions: groups in a given order, each where the unevenness is least."""
    held = [[0] * (max(strata) + 1) for _ in range(folds)]
    totals = np.bincount(strata)
    found = {}
    for group in order:
        rows = [k for g, k in zip(groups, strata, strict=True) if g == group]
        smallest = min(map(sum, held))
        best = None
        for fold in range(folds):
            after = [list(counts) for counts in held]
            for k in rows:
                after[fold][k] += 1
            uneven = sum((counts[k] / totals[k]) ** 2 for counts in after for k in range(len(totals)))
            key = (round(uneven, 9), sum(held[fold]), fold)
            allowed = sum(held[fold]) + len(rows) <= smallest + max(np.bincount(groups))
            if allowed and (best is None or key < best[0]):
                best = key, fold, after
        _, found[group], held = best
    return found


@pytest.mark.parametrize("seed", range(8))
def test_groups_go_where_the_rule_sends_them(seed):
    """Groups of 8 to 15 rows are all of one magnitude, so that the order is that of the draw, then of the class."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(14), random.integers(8, 16, 14))
    y = random.integers(0, 3, len(groups))
    order = np.random.default_rng([7, seed]).permutation(14)
    main = np.array([np.bincount(y[groups == group], minlength=3).argmax() for group in range(14)])
    order = order[np.argsort(main[order], kind="stable")]
    expected = greedy(groups.tolist(), y.tolist(), 4, order)
    found = assign_group_folds(groups, y, 4, np.random.default_rng([7, seed]))
    assert found.tolist() == [expected[group] for group in groups]


@given(COUNTS, st.integers(2, 6))
@settings(max_examples=25)
def test_groups_of_one_row_are_dealt_as_rows_are(counts, folds):
    y = labels(counts)
    if len(y) < folds:
        return
    protocol = Protocol("k-fold", repetitions=1, folds=folds)
    tests = [protocol.split(y, number, [0], groups=np.arange(len(y)))[1] for number in range(folds)]
    assert np.ptp([len(test) for test in tests]) <= 1
    assert np.ptp([by_class(y, test, counts) for test in tests], axis=0).max() <= 1


def test_folds_of_groups_keep_class_shares():
    """Groups of up to nine rows and of one class each: no fold strays from a class's share by more than a group."""
    random = np.random.default_rng(0)
    sizes = random.integers(1, 10, 400)
    groups = np.repeat(np.arange(400), sizes)
    y = random.choice(3, 400, p=[0.6, 0.3, 0.1])[groups]
    protocol = Protocol("k-fold", repetitions=1, folds=5)
    counts = np.array([np.bincount(y[protocol.split(y, k, [1], groups=groups)[1]], minlength=3) for k in range(5)])
    assert np.abs(counts - np.bincount(y) / 5).max() < 9
    loose = Protocol("k-fold", repetitions=1, folds=5, stratify=False)
    free = np.array([np.bincount(y[loose.split(y, k, [1], groups=groups)[1]], minlength=3) for k in range(5)])
    assert np.abs(free - np.bincount(y) / 5).max() > 9


@pytest.mark.parametrize("kind", ["k-fold", "holdout"])
def test_splits_of_groups_differ_by_repetition_and_repeat_by_seed(kind):
    """Also where every group has a size of its own, so that "largest first" alone would leave one order only."""
    groups = np.repeat(np.arange(30), np.arange(10, 40))
    y = groups % 2
    protocol = Protocol(kind, repetitions=3, folds=5)
    step = 5 if kind == "k-fold" else 1
    found = [tuple(protocol.split(y, number * step, [2], groups=groups)[1]) for number in range(3)]
    assert len(set(found)) == 3
    assert tuple(protocol.split(y, 0, [3], groups=groups)[1]) not in found
    assert [tuple(protocol.split(y, number * step, [2], groups=groups)[1]) for number in range(3)] == found
    # Names of groups do not matter, only which rows share one.
    named = np.array([f"group {code:02}" for code in groups])
    assert tuple(protocol.split(y, 0, [2], groups=named)[1]) == found[0]


@settings(max_examples=40)
@given(grouped_labels(), st.floats(0.2, 0.8), st.one_of(st.none(), st.just(0.1)), st.integers(0, 9))
def test_a_holdout_of_groups_shares_none_and_meets_its_size(data, share, test_share, seed):
    groups, y = data
    protocol = Protocol("holdout", train=share, test=test_share, stratify=False)
    train, test = protocol.split(y, 0, [seed], groups=groups)
    assert len(train)
    assert len(test)
    assert not set(groups[train]) & set(groups[test])
    if test_share is None:
        assert len(train) + len(test) == len(y)
    wanted = len(y) - round(share * len(y)) if test_share is None else round(test_share * len(y))
    # No group that was left could have brought the test rows nearer.
    assert abs(len(test) - wanted) <= np.bincount(groups).max()


def test_a_holdout_of_many_groups_is_exact_and_stratified():
    random = np.random.default_rng(0)
    groups = random.integers(0, 500, 3000)
    y = random.choice(3, 3000, p=[0.6, 0.3, 0.1])
    train, test = Protocol("holdout", train=0.5, test=0.25).split(y, 0, [0], groups=groups)
    assert abs(len(test) - 750) <= 6
    assert abs(len(train) - 1500) <= 6
    np.testing.assert_allclose(np.bincount(y[test]) / np.bincount(y), 0.25, atol=0.03)


def test_what_only_the_group_tells_is_not_learned_across_groups():
    """The label is a coin tossed for each group, and an attribute gives the group away."""
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 10)
    y = random.permutation(np.arange(60) % 2)[groups]
    X = np.column_stack([random.permutation(60)[groups] + random.normal(0, 0.05, 600), random.normal(0, 0.1, 600)])
    protocol = Protocol("k-fold", repetitions=1, folds=5)

    def accuracy(model, **split):
        right = []
        for number in range(5):
            train, test = protocol.split(y, number, [0], **split)
            right.append(np.mean(model.fit(X[train], y[train]).predict(X[test]) == y[test]))
        return np.mean(right)

    for model in (KNeighborsClassifier(1), CARTClassifier(random_state=0)):
        assert accuracy(model) > 0.95
        # 60 tosses: a standard deviation of 0.065.
        assert abs(accuracy(model, groups=groups) - 0.5) < 0.2


@settings(max_examples=60)
@given(st.lists(st.integers(0, 30), min_size=8, max_size=80), st.integers(2, 6))
def test_forward_chaining_never_trains_on_what_is_not_earlier(moments, folds):
    times = np.array(moments)
    protocol = Protocol("forward", folds=folds)
    assert protocol.partitions == folds
    if len(set(moments)) <= folds:
        with pytest.raises(ValueError, match=f"at least {folds + 1} different times"):
            protocol.split(times, 0, [0], times=times)
        return
    parts = [protocol.split(times, number, [0], times=times) for number in range(folds)]
    for number, (train, test) in enumerate(parts):
        assert len(train)
        assert len(test)
        assert times[train].max() < times[test].min()
        # All that is earlier is trained on, and all that is neither is later.
        assert set(train) == set(np.flatnonzero(times < times[test].min()))
        left = set(range(len(times))) - set(train) - set(test)
        assert all(times[row] > times[test].max() for row in left)
        assert bool(left) == (number < folds - 1)
        # Equal times stay together: every time that is tested is tested whole.
        assert set(test) == set(np.flatnonzero(np.isin(times, times[test])))


@given(st.integers(6, 60), st.integers(2, 5))
@settings(max_examples=25)
def test_blocks_of_different_times_are_those_of_scikit_learn(n, folds):
    times = np.random.default_rng(n).permutation(n) * 1.5
    order = np.argsort(times)
    theirs = TimeSeriesSplit(folds).split(order)
    for number, (train, test) in enumerate(theirs):
        found = Protocol("forward", folds=folds).split(times, number, [0], times=times)
        assert set(found[0]) == set(order[train])
        assert set(found[1]) == set(order[test])


@pytest.mark.parametrize(
    ("times", "folds", "tests"),
    [
        # Six rows, blocks of two wanted from places 2 and 4 on; the three 1s cannot be parted.
        ([0, 1, 1, 1, 2, 3], 2, [[1, 2, 3], [4, 5]]),
        # All of one day but two: a block each.
        ([5, 5, 5, 5, 5, 5, 6, 7], 2, [[6], [7]]),
        ([4, 5, 7, 7, 7, 7, 7, 7], 2, [[1], [2, 3, 4, 5, 6, 7]]),
        # Rows stand in any order.
        ([9, 1, 5, 3], 3, [[3], [2], [0]]),
    ],
)
def test_blocks_by_hand(times, folds, tests):
    protocol = Protocol("forward", folds=folds)
    found = [protocol.split(np.zeros(len(times)), k, [0], times=np.array(times))[1].tolist() for k in range(folds)]
    assert found == tests


def test_forward_chaining_has_one_repetition():
    assert Protocol("forward").repetitions == 1
    assert Protocol("k-fold").repetitions == Protocol("holdout").repetitions == 10
    with pytest.raises(ValueError, match=r"repetitions must be 1 for forward chaining, got 10: the times leave"):
        Protocol("forward", repetitions=10)


@pytest.mark.parametrize(
    ("protocol", "given", "match"),
    [
        (Protocol("k-fold", folds=5), {"groups": np.arange(20) % 4}, "5 folds need at least as many groups.* are 4"),
        (Protocol("holdout"), {"groups": np.zeros(20)}, "groups: all rows are of one group"),
        (Protocol("bootstrap-632"), {"groups": np.arange(20)}, "groups: a bootstrap draws single rows"),
        (Protocol("forward"), {"groups": np.arange(20), "times": np.arange(20)}, "groups: forward chaining"),
        (Protocol("forward", folds=3), {}, "time: forward chaining needs to know"),
        (Protocol("forward", folds=3), {"times": np.arange(20) % 3}, "at least 4 different times, and there are 3"),
        (Protocol("k-fold", folds=3), {"times": np.arange(20)}, "time: k-fold would train on rows that are later"),
        (Protocol("k-fold", folds=3), {"groups": np.arange(19)}, "groups: 19 values for 20 rows"),
    ],
)
def test_groups_and_times_that_cannot_be_split(protocol, given, match):
    for ask in (protocol.check, lambda n, **more: protocol.split(np.zeros(n), 0, [0], **more)):
        with pytest.raises(ValueError, match=match):
            ask(20, **given)
