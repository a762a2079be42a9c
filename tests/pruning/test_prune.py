import itertools
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    ECOCClassifier,
    IGPCommitteesClassifier,
    PrunedClassifier,
    RandomForestClassifier,
    order,
    prune,
)
from conjunto.datasets import make_waveform
from conjunto.evaluation import error_curve, oob_votes
from conjunto.ordering import ORDERINGS, exhaustive, margin_distance, orientation_size, reduce_error
from conjunto.pruning.measuring import file_bytes


@pytest.fixture(scope="module")
def data():
    return make_waveform(200, random_state=0)


@pytest.fixture(scope="module")
def bag(data):
    return BaggingClassifier(CARTClassifier(prune="cv"), n_estimators=41, random_state=0).fit(*data)


def error(model, X, y):
    return np.mean(model.predict(X) != y)


@pytest.mark.parametrize("method", ORDERINGS)
@pytest.mark.parametrize("selection", ["train", "oob"])
def test_the_order_is_that_of_the_votes(bag, data, method, selection):
    X, y = data
    votes = bag.votes(X) if selection == "train" else oob_votes(bag, X)
    more = {"random_state": 3} if method == "random_order" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of orientation, where it is unstable
        found = order(bag, X, y, method=method, selection=selection, random_state=3)
        assert found.tolist() == ORDERINGS[method](votes, y, **more).tolist()


@pytest.mark.parametrize("size", [1, 7, 41])
def test_the_part_kept_is_the_head_of_the_order(bag, data, size):
    X, y = data
    pruned = prune(bag, X, y, keep=size)
    X_new, y_new = make_waveform(500, random_state=1)
    assert type(pruned) is BaggingClassifier
    assert pruned.order_.tolist() == margin_distance(bag.votes(X), y).tolist()
    np.testing.assert_array_equal(pruned.votes(X_new).labels, bag.votes(X_new).labels[pruned.order_[:size]])
    curve = error_curve(bag.votes(X_new), y_new, pruned.order_)
    assert error(pruned, X_new, y_new) == curve[size - 1]
    staged = [np.mean(said != y_new) for said in pruned.staged_predict(X_new)]
    np.testing.assert_allclose(staged, curve[:size])


def test_curves_are_those_of_the_votes(bag, data):
    X, y = data
    new = make_waveform(300, random_state=2)
    pruned = prune(bag, X, y, evaluate=new)
    assert pruned.curve_["members"].tolist() == list(range(1, 42))
    np.testing.assert_allclose(pruned.curve_["train"], error_curve(bag.votes(X), y, pruned.order_))
    np.testing.assert_allclose(pruned.curve_["oob"], error_curve(oob_votes(bag, X), y, pruned.order_))
    np.testing.assert_allclose(pruned.curve_["test"], error_curve(bag.votes(new[0]), new[1], pruned.order_))


def test_a_soft_ensemble_is_judged_by_its_probabilities(data):
    X, y = data
    forest = sklearn.ensemble.RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    new = make_waveform(400, random_state=2)
    pruned = prune(forest, X, y, keep=11, evaluate=new)
    assert pruned.curve_["test"][-1] == error(forest, *new)
    assert pruned.curve_["test"][10] == error(pruned, *new)
    assert pruned.curve_["oob"][-1] == pytest.approx(1 - forest.oob_score_)
    assert not hasattr(pruned, "oob_score_")


