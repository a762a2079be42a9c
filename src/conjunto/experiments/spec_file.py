"""Experiments from TOML files; a key that is not known is an error that suggests the right one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from conjunto.checks import suggest
from conjunto.datasets import table_name
from conjunto.experiments.spec import Experiment, Method, Source, SpecError
from conjunto.experiments.splits.protocols import Protocol


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment from a TOML file; paths in it are relative to the file.

    A key that is not known is an error that suggests the right one.
    """
    path = Path(path)
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path.name}: {error}") from error
    facts.setdefault("name", path.stem)
    experiment = experiment_from_dict(facts, path.name)
    near = tuple(
        replace(source, path=str(path.parent / source.path)) if source.path is not None else source
        for source in experiment.datasets
    )
    return replace(experiment, datasets=near)


def experiment_from_dict(facts: Mapping[str, Any], where: str = "experiment") -> Experiment:
    """An experiment from plain data, as `Experiment.as_dict` and TOML give it."""
    _check_keys(where, facts, Experiment)
    for key in ("datasets", "methods"):
        if not isinstance(facts.get(key), list):
            raise SpecError(f"{where}: give at least one [[{key}]]")
    if not isinstance(facts.get("protocol", {}), Mapping):
        raise SpecError(f"{where}: [protocol] must be a table")
    sources = [_build(f"{where}: datasets", item, Source) for item in facts["datasets"]]
    methods = [_build(f"{where}: methods", item, Method) for item in facts["methods"]]
    protocol = _build(f"{where}: protocol", facts.get("protocol", {}), Protocol)
    try:
        return Experiment(
            tuple(sources),
            tuple(methods),
            protocol,
            facts.get("measures", ()),
            facts.get("seed", 0),
            facts.get("name", "experiment"),
        )
    except ValueError as error:
        raise SpecError(f"{where}: {error}") from error


def _build(where: str, facts: Any, kind: type[Any]) -> Any:
    if isinstance(facts, str) and kind is not Protocol:
        facts = {"name": facts}
    if not isinstance(facts, Mapping):
        raise SpecError(f"{where}: {facts!r} is not a table of settings")
    _check_keys(where, facts, kind)
    facts = {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}
    if kind is Source and "name" not in facts:
        if "path" not in facts:
            raise SpecError(f"{where}: a data set needs a name or a path")
        facts["name"] = table_name(str(facts["path"]))
    try:
        return kind(**facts)
    except (TypeError, ValueError) as error:
        raise SpecError(f"{where}: {error}") from error


def _check_keys(where: str, facts: Mapping[str, Any], kind: type[Any]) -> None:
    known = [item.name for item in fields(kind) if item.name not in ("data", "estimator")]
    for key in facts:
        if key not in known:
            raise SpecError(f"{where}: unknown key {key!r}; {suggest(str(key), known)}")
