"""`Problem`: checked and encoded data. The only place where a user's data is validated.

Arrays and DataFrames (pandas, polars) become a matrix of doubles in which NaN is missing. DataFrame columns of
object, string, category or bool type are categorical and become codes; labels become codes too. Sparse matrices, and
DataFrames of sparse columns, stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_X_y, validate_data

from conjunto import _core
from conjunto.classes import Classes
from conjunto.outputs import count_classes, several
from conjunto.sparse import as_csr, from_frame, is_sparse_frame, keeps_form

MAX_CATEGORIES = 256
# So many rows of a DataFrame are read value by value.
FEW_ROWS = 8
NUMBERS = (float, int, np.integer, np.floating)


@dataclass(frozen=True, eq=False)
class Columns:
    """What the columns of X are: for each a mapping from category to code, or None for a number."""

    codes: tuple[dict[Any, int] | None, ...]

    def __getstate__(self) -> dict[str, Any]:
        # As lists: files of skops lose a key that is False.
        return {"codes": [None if m is None else [list(m), list(m.values())] for m in self.codes]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        codes = tuple(None if m is None else dict(zip(*m, strict=True)) for m in state["codes"])
        object.__setattr__(self, "codes", codes)

    @cached_property
    def categorical(self) -> bool:
        """Whether any column is categorical."""
        return any(mapping is not None for mapping in self.codes)

    @cached_property
    def counts(self) -> NDArray[np.uint32]:
        """Number of codes by column, 0 for numbers."""
        return np.array([0 if m is None else max(m.values(), default=0) + 1 for m in self.codes], dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class Problem:
    """A learning problem: n rows, m columns, class codes or targets, and what is needed to go back."""

    X: Any
    """(n, m) doubles, by rows: an array, or a CSR matrix."""
    y: NDArray[Any]
    """(n,) class codes or targets; (n, targets) where there are several."""
    columns: Columns
    classes: Any = None
    """The labels in the order of their codes; of several targets a list of them; None in regression."""
    weights: NDArray[np.float64] | None = None
    source: Any = None
    """The user's own X, for learners of other libraries."""
    ignored: NDArray[np.bool_] | None = None
    """(n,): rows of sample weight 0, from which nothing is learned; None: there are none. A problem whose weights are
    replaced, as in boosting, still has them."""

    def __post_init__(self) -> None:
        if self.ignored is None and self.weights is not None and not self.weights.all():
            object.__setattr__(self, "ignored", self.weights == 0)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def m(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, of several targets of all of them; 0 in regression."""
        return count_classes(self.classes)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])

    def labels(self) -> NDArray[Any]:
        """y as the user gave it: labels, or targets."""
        if self.classes is None:
            return self.y
        if not several(self.classes):
            labels: NDArray[Any] = self.classes[self.y]
            return labels
        return np.stack([each[self.y[:, o]] for o, each in enumerate(self.classes)], axis=1)

    prepared: list[tuple[NDArray[np.float64], int, _core.Table]] = field(default_factory=list, repr=False)
    """The native table of X, once it is made; the same problem with other labels, classes or weights shares it."""

    def table(self, threads: int = 1, max_bins: int = 0) -> _core.Table:
        """The columns sorted and binned, once for all members; with `max_bins` cut nowhere but between so many bins."""
        if not self.prepared or self.prepared[0][0] is not self.X or self.prepared[0][1] != max_bins:
            table = _core.Table(self.X, self.columns.counts, threads, self.ignored, max_bins)
            self.prepared[:] = [(self.X, max_bins, table)]
        return self.prepared[0][2]

    def __getstate__(self) -> dict[str, Any]:
        # A native table cannot leave its process; another one prepares its own.
        return {**self.__dict__, "prepared": []}

    def rows(self) -> Rows:
        """The training rows, as members are asked about them."""
        return Rows(self.X, self.source, self.columns)

    def decoded(self, X: NDArray[np.float64]) -> Any:
        """Other encoded rows in the form of the user's own X, for learners of other libraries."""
        if not is_frame(self.source):
            return X
        return _decode(X, self.source, self.columns)


# Not frozen: one is made for every prediction, and setting fields through a guard takes as long as a row in ten trees.
@dataclass(slots=True, eq=False)
class Rows:
    """Rows to predict, read once: encoded, and as the user gave them. Every method takes them in place of X."""

    encoded: Any
    """(n, m) doubles: by rows, or column by column where they come out of a DataFrame, or a CSR matrix."""
    source: Any
    columns: Columns | None = None
    """By which they were encoded: another model may number categories otherwise."""
    asked: dict[str, Any] | None = None
    """Arguments beside the rows that members of other libraries are asked with."""

    def __len__(self) -> int:
        return int(self.encoded.shape[0])


def read_problem(estimator: Any, X: Any, y: Any, sample_weight: Any, *, classification: bool) -> Problem:
    """Check and encode training data; sets `n_features_in_` (and `feature_names_in_`) on the estimator."""
    accepts = "csr" if get_tags(estimator).input_tags.sparse else False
    given = X
    if accepts and is_sparse_frame(X):
        validate_data(estimator, X, skip_check_array=True)
        X = from_frame(X)
    columns = read_columns(X) if is_frame(X) else None
    outputs = get_tags(estimator).target_tags.multi_output
    if outputs:
        y = _read_outputs(y)
    try:
        encoded, y = (validate_data if X is given else _check_without_names)(
            estimator,
            X if columns is None else _encode(X, columns),
            y,
            accept_sparse=accepts,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            y_numeric=not classification,
            multi_output=outputs,
        )
    except ValueError as error:
        if columns is None and "could not convert string to float" in str(error):
            raise ValueError(
                f"{error}. An array of X holds numbers; give a DataFrame for columns of text (in a pipeline: "
                'set_output(transform="pandas"))'
            ) from error
        raise
    source = encoded
    encoded = as_csr(encoded) if issparse(encoded) else np.require(encoded, requirements=["C", "A"])
    if is_frame(X) or keeps_form(X):
        source = X
    columns = Columns((None,) * encoded.shape[1]) if columns is None else columns
    weights = read_weights(sample_weight, encoded.shape[0])
    if not classification:
        return Problem(encoded, np.ascontiguousarray(y, dtype=np.float64), columns, None, weights, source)
    if y.dtype == object and any(is_missing(label) for label in y.ravel()):
        raise ValueError("y contains a missing label (None or NaN): remove these rows or give the label a name")
    check_classification_targets(y)
    if y.ndim == 2:
        found = [np.unique(y[:, o], return_inverse=True) for o in range(y.shape[1])]
        by_target = np.stack([codes for _, codes in found], axis=1).astype(np.int32)
        return Problem(encoded, by_target, columns, [labels for labels, _ in found], weights, source)
    classes, codes = np.unique(y, return_inverse=True)
    return Problem(encoded, codes.astype(np.int32), columns, classes, weights, source)


class SparseAnswersError(TypeError, ValueError):
    """y is sparse: to scikit-learn's trees that is a wrong type, to its forests a wrong value."""


def _read_outputs(y: Any) -> Any:
    """y where several targets are welcome: one column of them is one target."""
    if issparse(y):
        raise SparseAnswersError("sparse multilabel-indicator for y is not supported. Give y.toarray()")
    if y is None:
        return y
    y = check_array(y, ensure_2d=False, allow_nd=True, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
    if y.ndim == 2 and y.shape[1] == 1:
        return column_or_1d(y, warn=True)
    if y.ndim > 2 or (y.ndim == 2 and y.shape[1] == 0):
        raise ValueError(f"y must be (n,) or (n, targets), got an array of shape {y.shape}")
    return y


def _check_without_names(estimator: Any, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
    """scikit-learn's checks of rows whose column names were checked already."""
    return check_X_y(X, y, estimator=estimator, **checks)


def _read_sparse_rows(estimator: Any, X: Any, columns: Columns) -> Any:
    """Check sparse rows to predict."""
    if columns.categorical:
        raise ValueError(
            "the model was fitted on a DataFrame with categorical columns: X must be like it, and not sparse"
        )
    if is_sparse_frame(X):
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return as_csr(check_array(from_frame(X), accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"))
    accepts = "csr" if get_tags(estimator).input_tags.sparse else False
    return as_csr(
        validate_data(estimator, X, accept_sparse=accepts, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
    )


def read_rows(estimator: Any, X: Any, columns: Columns) -> Any:
    """Check and encode rows to predict, as the training data were: an array, or a CSR matrix of sparse rows."""
    if issparse(X):
        return _read_sparse_rows(estimator, X, columns)
    if columns.categorical and not is_frame(X):
        raise ValueError(
            "the model was fitted on a DataFrame with categorical columns: X must be a DataFrame with the same columns"
        )
    names = getattr(estimator, "feature_names_in_", None)
    same_names = names is not None and is_frame(X) and list(X.columns) == names.tolist()
    if same_names and len(X):
        # All that scikit-learn would check is known, but for infinite numbers, of which it tells more.
        ready = _codes_of(X, columns) if columns.categorical else _all_numbers(X)
        if ready is not None and not _core.has_infinity(ready):
            return ready
    if is_sparse_frame(X) and get_tags(estimator).input_tags.sparse:
        return _read_sparse_rows(estimator, X, columns)
    if columns.categorical and names is not None and not same_names:
        # Other columns, or another order: nothing can be encoded, and scikit-learn's check says what is wrong.
        X = _frame_like(X, np.zeros(X.shape))
        columns = Columns((None,) * len(columns.codes))
    rows: NDArray[np.float64] = validate_data(
        estimator,
        _encode(X, columns),
        dtype=np.float64,
        order="C",
        ensure_all_finite="allow-nan",
        reset=False,
    )
    return np.require(rows, requirements=["C", "A"])


def read_answers(problem: Problem, y: Any, n: int, name: str = "y_val") -> dict[str, NDArray[Any]]:
    """Check the answers of other rows: targets, or class codes, -1 for labels that training did not have."""
    y = column_or_1d(y)
    if len(y) != n:
        raise ValueError(f"{name} must have one entry per row, ({n},), got {len(y)}")
    if any(is_missing(answer) for answer in y.tolist()):
        raise ValueError(f"{name} contains a missing value (None or NaN): remove these rows")
    if problem.classes is None:
        return {"targets": np.ascontiguousarray(y, dtype=np.float64)}
    if (y.dtype.kind in "OU") != (problem.classes.dtype.kind in "OU"):
        raise ValueError(
            f"{name} holds labels of another kind than y: {y[:1].tolist()} and {problem.classes[:1].tolist()}"
        )
    return {"labels": Classes(problem.classes).encode(y, unknown="abstain")}


def read_weights(sample_weight: Any, n: int, name: str = "sample_weight") -> NDArray[np.float64] | None:
    """Check sample weights: one per row, none negative, not all zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, float(sample_weight))
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name=name
    )
    if weights.shape != (n,):
        raise ValueError(f"{name}.shape == {weights.shape}, expected ({n},): one entry per row")
    if (weights < 0).any():
        raise ValueError(f"Negative values in data passed to `{name}`; use 0 to leave a row out")
    if not weights.any():
        raise ValueError(f"{name} is zero for all rows: give at least one row a positive weight")
    # Only ratios of weights matter; products of four sums of extreme ones (in moments) would overflow or vanish.
    return weights if 1e-60 < weights.max() < 1e60 else weights / weights.max()


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or type(X).__module__.startswith("polars"))


def as_rows(X: Any) -> Any:
    """X as something that rows can be taken of."""
    if issparse(X):
        return X.tocsr()
    if X is None:
        raise TypeError("X must be an array, a DataFrame or a list of rows, got None")
    return X if hasattr(X, "shape") else np.asarray(X)


def select(X: Any, rows: NDArray[np.intp] | None = None, columns: NDArray[np.intp] | None = None) -> Any:
    """Rows and columns of an array or DataFrame, of the same type."""
    if hasattr(X, "iloc"):
        X = X if rows is None else X.iloc[rows]
        return X if columns is None else X.iloc[:, columns]
    if is_frame(X):
        X = X if rows is None else X[rows]
        return X if columns is None else X[:, columns.tolist()]
    X = X if rows is None else X[rows]
    return X if columns is None else X[:, columns]


def append_columns(X: Any, columns: NDArray[np.float64]) -> Any:
    """An array or DataFrame of the same type with further columns of numbers."""
    if not is_frame(X):
        return np.hstack([X, columns])
    taken = list(X.columns)
    # scikit-learn takes names that are all text, or none that are.
    names: list[Any] = list(range(len(taken), len(taken) + columns.shape[1]))
    if all(isinstance(name, str) for name in taken):
        free = (name for name in map("computed {}".format, count()) if name not in taken)
        names = list(islice(free, columns.shape[1]))
    if not hasattr(X, "iloc"):
        return X.hstack(type(X)(columns, schema=names))
    X = X.copy(deep=False)
    for name, column in zip(names, columns.T, strict=True):
        X.insert(X.shape[1], name, column, allow_duplicates=True)
    return X


def append_rows(X: Any, rows: Any) -> Any:
    """A DataFrame with the rows of another one of the same library and columns behind its own."""
    if not hasattr(X, "iloc"):
        return X.vstack(rows)
    import pandas

    return pandas.concat([X, rows], ignore_index=True)


def read_columns(X: Any) -> Columns:
    """Decide which columns of a DataFrame are categorical and number their categories."""
    plain = _plain_numbers(X)
    return Columns(tuple(None if plain[i] else _number_categories(_column(X, i)) for i in range(X.shape[1])))


def _plain_numbers(X: Any) -> NDArray[np.bool_]:
    """Which columns hold numbers of numpy: to take one out of a wide DataFrame costs more than to read it."""
    if not hasattr(X, "iloc"):
        return np.zeros(X.shape[1], dtype=bool)
    kinds = X.dtypes.tolist()
    plain = {kind: isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in set(kinds)}
    return np.array([plain[kind] for kind in kinds], dtype=bool)


def _column(X: Any, i: int) -> Any:
    return X.iloc[:, i] if hasattr(X, "iloc") else X.to_series(i)


def _is_categorical(column: Any) -> bool:
    name = str(column.dtype).lower()
    if "datetime" in name or name.startswith(("date", "time", "duration", "period")):
        raise ValueError(
            f"column {column.name!r} holds dates: replace it by numbers, such as days since an origin, year or month"
        )
    return name.startswith(("object", "str", "category", "categorical", "enum", "bool", "utf8", "dictionary"))


def _levels(column: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """The distinct values of a categorical column, and the place of each row's value among them; -1 is missing."""
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):
        return np.asarray(column.cat.codes, dtype=np.intp), list(column.cat.categories)
    if hasattr(column, "iloc"):
        codes, names = column.factorize()
        return np.asarray(codes, dtype=np.intp), list(names)
    places: dict[Any, int] = {}
    values = column.to_list()
    codes = [-1 if is_missing(value) else places.setdefault(value, len(places)) for value in values]
    return np.asarray(codes, dtype=np.intp), list(places)


def _number_categories(column: Any) -> dict[Any, int] | None:
    """Codes in sorted order; with more than 256 categories the 255 most frequent, and one code for all others."""
    if not _is_categorical(column):
        return None
    try:
        places, levels = _levels(column)
    except TypeError as error:
        raise TypeError(f"column {column.name!r} holds objects that cannot be categories: {error}") from None
    found = np.bincount(places[places >= 0], minlength=len(levels))
    counts = {level: int(count) for level, count in zip(levels, found, strict=True) if count}
    try:
        names = sorted(counts)
    except TypeError:
        names = sorted(counts, key=lambda value: (type(value).__name__, str(value)))
    if len(names) <= MAX_CATEGORIES:
        return {name: code for code, name in enumerate(names)}
    rank = {name: place for place, name in enumerate(sorted(names, key=lambda name: -counts[name]))}
    frequent = [name for name in names if rank[name] < MAX_CATEGORIES - 1]
    codes = dict.fromkeys(names, MAX_CATEGORIES - 1)
    codes.update({name: code for code, name in enumerate(frequent)})
    return codes


def is_missing(value: Any) -> bool:
    """None, NaN, and pandas' NA, which answers no comparison."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _encode(X: Any, columns: Columns) -> Any:
    """Replace categories by codes; unseen ones are missing. The result keeps the type and names of a DataFrame."""
    if not columns.categorical or not is_frame(X) or X.shape[1] != len(columns.codes):
        return X
    return _frame_like(X, _codes_of(X, columns))


def _codes_of(X: Any, columns: Columns) -> NDArray[np.float64]:
    """(n, m), column by column: the codes of categories, and the numbers as they are."""
    few = _codes_of_few(X, columns)
    if few is not None:
        return few
    matrix = np.empty(X.shape, dtype=np.float64, order="F")
    plain = _plain_numbers(X) & np.array([mapping is None for mapping in columns.codes], dtype=bool)
    if plain.any():
        matrix[:, plain] = X.loc[:, plain].to_numpy(dtype=np.float64)
    for i in np.flatnonzero(~plain).tolist():
        mapping, column = columns.codes[i], _column(X, i)
        if mapping is not None:
            places, levels = _levels(column)
            if not _is_categorical(column) and levels and not any(level in mapping for level in levels):
                raise ValueError(
                    f"column {column.name!r} held categories when the model was fitted, and now holds other numbers"
                )
            # The last entry is what place -1, missing, finds.
            codes = np.array([*(mapping.get(level, np.nan) for level in levels), np.nan])
            matrix[:, i] = codes[places]
        elif _is_categorical(column):
            raise ValueError(f"column {column.name!r} held numbers when the model was fitted, and now holds categories")
        elif hasattr(column, "iloc"):
            matrix[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            matrix[:, i] = column.cast(float).to_numpy()
    return matrix


def _codes_of_few(X: Any, columns: Columns) -> NDArray[np.float64] | None:
    """The same for a handful of rows, value by value; None where a value needs a closer look at its column.

    To take a column out of a DataFrame takes as long as to take out a row, and there are more columns.
    """
    if not 0 < len(X) <= FEW_ROWS:
        return None
    rows = [X.iloc[i].tolist() for i in range(len(X))] if hasattr(X, "iloc") else X.rows()
    matrix = np.empty(X.shape, dtype=np.float64)
    for i, row in enumerate(rows):
        for j, (value, mapping) in enumerate(zip(row, columns.codes, strict=True)):
            if mapping is None and isinstance(value, NUMBERS) and not isinstance(value, bool):
                found = value
            elif mapping is not None and isinstance(value, (str, bool)):
                found = mapping.get(value, np.nan)
            elif is_missing(value):
                found = np.nan
            else:
                return None
            matrix[i, j] = found
    return matrix


def _all_numbers(X: Any) -> NDArray[np.float64] | None:
    """A pandas DataFrame of numbers as an array, as they lie; None where the checks of scikit-learn are needed."""
    if not _plain_numbers(X).all():
        return None
    return np.require(X.to_numpy(dtype=np.float64), requirements=["A"])


def _frame_like(X: Any, matrix: NDArray[np.float64]) -> Any:
    """A DataFrame of the same library and column names."""
    if hasattr(X, "iloc"):
        return type(X)(matrix, columns=X.columns)
    return type(X)(matrix, schema=list(X.columns))


def _decode(X: NDArray[np.float64], like: Any, columns: Columns) -> Any:
    """A DataFrame with the names and kinds of columns of another one, from encoded rows."""
    decoded: dict[int, Any] = {}
    for i, mapping in enumerate(columns.codes):
        if mapping is None:
            decoded[i] = X[:, i]
            continue
        # Rare categories share a code; the first of them stands for all.
        names = {code: name for name, code in reversed(mapping.items())}
        decoded[i] = [None if np.isnan(code) else names[int(code)] for code in X[:, i].tolist()]
    if hasattr(like, "iloc"):
        frame = type(like)(decoded)
        frame.columns = like.columns
        for i, mapping in enumerate(columns.codes):
            if mapping is not None:
                frame.isetitem(i, frame.iloc[:, i].astype(like.dtypes.iloc[i]))
        return frame
    return type(like)({name: decoded[i] for i, name in enumerate(like.columns)}, schema=like.schema)
