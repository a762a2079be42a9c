"""Rows of which most values are 0: one form of them everywhere inside, the one that the core reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse


def as_csr(X: Any) -> csr_matrix:
    """A sparse matrix or array as CSR of doubles: columns of a row ascending, none twice, numbered in 32 bits.

    It shares the arrays of X where these are so already, and never changes them.
    """
    rows = csr_matrix(X, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.indices.dtype != np.int32:
        narrow = csr_matrix(rows.shape, dtype=np.float64)
        narrow.data, narrow.indices, narrow.indptr = rows.data, rows.indices.astype(np.int32), rows.indptr
        narrow.has_canonical_format = True
        return narrow
    return rows


def keeps_form(X: Any) -> bool:
    """Whether sparse X goes to members of other libraries as it is: its rows and columns can be taken."""
    return issparse(X) and X.format in ("csr", "csc")


def is_sparse_frame(X: Any) -> bool:
    """Whether X is a pandas DataFrame all of whose columns are sparse, and what they do not store is 0."""
    if not hasattr(X, "iloc") or X.shape[1] == 0:
        return False
    kinds = set(X.dtypes.tolist())
    return all(type(kind).__name__ == "SparseDtype" and kind.fill_value == 0 for kind in kinds)


def from_frame(X: Any) -> csr_matrix:
    """The rows of such a DataFrame."""
    return as_csr(X.sparse.to_coo().tocsr())


def any_missing(X: Any) -> bool:
    """Whether some value is NaN."""
    return bool(np.isnan(X.data if issparse(X) else X).any())


def share_missing(X: Any) -> float:
    """The share of all values of sparse rows that are NaN."""
    return float(np.isnan(X.data).sum() / (X.shape[0] * X.shape[1]))


def parts(X: Any) -> list[NDArray[Any]]:
    """The arrays that make X."""
    if issparse(X):
        return [X.data, X.indices, X.indptr]
    return [np.ascontiguousarray(X)]
