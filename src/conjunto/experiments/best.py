"""What follows a run: the best model, fitted on all rows and saved, judged on a hold-out file, and explained.

What was found out is kept in the store with the keys of what it was made of, so that asking again costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conjunto.datasets import Dataset, file_hash
from conjunto.experiments.cells import Bench, build, cell_seed, threads_of_a_model
from conjunto.experiments.making import with_threads
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.measures.scored import Scored, rarest
from conjunto.experiments.results import Results
from conjunto.experiments.sources import OpenedSource, Sources, draws_afresh
from conjunto.experiments.spec import Experiment, Method
from conjunto.experiments.store import Store
from conjunto.model_file import Model, ModelFileError, can_be_saved, column_kinds, load_model, save_model


@dataclass(frozen=True)
class Saved:
    """The best model that could be saved."""

    method: str
    file: str
    passed_over: dict[str, str] = field(default_factory=dict)
    """Methods that are better and have no safe format, with the reason."""


def save_best(experiment: Experiment, opened: OpenedSource, results: Results, folder: str | Path) -> Saved | None:
    """Fit the method at the head of the leaderboard on all rows and save it in a folder.

    A method whose library has no safe format is passed over for the next one; combinations of what was compared are no
    models by themselves. Where the file of an earlier call holds the very model, nothing is fitted.

    Returns None where no method has results, or where the problem is a distribution, of which there is no "all rows".
    """
    name, data = opened.source.name, opened.data
    board = results.boards[name]
    if draws_afresh(opened.source) or board["mean"].isna().all():
        return None
    file = model_file_name(name, results.datasets)
    path = Path(folder) / file
    reasons: dict[str, str] = {}
    for method in _candidates(experiment, results, name):
        label = method.label
        key = _key(results, name, label)
        if _is_saved(results, name, key, path):
            return Saved(label, file, reasons)
        estimator = build(method, data.task, cell_seed(experiment.seed, name, "all", method.seed_as or label))
        if reason := can_be_saved(estimator):
            reasons[label] = reason
            continue
        with_threads(estimator, threads_of_a_model()).fit(data.X, data.y.to_numpy())
        line = board[board["method"] == label].iloc[0]
        about = {"method": label, "data": name, "measure": results.measures(name)[0]}
        about["estimate"] = f"{line['mean']:.6g}"
        try:
            save_model(path, Model(estimator, column_kinds(data.X), str(data.y.name), data.task, about=about))
        except ModelFileError as error:
            reasons[label] = str(error)
            continue
        _remark(results, name, "model", key, {"file": file, "method": label, "content": file_hash(path)})
        return Saved(label, file, reasons)
    first = next(iter(reasons.values()), "none of the methods can be built again from what the store says of them")
    raise ModelFileError(first)


def judge_holdout(opened: OpenedSource, results: Results, saved: Saved, folder: str | Path, test: Dataset) -> None:
    """Judge the saved model on rows that had no part in anything, and keep that in the store.

    A file that is looked at with one model after another is no hold-out any more: how often it was is kept, too.
    """
    from conjunto.experiments.measures.judging import judge

    name, data = opened.source.name, opened.data
    key = f"{_key(results, name, saved.method)} {test.checksum} {','.join(results.measures(name))}"
    with Store(_path(results)) as store:
        if store.remarked(name, "holdout", key) is not None:
            return
        earlier = store.remarked(name, "holdout") or {"looks": 0, "method": ""}
    y = data.y.to_numpy()
    classes, counts = np.unique(y, return_counts=True) if data.task == "classification" else (None, None)
    positive = None if counts is None else rarest(counts)
    estimator = load_model(Path(folder) / saved.file).estimator
    truth = test.y.to_numpy()
    scored = Scored.of(estimator, test.X, truth, classes, positive)
    measures = [measure for measure in results.measures(name) if MEASURES[measure].of_answers]
    if classes is None or counts is None:
        answer, shares = np.full(len(truth), y.mean()), None
    else:
        answer = np.full(len(truth), classes[counts.argmax()])
        shares = np.tile(counts / counts.sum(), (len(truth), 1))
    constant = Scored(None, None, truth, answer, classes, shares, positive)
    facts = {
        "file": test.source,
        "rows": len(truth),
        "method": saved.method,
        "measures": {measure: list(found) for measure, found in judge(scored, measures).items()},
        "constant": {measure: MEASURES[measure].of(constant) for measure in measures},
        "looks": earlier["looks"] + (earlier["method"] != saved.method),
    }
    _remark(results, name, "holdout", key, facts)


def explain_best(experiment: Experiment, opened: OpenedSource, results: Results) -> None:
    """Find out which columns the best method uses, on test rows of the first partition, and keep that in the store."""
    from conjunto.experiments.explain import explain

    name, task = opened.source.name, opened.data.task
    method = next(_candidates(experiment, results, name), None)
    if method is None or draws_afresh(opened.source):
        return
    key = _key(results, name, method.label) + results.measures(name)[0]
    with Store(_path(results)) as store:
        if store.remarked(name, "explained", key) is not None:
            return
    part = Bench(experiment, Sources(experiment, [opened])).partition(name, 0)
    seed = cell_seed(experiment.seed, name, 0, method.seed_as or method.label)
    model = with_threads(build(method, task, seed), threads_of_a_model()).fit(part.X_train, part.y_train)
    facts = explain(
        model,
        part.X_test,
        part.y_test,
        task,
        results.measures(name)[0],
        seed=seed,
        classes=part.classes,
        positive=part.tested.positive,
    )
    _remark(results, name, "explained", key, {**facts, "method": method.label})


def model_file_name(dataset: str, datasets: Sequence[str]) -> str:
    """The file of the best model of a data set among those of an experiment."""
    return "model.skops" if len(datasets) == 1 else f"model-{dataset}.skops"


def _candidates(experiment: Experiment, results: Results, dataset: str) -> Iterator[Method]:
    """The methods of the leaderboard, from the best, that can be built: combinations and the constant left out."""
    board = results.boards[dataset]
    finished = board[(board["n"] > 0) & ~board["combined"]]["method"]
    here = {method.label: method for method in experiment.methods}
    found = [here.get(label) or results.method(label) for label in finished]
    built = [method for method in found if method is not None]
    models = [method for method in built if method.name != "constant"]
    yield from models or built


def _key(results: Results, dataset: str, method: str) -> str:
    """What decides a model of all rows: the keys of its data set and of its method."""
    with Store(_path(results)) as store:
        return " ".join(store.key(part, name) for part, name in (("dataset", dataset), ("method", method)))


def _is_saved(results: Results, dataset: str, key: str, path: Path) -> bool:
    with Store(_path(results)) as store:
        saved = store.remarked(dataset, "model", key)
    return saved is not None and path.is_file() and file_hash(path) == saved["content"]


def _remark(results: Results, dataset: str, topic: str, key: str, facts: dict[str, Any]) -> None:
    with Store(_path(results)) as store:
        store.remark(dataset, topic, key, facts)


def _path(results: Results) -> Path:
    assert results.path is not None
    return results.path
