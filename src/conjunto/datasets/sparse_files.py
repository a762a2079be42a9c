"""Files of rows of which most values are 0: `.npz` as scipy writes them, and svmlight's text.

Columns have no names in them; they are known by their place, from 0 on. A column number of an svmlight file is taken
as it is written, so that a file that counts from 1 has a first column without entries, in training and in prediction
alike.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz

from conjunto.datasets.files import SPARSE, TableError, content_hash, need_pandas, read_content, table_name
from conjunto.datasets.record import Dataset
from conjunto.sparse import as_csr

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = "y"
"""The name of the answers: the array of a `.npz` file beside the matrix, or what stands first in svmlight's lines."""


def is_sparse_name(name: str) -> bool:
    """Whether a name ends like a file of mostly zeros."""
    return name.lower().endswith(SPARSE)


def read_sparse(path: Path, content: bytes | None = None) -> tuple[csr_matrix, NDArray[Any] | None]:
    """The rows of a file, and the answers where it has any."""
    content = read_content(path) if content is None else content
    X, y = _read_npz(path, content) if path.name.lower().endswith(".npz") else _read_svmlight(path, content)
    if not X.shape[0] or not X.shape[1]:
        raise TableError(f"{path.name} holds {X.shape[0]} rows of {X.shape[1]} columns: there must be some")
    if y is not None and y.shape != (X.shape[0],):
        raise TableError(f"{path.name} holds {X.shape[0]} rows and answers of shape {y.shape}: one for each row")
    if not np.isfinite(X.data[~np.isnan(X.data)]).all():
        raise TableError(f"{path.name} holds an infinite number: correct it")
    return X, y


def read_sparse_table(path: Path, target: str | None, task: str | None, decide: Any) -> Dataset:
    """The same as a `Dataset`, whose X is a CSR matrix; `decide` tells the task from the answers."""
    content = read_content(path)
    X, y = read_sparse(path, content)
    if y is None:
        raise TableError(f"{path.name} has no array {TARGET!r} of answers beside the matrix: write it with np.savez")
    if target not in (None, TARGET):
        raise TableError(f"target: the answers of {path.name} are {TARGET!r}; its columns have no names")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise TableError(f"the answers of {path.name} hold a number that is missing or infinite: remove these rows")
    answers = need_pandas().Series(y, name=TARGET)
    if answers.nunique() < 2:
        raise TableError(f"the answers of {path.name} are all alike: there is nothing to learn")
    task, why = decide(answers, task)
    return Dataset(
        table_name(path),
        X,
        answers,
        task,
        source=path.name,
        notes=(why, f"{X.nnz / X.shape[0]:.3g} values that are not 0 in a row of {X.shape[1]:,}"),
        checksum=content_hash(content),
    )


def as_wide(X: csr_matrix, width: int) -> csr_matrix:
    """The same rows with so many columns: a file ends with the last column that it has a value in."""
    if X.shape[1] >= width:
        return X if X.shape[1] == width else as_csr(X[:, :width])
    return csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width))


def _read_npz(path: Path, content: bytes) -> tuple[csr_matrix, NDArray[Any] | None]:
    try:
        X = as_csr(load_npz(io.BytesIO(content)))
        X.check_format()
        with np.load(io.BytesIO(content), allow_pickle=False) as held:
            return X, held[TARGET] if TARGET in held.files else None
    except (ValueError, KeyError, OSError, zipfile.BadZipFile, AttributeError, TypeError) as error:
        raise TableError(
            f"{path.name} is not a sparse matrix that scipy.sparse.save_npz wrote: {' '.join(str(error).split())[:200]}"
        ) from error


def _read_svmlight(path: Path, content: bytes) -> tuple[csr_matrix, NDArray[Any] | None]:
    from sklearn.datasets import load_svmlight_file

    try:
        text = gzip.decompress(content) if path.name.lower().endswith(".gz") else content
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
    except (ValueError, OSError, EOFError) as error:
        raise TableError(
            f"{path.name} is not a readable svmlight file: {' '.join(str(error).split())[:200]}"
        ) from error
    return as_csr(X), y.astype(np.int64) if np.array_equal(y, np.rint(y)) else y
