"""`order` and `prune`: any fitted ensemble in the order of a criterion, and cut to its best part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.combiners.voting import vote_of
from conjunto.ordering import orientation_size
from conjunto.problem import as_rows
from conjunto.pruning.budgeting import fit_budget
from conjunto.pruning.choosing import CriterionLike, check_criterion, choose, chooses_subset, truth_of
from conjunto.pruning.judging import Examples, judge
from conjunto.pruning.keep import Budget, check_keep, fixed_size, least
from conjunto.pruning.noting import Notes, measured_costs, part_of, part_to_count
from conjunto.pruning.selection import given, selection_examples
from conjunto.voters import Voters, as_voters, rows_seen
from conjunto.voters.checking import classes_of_voters
from conjunto.voters.stacking import stacked_call


def order(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    method: CriterionLike = "margin_distance",
    selection: Any = "train",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> NDArray[np.intp]:
    """Return the members of a fitted ensemble in the order of a criterion.

    Parameters
    ----------
    fitted, X, y, method, selection, sample_weight, n_jobs, random_state
        As in `prune`.

    Returns
    -------
    ndarray of shape (T,)
        Numbers of the members, the one to keep first first.

    Examples
    --------
    >>> from conjunto import BaggingClassifier, order
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> len(order(bag, X, y, method="orientation"))
    50
    """
    voters = _several(fitted)
    check_criterion(method)
    if chooses_subset(method):
        raise ValueError(f"order needs a method that orders all members: {method} chooses a subset, for prune")
    name, examples = selection_examples(voters, as_rows(X), y, selection, sample_weight, random_state)
    found = choose(voters, examples[name], method, None, n_jobs=n_jobs, random_state=random_state)
    if len(found) < len(voters):
        raise ValueError("order needs a method that orders all members; one that chooses a subset goes into prune")
    return found


def prune(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    method: CriterionLike = "margin_distance",
    keep: Any = 0.2,
    selection: Any = "train",
    sample_weight: Any = None,
    evaluate: Any = None,
    report: bool = True,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Return a smaller fitted ensemble of the same type: its members in a good order, cut.

    Parameters
    ----------
    fitted : fitted estimator, or list of fitted models
        An ensemble of conjunto; scikit-learn's random forest, extra trees, bagging, AdaBoost or voting, classifier or
        regressor; LightGBM's forest; a pipeline that ends in one; or a list of models of any kind, which come back as
        one that votes (`VotingClassifier`, `VotingRegressor`).
    X, y : array-like or DataFrame, array-like
        Rows and their answers. The training data, the same rows in the same order, unless `selection` is a share: then
        rows that the ensemble has not seen.
    method : str or callable, default="margin_distance"
        One of `conjunto.ordering.CRITERIA`: an order; a subset of the size that `keep` says ("exhaustive", "optimal",
        "clustering", "meta_tree") or of a size of its own ("genetic"); or a function of `Votes` and y that returns
        members in an order, or a subset of them. In regression margin distance is reduce-error.
    keep : float, int, str or Budget, default=0.2
        How many members are kept: a share of them, their number, "auto" (orientation's rule, for every order),
        "min-oob" or "min-selection" (where the order's error is least, out of bag or on the rows of the selection; the
        latter keeps too few on training data), or the most that fit a `Budget`. A method that returns a subset decides
        by itself.
    selection : "train", "oob", float or (X, y), default="train"
        The rows that members are selected on: the training data; each training row judged only by members that did not
        see it; a share of the rows given, the others then evaluate, unless `evaluate` is given; or other rows. Where
        some members make no errors on the training data and others do, these need rows of their own.
    sample_weight : array-like, default=None
        Weights of the rows.
    evaluate : (X, y), default=None
        Rows to report on, used for nothing else.
    report : bool, default=True
        Measure error curves, bytes and time. False is faster and sets `order_` alone.
    n_jobs : int, default=None
        Threads for ordering.
    random_state : int, RandomState or None, default=None
        For the split of a share, and methods that are random.

    Returns
    -------
    estimator
        Of the type of `fitted`, which is not changed. It has

        - `order_`: the members of `fitted` in their order, the first being those kept; of a subset just its members.
        - `curve_`: dict of arrays: "members" 1 .. T and the error of so many members on "train", "oob", "selection"
          (other rows) and "test", as far as known.
        - `pruning_report_`: dict: members, bytes of the file without these notes, milliseconds per 1000 rows, and on
          each of those rows the error before and after and their difference, each with the ends of a 95 % interval
          ("after_low", "after_high"), all on the rows that the pruned ensemble judges; "optimistic" where the rows were
          used to select or to cut.

        Its `n_estimators` is the number kept, so a clone is an unfitted ensemble of that size: to fit and prune again
        use `PrunedClassifier`. What is known about the whole alone, as `oob_score_`, is left out.

    References
    ----------
    Martínez-Muñoz, Suárez (2006). Pruning in ordered bagging ensembles. ICML, 609-616.
    Martínez-Muñoz, Hernández-Lobato, Suárez (2009). An analysis of ensemble pruning techniques based on ordered
    aggregation. IEEE Transactions on Pattern Analysis and Machine Intelligence 31, 245-259.

    Examples
    --------
    >>> from conjunto import BaggingClassifier, CARTClassifier, prune
    >>> from conjunto.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(prune="cv"), n_estimators=100, random_state=0).fit(X, y)
    >>> small = prune(bag, X, y)
    >>> len(small)
    20
    >>> X_test, y_test = make_waveform(5000, random_state=1)
    >>> bool(small.score(X_test, y_test) > bag.score(X_test, y_test))
    True
    """
    return prune_voters(
        _several(fitted),
        as_rows(X),
        y,
        method=method,
        keep=keep,
        selection=selection,
        sample_weight=sample_weight,
        evaluate=evaluate,
        report=report,
        n_jobs=n_jobs,
        random_state=random_state,
    )


