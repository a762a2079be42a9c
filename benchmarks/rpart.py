"""R's rpart as a contestant: bagging of trees that it prunes by its own cross-validation."""

from __future__ import annotations

from benchmarks.in_r import RPackage


class Rpart(RPackage):
    """A loop over bootstrap samples."""

    PACKAGE = "rpart"
    SCRIPT = "rpart.R"

    def arguments(self, repetition: int) -> list[str]:
        """Seed and number of trees."""
        return [str(repetition), str(self.task.trees)]
