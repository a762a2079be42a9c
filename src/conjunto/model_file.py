"""Model files: a fitted estimator with what is needed to use it on other data, in skops' format.

Reading one executes nothing: only the types listed here and those that skops trusts are built, and our native arrays
are validated. A pickle is read only when the caller says so; it may also hold an estimator alone, as `joblib.dump` and
`pickle.dump` write it.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

import conjunto
from conjunto.atomic import whole_file
from conjunto.datasets import as_text, as_wide, is_number
from conjunto.draw import Draw
from conjunto.exchange.saving import NO_SAFE_FORMAT, parts_of, savable, without_boosters
from conjunto.pickles import ModelFileError as ModelFileError  # the error of this module too
from conjunto.pickles import describe_estimator, first_line, looks_pickled, read_pickle
from conjunto.stored import FORMAT, content, need_skops, skops_bytes
from conjunto.stored import versions as versions
from conjunto.view import ColumnMap

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

PICKLES = (".pkl", ".pickle", ".joblib")
"""The endings of files that are pickles."""
# Beside estimators, draws and maps of columns (subclasses of `Draw` and `ColumnMap`), which are known by their class.
_INNER_TYPES = (
    "conjunto._core.C45Forest",
    "conjunto._core.Forest",
    "conjunto.combiners._region.Region",
    "conjunto.combiners.level_one.MultiResponseClassifier",
    "conjunto.draw.Drawn",
    "conjunto.draw.Outline",
    "conjunto.ensembles._panel.Panel",
    "conjunto.ensembles._warm_start.FirstFit",
    "conjunto.exchange.boosters.StoredBooster",
    "conjunto.learners.coded.CodedClassifier",
    "conjunto.learners.extended.ExtendedMembers",
    "conjunto.learners.members.ForeignMembers",
    "conjunto.learners.members.TreeMembers",
    "conjunto.learners.preparation.TablePreparation",
    "conjunto.problem.Columns",
    "conjunto.pruning.keep.Budget",
    "conjunto.votes.Votes",
    # Of an empty array, read without pickles: scikit-learn's imputer keeps that of its training rows.
    "numpy.dtype",
)

# Rooms in which values of members live: their modules may be imported to look.
_ROOMS = "ensembles|generation|imbalance|learners"


def _reader(estimator: Any) -> Any:
    """What knows how the columns were encoded: the estimator, what it wraps, or one of the models that it combines.

    Of a pipeline it is the first step: later ones see other columns.
    """
    if hasattr(estimator, "_columns"):
        return estimator
    inside = [getattr(estimator, "estimator_", None), *getattr(estimator, "__dict__", {}).get("estimators_", ())]
    inside += [step for _, step in getattr(estimator, "steps", [])[:1]]
    found = (_reader(each) for each in inside if each is not None)
    return next((each for each in found if each is not None), None)


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted estimator and the table it expects."""

    estimator: Any
    columns: dict[str, str]
    """Attributes in their order: "number", "category" or, where the file does not say, "any"; none where the estimator
    was fitted on an array."""
    target: str
    """"" where the file does not say."""
    task: str
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    about: dict[str, str] = field(default_factory=dict)
    """Method, data, and what else a reader wants to know."""
    alone: bool = False
    """Whether the file holds the estimator and nothing else, as one that `joblib.dump` wrote."""

    def arrange(self, frame: Any) -> Any:
        """The columns that the estimator expects, in its order and types; others are left out.

        A DataFrame, or an array for an estimator that was fitted on one; sparse rows stay sparse.
        """
        if issparse(frame):
            return self._of_width(frame)
        if not self.columns:
            return self._by_place(frame)
        missing = [name for name in self.columns if name not in frame.columns]
        if missing:
            raise ModelFileError(f"the data lack {_count(missing, 'column')} of the model: {_listed(missing)}")
        arranged = frame[list(self.columns)].copy()
        types = list(arranged.dtypes)
        for place, (name, kind) in enumerate(self.columns.items()):
            # By type: to take a column of numbers out of a wide table costs more than to look at it.
            if kind == "number" and is_number(types[place]):
                continue
            if kind == "number":
                arranged[name] = _to_numbers(arranged[name])
            elif kind == "category" and not self._keeps_other_categories(place):
                arranged[name] = as_text(arranged[name])
        numbers = [name for name, kind in self.columns.items() if kind == "number"]
        infinite = np.isinf(arranged[numbers].to_numpy(dtype=float, na_value=np.nan)).any(axis=0)
        if infinite.any():
            name = numbers[int(infinite.argmax())]
            raise ModelFileError(f"column {name!r} holds an infinite number: leave the field empty or correct it")
        return arranged

    def _of_width(self, rows: Any) -> Any:
        """Sparse rows, whose columns have no names; those behind the last with a value may be missing in a file."""
        if self.columns:
            raise ModelFileError("the model knows its columns by name, and sparse rows have none: give a table")
        return as_wide(rows, self.estimator.n_features_in_)

    def _by_place(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """All columns but the target, for an estimator that knows columns by their place."""
        frame = frame.drop(columns=self.target, errors="ignore")
        expected = self.estimator.n_features_in_
        if frame.shape[1] != expected:
            raise ModelFileError(
                f"the model was fitted on an array of {expected} columns, and the data have {frame.shape[1]} beside "
                "the target: leave in those that it was fitted on, in their order"
            )
        texts = [str(name) for name in frame.columns if not is_number(frame[name].dtype)]
        if texts:
            raise ModelFileError(f"the model was fitted on an array of numbers, and {_listed(texts)} hold text")
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)

    def _keeps_other_categories(self, place: int) -> bool:
        """Whether the categories of a column were no text in training: truth values, or numbers."""
        fitted = _reader(self.estimator)
        codes = None if fitted is None else fitted._columns.codes[place]
        return codes is not None and not any(isinstance(category, str) for category in codes)

    @property
    def classes(self) -> list[Any]:
        """The classes; empty in regression."""
        return [] if self.task == "regression" else list(self.estimator.classes_)


