"""`count_jobs`: `n_jobs`, as scikit-learn means it, into a number of threads or processes that a machine can bear."""

from __future__ import annotations

import os

from joblib import effective_n_jobs

# More threads than this for each processor only wait, and each takes memory.
MOST_PER_PROCESSOR = 4


def count_jobs(n_jobs: int | None) -> int:
    """How many threads or processes to start for `n_jobs`; None is 1, or what `joblib.parallel_config` says.

    Results never depend on the number, so that one that is of no use is brought down without a word.
    """
    return min(int(effective_n_jobs(n_jobs)), MOST_PER_PROCESSOR * (os.cpu_count() or 1))