def test_the_report_is_what_one_can_measure(bag, data):
    X, y = data
    new = make_waveform(300, random_state=2)
    pruned = prune(bag, X, y, keep=0.2, evaluate=new)
    report = pruned.pruning_report_
    assert report["members"] == {"before": 41, "after": 8}
    assert report["bytes"]["before"] == pytest.approx(file_bytes(bag), rel=0.01)
    assert report["bytes"]["after"] < report["bytes"]["before"]
    test = report["error"]["test"]
    wrong, wrong_after = bag.predict(new[0]) != new[1], pruned.predict(new[0]) != new[1]
    assert (test["before"], test["after"]) == pytest.approx((wrong.mean(), wrong_after.mean()))
    # Bonett and Price (2012): one row more of each kind, then the normal interval.
    worse, better = (((wrong_after > wrong).sum() + 1) / 302, ((wrong_after < wrong).sum() + 1) / 302)
    half = 1.96 * np.sqrt((worse + better - (worse - better) ** 2) / 302)
    assert test["difference"] == pytest.approx(wrong_after.mean() - wrong.mean())
    assert test["difference_low"] == pytest.approx(worse - better - half)
    assert test["difference_high"] == pytest.approx(worse - better + half)
    assert not test["optimistic"]
    assert report["error"]["train"]["optimistic"]
    assert not report["error"]["oob"]["optimistic"]
    for when in ("before", "after"):
        spent = report["milliseconds_per_1000_rows"][when]
        assert 0 < spent["low"] <= spent["median"] <= spent["high"]


def test_wilson_interval_of_an_error_of_zero():
    # Wilson's upper end for 0 of n is z^2 / (n + z^2).
    X = np.arange(60.0)[:, None]
    y = (X[:, 0] > 30).astype(int)
    forest = RandomForestClassifier(20, bootstrap=False, random_state=0).fit(X, y)
    train = prune(forest, X, y).pruning_report_["error"]["train"]
    assert train["after"] == 0
    assert train["after_high"] == pytest.approx(1.96**2 / (60 + 1.96**2))
    assert train["after_low"] == 0
    # Nothing differs: as likely better as worse.
    assert train["difference"] == 0
    assert train["difference_low"] == -train["difference_high"] < 0


@pytest.mark.parametrize(("keep", "size"), [(0.2, 8), (0.01, 1), (1.0, 41), (5, 5), (0.5, 20)])
def test_keep_as_a_share_or_a_number(bag, data, keep, size):
    # round(0.2 * 41) = 8; Python rounds 20.5 to the even 20.
    assert len(prune(bag, *data, keep=keep, report=False)) == size


def test_keep_where_an_error_is_least(bag, data):
    X, y = data
    for keep, name in (("min-oob", "oob"), ("min-selection", "train")):
        pruned = prune(bag, X, y, keep=keep)
        curve = pruned.curve_[name]
        votes = oob_votes(bag, X).labels[pruned.order_] if name == "oob" else np.zeros((41, 200))
        judged = np.array([(votes[:size] >= 0).any(axis=0).mean() for size in range(1, 42)])
        curve = np.where(judged >= 0.9 * judged[-1], curve, np.inf)
        assert len(pruned) == int(np.flatnonzero(curve <= curve.min() + 1e-12)[0]) + 1
        assert pruned.pruning_report_["error"][name]["optimistic"]
        assert len(prune(bag, X, y, keep=keep, report=False)) == len(pruned)


def test_the_original_stays_as_it_is(bag, data):
    before = pickle.dumps(bag)
    prune(bag, *data)
    assert pickle.dumps(bag) == before


def test_what_is_pruned_can_be_pruned_again(bag, data):
    X, y = data
    once = prune(bag, X, y, keep=20)
    twice = prune(once, X, y, keep=5, selection="oob")
    numbers = once.order_[:20][twice.order_[:5]]
    np.testing.assert_array_equal(twice.votes(X).labels, bag.votes(X).labels[numbers])
    assert not hasattr(prune(once, X, y, report=False), "curve_")
    assert oob_votes(twice, X).labels.tolist() == oob_votes(bag, X).labels[numbers].tolist()


def test_pickle_and_clone(bag, data):
    X, y = data
    pruned = prune(bag, X, y)
    again = pickle.loads(pickle.dumps(pruned))
    np.testing.assert_array_equal(again.predict(X), pruned.predict(X))
    assert again.pruning_report_ == pruned.pruning_report_
    fresh = clone(pruned)
    assert not hasattr(fresh, "order_")
    assert fresh.fit(X, y).predict(X).shape == y.shape


