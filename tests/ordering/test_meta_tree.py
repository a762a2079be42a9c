import sys
from itertools import product

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from conjunto import Votes
from conjunto.combination import decide
from conjunto.ordering.meta_tree import meta_tree


def noisy_votes(members, examples, classes, seed, right=0.7):
    """Members that are right with the same chance, independently of each other."""
    random = np.random.default_rng(seed)
    truth = random.integers(classes, size=examples)
    return np.where(
        random.random((members, examples)) < right, truth, random.integers(classes, size=(members, examples))
    )


def nested_selections(votes):
    """The members asked by each of scikit-learn's nested trees, from the largest tree to the root."""
    decided = decide(votes)
    alphas = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(votes.T, decided).ccp_alphas
    sets = []
    for low, high in zip(alphas, np.append(alphas[1:], alphas[-1] + 1), strict=True):
        tree = DecisionTreeClassifier(random_state=0, ccp_alpha=(low + high) / 2).fit(votes.T, decided)
        order = np.argsort(-tree.feature_importances_, kind="stable")
        sets.append([t for t in order.tolist() if t in set(tree.tree_.feature[tree.tree_.feature >= 0].tolist())])
    return sets


def no_ties(votes):
    """Whether the trees do not depend on the order in which columns are tried."""
    decided, trees = decide(votes), []
    for seed in range(10):
        tree = DecisionTreeClassifier(random_state=seed).fit(votes.T, decided).tree_
        trees.append(sorted(tree.feature.tolist()))
    return all(tree == trees[0] for tree in trees)


def test_every_size_gives_the_members_of_scikit_learns_pruned_tree():
    compared = 0
    for seed in range(40):
        votes = noisy_votes(7, 2000, 2, seed)
        if not no_ties(votes):
            continue
        sets = nested_selections(votes)
        for size in range(1, 8):
            expected = next(chosen for chosen in sets if len(chosen) <= size)
            if expected:
                chosen = meta_tree(votes, size=size, pruning_risk="impurity", max_leaf_nodes=10_000)
                assert sorted(chosen.tolist()) == sorted(expected)
                compared += 1
    assert compared > 20


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("size", [3, None])
def test_exactly_the_members_that_decide(classes, size):
    random = np.random.default_rng(classes)
    votes = random.integers(classes, size=(12, 3000))
    weights = np.full(12, 1e-3)
    weights[[2, 5, 11]] = 1.0
    # Three equal votes that all differ leave the decision to the others: such examples are not asked about.
    clear = np.array([len(set(three)) < 3 for three in votes[[2, 5, 11]].T.tolist()])
    given = Votes(labels=votes[:, clear], weights=weights)
    assert sorted(meta_tree(given, size=size).tolist()) == [2, 5, 11]


def test_all_patterns_of_three_voters_need_all_three():
    votes = np.array(list(product([0, 1], repeat=3))).T.repeat(5, axis=1)
    assert sorted(meta_tree(votes, size=3).tolist()) == [0, 1, 2]


