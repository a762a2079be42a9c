"""The protocol of voters: who meets it, what is seen, and what a pipeline must not forget."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import conjunto
from conjunto import CARTClassifier, ECOCClassifier, prune
from conjunto.datasets import make_waveform
from conjunto.ensembles._ensemble import Ensemble
from conjunto.evaluation import oob_votes
from conjunto.voters import Seen, Unknown, Voters, as_voters

X, Y = make_waveform(90, random_state=0)


@pytest.mark.parametrize("name", [n for n in conjunto._HOMES if issubclass(getattr(conjunto, n), Ensemble)])
def test_our_ensembles_are_voters_themselves(name):
    assert issubclass(getattr(conjunto, name), Voters)


def test_a_tree_is_no_voters():
    assert not isinstance(CARTClassifier(), Voters)


@pytest.mark.parametrize("method", ["margin_distance", "orientation", "complementarity", "kappa", "clustering"])
def test_a_pipeline_does_not_forget_that_members_vote_for_sets(method):
    """ECOC inside a pipeline is refused by the criteria that refuse it outside."""
    model = ECOCClassifier(n_estimators=12, random_state=0)
    inside = make_pipeline(StandardScaler(), model).fit(X, Y)
    for fitted in (model.fit(X, Y), inside):
        with pytest.raises(ValueError, match=r"vote for sets of classes, and none is right or wrong by itself"):
            prune(fitted, X, Y, method=method, keep=3)
    assert len(prune(inside, X, Y, method="reduce_error", keep=3)[-1]) == 3


def test_seen_by_numbers_and_by_rows():
    by_rows = Seen("it", known=np.array([[True, False, True], [False, True, True]]))
    by_numbers = Seen("it", samples=[np.array([0, 2, 2]), np.array([1, 2])])
    np.testing.assert_array_equal(by_rows.matrix(3), by_numbers.matrix(3))
    with pytest.raises(ValueError, match="it was fitted on 3 rows: out-of-bag rows need them"):
        by_rows.matrix(4)
    with pytest.raises(ValueError, match="it was fitted on more than 2 rows"):
        by_numbers.matrix(2)


def test_out_of_bag_votes_of_another_library():
    """Brute force: the shares of the trees whose sample lacks the row."""
    forest = RandomForestClassifier(40, max_depth=3, oob_score=True, random_state=0).fit(X, Y)
    votes = oob_votes(forest, X)
    shares = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
    for t, rows in enumerate(forest.estimators_samples_):
        shares[t, rows] = np.nan
    np.testing.assert_array_equal(votes.scores, shares)
    np.testing.assert_allclose(forest.oob_decision_function_, np.nanmean(shares, axis=0))


def test_what_is_not_known_has_a_reason():
    seen = as_voters(conjunto.AdaBoostClassifier(n_estimators=3).fit(X, Y)).seen()
    assert isinstance(seen, Unknown)
    assert seen.reason == "AdaBoostClassifier shows all rows to every member: nothing is out of bag"
