"""The best method of an experiment, fitted on all rows of a data set and saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conjunto.experiments.cells import build, cell_seed
from conjunto.experiments.results import Results
from conjunto.experiments.sources import OpenedSource, draws_afresh
from conjunto.experiments.spec import Experiment
from conjunto.model_file import Model, column_kinds, save_model


def save_best(experiment: Experiment, opened: OpenedSource, results: Results, folder: str | Path) -> str | None:
    """Fit the method at the head of the leaderboard on all rows and save it in a folder.

    Returns the name of the file; None where no method has results, or where the problem is a distribution, of which
    there is no "all rows".
    """
    name, data = opened.source.name, opened.data
    board = results.boards[name]
    if draws_afresh(opened.source) or board["mean"].isna().all():
        return None
    best = str(board["method"].iloc[0])
    method = experiment.method(best)
    estimator = build(method, data.task, cell_seed(experiment.seed, name, "all", method.seed_as or best))
    estimator.fit(data.X, data.y.to_numpy())
    about = {"method": best, "data": name, "measure": results.measures(name)[0]}
    about["estimate"] = f"{board['mean'].iloc[0]:.6g}"
    file = model_file_name(name, results.datasets)
    save_model(Path(folder) / file, Model(estimator, column_kinds(data.X), str(data.y.name), data.task, about=about))
    return file


def model_file_name(dataset: str, datasets: Sequence[str]) -> str:
    """The file of the best model of a data set among those of an experiment."""
    return "model.skops" if len(datasets) == 1 else f"model-{dataset}.skops"