def test_a_subset_by_name(data):
    X, y = data
    bag = BaggingClassifier(n_estimators=11, random_state=0).fit(X, y)
    best = exhaustive(bag.votes(X), y, size=5)
    pruned = prune(bag, X, y, method="exhaustive", keep=5)
    assert sorted(pruned.order_) == best.chosen.tolist()
    assert pruned.curve_["train"][4] == best.errors[0]
    assert len(prune(bag, X, y, method="clustering", keep=4, report=False)) == 4
    assert 1 <= len(prune(bag, X, y, method="meta_tree", keep=4, report=False)) <= 4
    optimum = prune(bag, X, y, method="optimal", keep=5, report=False)
    assert error(optimum, X, y) == best.errors[0]
    assert error(prune(bag, X, y, method="genetic", random_state=0, report=False), X, y) <= error(bag, X, y)


def test_a_function_of_ones_own(bag, data):
    X, y = data

    def backwards(votes, y):
        assert votes.labels.shape == (41, 200)
        assert len(y) == 200
        return np.arange(len(votes))[::-1]

    assert prune(bag, X, y, method=backwards, report=False).order_[0] == 40
    assert prune(bag, X, y, method=lambda votes, y: [3, 1]).pruning_report_["members"]["after"] == 2
    wide = prune(bag, X, y, method=partial(margin_distance, p=0.25), report=False)
    assert wide.order_.tolist() == margin_distance(bag.votes(X), y, p=0.25).tolist()


def test_a_share_of_the_rows_selects_and_the_others_judge(bag):
    X, y = make_waveform(400, random_state=5)
    pruned = prune(bag, X, y, selection=0.25, random_state=0)
    errors = pruned.pruning_report_["error"]
    assert set(errors) == {"selection", "test"}
    assert (errors["selection"]["examples"], errors["test"]["examples"]) == (100, 300)
    again = prune(bag, X, y, selection=0.25, random_state=0, report=False)
    assert again.order_.tolist() == pruned.order_.tolist()


def test_other_rows_select(bag, data):
    X, y = make_waveform(150, random_state=6)
    weight = np.linspace(1, 2, 150)
    pruned = prune(bag, *data, selection=(X, y, weight), method="reduce_error")
    assert pruned.order_.tolist() == reduce_error(bag.votes(X), y, sample_weight=weight).tolist()
    assert set(pruned.curve_) == {"members", "train", "oob", "selection"}
    assert pruned.curve_["selection"][-1] == pytest.approx(np.average(bag.predict(X) != y, weights=weight))


def test_auto_is_the_rule_of_orientation(bag, data):
    X, y = data
    size = orientation_size(bag.votes(X), y)
    assert len(prune(bag, X, y, method="orientation", keep="auto", report=False)) == size


def test_weighted_votes_stay_weighted(data):
    X, y = data
    boosted = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    pruned = prune(boosted, X, y, method="reduce_error", keep=7)
    np.testing.assert_array_equal(pruned.estimator_weights_, boosted.estimator_weights_[pruned.order_[:7]])
    np.testing.assert_allclose(pruned.curve_["train"], error_curve(boosted.votes(X), y, pruned.order_))


def test_committees_are_kept_whole(data):
    X, y = data
    model = IGPCommitteesClassifier(n_committees=7, committee_size=3, random_state=0).fit(X, y)
    pruned = prune(model, X, y, keep=3)
    assert pruned.n_committees == 3
    assert pruned.curve_["train"][2] == error(pruned, X, y)
    assert pruned.curve_["train"][-1] == error(model, X, y)


def test_regression():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 3))
    y = X[:, 0] + random.normal(size=150)
    model = BaggingRegressor(n_estimators=30, random_state=0).fit(X, y)
    for selection in ("train", "oob"):
        pruned = prune(model, X, y, keep=10, selection=selection)
        assert pruned.curve_["train"][9] == pytest.approx(np.mean((pruned.predict(X) - y) ** 2))
        assert pruned.curve_["train"][-1] == pytest.approx(np.mean((model.predict(X) - y) ** 2))
        assert pruned.curve_[selection][9] <= pruned.curve_[selection][-1]
    with pytest.raises(ValueError, match="orientation needs votes on classes"):
        prune(model, X, y, method="orientation")


