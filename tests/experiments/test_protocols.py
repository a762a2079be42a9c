import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedShuffleSplit

from conjunto.experiments import Protocol

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


def test_only_what_matters_is_described():
    assert Protocol("k-fold", train=0.1).as_dict() == Protocol("k-fold").as_dict()
    assert Protocol("holdout", folds=3).as_dict() == Protocol("holdout").as_dict()
    assert Protocol("bootstrap-632", stratify=False, folds=3).as_dict() == Protocol("bootstrap-632").as_dict()
    assert Protocol("k-fold", folds=3).as_dict() != Protocol("k-fold").as_dict()
    assert Protocol("holdout", train=0.3).as_dict() != Protocol("holdout").as_dict()
    for kind in ("k-fold", "holdout", "bootstrap-632"):
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
