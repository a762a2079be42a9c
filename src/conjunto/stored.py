"""What the file of a model holds, and its bytes in skops' format: `model_file` writes them, `pruning` counts them."""

from __future__ import annotations

import copy
import platform
import zipfile
from importlib.metadata import version
from typing import Any

from conjunto.atomic import timestamp

FORMAT = 2


def content(estimator: Any, columns: dict[str, str], target: str, task: str, about: dict[str, str]) -> dict[str, Any]:
    """A model as a file holds it; what a sequential ensemble keeps for a warm start, the training data, is left out."""
    if getattr(estimator, "_run", None) is not None:
        estimator = copy.copy(estimator)
        estimator._run = None
    return {
        "estimator": estimator,
        "columns": columns,
        "target": target,
        "task": task,
        "versions": versions(),
        "created": timestamp(),
        "about": about,
        "format": FORMAT,
    }


def skops_bytes(held: dict[str, Any]) -> bytes:
    """The bytes of a file."""
    # skops describes every part in words, which take more than a pruned ensemble itself and shrink to a twentieth.
    data: bytes = need_skops().dumps(held, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    return data


def need_skops() -> Any:
    """The module skops.io, or how to get it."""
    try:
        import skops.io
    except ImportError:
        raise ImportError("model files need skops: pip install 'conjunto[cli]'") from None
    return skops.io


def versions() -> dict[str, str]:
    """What a model or a result was made with."""
    packages = ("conjunto", "numpy", "scipy", "scikit-learn", "pandas")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