def _to_numbers(column: pd.Series) -> pd.Series:
    """A column that must hold numbers and was read as something else."""
    import pandas

    numbers = pandas.to_numeric(column, errors="coerce")
    wrong = column.notna() & numbers.isna()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ModelFileError(
            f"column {column.name!r} held numbers when the model was trained, and holds {str(column.iloc[row])!r} in "
            f"row {row + 1}"
        )
    return numbers.astype(float)


def column_kinds(X: Any) -> dict[str, str]:
    """What each column of a table holds; nothing of sparse rows, whose columns have no names."""
    if issparse(X):
        return {}
    return {str(name): "number" if is_number(kind) else "category" for name, kind in X.dtypes.items()}


def save_model(path: str | Path, model: Model, *, allow_pickle: bool = False) -> None:
    """Write a model, whole or not at all; a path ending in .pkl needs `allow_pickle`.

    Trees and ensembles of trees of scikit-learn are saved as ours (`conjunto.from_sklearn`), with the same predictions:
    skops does not trust its trees, whose arrays nobody checks. Models of LightGBM, XGBoost and CatBoost are saved as
    the text of their library, which is checked before it is read.
    """
    path = Path(path)
    if path.suffix not in PICKLES:
        model = replace(model, estimator=savable(model.estimator))
    held = content(model.estimator, model.columns, model.target, model.task, model.about)
    if path.suffix in PICKLES:
        if not allow_pickle:
            raise ModelFileError(f"{path.name} would be a pickle, which executes code when it is read: use .skops")
        data = pickle.dumps(model.estimator if model.alone else held, protocol=5)
    else:
        data = skops_bytes(held)
        if unknown := _types(data)[1]:
            why = "".join(f"; {reason}" for reason in _no_safe_format(model.estimator)[:1])
            raise ModelFileError(
                f"{path.name} would not be read again: it would hold {_listed(unknown)}, not trusted{why}; a .pkl can "
                "hold it (allow-pickle)"
            )
    with whole_file(path) as part:
        part.write_bytes(data)


def can_be_saved(estimator: Any) -> str:
    """Why a model cannot be saved in a file that is safe to read; "" where nothing speaks against it.

    Fitted or not: it is looked at without its fit, in milliseconds. Few models fail only for what their fit has made,
    such as ensembles that hold trees of scikit-learn; of these `save_model` tells.
    """
    if reasons := _no_safe_format(estimator):
        return reasons[0]
    try:
        unknown = _types(need_skops().dumps(without_boosters(estimator)))[1]
    except Exception as error:  # skops is not there, or a user's estimator holds what it cannot describe
        return first_line(error)
    return f"{_listed(unknown)} would not be trusted when the file is read" if unknown else ""