def prune_voters(
    voters: Voters,
    X: Any,
    y: Any,
    *,
    method: CriterionLike,
    keep: Any,
    selection: Any,
    sample_weight: Any,
    report: bool,
    n_jobs: int | None,
    random_state: Any,
    evaluate: Any = None,
    rows: Any = None,
) -> Any:
    """`prune` of two voters or more; `rows` are those of X, where they were read already."""
    check_keep(keep, len(voters))
    name, examples = selection_examples(voters, X, y, selection, sample_weight, random_state, rows)
    if evaluate is not None:
        examples["test"] = given(voters, evaluate, "evaluate")
    deciding = {"min-oob": "oob", "min-selection": name}.get(keep) if isinstance(keep, str) else None
    if deciding is not None and deciding not in examples:
        rows_seen(voters, len(y))  # says why, where the reason is the ensemble's
        raise ValueError(f"keep={keep!r} needs the training data as X and y, and a selection that is no share of them")
    wanted = fixed_size(keep, len(voters))
    chosen = choose(voters, examples[name], method, wanted, n_jobs=n_jobs, random_state=random_state)
    whole = np.concatenate([chosen, np.setdiff1d(np.arange(len(voters)), chosen)])
    judged = examples if report else {deciding: examples[deciding]} if deciding is not None else {}
    losses = judge(whole, judged)
    subset = chooses_subset(method) or len(chosen) < len(voters)
    size = None
    if subset:
        size = len(chosen)
    elif deciding is not None:
        size = least(losses[deciding])
        examples[deciding] = replace(examples[deciding], used=True)
    named = method if isinstance(method, str) else getattr(method, "__name__", "a function")
    kept = "as the method chooses" if subset else keep if isinstance(keep, str) else repr(keep)
    settings = {"method": named, "keep": kept, "selection": name}
    notes = Notes(voters, settings, examples, losses) if report else None
    if size is None:
        size = _cut(voters, chosen, keep, examples[name], X, notes)
    pruned = part_of(voters, chosen, size)
    if notes is not None:
        notes.write(pruned, size, measured_costs(voters, pruned, X))
    pruned.order_ = chosen
    return pruned


def _several(fitted: Any) -> Voters:
    voters = as_voters(vote_of(fitted) if isinstance(fitted, (list, tuple)) else fitted)
    if len(voters) < 2:
        raise ValueError(f"there is nothing to order or prune: the ensemble has {len(voters)} member; fit more")
    return voters


def _cut(voters: Voters, order: NDArray[np.intp], keep: Any, examples: Examples, X: Any, notes: Notes | None) -> int:
    """How many of the ordered members are kept."""
    if isinstance(keep, str):
        return auto_size(voters, examples)
    if isinstance(keep, Budget):
        return fit_budget(keep, len(order), lambda size: part_to_count(voters, order, size, notes), X)
    size = fixed_size(keep, len(order))
    assert size is not None
    return size


def auto_size(voters: Voters, examples: Examples) -> int:
    """The size that orientation's rule gives; a fifth in regression and elsewhere where there are no angles."""
    for_sets = stacked_call(voters.contributions(examples.asked.rows, [0])).for_sets
    if classes_of_voters(voters) is None or for_sets:
        return max(1, round(0.2 * len(voters)))
    votes = examples.labels()
    return orientation_size(votes, truth_of(votes, examples), sample_weight=examples.weight)
