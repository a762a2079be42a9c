"""Experiments: data sets x methods x protocol into an SQLite store, and out of it tables and tests."""

from conjunto.experiments.best import save_best
from conjunto.experiments.combine import COMBINATIONS, combine
from conjunto.experiments.making import make
from conjunto.experiments.measures import MEASURES
from conjunto.experiments.methods import METHODS, panel
from conjunto.experiments.results import Results
from conjunto.experiments.run import run
from conjunto.experiments.sources import DataChangedError, OpenedSource, open_source
from conjunto.experiments.spec import Cell, Experiment, Method, Source, SpecError
from conjunto.experiments.spec_file import read_experiment
from conjunto.experiments.splits.protocols import Protocol
from conjunto.experiments.store import OtherExperimentError, Store, StoreError

__all__ = [
    "COMBINATIONS",
    "MEASURES",
    "METHODS",
    "Cell",
    "DataChangedError",
    "Experiment",
    "Method",
    "OpenedSource",
    "OtherExperimentError",
    "Protocol",
    "Results",
    "Source",
    "SpecError",
    "Store",
    "StoreError",
    "combine",
    "make",
    "open_source",
    "panel",
    "read_experiment",
    "run",
    "save_best",
]
