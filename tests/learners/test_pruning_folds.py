"""Cross-validated pruning against its definition (Breiman et al. 1984, chapter 3), from trees fitted fold by fold.

For every interval of alpha of the whole tree, represented by the geometric mean of its ends (the first by 0, the last
by infinity), trees that do not see a fold are pruned at it and judged on the fold.
"""

import math

import numpy as np
import pytest

from conjunto import BaggingClassifier, CARTClassifier, CARTRegressor, _core
from conjunto.datasets import make_waveform
from conjunto.problem import Columns, Problem


def cross_validate(model, X, y, weights, folds):
    """Errors, standard errors and the place of the chosen tree."""
    w = np.ones(len(y)) if weights is None else weights
    seen = w > 0
    alphas = model.cost_complexity_pruning_path(X, y, weights).ccp_alphas
    places = [*np.sqrt(alphas[:-1] * alphas[1:]), math.inf]
    regression = isinstance(model, CARTRegressor)
    losses = np.zeros((len(places), len(y)))
    for fold in np.unique(folds[seen]):
        mine, others = seen & (folds == fold), seen & (folds != fold)
        for k, alpha in enumerate(places):
            auxiliary = type(model)(**{**model.get_params(), "prune": float(alpha), "n_folds": 10})
            auxiliary.fit(X[others], y[others], None if weights is None else weights[others])
            said = auxiliary.predict(X[mine])
            losses[k, mine] = (said - y[mine]) ** 2 if regression else said != y[mine]
    errors = losses @ w / w.sum()
    # The spread of the losses over N rows, whatever they weigh.
    spreads = np.sqrt(((losses - errors[:, None]) ** 2 @ w) / w.sum() / seen.sum())
    best = errors.argmin()
    enough = errors[best] * (1 + 1e-12) + (spreads[best] if model.rule == "1se" else 0)
    return errors, spreads, max(k for k in range(len(errors)) if errors[k] <= enough)


def problem(classes, kind, n=90, seed=0):
    random = np.random.default_rng([seed, classes])
    X = random.normal(size=(n, 3))
    noisy = X[:, 0] + np.abs(X[:, 1]) + 0.7 * random.normal(size=n)
    y = noisy if classes == 0 else np.searchsorted(np.quantile(noisy, np.arange(1, classes) / classes), noisy)
    weights = {"none": None, "whole": random.integers(0, 4, n) / 1.0, "real": random.uniform(0.2, 2, n)}[kind]
    return X, y, weights, random.integers(0, 5, n)


