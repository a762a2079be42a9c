import numpy as np
import pytest
from scipy.integrate import quad

from conjunto.ensembles.rules.r import R
from conjunto.problem import Columns, Problem

N = 12


def problem(y):
    return Problem(np.zeros((len(y), 1)), y, Columns((None,)))


def weight_at(y, target, answers, votes):
    """The weight of the question y, before it is normalised: halves of the votes up inside, down outside."""
    weight = abs(y - target)
    for answer, vote in zip(answers, votes, strict=True):
        inside = min(answer, target) <= y <= max(answer, target)
        weight *= np.exp(vote / 2 if inside else -vote / 2)
    return weight


def integral(target, answers, votes, low=0.0, high=1.0):
    corners = sorted({target, *answers})
    value, _ = quad(weight_at, low, high, args=(target, answers, votes), points=corners, limit=200)
    return value


def boosted(seed, rounds=6, scale=1.0, shift=0.0):
    """A rule that has heard some rounds of random answers; what it heard and said."""
    random = np.random.default_rng(seed)
    targets = np.concatenate([[0.0, 1.0], random.random(N - 2)])
    examples = random.random(N)
    examples /= examples.sum()
    rule = R(problem(shift + scale * targets))
    masses = [rule.start(examples).copy()]
    answers, votes, errors, normalisers = [], [], [], []
    for t in range(rounds):
        answers.append(random.random(N) if t else targets + 0.1 * (0.5 - targets))
        said = rule.read(masses[-1], (shift + scale * answers[-1])[None])
        errors.append(rule.error(masses[-1], said))
        votes.append(random.uniform(0.2, 1.5))
        masses.append(rule.reweigh(masses[-1], said, votes[-1]).copy())
        normalisers.append(rule.normaliser(1.0))
    return rule, targets, examples, np.array(answers), votes, masses, errors, normalisers


@pytest.mark.parametrize("seed", range(3))
def test_masses_are_the_integrals_of_the_weight_functions(seed):
    _, targets, examples, answers, votes, masses, _, _ = boosted(seed)
    for t, mass in enumerate(masses):
        exact = [
            w * integral(y, a, votes[:t]) for w, y, a in zip(examples, targets, answers[:t].T.tolist(), strict=True)
        ]
        np.testing.assert_allclose(mass, exact / np.sum(exact), rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_errors_are_the_mass_between_target_and_answer(seed):
    _, targets, examples, answers, votes, _, errors, _ = boosted(seed)
    for t, error in enumerate(errors):
        inside = total = 0.0
        for i in range(N):
            before = answers[:t, i].tolist()
            low, high = sorted((targets[i], answers[t, i]))
            inside += examples[i] * integral(targets[i], before, votes[:t], low, high)
            total += examples[i] * integral(targets[i], before, votes[:t])
        assert error == pytest.approx(inside / total, rel=1e-8)


def test_normalisers_multiply_to_what_the_weights_have_become():
    rule, targets, examples, answers, votes, _, _, normalisers = boosted(4)
    start = sum(w * integral(y, [], []) for w, y in zip(examples, targets, strict=True))
    end = sum(w * integral(y, a, votes) for w, y, a in zip(examples, targets, answers.T.tolist(), strict=True))
    assert np.prod(normalisers) == pytest.approx(end / start, rel=1e-8)
    assert rule.bound == pytest.approx(2 * start)


def test_scale_and_place_of_the_targets_do_not_matter():
    plain, moved = boosted(5), boosted(5, scale=250.0, shift=-40.0)
    np.testing.assert_allclose(moved[5], plain[5], rtol=1e-9)
    np.testing.assert_allclose(moved[6], plain[6], rtol=1e-9)
    assert moved[0].bound == pytest.approx(250.0**2 * plain[0].bound)


def test_answers_beyond_the_targets_count_as_the_last_target():
    rule = R(problem(np.array([2.0, 3.0, 6.0])))
    np.testing.assert_array_equal(rule.read(np.ones(3), np.array([[-1.0, 4.0, 9.0]])), [[2.0, 4.0, 6.0]])


def test_the_worst_answers_have_an_error_of_one_and_the_right_ones_of_zero():
    y = np.array([0.0, 1.0, 0.0, 1.0])
    rule = R(problem(y))
    weights = rule.start(np.full(4, 0.25))
    assert rule.error(weights, (1 - y)[None]) == pytest.approx(1.0)
    assert rule.error(weights, y[None]) == 0.0


def test_answers_at_a_breakpoint_and_at_the_target_keep_the_functions_whole():
    y = np.array([0.0, 0.5, 1.0])
    rule = R(problem(y))
    weights = rule.start(np.full(3, 1 / 3))
    answers = np.array([[0.5, 0.5, 1.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.5], [1.0, 0.5, 0.0]])
    votes = [0.7, 0.3, 1.1, 0.2]
    for answer, vote in zip(answers, votes, strict=True):
        rule.error(weights, answer[None])
        weights = rule.reweigh(weights, answer[None], vote)
    exact = np.array([integral(y[i], answers[:, i].tolist(), votes) for i in range(3)])
    np.testing.assert_allclose(weights, exact / exact.sum(), rtol=1e-8)
