"""R's randomForest as a contestant."""

from __future__ import annotations

import numpy as np

from benchmarks.in_r import RPackage


class RandomForest(RPackage):
    """Forests, bagging as a forest that tries all columns, class-switching as a loop over single trees."""

    PACKAGE = "randomForest"
    SCRIPT = "randomforest.R"

    def arguments(self, repetition: int) -> list[str]:
        """Seed, job, and the settings of the forest."""
        task = self.task
        job = "predict" if self.predicts else "switch" if task.method == "switching" else "fit"
        mtry = int(np.sqrt(task.columns)) if task.method == "forest" else task.columns
        switched = task.switched if task.method == "switching" else 0
        return [str(repetition), job, *map(str, (task.trees, mtry, switched))]