def test_text_missing_values_and_categories():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"number": random.normal(size=200), "colour": random.choice(["red", "green", "blue"], 200)})
    X.loc[::7, "number"] = np.nan
    y = np.where((X["number"] > 0) ^ (X["colour"] == "red"), "yes", "no")
    model = RandomForestClassifier(40, random_state=0).fit(X, y, sample_weight=random.uniform(1, 2, 200))
    pruned = prune(model, X, y, selection="oob")
    assert set(pruned.predict(X)) == {"no", "yes"}
    assert len(pruned) == 8


def test_a_list_of_models(data):
    X, y = data
    models = [LogisticRegression(max_iter=2000).fit(X, y), GaussianNB().fit(X, y)]
    models += [DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y) for depth in range(1, 8)]
    pruned = prune(models, X, y, keep=3)
    assert len(pruned) == 3
    assert error(pruned, X, y) == pruned.curve_["train"][2]


def test_unfitted():
    with pytest.raises(NotFittedError, match="BaggingClassifier"):
        prune(BaggingClassifier(), [[0.0]], [0])
    with pytest.raises(NotFittedError, match="RandomForestClassifier"):
        prune(sklearn.ensemble.RandomForestClassifier(), [[0.0]], [0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((200, 3))}, r"X has 3 columns, and the ensemble was fitted on 21"),
        ({"y": np.full(200, 9)}, r"y has the label 9, which the ensemble does not know; it knows 0, 1, 2"),
        ({"y": np.zeros(7, dtype=int)}, r"X has 200 rows and y has 7"),
        ({"keep": 0}, "keep must be a share"),
        ({"keep": 1.5}, "keep must be a share"),
        ({"keep": 42}, "number of members from 1 to 41"),
        ({"keep": -0.1}, "keep must be a share"),
        ({"keep": True}, "keep must be a share"),
        ({"keep": "all"}, "keep must be a share"),
        ({"keep": None}, "keep must be a share"),
        ({"method": "margin"}, "unknown method 'margin'; did you mean 'margin_distance'"),
        ({"method": 7}, "method must be a name or a function"),
        ({"method": lambda votes, y: [0, 0]}, "one of them twice"),
        ({"method": lambda votes, y: [99]}, "outside 0 .. 40"),
        ({"method": lambda votes, y: None}, "must return the numbers of members"),
        ({"method": "optimal", "keep": "auto"}, "optimal chooses a subset of a given size"),
        ({"selection": "test"}, "selection must be"),
        ({"selection": 1.0}, "selection must be a number in"),
        ({"selection": (1,)}, r"selection must be a tuple \(X, y\)"),
        ({"selection": [1, 2]}, "selection must be .* got a list"),
        ({"evaluate": 3}, r"evaluate must be a tuple \(X, y\) .* got a int"),
        ({"evaluate": (np.zeros((5, 2)), np.zeros(5))}, "evaluate: X has 2 columns"),
        ({"selection": (np.zeros((1, 21)), [7])}, "selection: y has the label 7"),
        ({"y": np.full(200, np.nan)}, "y has missing values"),
        ({"method": lambda votes, y: [0] * 41}, "one of them twice"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"selection": 0.3, "keep": "min-oob"}, "keep='min-oob' needs the training data"),
    ],
)
def test_bad_input(bag, data, change, message):
    X, y = change.pop("X", data[0]), change.pop("y", data[1])
    with pytest.raises(ValueError, match=message):
        prune(bag, X, y, **change)


def test_one_member_alone(data):
    with pytest.raises(ValueError, match="nothing to order or prune: the ensemble has 1 member"):
        prune(BaggingClassifier(n_estimators=1).fit(*data), *data)


def test_nothing_out_of_bag(data):
    forest = sklearn.ensemble.ExtraTreesClassifier(10).fit(*data)
    for wish in ({"selection": "oob"}, {"keep": "min-oob"}):
        with pytest.raises(ValueError, match="bootstrap=False"):
            prune(forest, *data, **wish)
    boosted = AdaBoostClassifier(n_estimators=10).fit(*data)
    with pytest.raises(ValueError, match="shows all rows to every member"):
        prune(boosted, *data, selection="oob")
    bag = BaggingClassifier(n_estimators=10).fit(*data)
    with pytest.raises(ValueError, match="was fitted on 200 rows"):
        prune(bag, *make_waveform(50, random_state=0), selection="oob")