def check(model, X, y, weights, folds):
    path = model.set_params(n_folds=folds).fit(X, y, weights).cost_complexity_path_
    errors, spreads, place = cross_validate(model, X, y, weights, folds)
    np.testing.assert_allclose(path["cv_errors"], errors, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(path["cv_standard_errors"], spreads, rtol=1e-7, atol=1e-9)
    assert path["chosen"] == place
    assert model.get_n_leaves() == path["leaves"][place]
    return path


@pytest.mark.parametrize("rule", ["0se", "1se"])
@pytest.mark.parametrize("risk", ["error", "impurity"])
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("classes", [0, 2, 4])
def test_the_choice_is_that_of_the_book(classes, kind, risk, rule):
    make = CARTClassifier if classes else CARTRegressor
    for seed in range(2):
        X, y, weights, folds = problem(classes, kind, seed=seed)
        model = make(prune="cv", rule=rule, pruning_risk=risk, min_samples_leaf=2, random_state=0)
        path = check(model, X, y, weights, folds)
        if kind == "none" and classes:
            p = path["cv_errors"]
            np.testing.assert_allclose(path["cv_standard_errors"], np.sqrt(p * (1 - p) / len(y)), rtol=1e-9)


def test_one_standard_error_prunes_harder():
    sizes = []
    for seed in range(8):
        X, y, _, folds = problem(4, "none", seed=seed)
        best, small = (
            CARTClassifier(prune="cv", rule=rule, n_folds=folds, random_state=0).fit(X, y).get_n_leaves()
            for rule in ("0se", "1se")
        )
        assert small <= best
        sizes.append((best, small))
    assert any(small < best for best, small in sizes)


@pytest.mark.parametrize("classes", [0, 3])
def test_the_names_of_folds_do_not_matter(classes):
    X, y, _, folds = problem(classes, "none")
    make = CARTClassifier if classes else CARTRegressor
    paths = [
        make(prune="cv", n_folds=names, random_state=0).fit(X, y).cost_complexity_path_
        for names in (folds, folds.tolist(), np.array(["a", "b", "c", "d", "e"])[folds], -7.5 * folds)
    ]
    for path in paths[1:]:
        np.testing.assert_allclose(path["cv_errors"], paths[0]["cv_errors"], rtol=1e-12)


def test_one_row_per_fold():
    """As many folds as rows, drawn or given, leave one row out at a time: nothing is left to chance."""
    X, y, _, _ = problem(2, "none", n=25)
    given = CARTClassifier(prune="cv", random_state=0)
    path = check(given, X, y, None, np.arange(25))
    for folds in (25, 26, 1000, 2**40):
        drawn = CARTClassifier(prune="cv", n_folds=folds, random_state=0).fit(X, y)
        np.testing.assert_allclose(drawn.cost_complexity_path_["cv_errors"], path["cv_errors"], rtol=1e-12)


def test_given_folds_hold_whole_rows():
    """A row of weight 3 has the errors of three rows in its fold; as an example it counts once."""
    X, y, weights, folds = problem(3, "whole")
    repeat = np.repeat(np.arange(len(y)), weights.astype(int))
    path = check(CARTClassifier(prune="cv", random_state=0), X, y, weights, folds)
    other = CARTClassifier(prune="cv", n_folds=folds[repeat], random_state=0).fit(X[repeat], y[repeat])
    for name in ("ccp_alphas", "cv_errors", "chosen"):
        np.testing.assert_allclose(other.cost_complexity_path_[name], path[name], rtol=1e-12)
    ratio = math.sqrt(weights.sum() / (weights > 0).sum())
    spreads = other.cost_complexity_path_["cv_standard_errors"] * ratio
    np.testing.assert_allclose(spreads, path["cv_standard_errors"], rtol=1e-12)


@pytest.mark.parametrize("unit", [1, 2, 10.5, 255, 1000, 2.0**-10])
def test_the_unit_of_sample_weights_does_not_matter(unit):
    """A row of weight 2 is no pair of twins, one of which would give the other away."""
    X, y = make_waveform(200, random_state=0)
    for rule in ("0se", "1se"):
        plain = CARTClassifier(prune="cv", rule=rule, random_state=0).fit(X, y)
        weighed = CARTClassifier(prune="cv", rule=rule, random_state=0).fit(X, y, np.full(200, unit))
        named = CARTClassifier(prune="cv", rule=rule, class_weight=dict.fromkeys(range(3), unit), random_state=0)
        for other in (weighed, named.fit(X, y)):
            for name in ("cv_errors", "cv_standard_errors"):
                found, known = (tree.cost_complexity_path_[name] for tree in (other, plain))
                np.testing.assert_allclose(found, known, rtol=1e-9)
            assert other.get_n_leaves() == plain.get_n_leaves()


def test_copies_of_a_sample_apart_and_together():
    """With labels by chance a twin in training is all that helps: held out together, rows are as hard as new ones."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 4)), random.integers(0, 2, 300)
    twice = np.full((1, 300), 2, dtype=np.uint8)
    errors = {}
    for copies in ("apart", "together"):
        chance = Problem(X, y.astype(np.int32), Columns((None,) * 4), np.array([0, 1]))
        options = CARTClassifier(prune="cv", copies=copies)._grow_options(chance)
        options.prune.copies = True
        session = _core.GrowSession(chance.table(), options, 1, 2, lasts=False)
        views = _core.Views(np.zeros(1, dtype=np.uint64), labels=chance.y[None], small_weights=twice)
        session.grow(views, _core.Answer.leaves)
        errors[copies] = session.path(0)["cv_errors"][0]
    # Nine of ten twins of a held-out copy lie in other folds, and the largest tree knows them by heart.
    assert errors["apart"] < 0.2
    assert errors["together"] > 0.38


def test_copies_apart_make_larger_trees_in_bagging():
    """Measured with scikit-learn's trees on waveform, N = 300: 26.7 leaves with copies apart, 13.4 together."""
    X, y = make_waveform(300, random_state=0)
    leaves = {}
    for copies in ("apart", "together"):
        model = BaggingClassifier(CARTClassifier(prune="cv", copies=copies), n_estimators=60, random_state=0).fit(X, y)
        leaves[copies] = np.mean([tree.get_n_leaves() for tree in model.estimators_])
    assert 23 < leaves["apart"] < 31
    assert 10 < leaves["together"] < 17.5


def test_drawn_folds_share_out_classes():
    """With as many folds as a class has rows every fold holds one of them, so no auxiliary tree lacks the class."""
    X = np.arange(40.0)[:, None]
    y = np.repeat([0, 1], [30, 10])
    for seed in range(10):
        model = CARTClassifier(prune="cv", random_state=seed).fit(X, y)
        # Any nine of ten rows of class 1 leave the cut next to its place: at most the rows beside it are wrong.
        assert model.cost_complexity_path_["cv_errors"][0] <= 2 / 40
        assert model.get_n_leaves() == 2


def test_a_fold_that_holds_all_the_weight_leaves_the_choice_open():
    """Without any auxiliary tree nothing speaks against the tree as it was grown."""
    X, y, _, _ = problem(2, "none", n=40)
    folds = np.arange(40) % 2
    trees = []
    for keeper in (0, 1):
        weights = (folds == keeper).astype(float)
        model = CARTClassifier(prune="cv", n_folds=folds, random_state=0).fit(X, y, weights)
        whole = CARTClassifier(prune=0.0, random_state=0).fit(X, y, weights)
        trees.append((model.get_n_leaves(), whole.get_n_leaves()))
        assert not np.isnan(model.cost_complexity_path_.get("cv_standard_errors", np.zeros(1))).any()
    assert trees[0][0] == trees[0][1]
    assert trees[1][0] == trees[1][1]


def test_the_choice_does_not_depend_on_the_unit_of_the_targets():
    X, y, _, folds = problem(0, "none")
    base = CARTRegressor(prune="cv", n_folds=folds, random_state=0).fit(X, y).cost_complexity_path_
    for exponent in (-300, 40, 300):
        path = CARTRegressor(prune="cv", n_folds=folds, random_state=0).fit(X, y * 2.0**exponent).cost_complexity_path_
        np.testing.assert_allclose(path["cv_errors"], base["cv_errors"] * 4.0**exponent, rtol=1e-8)
        assert path["chosen"] == base["chosen"]
