"""R's randomForest as a contestant: data handed over once in binary files, timed inside R."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.measure import Sample
from benchmarks.workloads import Data, Task

NAME = "R randomForest"
SCRIPT = Path(__file__).with_name("randomforest.R")


def version() -> str | None:
    """The version of randomForest, or None where R or the package is missing."""
    if shutil.which("Rscript") is None:
        return None
    code = 'cat(as.character(packageVersion("randomForest")))'
    done = subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


class RandomForest:
    """A task for R; `folder` holds its data, and its model once there is one to predict with."""

    def __init__(self, task: Task, data: Data, folder: Path, *, predicts: bool = False) -> None:
        self.task = task
        self.folder = folder
        self.job = "predict" if predicts else "switch" if task.method == "switching" else "fit"
        for name in ("X", "y", "X_test", "y_test"):
            (folder / name).write_bytes(np.asarray(getattr(data, name), dtype=np.float64).tobytes(order="F"))
        size = (*data.X.shape, len(data.X_test), task.classes)
        (folder / "size").write_text(" ".join(map(str, size)) + "\n")

    def sample(self, repetition: int) -> Sample:
        """Run R once."""
        task = self.task
        mtry = int(np.sqrt(task.columns)) if task.method == "forest" else task.columns
        switched = task.switched if task.method == "switching" else 0
        numbers = map(str, (repetition, task.trees, mtry, switched))
        command = ["Rscript", "--vanilla", str(SCRIPT), self.job, str(self.folder), *numbers]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{NAME} failed on {task}: {done.stderr.strip()}")
        cpu, wall, error = map(float, done.stdout.split())
        return Sample(cpu, wall, error)
