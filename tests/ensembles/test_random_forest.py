import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier as PeerClassifier
from sklearn.ensemble import RandomForestRegressor as PeerRegressor

from conjunto import CARTClassifier, RandomForestClassifier, RandomForestRegressor
from conjunto.datasets import make_twonorm, make_waveform

from ..forests import assert_same_trees

X, Y = make_waveform(200, random_state=0)


def split(make, seed):
    if make is load_digits:
        data, target = load_digits(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(target))
        return data[order[:600]], target[order[:600]], data[order[600:]], target[order[600:]]
    return *make(300, random_state=seed), *make(1500, random_state=1000 + seed)


@pytest.mark.parametrize("make", [make_twonorm, make_waveform, load_digits])
@pytest.mark.parametrize("kind", ["axis", "combination"])
def test_accuracy_is_that_of_scikit_learn(make, kind):
    """The same data for both forests, so their differences over seeds are paired: five standard errors and 1 %."""
    gaps = []
    for seed in range(4):
        train, labels, test, truth = split(make, seed)
        ours = RandomForestClassifier(n_estimators=100, splits=kind, random_state=seed).fit(train, labels)
        peer = PeerClassifier(n_estimators=100, random_state=seed).fit(train, labels)
        gaps.append(ours.score(test, truth) - peer.score(test, truth))
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    # Random combinations are another method (better on the two synthetic problems, a little worse on pixels):
    # they must not be clearly worse.
    assert np.mean(gaps) > -(5 * error + (0.01 if kind == "axis" else 0.03))
    if kind == "axis":
        assert np.mean(gaps) < 5 * error + 0.01


def test_regression_is_that_of_scikit_learn():
    data, target = load_diabetes(return_X_y=True)
    gaps = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(target))
        train, test = order[:250], order[250:]
        ours = RandomForestRegressor(random_state=seed).fit(data[train], target[train])
        peer = PeerRegressor(random_state=seed).fit(data[train], target[train])
        gaps.append(ours.score(data[test], target[test]) - peer.score(data[test], target[test]))
    assert abs(np.mean(gaps)) < 5 * np.std(gaps, ddof=1) / np.sqrt(len(gaps)) + 0.02


@pytest.mark.parametrize("kind", ["axis", "combination"])
def test_soft_vote_is_the_mean_of_the_members(kind):
    forest = RandomForestClassifier(n_estimators=15, splits=kind, max_depth=3, random_state=0).fit(X, Y)
    mean = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), mean, rtol=1e-12)
    np.testing.assert_array_equal(forest.predict(X), mean.argmax(axis=1))
    hard = forest.set_params(vote="hard").predict_proba(X)
    np.testing.assert_allclose(hard * 15, np.rint(hard * 15), atol=1e-9)


def test_without_bootstrap_and_with_all_columns_it_is_a_tree():
    forest = RandomForestClassifier(n_estimators=4, bootstrap=False, max_features=None, random_state=0).fit(X[:, :1], Y)
    tree = CARTClassifier().fit(X[:, :1], Y)
    grid = np.linspace(-5, 8, 801)[:, None]
    for member in forest.estimators_:
        np.testing.assert_array_equal(member.predict(grid), tree.predict(grid))


@pytest.mark.parametrize(("max_samples", "rows"), [(None, 200), (0.25, 50), (13, 13)])
def test_bootstrap_sizes(max_samples, rows):
    forest = RandomForestClassifier(n_estimators=5, max_samples=max_samples, random_state=0).fit(X, Y)
    assert all(len(sample) == rows for sample in forest.estimators_samples_)


def test_tree_parameters_reach_the_trees():
    forest = RandomForestClassifier(n_estimators=5, max_leaf_nodes=4, random_state=0).fit(X, Y)
    assert all(tree.get_n_leaves() <= 4 for tree in forest.estimators_)
    forest = RandomForestClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, Y)
    assert all(tree.get_depth() <= 2 for tree in forest.estimators_)
    one, two = (
        RandomForestClassifier(n_estimators=5, criterion=name, random_state=0).fit(X, Y) for name in ("gini", "entropy")
    )
    assert (one.apply(X) != two.apply(X)).any()


def test_balanced_class_weight_is_the_dict_of_it():
    """scikit-learn's rule: n / (K n_k)."""
    y = np.where(np.arange(200) < 160, 0, Y)
    counts = np.bincount(y)
    dictionary = {k: 200 / (3 * counts[k]) for k in range(3)}
    balanced, explicit, weighted = (
        RandomForestClassifier(n_estimators=10, max_depth=3, class_weight=w, random_state=0).fit(X, y, sample_weight=s)
        for w, s in (("balanced", None), (dictionary, None), (None, [dictionary[k] for k in y]))
    )
    np.testing.assert_allclose(balanced.predict_proba(X), explicit.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 20}])
def test_class_weight_favours_the_small_class(class_weight):
    random = np.random.default_rng(0)
    y = (np.arange(500) < 40).astype(int)
    data = random.normal(size=(500, 4)) + y[:, None]
    plain, weighted = (
        RandomForestClassifier(n_estimators=50, max_depth=3, class_weight=w, random_state=0).fit(data, y)
        for w in (None, class_weight)
    )
    assert weighted.predict_proba(data)[:, 1].mean() > plain.predict_proba(data)[:, 1].mean() + 0.1


