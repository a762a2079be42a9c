"""R packages as contestants: data handed over once in binary files, timed inside R."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.measure import Sample
from benchmarks.workloads import Data, Task

SCRIPTS = Path(__file__).parent


class RPackage:
    """A task for an R package; `folder` holds its data, and its model once there is one to predict with."""

    PACKAGE: ClassVar[str]
    SCRIPT: ClassVar[str]

    def __init__(self, task: Task, data: Data, folder: Path, *, predicts: bool = False) -> None:
        self.task = task
        self.folder = folder
        self.predicts = predicts
        for name in ("X", "y", "X_test", "y_test"):
            (folder / name).write_bytes(np.asarray(getattr(data, name), dtype=np.float64).tobytes(order="F"))
        size = (*data.X.shape, len(data.X_test), task.classes)
        (folder / "size").write_text(" ".join(map(str, size)) + "\n")

    @classmethod
    def name(cls) -> str:
        """Its name in tables."""
        return f"R {cls.PACKAGE}"

    @classmethod
    def version(cls) -> str | None:
        """The version of the package, or None where R or the package is missing."""
        if shutil.which("Rscript") is None:
            return None
        code = f'cat(as.character(packageVersion("{cls.PACKAGE}")))'
        done = subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def arguments(self, repetition: int) -> list[str]:
        """What the script is told after the folder; the seed comes first."""
        raise NotImplementedError

    def sample(self, repetition: int) -> Sample:
        """Run R once."""
        command = ["Rscript", "--vanilla", self.SCRIPT, str(self.folder), *self.arguments(repetition)]
        # Scripts source one another by name.
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=SCRIPTS)
        if done.returncode:
            raise RuntimeError(f"{self.name()} failed on {self.task}: {done.stderr.strip()}")
        cpu, wall, error = map(float, done.stdout.split())
        return Sample(cpu, wall, error)
