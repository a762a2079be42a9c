"""Data sets: generators, bundled classics, others by name, and a user's own tables."""

from conjunto.datasets.catalogue import ENTRIES, Entry
from conjunto.datasets.densities import DENSITIES, Density, make_density
from conjunto.datasets.files import (
    TableError,
    as_text,
    file_hash,
    is_number,
    is_table_name,
    read_frame,
    readable,
    table_name,
)
from conjunto.datasets.generators import GENERATORS, Generator
from conjunto.datasets.geometric import make_chi_squared, make_circle, make_line, make_parabola
from conjunto.datasets.loading import DatasetNotFoundError, canonical_name, describe, identity, load, names
from conjunto.datasets.norms import make_ringnorm, make_threenorm, make_twonorm
from conjunto.datasets.record import Dataset
from conjunto.datasets.sparse_files import as_wide, is_sparse_name, read_sparse
from conjunto.datasets.table import TASKS, read_table
from conjunto.datasets.tic_tac_toe import make_tic_tac_toe
from conjunto.datasets.waveform import make_waveform

__all__ = [
    "DENSITIES",
    "ENTRIES",
    "GENERATORS",
    "TASKS",
    "Dataset",
    "DatasetNotFoundError",
    "Density",
    "Entry",
    "Generator",
    "TableError",
    "as_text",
    "as_wide",
    "canonical_name",
    "describe",
    "file_hash",
    "identity",
    "is_number",
    "is_sparse_name",
    "is_table_name",
    "load",
    "make_chi_squared",
    "make_circle",
    "make_density",
    "make_line",
    "make_parabola",
    "make_ringnorm",
    "make_threenorm",
    "make_tic_tac_toe",
    "make_twonorm",
    "make_waveform",
    "names",
    "read_frame",
    "read_sparse",
    "read_table",
    "readable",
    "table_name",
]
