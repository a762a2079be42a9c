"""The door for rows to predict: the checks of scikit-learn, and a short way for rows that need none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunto import _core
from conjunto.problem import Rows, is_frame, read_rows
from conjunto.sparse import keeps_form


def rows_of(estimator: Any, X: Any) -> Rows:
    """X, checked and encoded once for a fitted estimator; rows that were read already stay as they are."""
    if isinstance(X, Rows):
        _check_read_by_same(estimator, X)
        return X
    encoded = read_fitted_rows(estimator, X)
    return Rows(encoded, X if is_frame(X) or keeps_form(X) else encoded, estimator._columns)


def _check_read_by_same(estimator: Any, rows: Rows) -> None:
    """Refuse rows that were read by a model of other columns, or that numbers their categories otherwise."""
    check_is_fitted(estimator)
    own = estimator._columns
    if rows.columns is not None and rows.columns is not own and rows.columns.codes != own.codes:
        raise ValueError("these rows were read by a model of other columns or categories: read X with this one")


def read_fitted_rows(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Check and encode X for a fitted estimator; rows that were read already are taken as they are.

    The checks of scikit-learn cost 0.15 ms, more than hundreds of trees need for a row. A contiguous array of
    doubles with the right number of finite or missing values, for a model without feature names, passes
    them all.
    """
    state = estimator.__dict__
    if (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.flags.aligned
        and X.shape[1] == state.get("n_features_in_")
        and X.shape[0] > 0
        and "_columns" in state
        and "feature_names_in_" not in state
        and not state["_columns"].categorical
        and not _core.has_infinity(X)
    ):
        return X
    if isinstance(X, Rows):
        _check_read_by_same(estimator, X)
        return X.encoded
    check_is_fitted(estimator)
    return read_rows(estimator, X, estimator._columns)
