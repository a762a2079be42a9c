"""Experiments: data sets x methods x protocol into an SQLite store, and out of it tables and tests."""

from conjunto.experiments.measures import MEASURES
from conjunto.experiments.methods import METHODS, make, panel
from conjunto.experiments.protocols import Protocol
from conjunto.experiments.results import Results
from conjunto.experiments.run import run
from conjunto.experiments.spec import Cell, Experiment, Method, Source, SpecError
from conjunto.experiments.spec_file import read_experiment
from conjunto.experiments.store import OtherExperimentError, Store, StoreError

__all__ = [
    "MEASURES",
    "METHODS",
    "Cell",
    "Experiment",
    "Method",
    "OtherExperimentError",
    "Protocol",
    "Results",
    "Source",
    "SpecError",
    "Store",
    "StoreError",
    "make",
    "panel",
    "read_experiment",
    "run",
]
