"""The table of criteria says what their functions do."""

from inspect import signature

import numpy as np
import pytest

from conjunto import BaggingClassifier, Votes, order, prune
from conjunto.cli.prune import _parse_method
from conjunto.datasets import make_waveform
from conjunto.ordering import CRITERIA, ORDERINGS, Criterion

KEEP = 3


def members_of(name, votes, y):
    """The members that a criterion returns."""
    criterion = CRITERIA[name]
    offered = {"size": KEEP, "random_state": 0}
    known = signature(criterion.function).parameters
    found = criterion.function(votes, y, **{each: value for each, value in offered.items() if each in known})
    return getattr(found, "chosen", found).tolist()


def scored_cases(count=12):
    """Scores of 7 members on 30 examples of 3 classes; some are sure of themselves, and so outvote others."""
    for seed in range(count):
        random = np.random.default_rng(seed)
        y = random.integers(0, 3, 30)
        said = np.where(random.random((7, 30)) < 0.6, y, random.integers(0, 3, (7, 30)))
        yield np.eye(3)[said] * random.choice([0.4, 1.0, 3.0], (7, 30, 1)), said, y


@pytest.mark.parametrize("name", CRITERIA)
def test_orders_have_all_members_and_subsets_the_size_asked_for(name):
    criterion = CRITERIA[name]
    assert criterion.sized == ("size" in signature(criterion.function).parameters)
    for scores, _, y in scored_cases(3):
        members = members_of(name, Votes(scores=scores), y)
        assert len(set(members)) == len(members) > 0
        assert set(members) <= set(range(7))
        if criterion.returns == "order":
            assert len(members) == 7
        elif criterion.sized:
            assert len(members) <= KEEP


# meta_tree imitates the decision of the votes that it is given, labels or scores; `prune` gives it labels.
@pytest.mark.parametrize("name", sorted(set(CRITERIA) - {"meta_tree"}))
def test_what_members_answer_together_is_asked_by_those_who_need_it(name):
    # Labels are what is left of the scores where members are asked one by one.
    same = [
        members_of(name, Votes(scores=scores), y) == members_of(name, Votes(labels=said), y)
        for scores, said, y in scored_cases()
    ]
    assert all(same) == ("answers" not in CRITERIA[name].needs)


@pytest.mark.parametrize("name", CRITERIA)
def test_values_of_a_regression_are_taken_or_refused(name):
    random = np.random.default_rng(0)
    values, y = random.normal(size=(7, 30)), random.normal(size=30)
    if CRITERIA[name].values:
        assert len(members_of(name, values, y)) == (KEEP if CRITERIA[name].sized else 7)
    else:
        with pytest.raises(ValueError, match=f"{name} needs votes on classes") as refusal:
            members_of(name, values, y)
        assert all(other in str(refusal.value) for other in CRITERIA if CRITERIA[other].values)


def test_orderings_are_the_criteria_that_order_all_members():
    assert all(ORDERINGS[name] is CRITERIA[name].function for name in ORDERINGS)
    assert {"reduce_error", "random_order"} <= set(ORDERINGS)
    assert not {"exhaustive", "optimal", "clustering", "genetic", "meta_tree"} & set(ORDERINGS)


def test_a_line_in_the_table_is_enough(monkeypatch):
    def backwards(votes, y):
        return np.arange(len(votes))[::-1]

    def some_of_them(votes, y, size):
        return np.arange(size)

    monkeypatch.setitem(CRITERIA, "backwards", Criterion(backwards, {"correctness"}, "order"))
    monkeypatch.setitem(CRITERIA, "some_of_them", Criterion(some_of_them, {"answers"}, "subset", sized=True))
    X, y = make_waveform(100, random_state=0)
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert order(bag, X, y, method="backwards").tolist() == [4, 3, 2, 1, 0]
    assert prune(bag, X, y, method="some-of-them", keep=2).order_.tolist() == [0, 1]
    assert _parse_method("some-of-them") == "some_of_them"
    with pytest.raises(ValueError, match="some_of_them chooses a subset"):
        order(bag, X, y, method="some_of_them")
    with pytest.raises(ValueError, match=r"known are .*backwards, some_of_them"):
        order(bag, X, y, method="xyz")
