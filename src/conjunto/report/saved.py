"""The models that were saved beside a store, for the page to mention."""

from __future__ import annotations

from pathlib import Path

from conjunto.experiments.best import model_file_name
from conjunto.experiments.results import Results


def saved_models(store: Path, results: Results) -> dict[str, str]:
    """The file of the best model of each data set that has one."""
    files = {name: model_file_name(name, results.datasets) for name in results.datasets}
    return {name: file for name, file in files.items() if (store.parent / file).is_file()}
