"""The truth is numpy's Philox, and counting."""

import numpy as np
import pytest
from scipy.stats import chisquare

from conjunto import _core
from conjunto.streams import Stream, root_key

KEYS = [(0, 0), (1, 2), (2**64 - 1, 2**63 + 5)]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("member", [0, 1, 12345, 2**63 + 1])
@pytest.mark.parametrize("purpose", range(5))
def test_words_are_those_of_numpy(key, member, purpose):
    philox = np.random.Philox(
        key=np.array(key, dtype=np.uint64), counter=np.array([0, 0, purpose, member], dtype=np.uint64)
    )
    np.testing.assert_array_equal(_core.words(*key, member, purpose, 1003), philox.random_raw(1003))


@pytest.mark.parametrize("member", [0, 7, 2**31])
@pytest.mark.parametrize("purpose", range(5))
def test_the_generator_of_a_stream_has_the_same_words(member, purpose):
    generator = Stream(KEYS[2], member).generator(purpose)
    np.testing.assert_array_equal(generator.bit_generator.random_raw(9), _core.words(*KEYS[2], member, purpose, 9))


@pytest.mark.parametrize(("n", "size"), [(1, 1), (1, 9), (10, 10), (50, 7), (300, 300), (7, 1000)])
def test_bootstrap_has_the_size_asked_for(n, size):
    for member in range(20):
        counts = _core.bootstrap(3, 4, member, n, size)
        assert counts.shape == (n,)
        assert counts.min() >= 0
        assert counts.sum() == size


def test_bootstrap_is_uniform():
    counts = sum(_core.bootstrap(3, 4, member, 37, 37) for member in range(3000))
    assert chisquare(counts).pvalue > 1e-4
    # Of many distinct rows drawn from many, each is missed with probability 1/e.
    missed = np.mean([(_core.bootstrap(5, 6, member, 500, 500) == 0).mean() for member in range(200)])
    assert missed == pytest.approx((1 - 1 / 500) ** 500, abs=0.003)


def test_subset_is_uniform_and_without_repetition():
    drawn = np.stack([_core.subset(3, 4, member, 20, 6) for member in range(4000)])
    assert set(np.unique(drawn)) == {0, 1}
    assert (drawn.sum(axis=1) == 6).all()
    # Counts of draws without replacement vary less than a multinomial's: by the factor (n - size) / (n - 1).
    expected = 4000 * 6 / 20
    statistic = ((drawn.sum(axis=0) - expected) ** 2 / expected).sum() * (20 - 1) / (20 - 6)
    assert 5 < statistic < 45
    np.testing.assert_array_equal(_core.subset(1, 2, 3, 9, 9), np.ones(9))


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 30, 99, 100])
def test_switched_changes_exactly_count_labels(classes, count):
    labels = (np.arange(100) % classes).astype(np.int32)
    for member in range(20):
        out = _core.switched(1, 9, member, labels, count, classes)
        assert (out != labels).sum() == count
        assert out.min() >= 0
        assert out.max() < classes


def test_switched_is_uniform_over_rows_and_other_classes():
    labels = np.repeat(np.arange(4), [30, 5, 15, 10]).astype(np.int32)
    out = np.stack([_core.switched(7, 8, member, labels, 20, 4) for member in range(3000)])
    changed = out != labels
    statistic = ((changed.sum(axis=0) - 1000) ** 2 / 1000).sum() * (60 - 1) / (60 - 20)
    assert 25 < statistic < 110
    for k in range(4):
        others = np.bincount(out[:, labels == k][changed[:, labels == k]], minlength=4)
        assert others[k] == 0
        assert chisquare(np.delete(others, k)).pvalue > 1e-4


def test_streams_of_members_purposes_and_keys_differ():
    seen = {
        tuple(_core.words(*key, member, purpose, 4)) for key in KEYS for member in range(50) for purpose in range(5)
    }
    assert len(seen) == 3 * 50 * 5
    assert len({tuple(_core.bootstrap(1, 2, member, 30, 30)) for member in range(50)}) == 50


def test_root_key_reads_random_state_as_scikit_learn():
    assert root_key(5) == root_key(5) == root_key(np.random.RandomState(5))
    assert root_key(5) != root_key(6)
    assert all(0 <= word < 2**64 for word in root_key(None))
    state = np.random.RandomState(5)
    assert root_key(state) != root_key(state)


def test_impossible_draws_are_refused():
    with pytest.raises(ValueError, match="from no rows"):
        _core.bootstrap(1, 2, 3, 0, 1)
    with pytest.raises(ValueError, match="more different rows"):
        _core.subset(1, 2, 3, 4, 5)
    with pytest.raises(ValueError, match="more labels"):
        _core.switched(1, 2, 3, np.zeros(4, dtype=np.int32), 5, 2)
    with pytest.raises(ValueError, match="two classes"):
        _core.switched(1, 2, 3, np.zeros(4, dtype=np.int32), 1, 1)