def _no_safe_format(estimator: Any) -> list[str]:
    """Why parts of a model have no format that is safe to read."""
    found = []
    for part in parts_of(estimator) if hasattr(estimator, "get_params") else []:
        name = type(part).__name__
        if type(part).__module__.startswith("sklearn.") and name in NO_SAFE_FORMAT:
            found.append(f"{name} has no safe format: {NO_SAFE_FORMAT[name]}")
        elif name.startswith("KNeighbors") and part.algorithm != "brute":
            found.append(f"{name} has no safe format but with algorithm='brute': nobody checks the arrays of its tree")
    return found


def load_model(path: str | Path, *, allow_pickle: bool = False) -> Model:
    """Read a model. Whatever is not known to be harmless is refused before anything is built.

    Parameters
    ----------
    path : path
    allow_pickle : bool, default=False
        Read a pickle too. Only for files of your own: a pickle can execute anything.
    """
    path = Path(path)
    data = path.read_bytes()
    skops = zipfile.is_zipfile(io.BytesIO(data))
    held = _read_skops(path.name, data) if skops else _read_pickle(path.name, data, allow_pickle)
    if not skops and not isinstance(held, dict):
        return Model(held, **describe_estimator(path.name, held), target="", alone=True)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise ModelFileError(f"{path.name} is not a conjunto model of format {FORMAT}")
    try:
        model = Model(**{name: value for name, value in held.items() if name != "format"})
        known = set(model.columns.values()) <= {"number", "category", "any"}
    except (TypeError, AttributeError) as error:
        raise ModelFileError(f"{path.name} is not a conjunto model: {error}") from error
    if not known or not hasattr(model.estimator, "predict"):
        raise ModelFileError(f"{path.name} is not a conjunto model: it is damaged")
    return model


def _read_skops(name: str, data: bytes) -> Any:
    try:
        trusted, unknown = _types(data)
        if unknown:
            raise ModelFileError(f"{name} holds types that are not trusted and was not read: {_listed(unknown)}")
        return need_skops().loads(data, trusted=trusted)
    except ModelFileError:
        raise
    except Exception as error:  # a damaged file can fail anywhere inside skops, zipfile, json or numpy
        raise ModelFileError(f"{name} is damaged and was not read: {first_line(error)}") from error


def _trusted() -> set[str]:
    return {*_INNER_TYPES, *(f"{home}.{kind}" for kind, home in conjunto._HOMES.items())}


def _types(data: bytes) -> tuple[list[str], list[str]]:
    """The types of a file that are trusted and those that are not, beside the ones that skops trusts itself."""
    known = _trusted()
    names = need_skops().get_untrusted_types(data=data)
    trusted = [name for name in names if name in known or _is_value_of_ours(name)]
    return trusted, sorted(set(names) - set(trusted))


def _is_value_of_ours(name: str) -> bool:
    """Whether a name is that of a draw or a map of columns in a module of ours; nothing else is imported or called."""
    module, _, kind = name.rpartition(".")
    if module != "conjunto.draw" and not re.fullmatch(rf"conjunto\.({_ROOMS})(\.[a-z0-9_]+)+", module):
        return False
    try:
        found = getattr(import_module(module), kind, None)
    except ImportError:
        return False
    return isinstance(found, type) and issubclass(found, Draw | ColumnMap) and found.__module__ == module


def _read_pickle(name: str, data: bytes, allowed: bool) -> Any:
    if not data:
        raise ModelFileError(f"{name} is empty")
    if not allowed:
        hint = (
            "is a pickle, which can execute anything; one of your own needs allow-pickle"
            if looks_pickled(data)
            else "is not a model that conjunto saved, or is damaged"
        )
        raise ModelFileError(f"{name} {hint}; it was not read")
    return read_pickle(name, data)


def _count(items: list[str], what: str) -> str:
    return f"{len(items)} {what}{'s' if len(items) != 1 else ''}"


def _listed(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
