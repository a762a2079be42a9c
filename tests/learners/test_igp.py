"""IGP trees against plain Python (`igp_oracle`), and the properties that the papers prove."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conjunto import CARTClassifier, IGPTreeClassifier
from conjunto.datasets import load, make_waveform
from conjunto.learners.rounds import TreeRounds
from conjunto.problem import read_problem
from conjunto.streams import Stream, root_key
from conjunto.view import View

from .igp_oracle import IGP, Tied, nested

KEY = (3, 14)


class Grown:
    """An IGP tree of given halves and weights."""

    def __init__(self, X, y, weights, halves, number=0, **options):
        self.problem = read_problem(IGPTreeClassifier(), X, y, None, classification=True)
        rounds = TreeRounds(IGPTreeClassifier(**options), self.problem, KEY, "labels", 1)
        self.said = rounds.fit([View(np.asarray(weights), halves=halves.astype(np.uint8))], [number])[0]
        self.passes = int(rounds._session.passes()[0])
        self.forest = rounds.members().forest
        self.leaves = int(self.forest.leaf_counts()[0])

    def predict(self, X):
        return self.forest.labels(X)[0]


def problem(seed, n_classes, kind, columns, n=70):
    random = np.random.default_rng([seed, n_classes, columns])
    X = random.normal(size=(n, columns))
    noisy = np.sin(3 * X[:, 0]) + 0.4 * X.sum(axis=1) + 0.7 * random.normal(size=n)
    y = np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)
    y[:n_classes] = np.arange(n_classes)
    weights = {
        "none": np.ones(n, dtype=int),
        "whole": random.integers(0, 4, n),
        "real": random.exponential(size=n) * (random.random(n) > 0.1),
    }[kind]
    return X, y, weights, random.integers(0, 2, n)


def agree(grown, truth, X):
    np.testing.assert_array_equal(grown.said, truth.predict(X))
    fresh = np.random.default_rng(0).normal(size=(200, X.shape[1]))
    np.testing.assert_array_equal(grown.predict(fresh), truth.predict(fresh))
    assert grown.leaves == truth.sizes[-1]
    assert grown.passes == truth.passes


@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_one_column(n_classes, kind):
    """Among equally good cuts of a column the lowest is taken."""
    leaves = []
    for seed in range(15):
        X, y, weights, halves = problem(seed, n_classes, kind, 1)
        truth = IGP(X, y, weights, halves, n_classes, lowest=True)
        agree(Grown(X, y, weights, halves), truth, X)
        assert nested(truth.stages)
        leaves.append(truth.sizes[-1])
    assert max(leaves) > 4


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_several_columns(n_classes):
    """Leaves are large enough that seldom two columns part rows alike; where they do, which one is taken is open."""
    compared, leaves = 0, []
    for seed in range(25):
        X, y, weights, halves = problem(seed, n_classes, "real", 3, n=100)
        try:
            truth = IGP(X, y, weights, halves, n_classes, min_leaf=5)
        except Tied:
            continue
        agree(Grown(X, y, weights, halves, min_samples_leaf=5), truth, X)
        compared += 1
        leaves.append(truth.sizes[-1])
    assert compared >= 15
    assert max(leaves) > 3


def mixed(seed):
    """Ties, copies with different labels, categories, holes, constant columns."""
    random = np.random.default_rng(seed)
    n, K = int(random.integers(1, 60)), int(random.integers(1, 5))
    X = pd.DataFrame(
        {
            "few": random.integers(0, 4, n).astype(float),
            "number": np.round(random.normal(size=n), int(random.integers(0, 3))),
            "letter": random.choice(list("abcde"), n),
            "constant": 1.0,
        }
    )
    if seed % 2:
        X.loc[random.random(n) < 0.3, "number"] = np.nan
        X.loc[random.random(n) < 0.2, "letter"] = None
    y = random.integers(0, K, n)
    weights = random.exponential(size=n) if seed % 3 == 0 else random.integers(1, 4, n)
    return X, y, weights


def test_passes_are_few_on_any_data():
    """The sequence ends by itself: the safety net of 100 passes is never met."""
    passes = []
    for seed in range(300):
        X, y, weights = mixed(seed)
        halves = np.random.default_rng(seed).integers(0, 2, len(y))
        grown = Grown(X, y, weights, halves)
        passes.append(grown.passes)
        np.testing.assert_array_equal(grown.said, grown.predict(grown.problem.X))
    assert min(passes) == 2
    assert max(passes) <= 12


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["none", "whole", "real"]), st.integers(2, 4), st.booleans())
def test_pruned_trees_are_nested(seed, kind, n_classes, coarse):
    X, y, weights, halves = problem(seed, n_classes, kind, 1, n=40)
    X = np.round(X) if coarse else X
    y = np.random.default_rng(seed).integers(0, n_classes, 40) if seed % 2 else y
    y[:n_classes] = np.arange(n_classes)
    if not weights.any():
        return
    truth = IGP(X, y, weights, halves, n_classes, lowest=True)
    assert nested(truth.stages)
    assert truth.stages[-1] == truth.stages[-2]
    assert truth.passes < 20
    agree(Grown(X, y, weights, halves), truth, X)


@pytest.mark.parametrize("kind", ["none", "whole"])
def test_the_order_of_rows_does_not_matter(kind):
    for seed in range(20):
        X, y, weights, halves = problem(seed, 3, kind, 3)
        order = np.random.default_rng(seed).permutation(len(y))
        one = Grown(X, y, weights, halves)
        two = Grown(X[order], y[order], weights[order], halves[order])
        np.testing.assert_array_equal(one.predict(X), two.predict(X))
        assert one.passes == two.passes


def test_the_halves_are_not_exchangeable_but_both_matter():
    different = 0
    for seed in range(10):
        X, y, weights, halves = problem(seed, 2, "none", 2)
        different += (Grown(X, y, weights, halves).said != Grown(X, y, weights, 1 - halves).said).any()
    assert different > 0


def test_whole_weights_are_copies():
    for seed in range(10):
        X, y, weights, halves = problem(seed, 3, "whole", 3)
        repeat = np.repeat(np.arange(len(y)), weights)
        y[repeat[:3]] = np.arange(3)
        repeated = Grown(X[repeat], y[repeat], np.ones(len(repeat), dtype=int), halves[repeat])
        if len(np.unique(y[repeat])) == len(np.unique(y)):
            np.testing.assert_array_equal(Grown(X, y, weights, halves).predict(X), repeated.predict(X))


@settings(max_examples=200)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(0, 1000), st.data())
def test_halves_have_equal_shares(labels, member, data):
    y = np.array(labels, dtype=np.int32)
    present = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    halves = Stream(KEY, member).halves(y, present, 5)
    assert set(halves.tolist()) <= {0, 1}
    assert not halves[~present].any()
    sizes = [(halves[present] == half).sum() for half in (0, 1)]
    assert abs(int(sizes[0]) - int(sizes[1])) <= 1
    for k in range(5):
        mine = [(halves[present & (y == k)] == half).sum() for half in (0, 1)]
        assert abs(int(mine[0]) - int(mine[1])) <= 1


def test_halves_are_random():
    """Every row is in either half equally often, and two rows of a class a little less often together than apart."""
    y = np.repeat([0, 1], [7, 6]).astype(np.int32)
    halves = np.stack([Stream(KEY, t).halves(y, np.ones(13, dtype=bool), 2) for t in range(4000)])
    # Five standard deviations of a share of 4000 draws.
    np.testing.assert_allclose(halves.mean(axis=0), 0.5, atol=5 * 0.5 / np.sqrt(4000))
    together = (halves[:, 7] == halves[:, 8]).mean()
    assert together == pytest.approx(2 / 5, abs=5 * 0.5 / np.sqrt(4000))


def test_a_model_draws_the_halves_of_its_stream():
    X, y = make_waveform(150, random_state=0)
    for seed in range(3):
        model = IGPTreeClassifier(random_state=seed).fit(X, y)
        key = root_key(seed)
        halves = Stream(key, 0).halves(y.astype(np.int32), np.ones(150, dtype=bool), 3)
        rounds = TreeRounds(IGPTreeClassifier(), read_problem(model, X, y, None, classification=True), key, "labels", 1)
        said = rounds.fit([View(np.ones(150, dtype=int), halves=halves)], [0])[0]
        np.testing.assert_array_equal(said, model.predict(X))
        assert model.n_passes_ == rounds._session.passes()[0]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_few_rows(n):
    X = np.arange(n, dtype=float)[:, None]
    for labels in (np.arange(n), np.arange(n) % 2, np.zeros(n, dtype=int)):
        for seed in range(5):
            model = IGPTreeClassifier(random_state=seed).fit(X, labels)
            assert set(model.predict(X)) <= set(labels)
            assert model.n_passes_ <= 4
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_halves_of_one_class():
    """Each half is pure, so nothing grows: the first half names the class."""
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    for halves, label in ((y, 1), (1 - y, 0), (np.zeros(10), 0), (np.ones(10), 0)):
        grown = Grown(X, y, np.ones(10), np.asarray(halves))
        if len(np.unique(halves)) == 2:
            assert grown.leaves == 1
        assert (grown.said == label).all()
        assert grown.passes == 2


def test_rows_that_no_cut_parts():
    twins = np.repeat(np.arange(10.0), 4)[:, None]
    labels = np.tile(["a", "a", "a", "b"], 10)
    model = IGPTreeClassifier(random_state=0).fit(twins, labels)
    assert set(model.predict(twins)) == {"a"}
    constant = IGPTreeClassifier(random_state=0).fit(np.ones((12, 2)), labels[:12])
    assert constant.get_n_leaves() == 1
    assert constant.n_passes_ == 2
    np.testing.assert_allclose(constant.predict_proba(np.ones((1, 2))), [[0.75, 0.25]])


def test_shares_are_those_of_all_rows():
    data = load("horse-colic")
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data.y))
    model = IGPTreeClassifier(random_state=0).fit(data.X, data.y, weights)
    leaves, codes = model.apply(data.X), np.searchsorted(model.classes_, data.y)
    for leaf in np.unique(leaves):
        share = np.bincount(codes[leaves == leaf], weights[leaves == leaf], minlength=2)
        shown = model.predict_proba(data.X[leaves == leaf][:1])[0]
        np.testing.assert_allclose(shown, share / share.sum(), rtol=1e-9)
    assert model.get_n_leaves() == len(np.unique(leaves))
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_rows_of_weight_zero_are_no_rows():
    X, y, _, _ = problem(0, 3, "none", 2)
    weights = (np.arange(70) % 3 > 0).astype(float)
    keep = weights > 0
    halves = np.random.default_rng(0).integers(0, 2, 70)
    whole, part = Grown(X, y, weights, halves), Grown(X[keep], y[keep], weights[keep], halves[keep])
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))
    np.testing.assert_array_equal(whole.said, whole.predict(X))


def test_leaves_on_waveform():
    """The thesis has 11.0 leaves on average (cuadro 3.6), a simulation of this rule 10.6; grown trees have about 47."""
    leaves, passes, grown = [], [], []
    for seed in range(50):
        X, y = make_waveform(300, random_state=seed)
        model = IGPTreeClassifier(random_state=seed).fit(X, y)
        leaves.append(model.get_n_leaves())
        passes.append(model.n_passes_)
        grown.append(CARTClassifier(random_state=0).fit(X, y).get_n_leaves())
    # The standard error of the mean is about 0.4.
    assert 9.0 < np.mean(leaves) < 12.6
    assert np.mean(grown) > 35
    assert max(passes) <= 8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "x"}, "criterion must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"max_features": 0}, "max_features"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        IGPTreeClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])
