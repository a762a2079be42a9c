"""`TablePreparation`: a user's table as the matrix of numbers that learners of other libraries take.

Our trees read text, gaps and any scale as they are. A linear model, neighbours or a network need each category as a
number, no gap, and columns of one scale; that is done here, inside a pipeline, so that it is learned from the training
rows alone and saved with the model.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from conjunto.checks import check_choice, check_count
from conjunto.problem import Columns, is_frame, is_missing, read_columns, read_rows, select

CATEGORIES = ("one-hot", "codes", "native")
# Stands for a category that training did not have, among codes that begin at 0.
UNSEEN = -1.0


class TablePreparation(TransformerMixin, BaseEstimator):
    """Categories, missing values and scale of a table, for learners that take numbers alone.

    DataFrame columns of object, string, category or bool type are categories, as everywhere in this library; all other
    columns, and those of arrays and sparse matrices, are numbers, of which NaN is missing. At most 256 categories of a
    column are told apart.

    Parameters
    ----------
    categories : {"one-hot", "codes", "native"}, default="one-hot"
        What becomes of categories. "one-hot": a column of zeros and ones for each, and one for missing values where
        training had some; a category that training did not have is all zeros. "codes": one column of codes 0, 1, …; a
        category that training did not have is missing. "native": the same codes as columns of type category in a
        pandas DataFrame, for libraries that split categories themselves; without such columns an array.
    scale : bool, default=True
        Whether numbers are brought to mean 0 and variance 1. Sparse rows are divided by the deviation only, so that
        what is 0 stays 0. Columns of zeros and ones are left alone.
    impute : bool, default=True
        Whether missing numbers become the median of the column, with a further column of zeros and ones that says where
        they were missing, if any were in training. A missing code becomes a code of its own. Without it gaps stay, but
        for columns without a single number in training, which are 0: not every library takes them.
    max_categories : int, default=100
        So many categories of a column are kept apart at most; the rarer ones share one. In one-hot columns missing
        values count as a category.
    sparse_output : bool or "as-given", default=True
        Whether the result may be a sparse matrix: it is one where that takes less memory, or where X is one. With
        "as-given" only where X is one.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names.

    Examples
    --------
    >>> import pandas as pd
    >>> from conjunto import TablePreparation
    >>> X = pd.DataFrame({"grams": [1.0, None, 3.0], "skin": ["waxy", "rough", "waxy"]})
    >>> prepare = TablePreparation(scale=False).fit(X)
    >>> list(prepare.get_feature_names_out())
    ['grams', 'grams is missing', 'skin=rough', 'skin=waxy']
    >>> prepare.transform(X)
    array([[1., 0., 0., 1.],
           [2., 1., 1., 0.],
           [3., 0., 0., 1.]])
    """

    def __init__(
        self,
        categories: str = "one-hot",
        *,
        scale: bool = True,
        impute: bool = True,
        max_categories: int = 100,
        sparse_output: bool | str = True,
    ) -> None:
        self.categories = categories
        self.scale = scale
        self.impute = impute
        self.max_categories = max_categories
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn categories, medians and scales from training rows; y is not looked at."""
        check_choice("categories", self.categories, CATEGORIES)
        check_count("max_categories", self.max_categories, 2)
        check_choice("scale", self.scale, (True, False))
        check_choice("impute", self.impute, (True, False))
        check_choice("sparse_output", self.sparse_output, (True, False, "as-given"))
        columns = read_columns(X) if is_frame(X) else None
        if columns is not None and columns.categorical:
            validate_data(self, X, skip_check_array=True)
        else:
            # Arrays are checked whole, and so are lists of rows, whose number of columns nobody knows yet.
            validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        self._columns = Columns((None,) * self.n_features_in_) if columns is None else columns
        self._numbers = np.array([codes is None for codes in self._columns.codes], dtype=bool)
        self._empty = np.zeros(int(self._numbers.sum()), dtype=bool)
        numbers, categories = self._read(X)
        self._empty = _all_missing(numbers)
        self._imputer: Any = None
        self._scaler: Any = None
        self._encoder: Any = None
        if self.impute and numbers.shape[1]:
            self._imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True).fit(numbers)
        if self.scale and numbers.shape[1]:
            scaler = StandardScaler(with_mean=not sparse.issparse(numbers))
            self._scaler = scaler.fit(self._filled(numbers)[0])
        if categories.shape[1]:
            self._encoder = self._new_encoder().fit(
                categories if self.categories == "one-hot" else _without_gaps(categories)
            )
        self._sparse = bool(self.sparse_output) and self._is_smaller_sparse(numbers, categories)
        return self

    def transform(self, X: Any) -> Any:
        """The rows as numbers: an array of doubles, a CSR matrix of them, or a DataFrame of native categories."""
        check_is_fitted(self)
        numbers, categories = self._read(X)
        parts = list(self._filled(numbers))
        if self._scaler is not None:
            parts[0] = self._scaler.transform(parts[0])
        if self.categories == "native" and self._encoder is not None:
            return self._frame(parts, self._codes(categories))
        if self._encoder is not None and self.categories == "one-hot":
            parts.append(self._encoder.transform(categories))
        elif self._encoder is not None:
            parts.append(self._codes(categories))
        if self._sparse:
            return sparse.hstack([sparse.csr_matrix(part) for part in parts], format="csr", dtype=np.float64)
        dense = [part.toarray() if sparse.issparse(part) else part for part in parts]
        return np.ascontiguousarray(np.hstack(dense), dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of the result: numbers, where numbers were missing, then categories."""
        check_is_fitted(self)
        names = _names_in(self, input_features)
        numbers = [name for name, number in zip(names, self._numbers, strict=True) if number]
        found = list(numbers)
        if self._imputer is not None and self._imputer.indicator_ is not None:
            found += [f"{numbers[place]} is missing" for place in self._imputer.indicator_.features_]
        for place, column in enumerate(np.flatnonzero(~self._numbers).tolist()):
            if self.categories != "one-hot":
                found.append(names[column])
                continue
            found += [f"{names[column]}={label}" for label in self._labels(place, column)]
        return np.asarray(found, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X: Any) -> tuple[Any, NDArray[np.float64]]:
        """The numbers, and the codes of categories: NaN for missing ones, `UNSEEN` for those that training lacked."""
        rows = read_rows(self, X, self._columns)
        if self._numbers.all():
            return rows, np.empty((rows.shape[0], 0))
        categories = np.array(rows[:, ~self._numbers])
        gaps = np.isnan(categories)
        if gaps.any():
            given = select(X, columns=np.flatnonzero(~self._numbers))
            missing = np.stack([_missing(given, place) for place in range(categories.shape[1])], axis=1)
            categories[gaps & ~missing] = UNSEEN
        return rows[:, self._numbers], categories

    def _filled(self, numbers: Any) -> tuple[Any, Any]:
        """The numbers without gaps, and the columns that say where they were."""
        if self._imputer is None:
            return _with_zeros(numbers, self._empty), np.empty((numbers.shape[0], 0))
        filled = self._imputer.transform(numbers)
        return filled[:, : numbers.shape[1]], filled[:, numbers.shape[1] :]

    def _new_encoder(self) -> Any:
        """scikit-learn's encoder of codes, which also joins rare categories."""
        if self.categories == "one-hot":
            return OneHotEncoder(handle_unknown="ignore", max_categories=self.max_categories)
        return OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=self.max_categories
        )

    def _codes(self, categories: NDArray[np.float64]) -> NDArray[np.float64]:
        """One code per category; missing and unseen ones are NaN, or the code behind the last."""
        codes: NDArray[np.float64] = self._encoder.transform(np.where(np.isnan(categories), UNSEEN, categories))
        if self.impute:
            codes = np.where(np.isnan(codes), self._code_counts(), codes)
        return codes

    def _code_counts(self) -> NDArray[np.float64]:
        """How many codes each column has."""
        pairs = zip(self._encoder.categories_, self._encoder.infrequent_categories_, strict=True)
        counts = [len(known) if rare is None else len(known) - len(rare) + 1 for known, rare in pairs]
        return np.asarray(counts, dtype=np.float64)

    def _labels(self, place: int, column: int) -> list[str]:
        """What the one-hot columns of a categorical column stand for."""
        mapping: Any = self._columns.codes[column]
        names: dict[int, str] = {}
        for name, code in mapping.items():
            names[code] = str(name) if code not in names else "(rare)"
        rare = self._encoder.infrequent_categories_[place]
        # As text, in which a missing category equals itself.
        joined = set() if rare is None else {str(code) for code in rare}
        apart = [code for code in self._encoder.categories_[place] if str(code) not in joined]
        labels = ["(missing)" if np.isnan(code) else names[int(code)] for code in apart]
        return labels if rare is None else [*labels, "(rare)"]

    def _is_smaller_sparse(self, numbers: Any, categories: NDArray[np.float64]) -> bool:
        """Whether a CSR matrix of the training rows takes less memory than an array."""
        if sparse.issparse(numbers):
            return True
        if self.sparse_output == "as-given" or self._encoder is None or self.categories != "one-hot":
            return False
        indicators = self._filled(numbers[:1])[1].shape[1]
        width = numbers.shape[1] + indicators + self._encoder.transform(categories[:1]).shape[1]
        # A stored value takes 8 bytes and the 4 of its column.
        return 12 * (numbers.shape[1] + categories.shape[1] + indicators) + 4 < 8 * width

    def _frame(self, parts: list[Any], codes: NDArray[np.float64]) -> Any:
        """A DataFrame of numbers and of categories that are the same in every call."""
        try:
            import pandas
        except ImportError:
            raise ImportError("native categories need pandas: pip install 'conjunto[data]'") from None

        numbers = np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])
        # By place: libraries refuse names that hold brackets, colons or blanks.
        columns: dict[str, Any] = {f"x{place}": column for place, column in enumerate(numbers.T)}
        counts = (self._code_counts() + self.impute).astype(int)
        for place, column in enumerate(codes.T, start=numbers.shape[1]):
            known = pandas.RangeIndex(int(counts[place - numbers.shape[1]]))
            whole = np.where(np.isnan(column), -1, column).astype(np.intp)
            columns[f"x{place}"] = pandas.Categorical.from_codes(whole, categories=known)
        return pandas.DataFrame(columns)


