import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.cluster.hierarchy import average, cut_tree
from scipy.spatial.distance import squareform

from conjunto import Votes
from conjunto.ordering.clustering import clustering


def brute_force(answers, y, size, weight, silent, loss, root, farthest):
    """The definition, pair by pair and example by example."""
    members = range(len(answers))

    def mean(pairs):
        total = sum(w for _, _, w in pairs)
        return sum(w * loss(a, b) for a, b, w in pairs) / total if total else None

    def apart(s, t):
        both = [p for p in zip(answers[s], answers[t], weight, strict=True) if not (silent(p[0]) or silent(p[1]))]
        found = mean(both)
        return None if found is None else root(found)

    pairs = {(s, t): apart(s, t) for s in members for t in members if s < t}
    known = [d for d in pairs.values() if d is not None]
    distances = np.zeros((len(answers), len(answers)))
    for (s, t), d in pairs.items():
        distances[s, t] = distances[t, s] = farthest(known) if d is None else d
    errors = [mean([p for p in zip(a, y, weight, strict=True) if not silent(p[0])]) for a in answers]
    errors = [np.inf if e is None else round(e, 10) for e in errors]
    if size == len(answers):
        return sorted(members, key=lambda t: (errors[t], t))
    cluster = cut_tree(average(squareform(distances)), n_clusters=size)[:, 0]
    best = [min((t for t in members if cluster[t] == c), key=lambda t: (errors[t], t)) for c in set(cluster)]
    return sorted(best, key=lambda t: (errors[t], t))


SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 20))


@given(hnp.arrays(np.int64, SHAPES, elements=st.integers(-1, 3)), st.booleans(), st.data())
def test_classes_against_brute_force(labels, weighted, data):
    y = data.draw(hnp.arrays(np.int64, labels.shape[1], elements=st.integers(0, 3)))
    weight = np.ones(len(y))
    if weighted:
        # Powers of two: shares come out the same in any order, so that equal distances stay equal.
        weight = data.draw(hnp.arrays(np.float64, len(y), elements=st.sampled_from([0.0, 0.5, 1.0, 4.0])))
        weight[0] = 1.0
    size = data.draw(st.integers(1, len(labels)))
    brute = brute_force(labels, y, size, weight, lambda a: a < 0, lambda a, b: float(a != b), float, lambda known: 1.0)
    found = clustering(labels, y, size, sample_weight=weight if weighted else None)
    np.testing.assert_array_equal(found, brute)


@given(hnp.arrays(np.float64, SHAPES, elements=st.sampled_from([0.0, 1.0, 2.0, 5.0, np.nan])), st.data())
def test_values_against_brute_force(values, data):
    y = data.draw(hnp.arrays(np.float64, values.shape[1], elements=st.sampled_from([0.0, 1.0, 3.0])))
    size = data.draw(st.integers(1, len(values)))
    brute = brute_force(
        values,
        y,
        size,
        np.ones(len(y)),
        np.isnan,
        lambda a, b: (a - b) ** 2,
        np.sqrt,
        lambda known: max(known, default=0.0),
    )
    np.testing.assert_array_equal(clustering(values, y, size), brute)


@pytest.mark.parametrize("seed", range(5))
def test_one_of_each_of_three_planted_members(seed):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, 300)
    originals = np.where(random.random((3, 300)) < 0.5, random.integers(0, 3, (3, 300)), y)
    source = random.permutation(np.repeat(np.arange(3), 7))
    copies = np.where(random.random((21, 300)) < 0.1, random.integers(0, 3, (21, 300)), originals[source])
    found = clustering(copies, y, 3)
    assert sorted(source[found]) == [0, 1, 2]
    errors = (copies != y).mean(axis=1)
    for t in found:
        assert errors[t] == errors[source == source[t]].min()
    assert (np.diff(errors[found]) >= 0).all()


def test_as_many_clusters_as_asked_for_where_all_are_equally_far_apart():
    labels = 1 - np.eye(6, dtype=int)
    assert len(clustering(labels, np.ones(6, dtype=int), 4)) == 4


def test_a_group_comes_as_a_whole():
    labels = np.array([[0, 1], [1, 0], [1, 0], [0, 1], [1, 0]])
    votes = Votes(labels=labels, groups=np.array(["b", "a", "a", "b", "a"]))
    np.testing.assert_array_equal(clustering(votes, [0, 1], 2), [0, 3, 1, 2, 4])
    np.testing.assert_array_equal(clustering(votes, [0, 1], 1), [0, 3])


@pytest.mark.parametrize(("size", "message"), [(0, "size must be a whole"), (3, "size must be at most")])
def test_refusals(size, message):
    with pytest.raises(ValueError, match=message):
        clustering([[0, 1], [1, 1]], [0, 1], size)
