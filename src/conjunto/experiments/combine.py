"""`combine`: what the methods of a store would be worth together, from their answers alone.

For every partition a combination is learned from the answers about test rows of other partitions, and judged on rows
that had no part in it: its estimate is nested. What remains dependent is in `DEPENDENCE`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.checks import suggest
from conjunto.experiments.answers import Answers
from conjunto.experiments.cells import Outcome, cell_seed, confusion
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.recorded import Records
from conjunto.experiments.results import Results
from conjunto.experiments.spec import Cell
from conjunto.experiments.splits.protocols import Protocol
from conjunto.experiments.store import Partitions, Store, StoreError

DEPENDENCE = (
    "Combinations are learned from the answers about test rows of other partitions, and judged on rows that had no "
    "part in learning them. What remains: the models that gave those answers were trained on these rows among others, "
    "and the list of methods was made by somebody who may have seen results."
)
MOST_RECORDS = 20_000
"""A combination of a few dozen models needs no more rows than this to be learned."""
LEFT_OUT = ("constant",)
"""Methods that have nothing to say about a row."""

Models = list[tuple[str, Any]]


@dataclass(frozen=True)
class Combination:
    """A way to combine what was compared."""

    label: str
    fit: Callable[[Models, NDArray[Any], NDArray[Any], str, int], Any]
    """(models, records, truth, main measure, seed) into something that predicts."""
    tasks: tuple[str, ...] = ("classification", "regression")


def _is_value(models: Models) -> bool:
    return not hasattr(models[0][1], "predict_proba")


def _vote(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    from conjunto import VotingClassifier, VotingRegressor

    kind = VotingRegressor if _is_value(models) else VotingClassifier
    return kind(models, prefit=True).fit()


def _soft_vote(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    from conjunto import VotingClassifier

    return VotingClassifier(models, voting="soft", prefit=True).fit()


def _naive_bayes(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    from conjunto import NaiveBayesCombinationClassifier

    return NaiveBayesCombinationClassifier(models, prefit=True).fit(X, y)


def _stacking(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    from conjunto import StackingClassifier, StackingRegressor

    kind = StackingRegressor if _is_value(models) else StackingClassifier
    return kind(models, prefit=True).fit(X, y)


# What greedy selection makes best, by the measure that ranks; by default the likelihood or the squared error.
_SCORINGS = {
    "mae": "neg_mean_absolute_error",
    "average-precision": "average_precision",
    "auc": "roc_auc_ovr",
}


def _greedy(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    from conjunto import GreedySelectionClassifier, GreedySelectionRegressor

    if _is_value(models):
        scoring = _SCORINGS.get(measure, "neg_mean_squared_error")
        return GreedySelectionRegressor(models, scoring=scoring, prefit=True, random_state=seed).fit(X, y)
    two = models[0][1].proba.shape[1] == 2
    scoring = _SCORINGS.get(measure, "neg_log_loss") if two else "neg_log_loss"
    return GreedySelectionClassifier(models, scoring=scoring, prefit=True, random_state=seed).fit(X, y)


def _ordered(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    from conjunto import prune

    fitted = [model for _, model in models]
    return prune(fitted, X, y, method="reduce_error", keep="min-selection", selection=(X, y), report=False)


def _best(models: Models, X: Any, y: Any, measure: str, seed: int) -> Any:
    """The method that is best by the main measure; of equals the first."""
    from conjunto.experiments.measures.scored import Scored

    classes = None if _is_value(models) else models[0][1].classes_
    scores = np.array([MEASURES[measure].of(Scored.of(model, X, y, classes)) for _, model in models])
    lost = np.nan_to_num(-scores if MEASURES[measure].greater_is_better else scores, nan=np.inf)
    return models[int(lost.argmin())][1]


COMBINATIONS: dict[str, Combination] = {
    "best": Combination("best of all, chosen on other folds", _best),
    "vote": Combination("vote of all", _vote, ("classification",)),
    "mean": Combination("mean of all", _vote, ("regression",)),
    "soft-vote": Combination("mean probabilities of all", _soft_vote, ("classification",)),
    "naive-bayes": Combination("naive Bayes of all", _naive_bayes, ("classification",)),
    "stacking": Combination("stacking of all", _stacking),
    "greedy-selection": Combination("greedy selection of all", _greedy),
    "ordered": Combination("all, ordered and cut", _ordered),
}
"""The ways to combine, by name."""


def combine(
    store: str | Path,
    *,
    ways: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Results:
    """Combine what was compared, and put the combinations into the store as methods of their own.

    Parameters
    ----------
    store : path
        The SQLite file of an experiment whose cells have kept their answers.
    ways : iterable of str, default=None
        Names of `COMBINATIONS`; None is all that do the task.
    methods : iterable of str, default=None
        Labels of the methods to combine; None is every one that has answers about all partitions of a data set.
    say : callable, default=nothing
        Told what is left out, and why.

    Returns
    -------
    Results
        With the combinations as further methods; earlier ones of the same way are replaced.

    Raises
    ------
    StoreError
        If no data set has two methods and two partitions with answers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from conjunto.experiments import Experiment, Protocol, combine, run
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> _ = run(Experiment(("wine",), ("cart", "bagging"), Protocol("k-fold", repetitions=1, folds=3)), path)
    >>> board = combine(path, ways=["stacking"]).leaderboard()
    >>> board.loc[board["combined"], "method"].tolist()
    ['stacking of all']
    """
    results = Results.read(store)
    chosen = list(COMBINATIONS if ways is None else ways)
    for way in chosen:
        if way not in COMBINATIONS:
            raise ValueError(f"ways: there is no combination {way!r}; {suggest(way, COMBINATIONS)}")
    if results.protocol.apparent_share:
        raise StoreError("combine: bootstrap .632 corrects by models of all rows, whose answers are not kept")
    asked = None if methods is None else list(methods)
    for method in asked or ():
        if method not in results.methods or method in results.combined:
            raise ValueError(f"methods: {method!r} is no method of the store; {suggest(method, results.methods)}")
    described: dict[str, dict[str, Any]] = {}
    outcomes: list[Outcome] = []
    plan: Partitions = {}
    for dataset in results.datasets:
        found = records_of(results, dataset, asked, say)
        if found is None:
            continue
        records, task = found, results.task(dataset)
        for way in chosen:
            combination = COMBINATIONS[way]
            if task not in combination.tasks:
                continue
            combined = [method for method, _ in records.models]
            described[combination.label] = {"name": way, "label": combination.label, "combines": combined}
            outcomes += [_outcome(results, dataset, records, way, number) for number in sorted(records.tested)]
            plan[dataset, combination.label] = len(records.tested)
    if not described:
        raise StoreError(
            "combine: there is nothing to combine: two methods with answers about two partitions are needed (a run "
            "with answers switched off keeps none)"
        )
    with Store(store) as opened:
        opened.replace_combined(list(described.values()), outcomes, plan)
        return Results.read(opened)


def records_of(results: Results, dataset: str, asked: list[str] | None, say: Callable[[str], None]) -> Records | None:
    """The answers of all methods about the partitions that all have answered about; None where these are too few."""
    own = [method for method in results.methods_of(dataset) if method not in results.combined]
    names = {method["label"]: method["name"] for method in results.spec["methods"]}
    wanted = [method for method in own if names[method] not in LEFT_OUT] if asked is None else asked
    answers: dict[str, dict[int, Answers]] = {method: {} for method in wanted}
    tested = {}
    frame = results.frame
    there = frame[(frame["dataset"] == dataset) & (frame["size"] == 0) & (frame["status"] == "done")]
    done = set(zip(there["method"], there["repetition"], strict=True))
    for method, repetition, rows, said in results.answers(dataset, wanted):
        # A run may be going on, and a model may say what is no number.
        if (method, repetition) not in done or not said.is_finite():
            continue
        tested[repetition] = rows
        answers[method][repetition] = said
    answering = {method: said for method, said in answers.items() if said}
    for method in [method for method in answers if method not in answering]:
        say(f"{dataset}: {method} is left out, for it has no answers")
    common = set(tested).intersection(*answering.values())
    if len(answering) < 2 or len(common) < 2:
        say(f"{dataset}: two methods with answers about the same two partitions are needed")
        return None
    if len(common) < len(tested):
        say(f"{dataset}: {len(common)} of {len(tested)} partitions, about which all methods have answers")
    kept = {method: {number: said[number] for number in common} for method, said in answering.items()}
    return Records.of({number: tested[number] for number in common}, kept)


def _outcome(results: Results, dataset: str, records: Records, way: str, number: int) -> Outcome:
    """One combination on one partition, learned from the others."""
    combination = COMBINATIONS[way]
    measures = results.measures(dataset)
    seed = cell_seed(int(results.spec["seed"]), dataset, number, combination.label)
    test, tested = records.of_partition(number), records.tested[number]
    start = time.perf_counter()
    model = _learn(records, combination, number, results.protocol, measures[0], seed)
    fitted = time.perf_counter()
    answers = ask(model, test[:, None], tested.n_classes)
    done = time.perf_counter()
    scored = answers.scored(tested)
    frame = results.frame
    rows = frame[(frame["dataset"] == dataset) & (frame["repetition"] == number) & (frame["size"] == 0)]
    rows = rows[rows["method"].isin([method for method, _ in records.models])]
    return Outcome(
        Cell(dataset, number, combination.label),
        "done",
        {measure: MEASURES[measure].of(scored) for measure in measures if MEASURES[measure].of_answers},
        confusion=confusion(scored) if tested.n_classes else [],
        fit_seconds=float(rows["fit_seconds"].sum()) + fitted - start,
        predict_seconds=float(rows["predict_seconds"].sum()) + done - fitted,
        model_bytes=int(rows["model_bytes"].sum()),
        members=len(records.models),
        n_train=int(rows["n_train"].iloc[0]),
        n_test=len(test),
        seed=seed,
        seconds=done - start,
        threads=int(rows["threads"].iloc[0]),
        tested=tested,
        answers=answers,
    )


def _learn(records: Records, combination: Combination, number: int, protocol: Protocol, measure: str, seed: int) -> Any:
    """The combination for a partition; a plain mean where nothing is known before it, as of a first block of time."""
    learned = records.to_learn_for(number, protocol, MOST_RECORDS)
    y = records.y[learned]
    if len(learned) and (records.tested[number].n_classes == 0 or len(np.unique(y)) > 1):
        return combination.fit(records.models, learned[:, None], y, measure, seed)
    return (_vote if _is_value(records.models) else _soft_vote)(records.models, None, None, measure, seed)


def ask(model: Any, X: NDArray[Any], n_classes: int) -> Answers:
    """What a combination says about records."""
    if not n_classes:
        return Answers(np.asarray(model.predict(X), dtype=np.float64))
    proba = np.zeros((len(X), n_classes), dtype=np.float32)
    proba[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(X)
    return Answers(np.asarray(model.predict(X), dtype=np.intp), proba)