def test_what_the_ensemble_would_answer_decides(data):
    # A forest averages shares: the subset of least error is that of its own answers, not of its trees' labels.
    X, y = data
    forest = sklearn.ensemble.RandomForestClassifier(9, max_depth=3, random_state=0).fit(X, y)
    shares = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
    errors = {
        members: np.mean(shares[list(members)].sum(axis=0).argmax(axis=1) != y)
        for members in itertools.combinations(range(9), 3)
    }
    for method in ("exhaustive", "optimal"):
        pruned = prune(forest, X, y, method=method, keep=3)
        assert pruned.curve_["train"][2] == min(errors.values())
    first = prune(forest, X, y, method="reduce_error", keep=1)
    assert first.order_[0] == int(np.argmin([np.mean(share.argmax(axis=1) != y) for share in shares]))


def test_output_codes_are_judged_together(data):
    X, y = data
    codes = ECOCClassifier(CARTClassifier(max_depth=3), n_estimators=20, random_state=0).fit(X, y)
    pruned = prune(codes, X, y, method="reduce_error", keep=5)
    assert pruned.curve_["train"][4] == error(pruned, X, y)
    for method in ("margin_distance", "complementarity"):
        with pytest.raises(ValueError, match="vote for sets of classes"):
            prune(codes, X, y, method=method)


def test_a_genetic_choice_of_all_stays_whole(data):
    X, y = data
    models = [DecisionTreeClassifier(random_state=0).fit(X, y)] * 6
    assert len(prune(models, X, y, method="genetic", random_state=0)) == 6


def test_members_without_a_vote_come_last(data):
    X, y = data
    models = [("full", DecisionTreeClassifier()), ("one", DecisionTreeClassifier(max_depth=1)), ("nb", GaussianNB())]
    voting = sklearn.ensemble.VotingClassifier(models, weights=[0, 1, 1]).fit(X, y)
    for method in ORDERINGS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert order(voting, X, y, method=method)[-1] == 0


def test_hyphens_will_do(bag, data):
    assert order(bag, *data, method="reduce-error").tolist() == order(bag, *data, method="reduce_error").tolist()


def test_a_new_fit_forgets_the_pruning(bag, data):
    for model in (bag, AdaBoostClassifier(n_estimators=10, random_state=0).fit(*data)):
        pruned = prune(model, *data).fit(*data)
        assert not {"order_", "curve_", "pruning_report_"} & set(vars(pruned))


def test_the_rows_that_nobody_judges_cost_something():
    # Row 0 is an outlier: members that saw it, and so are silent on it, are not better for that.
    values = np.array([[np.nan, 1.0, 1.0], [np.nan, 1.0, 1.0], [0.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    assert reduce_error(values, [10.0, 0.0, 0.0])[0] == 3


def test_other_rows_than_those_of_the_training(data):
    X, y = data
    for model in (
        sklearn.ensemble.BaggingClassifier(n_estimators=20, random_state=0),
        sklearn.ensemble.RandomForestClassifier(20, max_samples=0.5, random_state=0),
    ):
        model.fit(X[::2], y[::2])
        with pytest.raises(ValueError, match="fitted on fewer than 200 rows"):
            prune(model, X, y, selection="oob")


@pytest.mark.parametrize("subset", ["exhaustive", "genetic", "clustering"])
def test_subsets_are_no_orders(data, subset):
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(*data)
    with pytest.raises(ValueError, match=f"{subset} chooses a subset"):
        order(bag, *data, method=subset)


def test_wrappers_say_what_to_give(data):
    X, y = data
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(X, y)
    with pytest.raises(TypeError, match="give its best_estimator_"):
        prune(search, X, y)
    with pytest.raises(TypeError, match="give its estimator_"):
        prune(PrunedClassifier(BaggingClassifier(n_estimators=5)).fit(X, y), X, y)


def test_order_needs_all_members(bag, data):
    with pytest.raises(ValueError, match="orders all members"):
        order(bag, *data, method=lambda votes, y: [0, 1])
