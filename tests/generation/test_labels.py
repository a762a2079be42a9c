import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from conjunto.generation.labels import flipped_labels, flipping_matrix, smeared_targets, switched_labels
from conjunto.streams import Stream


@given(st.integers(2, 6), st.floats(0, 0.99), st.integers(1, 60), st.integers(0, 1000))
def test_switching_changes_exactly_a_share(classes, p, n, member):
    labels = np.random.default_rng(member).integers(0, classes, n).astype(np.int32)
    switched = switched_labels(Stream((9, 9), member), labels, classes, p)
    assert (switched != labels).sum() == round(p * n)
    assert ((switched >= 0) & (switched < classes)).all()


def test_switching_ignores_the_class_and_picks_others_uniformly():
    # Rows 0-9 of class 0, rows 10-99 of class 2: the share changed must not depend on the class.
    labels = np.array([0] * 10 + [2] * 90, dtype=np.int32)
    members, p, classes = 2000, 0.3, 4
    switched = np.stack([switched_labels(Stream((7, 7), t), labels, classes, p) for t in range(members)])
    by_row = (switched != labels).sum(axis=0)
    assert chisquare(by_row).pvalue > 1e-6
    for own, others in ((0, [1, 2, 3]), (2, [0, 1, 3])):
        told = np.bincount(switched[:, labels == own].ravel(), minlength=classes)
        assert chisquare(told[others]).pvalue > 1e-6


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.7, 0.3], [0.2, 0.3, 0.5], [0.25] * 4])
def test_flipping_matrix_keeps_shares_and_changes_p(shares):
    """Breiman's equations: rows are probabilities, P M = P, and the share changed is sum_i P_i (1 - M_ii) = p."""
    shares = np.array(shares)
    labels = np.repeat(np.arange(len(shares)), (shares * 1000).astype(int)).astype(np.int32)
    p = 0.15
    matrix = flipping_matrix(labels, len(shares), p)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    np.testing.assert_allclose(shares @ matrix, shares, atol=1e-12)
    assert shares @ (1 - np.diag(matrix)) == pytest.approx(p)
    weight = p / (1 - (shares**2).sum())
    for i in range(len(shares)):
        for j in range(len(shares)):
            if i != j:
                assert matrix[i, j] == pytest.approx(weight * shares[j])


@pytest.mark.parametrize(
    ("counts", "limit"),
    [([70, 30], 0.3), ([50, 50], 0.5), ([25, 25, 25, 25], 0.75), ([60, 30, 10], (1 - 0.46) / (1 - 0.1 + 0.6))],
)
def test_flipping_warns_at_the_limit(counts, limit):
    labels = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    flipping_matrix(labels, len(counts), limit - 0.01)
    with pytest.warns(UserWarning, match=r"beyond the limit.*lower p_hat or use ClassSwitchingClassifier"):
        matrix = flipping_matrix(labels, len(counts), limit + 0.01)
    assert ((matrix >= 0) & (matrix <= 1)).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore:flipping a share:UserWarning")
def test_flipping_far_beyond_the_limit_stays_a_distribution():
    labels = np.repeat([0, 1], [99, 1]).astype(np.int32)
    matrix = flipping_matrix(labels, 2, 0.49)
    assert ((matrix >= 0) & (matrix <= 1)).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1)


def test_flipping_one_class_changes_nothing():
    labels = np.zeros(5, dtype=np.int32)
    np.testing.assert_array_equal(flipping_matrix(labels, 1, 0.0), [[1.0]])


def test_flipped_labels_follow_the_matrix():
    labels = np.repeat([0, 1, 2], [200, 300, 500]).astype(np.int32)
    matrix = flipping_matrix(labels, 3, 0.25)
    members = 200
    flipped = np.stack([flipped_labels(Stream((5, 5), t), labels, matrix) for t in range(members)])
    for own in range(3):
        told = np.bincount(flipped[:, labels == own].ravel(), minlength=3)
        assert chisquare(told, told.sum() * matrix[own]).pvalue > 1e-6
    error = np.sqrt(0.25 * 0.75 / flipped.size)
    assert abs((flipped != labels).mean() - 0.25) < 5 * error


def test_smearing_is_gaussian_noise():
    targets = np.linspace(-3, 3, 500)
    members, sd = 200, 0.7
    noise = np.stack([smeared_targets(Stream((5, 5), t), targets, sd) for t in range(members)]) - targets
    assert abs(noise.mean()) < 5 * sd / np.sqrt(noise.size)
    assert abs(noise.std() / sd - 1) < 5 / np.sqrt(2 * noise.size)
    np.testing.assert_array_equal(smeared_targets(Stream((5, 5), 0), targets, 0.0), targets)