def test_balanced_subsample_balances_each_sample():
    """Stumps without splits: leaves hold the class shares, which balancing makes equal in every member."""
    y = (np.arange(200) < 30).astype(int)
    forest = RandomForestClassifier(
        n_estimators=20, class_weight="balanced_subsample", min_samples_split=1000, random_state=0
    ).fit(X, y)
    for tree in forest.estimators_:
        np.testing.assert_allclose(tree.predict_proba(X), 0.5, rtol=1e-12)


def test_balanced_subsample_without_bootstrap_is_balanced():
    y = (np.arange(200) < 30).astype(int)
    forest = RandomForestClassifier(
        n_estimators=3, class_weight="balanced_subsample", bootstrap=False, min_samples_split=1000, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(forest.predict_proba(X), 0.5)


def test_samples_may_miss_the_small_class():
    y = np.where(np.arange(200) == 7, 2, Y % 2)
    forest = RandomForestClassifier(n_estimators=30, class_weight="balanced_subsample", random_state=0).fit(X, y)
    missed = [7 not in rows for rows in forest.estimators_samples_]
    assert any(missed)
    assert not (forest.votes(X).as_labels().labels[missed] == 2).any()
    np.testing.assert_allclose(forest.predict_proba(X).sum(axis=1), 1)


def test_weights_of_zero_leave_rows_out():
    poison = np.arange(200) % 2 == 0
    labels = np.where(poison, (Y + 1) % 3, Y)
    forest = RandomForestClassifier(random_state=0).fit(X, labels, sample_weight=np.where(poison, 0, 1))
    assert forest.score(X[~poison], Y[~poison]) > 0.97
    # The Bayes error of the problem is 14 %.
    assert forest.score(X[poison], Y[poison]) > 0.7


@pytest.mark.parametrize("kind", ["axis", "combination"])
def test_proximity_is_the_share_of_common_leaves(kind):
    forest = RandomForestClassifier(n_estimators=12, splits=kind, max_depth=4, random_state=0).fit(X, Y)
    leaves = forest.apply(X)
    brute = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    near = forest.proximity(X)
    np.testing.assert_allclose(near, brute)
    np.testing.assert_array_equal(near, near.T)
    np.testing.assert_array_equal(np.diag(near), 1)
    np.testing.assert_allclose(forest.proximity(X[:5], X[5:]), brute[:5, 5:])


def test_more_combinations_than_columns():
    forest = RandomForestClassifier(
        n_estimators=3, splits="combination", max_features=8, bootstrap=False, random_state=0
    )
    assert forest.fit(X[:, :4], Y).score(X[:, :4], Y) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"splits": "x"}, "splits must be one of 'axis', 'combination', got 'x'"),
        (
            {"splits": "combination", "combination_features": 0},
            "combination_features must be a whole number of at least 1",
        ),
        ({"max_features": "x"}, "max_features must be one of 'sqrt', 'log2', got 'x'"),
        ({"max_features": 0}, "max_features must be a whole number of at least 1, got 0"),
        ({"max_features": 1.01}, r"max_features must be an int in \[1, 21\] or a float in \(0, 1\], got 1.01"),
        ({"max_features": 0.0}, r"max_features must be an int in \[1, 21\] or a float"),
        ({"max_samples": 0}, "max_samples must be a whole number of at least 1, got 0"),
        ({"max_samples": 0.0}, r"max_samples must be a number in \(0, inf\), got 0.0"),
        ({"max_samples": float("inf")}, r"max_samples must be a number in \(0, inf\), got inf"),
        ({"max_samples": 0.5, "bootstrap": False}, "`max_sample` cannot be set if `bootstrap=False`"),
        ({"oob_score": True, "bootstrap": False}, "Out of bag estimation only available if bootstrap=True"),
        ({"criterion": "x"}, "criterion must be one of 'gini', 'entropy', 'log_loss', 'misclassification', got 'x'"),
        ({"class_weight": "x"}, "class_weight"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1, got 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number of at least 2, got 1"),
        ({"min_samples_split": 1}, r"'min_samples_split' parameter must be an int in the range \[2, inf\)"),
        ({"min_samples_leaf": 0}, r"'min_samples_leaf' parameter must be an int in the range \[1, inf\)"),
        ({"min_weight_fraction_leaf": 0.6}, r"min_weight_fraction_leaf must be a number in \[0, 0.5\], got 0.6"),
        ({"min_impurity_decrease": -1}, r"min_impurity_decrease must be a number in \[0, inf\], got -1"),
    ],
    ids=repr,
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(n_estimators=3, **parameters).fit(X, Y)


def test_more_columns_than_there_are_are_all():
    all_columns, more = (
        RandomForestClassifier(n_estimators=3, max_features=count, random_state=0).fit(X, Y) for count in (21, 22)
    )
    assert_same_trees(all_columns._panel.members.forest, more._panel.members.forest)


@pytest.mark.parametrize(("max_samples", "size"), [(None, 200), (201, 201), (1.5, 300), (0.25, 50), (1000, 1000)])
def test_samples_may_be_larger_than_the_data(max_samples, size):
    """The root of a tree weighs as many rows as were drawn, and has as many as are different."""
    forest = RandomForestClassifier(n_estimators=4, max_samples=max_samples, random_state=0).fit(X, Y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert len(rows) == tree.tree_.weighted_n_node_samples[0] == size
        assert tree.tree_.n_node_samples[0] == len(np.unique(rows))