def _all_missing(numbers: Any) -> NDArray[np.bool_]:
    """Which columns hold no number at all."""
    if not sparse.issparse(numbers):
        empty: NDArray[np.bool_] = np.isnan(numbers).all(axis=0)
        return empty
    gaps = numbers.indices[np.isnan(numbers.data)]
    return np.bincount(gaps, minlength=numbers.shape[1]) == numbers.shape[0]


def _with_zeros(numbers: Any, columns: NDArray[np.bool_]) -> Any:
    """The numbers with 0 throughout some columns."""
    if not columns.any():
        return numbers
    numbers = numbers.copy()
    if sparse.issparse(numbers):
        numbers.data[columns[numbers.indices]] = 0.0
    else:
        numbers[:, columns] = 0.0
    return numbers


def _without_gaps(categories: NDArray[np.float64]) -> NDArray[np.float64]:
    """The codes with the most frequent one of the column in place of missing ones, which changes no order of them."""
    filled = categories.copy()
    for column in filled.T:
        codes, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        column[np.isnan(column)] = codes[counts.argmax()] if len(codes) else 0.0
    return filled


def _missing(frame: Any, place: int) -> NDArray[np.bool_]:
    """Which values of a column are missing."""
    if hasattr(frame, "iloc"):
        return np.asarray(frame.iloc[:, place].isna(), dtype=bool)
    return np.array([is_missing(value) for value in frame.to_series(place).to_list()], dtype=bool)


def _names_in(preparation: TablePreparation, given: Any) -> list[str]:
    """The names of the columns that go in: those given, those of training, or x0, x1, …"""
    own = getattr(preparation, "feature_names_in_", None)
    if given is None:
        return [f"x{place}" for place in range(preparation.n_features_in_)] if own is None else [str(n) for n in own]
    names = [str(name) for name in given]
    if len(names) != preparation.n_features_in_:
        raise ValueError(
            f"input_features should have length equal to the number of columns, {preparation.n_features_in_}, got "
            f"{len(names)}"
        )
    if own is not None and names != [str(name) for name in own]:
        raise ValueError("input_features is not equal to feature_names_in_: give the names of training, or none")
    return names
