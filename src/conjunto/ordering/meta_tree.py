"""Selection by a pruned tree on the members' answers (Prodromidis and Stolfo 2001).

A CART tree is trained to say what the whole ensemble decides, with the members' answers as attributes. It is pruned by
cost complexity, R(T) + alpha * leaves(T), and the members that it still asks are kept. What the truth is plays no part:
the tree imitates the ensemble.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto import _core
from conjunto.checks import check_optional_count
from conjunto.combination import combine
from conjunto.learners.cart import CARTClassifier
from conjunto.learners.conditions import Combination
from conjunto.learners.outline import outline
from conjunto.learners.views import core_views
from conjunto.ordering._magnitudes import moderate_votes
from conjunto.ordering._reading import ClassBallot, first_best, read_classes
from conjunto.problem import MAX_CATEGORIES, Columns, Problem
from conjunto.streams import SAMPLE, Key, Stream, root_key
from conjunto.view import View
from conjunto.votes import Votes, as_votes

# Subsets of three and more answers are searched slowly: tens of microseconds per member and node, and more with many
# examples. A tree of bounded size on a sample of the examples keeps a thousand members to a second with 3
# classes, and to tens of seconds with 10 or 26.
MOST_CELLS = 2_000_000
LEAST_LIMIT = 100
N_FOLDS = 5


def meta_tree(
    votes: Votes | ArrayLike,
    y: ArrayLike | None = None,
    *,
    size: int | None = None,
    sample_weight: ArrayLike | None = None,
    pruning_risk: str = "error",
    max_leaf_nodes: int | None = None,
    random_state: Any = 0,
) -> NDArray[np.intp]:
    """Select the members that a pruned tree asks to say what the ensemble decides.

    Parameters
    ----------
    votes : Votes or array-like of shape (T, n)
        The members' answers: class codes, -1 where a member abstains, which is a missing value to the tree.
    y : ignored
        So that the function can be called like other methods of selection.
    size : int, default=None
        The tree is pruned until it asks at most this many members. None: as cross-validation says, by the rule of one
        standard error.
    sample_weight : array-like of shape (n,), default=None
        Weights of the examples.
    pruning_risk : {"error", "impurity"}, default="error"
        R: what the leaves get wrong, as in CART, or their impurity.
    max_leaf_nodes : int, default=None
        Leaves that the tree is grown to before it is pruned, best splits first; None: 100, or twice `size` if that is
        more.
    random_state : int, RandomState or None, default=0
        Draws folds and samples, and decides between members whose splits are equally good. Of members that always
        answer alike only the first is a candidate.

    Returns
    -------
    ndarray of shape (at most size,)
        The members that the tree asks, from the most to the least important in it. If it asks none, because the
        ensemble always decides alike or no tree is small enough, the member that agrees most often with the ensemble.

    Notes
    -----
    With three or more classes, members times examples are at most 2,000,000: of more examples a random sample is used.

    References
    ----------
    Prodromidis, Stolfo (2001). Cost complexity-based pruning of ensemble classifiers. Knowledge and Information
    Systems 3, 449-469.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunto.ordering.meta_tree import meta_tree
    >>> votes = np.array([[0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]])
    >>> meta_tree(votes, size=1)
    array([1])
    """
    size = check_optional_count("size", size)
    votes = as_votes(votes)
    ballot = _read(votes, sample_weight)
    decided = combine(moderate_votes(votes)).winners()
    if (decided < 0).all():
        raise ValueError("nobody votes on any example of votes: there is no decision to learn")
    candidates = _candidates(ballot)
    key = root_key(random_state)
    problem = _problem(ballot, candidates, decided, Stream(key, 0).generator(SAMPLE))
    settings = {
        "pruning_risk": pruning_risk,
        "max_leaf_nodes": max(LEAST_LIMIT, 2 * (size or 0)) if max_leaf_nodes is None else max_leaf_nodes,
        "rule": "1se",
        "n_folds": N_FOLDS,
        "prune_to_root": False,
    }
    asked = _asked(_grow(problem, "cv", settings, key)) if size is None else _walk_up(problem, size, settings, key)
    return candidates[asked] if len(asked) else np.array([_most_like(ballot, decided)])


def _read(votes: Votes, sample_weight: ArrayLike | None) -> ClassBallot:
    """The members' own answers, also where groups of them decide before the vote. Any y will do."""
    y = np.zeros(votes.n_examples, dtype=np.intp)
    y = y if votes.classes is None else votes.classes[y]
    ballot = read_classes(replace(votes, groups=None), y, sample_weight, "meta_tree")
    if ballot.n_classes > MAX_CATEGORIES:
        raise ValueError(f"meta_tree takes votes on up to {MAX_CATEGORIES} classes, got {ballot.n_classes}")
    return ballot


