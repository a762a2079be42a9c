"""Memory: how large a fitted model is, and the most that fitting takes, each library in a process of its own."""

from __future__ import annotations

import contextlib
import json
import pickle
import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers import FACTORIES, OURS, SCIKIT_LEARN
from benchmarks.workloads import Task, make_data

STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The most memory this process has held.

    Linux carries ru_maxrss over from the process that started this one, so that a large parent would hide the peak of
    its child; VmHWM starts afresh.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    """Start the peak anew at what is held now, where the system can: making the data must not hide a small fit."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def measure_here(library: str, task: Task) -> dict[str, float]:
    """Fit the task in this process; only meaningful in a fresh one."""
    data = make_data(task, 1)
    # Code that is loaded at the first fit is not memory of this fit.
    FACTORIES[library](task, 1, 0).set_params(n_estimators=2).fit(data.X[:100], data.y[:100])
    model = FACTORIES[library](task, 1, 0)
    forget_peak()
    before = peak_bytes()
    model.fit(data.X, data.y)
    return {"peak": peak_bytes() - before, **_model_size(library, model)}


def _model_size(library: str, model: Any) -> dict[str, float]:
    if library == OURS:
        forest = model._panel.members.forest
        return {"bytes_per_node": forest.nbytes / forest.n_nodes, "pickle_per_node": _pickled(model) / forest.n_nodes}
    if library == SCIKIT_LEARN:
        nodes = sum(tree.tree_.node_count for tree in model.estimators_)
        return {"bytes_per_node": _pickled(model) / nodes, "pickle_per_node": _pickled(model) / nodes}
    return {}


def _pickled(model: Any) -> int:
    return len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def measure(library: str, task: Task) -> dict[str, float]:
    """Fit the task in a fresh process and return what it measured."""
    command = [sys.executable, "-m", "benchmarks.memory", json.dumps([library, asdict(task)])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"fitting {task} with {library} failed: {done.stderr.strip()}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    name, fields = json.loads(sys.argv[1])
    print(json.dumps(measure_here(name, Task(**fields))))
