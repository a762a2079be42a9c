"""What decides the results of cells, as hashes: a store takes in whatever has the same keys, and refuses the rest.

A cell is decided by three things: the *frame* (the seed, and how tables are partitioned, but not how often), its
*data set* (the content, and how it is read) and its *method* (what its name stands for, and its parameters). So
repetitions, data sets and methods can join what was run before, and measures are only questions to it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse

from conjunto.datasets import Dataset, file_hash, identity
from conjunto.experiments.making import NONE
from conjunto.experiments.methods import METHODS
from conjunto.sparse import parts

if TYPE_CHECKING:
    from conjunto.experiments.spec import Experiment, Method, Source


@dataclass(frozen=True)
class Keys:
    """The keys of an experiment."""

    frame: str
    datasets: dict[str, str]
    methods: dict[str, str]

    @staticmethod
    def of(experiment: Experiment, contents: Mapping[str, str] = NONE) -> Keys:
        """The keys of all parts of an experiment; `contents` as in `Experiment.keys`."""
        protocol = experiment.protocol.as_dict()
        protocol.pop("repetitions", None)
        return Keys(
            _hash({"seed": experiment.seed, "protocol": protocol}),
            {source.name: _source_key(source, contents) for source in experiment.datasets},
            {method.label: _method_key(method) for method in experiment.methods},
        )


def _source_key(source: Source, contents: Mapping[str, str]) -> str:
    content = contents[source.name] if source.name in contents else source_hash(source)
    facts = plain(source, {source.name: content})
    facts.pop("path", None)  # the content of a file decides, not where it lies
    return _hash({**facts, "content": content})


def _method_key(method: Method) -> str:
    facts = plain(method)
    if method.estimator is None and method.name in METHODS:
        # What a name stands for may change from release to release.
        facts["defaults"] = _jsonable(METHODS[method.name].parameters)
    return _hash(facts)


def _hash(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def source_hash(source: Source) -> str:
    """What stands for the content of a data set, without opening it: the hash of a file or of data in memory."""
    if source.data is not None:
        return dataset_hash(source.data)
    return file_hash(source.path) if source.path is not None else identity(source.load or source.name)


def plain(item: Source | Method, contents: Mapping[str, str] = NONE) -> dict[str, Any]:
    """The fields that differ from their defaults, as JSON can hold them."""
    facts: dict[str, Any] = {}
    for part in fields(item):
        value = getattr(item, part.name)
        if value is None or value == () or value == {} or value == "":
            continue
        if part.name == "data":
            value = contents[item.name] if item.name in contents else dataset_hash(value)
        elif part.name == "estimator":
            value = f"{type(value).__module__}.{type(value).__qualname__}({_parameters(value)})"
        facts[part.name] = _jsonable(value)
    return facts


def _parameters(estimator: Any) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in sorted(estimator.get_params(deep=True).items()))


def _text(value: Any) -> str:
    """The representation without addresses, which are others in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_jsonable(item) for item in value]
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return _text(value)


def dataset_hash(data: Dataset) -> str:
    """A hash of the rows, the columns and the task of data in memory."""
    import pandas

    if issparse(data.X):
        digest = hashlib.sha256(repr([data.X.shape, data.task]).encode())
        for part in parts(data.X):
            digest.update(part.tobytes())
        digest.update(pandas.util.hash_pandas_object(data.y, index=False).to_numpy().tobytes())
        return digest.hexdigest()
    digest = hashlib.sha256(repr([*map(str, data.X.columns), *map(str, data.X.dtypes), data.task]).encode())
    if data.aside is not None:
        digest.update(repr(list(map(str, data.aside.columns))).encode())
        digest.update(pandas.util.hash_pandas_object(data.aside, index=False).to_numpy().tobytes())
    digest.update(pandas.util.hash_pandas_object(data.X, index=False).to_numpy().tobytes())
    digest.update(pandas.util.hash_pandas_object(data.y, index=False).to_numpy().tobytes())
    return digest.hexdigest()