def _candidates(ballot: ClassBallot) -> NDArray[np.intp]:
    """Members whose votes count, the first of those that answer alike."""
    counts = np.arange(len(ballot)) if ballot.weights is None else np.flatnonzero(ballot.weights)
    first: dict[bytes, int] = {}
    for member in counts.tolist():
        first.setdefault(ballot.labels[member].tobytes(), member)
    return np.array(list(first.values()), dtype=np.intp)


def _problem(
    ballot: ClassBallot, candidates: NDArray[np.intp], decided: NDArray[np.intp], random: np.random.Generator
) -> Problem:
    """What the tree learns from: examples on which somebody votes, a column per candidate."""
    rows = np.flatnonzero(decided >= 0 if ballot.sample_weight is None else (decided >= 0) & (ballot.sample_weight > 0))
    if len(rows) == 0:
        raise ValueError("sample_weight is 0 wherever somebody votes: give one of these examples a positive weight")
    most = max(1, MOST_CELLS // len(candidates))
    if ballot.n_classes > 2 and len(rows) > most:
        rows = np.sort(random.choice(rows, size=most, replace=False))
    answers = ballot.labels[np.ix_(candidates, rows)].T.astype(np.float64)
    answers[answers < 0] = np.nan
    # Two answers are two numbers, which is faster; more are categories.
    kinds = None if ballot.n_classes <= 2 else {code: code for code in range(ballot.n_classes)}
    classes, codes = np.unique(decided[rows], return_inverse=True)
    weights = None if ballot.sample_weight is None else ballot.sample_weight[rows]
    columns = Columns((kinds,) * len(candidates))
    return Problem(np.ascontiguousarray(answers), codes.astype(np.int32), columns, classes, weights)


def _grow(problem: Problem, prune: float | str, settings: dict[str, Any], key: Key) -> CARTClassifier:
    """A pruned tree. The estimator's own fit takes categories from DataFrames only, and sorts the columns each time."""
    tree = CARTClassifier(prune=prune, **settings)
    session = _core.GrowSession(problem.table(), tree._grow_options(problem), *key, lasts=False)
    session.grow(core_views(tree, problem, [View()], [0]), _core.Answer.leaves)
    tree.forest_, tree.cost_complexity_path_ = session.forest(), session.path(0)
    tree.classes_, tree._columns = np.asarray(problem.classes), problem.columns
    return tree


def _asked(tree: CARTClassifier) -> NDArray[np.intp]:
    """The columns that the tree asks, the most important first, of equals the lowest. A split may gain nothing."""
    tests = [node.branches[0] for node in outline(tree).nodes if node.branches]
    columns = np.array(sorted({test.column for test in tests if not isinstance(test, Combination)}), dtype=np.intp)
    return columns[np.argsort(-tree.feature_importances_[columns].round(10), kind="stable")]


def _walk_up(problem: Problem, size: int, settings: dict[str, Any], key: Key) -> NDArray[np.intp]:
    """The columns asked by the largest of the nested trees that asks at most `size`.

    Nested trees ask ever fewer columns, and one with `size` + 1 leaves cannot ask more than `size`. Most tests of a
    tree ask about different columns, so the search for the place starts there, in steps that grow, and ends by
    bisection.
    """
    whole = _grow(problem, 0.0, settings, key)
    asked = _asked(whole)
    if len(asked) <= size:
        return asked
    alphas, leaves = whole.cost_complexity_path_["ccp_alphas"], whole.cost_complexity_path_["leaves"]
    too_large, enough, step = 0, int((leaves <= size + 1).argmax()), 1
    asked = _asked(_grow(problem, float(alphas[enough]), settings, key))
    while enough - too_large > 1:
        place = max(enough - step, (too_large + enough) // 2)
        larger = _asked(_grow(problem, float(alphas[place]), settings, key))
        if len(larger) > size:
            too_large = place
        else:
            asked, enough, step = larger, place, 2 * step
    return asked


def _most_like(ballot: ClassBallot, decided: NDArray[np.intp]) -> int:
    """The member that agrees most often with the ensemble."""
    voted = decided >= 0
    weights = voted if ballot.sample_weight is None else voted * ballot.sample_weight
    agreement = (ballot.labels == decided) @ weights.astype(np.float64)
    return first_best(-agreement)
