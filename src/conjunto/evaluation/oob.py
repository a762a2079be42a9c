"""Out-of-bag votes: each example judged only by members that did not see it."""

from __future__ import annotations

from typing import Any

from conjunto.voters import as_voters, votes_out_of_bag
from conjunto.votes import Votes


def oob_votes(fitted: Any, X: Any) -> Votes:
    """Return the votes of a fitted ensemble on its training rows X, members abstaining on rows that they saw.

    Works for every ensemble that tells which rows its members saw: ours draw them again from the stored key, so nothing
    needs to be kept from `fit`; scikit-learn's forests and bagging from their seeds.

    Examples
    --------
    >>> from conjunto import BaggingClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> from conjunto.evaluation import oob_votes
    >>> X, y = make_twonorm(100, random_state=0)
    >>> votes = oob_votes(BaggingClassifier(n_estimators=50, random_state=0).fit(X, y), X)
    >>> bool(0.3 < (votes.labels >= 0).mean() < 0.45)
    True
    """
    try:
        voters = as_voters(fitted)
    except TypeError as error:
        name = type(fitted).__name__
        raise TypeError(f"out-of-bag votes need an ensemble that samples rows, got {name}: {error}") from error
    return votes_out_of_bag(voters, X)
