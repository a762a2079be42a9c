import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from conjunto import _core
from conjunto.streams import COLUMNS, PYTHON, Stream, root_key

KEY = (0x0123456789ABCDEF, 0xFEDCBA9876543210)


@pytest.mark.parametrize("purpose", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("member", [0, 1, 2**40])
def test_the_core_draws_the_words_of_numpy_philox(member, purpose):
    """Philox 4x64 is one generator: the core's words are numpy's for the same key and counter."""
    bits = np.random.Philox(key=np.array(KEY, dtype=np.uint64), counter=[0, 0, purpose, member])
    np.testing.assert_array_equal(_core.words(*KEY, member, purpose, 100), bits.random_raw(100))


def test_root_key_depends_on_the_seed_only():
    assert root_key(0) == root_key(0)
    assert root_key(0) != root_key(1)
    assert root_key(np.random.RandomState(3)) == root_key(3)
    assert root_key(None) != root_key(None)
    random = np.random.RandomState(3)
    assert root_key(random) != root_key(random)
    assert len({root_key(seed) for seed in range(2000)}) == 2000


def test_streams_of_members_and_purposes_differ():
    drawn = {
        Stream(KEY, member).generator(purpose).integers(2**63) for member in range(500) for purpose in (PYTHON, COLUMNS)
    }
    assert len(drawn) == 1000


def test_neighbouring_members_are_independent():
    first = np.array([Stream(KEY, t).generator().random() for t in range(2000)])
    assert kstest(first, "uniform").pvalue > 1e-6
    # Correlation of independent draws has a standard deviation of 1 / sqrt(n).
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 5 / np.sqrt(2000)


@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_rows_are_drawn_uniformly(n):
    counts = sum(Stream(KEY, t).bootstrap(n, 200) for t in range(100))
    assert chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: Stream(KEY, 0).subset(3, 4), "cannot draw more different rows than there are"),
        (lambda: Stream(KEY, 0).bootstrap(0, 1), "cannot draw from no rows"),
        (lambda: Stream(KEY, 0).switched(np.zeros(3, dtype=np.int32), 4, 2), "more labels than there are"),
        (lambda: Stream(KEY, 0).switched(np.zeros(3, dtype=np.int32), 1, 1), "needs at least two classes"),
    ],
)
def test_impossible_draws_are_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
