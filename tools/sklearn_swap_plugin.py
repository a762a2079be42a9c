"""A pytest plugin: which tests construct an estimator of conjunto, and how they end, as lines of JSON.

`tools/run_sklearn_tests.py` loads it; the file to write to is named in the environment.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import conjunto
from conjunto.combiners._named import NamedModels
from conjunto.ensembles._ensemble import Ensemble
from conjunto.learners.tree import SingleTree

OURS = "constructs conjunto"
constructed = False


def _counted(cls: type, *args: Any, **kwargs: Any) -> Any:
    global constructed
    constructed = True
    return object.__new__(cls)


for base in (Ensemble, SingleTree, NamedModels, conjunto.PrunedClassifier, conjunto.PrunedRegressor):
    assert issubclass(base, BaseEstimator)
    base.__new__ = staticmethod(_counted)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """A new test starts without estimators; those of its parameters were made when it was collected."""
    global constructed
    constructed = _mentions_ours(getattr(getattr(item, "callspec", None), "params", {}))
    return (yield)


def _mentions_ours(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_mentions_ours, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_mentions_ours, value))
    if isinstance(value, type):
        return value.__module__.startswith("conjunto.")
    return type(value).__module__.startswith("conjunto.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Mark the report of a test that made an estimator of ours."""
    report = yield
    if constructed:
        report.user_properties.append((OURS, True))
    return report


def pytest_runtest_logreport(report: Any) -> None:
    """Write how the call ended, or that setting it up failed."""
    if os.environ.get("PYTEST_XDIST_WORKER") or (report.when != "call" and not report.failed and not report.skipped):
        return
    message = ""
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else str(report.longrepr)[-500:]
    line = {
        "test": report.nodeid,
        "outcome": report.outcome,
        "ours": (OURS, True) in report.user_properties,
        "message": message[:500],
    }
    with open(os.environ["CONJUNTO_SWAP_LOG"], "a") as log:
        log.write(json.dumps(line) + "\n")