def test_the_most_important_member_is_first():
    # The last member decides, unless the three others are all against it.
    labels = np.array(list(product([0, 1], repeat=4))).T.repeat(5, axis=1)
    votes = Votes(labels=labels, weights=np.array([1.0, 1.0, 1.0, 2.5]))
    chosen = meta_tree(votes, size=4)
    assert chosen[0] == 3
    assert sorted(chosen.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("classes", [2, 4])
def test_sizes_are_respected_and_members_distinct(classes):
    votes = noisy_votes(60, 400, classes, classes)
    sizes = []
    for size in (1, 2, 5, 17, 60):
        chosen = meta_tree(votes, size=size)
        assert 1 <= len(chosen) <= size
        assert len(set(chosen.tolist())) == len(chosen)
        sizes.append(len(chosen))
    assert sizes == sorted(sizes)
    assert sizes[-1] > 5


def test_y_is_ignored():
    votes = noisy_votes(20, 300, 3, 1)
    truth = np.random.default_rng(0).integers(3, size=300)
    np.testing.assert_array_equal(meta_tree(votes, truth, size=5), meta_tree(votes, size=5))


def test_labels_of_any_kind_and_scores_say_the_same_as_codes():
    votes = noisy_votes(15, 300, 3, 2)
    expected = meta_tree(votes, size=6)
    named = Votes(labels=votes, classes=np.array(["a", "b", "c"]))
    scores = Votes(scores=np.eye(3)[votes])
    np.testing.assert_array_equal(meta_tree(named, size=6), expected)
    np.testing.assert_array_equal(meta_tree(scores, size=6), expected)


def test_a_weight_of_two_is_two_examples():
    votes = noisy_votes(15, 200, 2, 3)
    weights = np.random.default_rng(3).integers(0, 3, size=200)
    twice = np.repeat(votes, weights, axis=1)
    np.testing.assert_array_equal(meta_tree(votes, size=5, sample_weight=weights), meta_tree(twice, size=5))


@pytest.mark.parametrize("labels", [[[1, 1, 1], [1, 1, 0], [1, 1, 1]], [[0, -1, 0], [0, 0, 1], [0, 0, 0]]])
def test_one_decision_for_all_leaves_the_member_that_agrees_most(labels):
    votes = np.array(labels)
    decided = decide(votes)
    assert len(set(decided.tolist())) == 1
    agreement = (votes == decided).sum(axis=1)
    assert meta_tree(votes).tolist() == [int(agreement.argmax())]


def test_a_member_that_is_the_ensemble_is_enough():
    votes = noisy_votes(9, 300, 2, 4)
    votes = np.vstack([votes, decide(votes)])
    np.testing.assert_array_equal(decide(votes), votes[9])
    for size in (None, 1, 4):
        assert meta_tree(votes, size=size).tolist() == [9]


def test_of_members_that_answer_alike_the_first_is_taken():
    votes = noisy_votes(5, 300, 3, 5)
    votes = np.vstack([votes, votes])
    for seed in range(5):
        assert (meta_tree(votes, size=5, random_state=seed) < 5).all()


def test_members_without_a_vote_are_not_chosen():
    labels = np.vstack([noisy_votes(6, 300, 2, 6), np.zeros((1, 300), dtype=int)])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    labels[6] = decide(Votes(labels=labels[:5]))
    assert 6 not in meta_tree(Votes(labels=labels, weights=weights), size=5)


@pytest.mark.parametrize("classes", [2, 3])
def test_abstentions(classes):
    random = np.random.default_rng(7)
    votes = noisy_votes(25, 500, classes, 7)
    votes[random.random(votes.shape) < 0.4] = -1
    votes[:, :10] = -1
    chosen = meta_tree(votes, size=8)
    assert 1 <= len(chosen) <= 8
    # Examples on which nobody votes have no decision: they change nothing.
    np.testing.assert_array_equal(chosen, meta_tree(votes[:, 10:], size=8))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_sample_of_many_examples_is_enough_to_find_who_decides(classes, monkeypatch):
    monkeypatch.setattr(sys.modules["conjunto.ordering.meta_tree"], "MOST_CELLS", 12 * 500)
    votes = np.random.default_rng(11).integers(classes, size=(12, 4000))
    given = Votes(labels=votes, weights=np.where(np.arange(12) == 7, 1.0, 1e-3))
    assert meta_tree(given, size=4).tolist() == [7]
    other = noisy_votes(12, 4000, classes, 11)
    np.testing.assert_array_equal(meta_tree(other, size=4, random_state=1), meta_tree(other, size=4, random_state=1))


def test_members_that_abstain_everywhere_are_not_chosen():
    votes = noisy_votes(4, 300, 2, 8)
    votes[0] = -1
    assert 0 not in meta_tree(votes, size=4)


def test_groups_decide_and_members_are_chosen():
    labels = noisy_votes(12, 300, 2, 9)
    groups = np.repeat([0, 1, 2], 4)
    chosen = meta_tree(Votes(labels=labels, groups=groups), size=6)
    assert 1 <= len(chosen) <= 6
    assert chosen.max() < 12


def test_cross_validation_repeats_itself():
    votes = noisy_votes(40, 500, 3, 10)
    chosen = meta_tree(votes)
    assert 1 <= len(chosen) < 40
    np.testing.assert_array_equal(chosen, meta_tree(votes))
    np.testing.assert_array_equal(meta_tree(votes, random_state=5), meta_tree(votes, random_state=5))


@pytest.mark.parametrize(
    ("votes", "arguments", "message"),
    [
        (np.zeros((2, 3)), {}, "meta_tree needs votes on classes"),
        (np.full((2, 3), -1), {}, "nobody votes on any example"),
        (np.zeros((2, 3), dtype=int), {"size": 0}, "size must be a whole number of at least 1"),
        (np.zeros((2, 3), dtype=int), {"sample_weight": [1, 2]}, "sample_weight must have one entry per example"),
        (np.array([[0, -1], [1, -1]]), {"sample_weight": [0, 1]}, "sample_weight is 0 wherever somebody votes"),
        (np.zeros((0, 3), dtype=int), {}, "at least one member"),
        (np.array([[0, 1], [1, 1]]), {"pruning_risk": "none"}, "pruning_risk must be one of"),
        (np.array([[0, 300], [1, 1]]), {}, "up to 256 classes"),
    ],
)
def test_errors_name_the_argument(votes, arguments, message):
    with pytest.raises(ValueError, match=message):
        meta_tree(votes, **arguments)
