"""Clocks, repetitions in turn, and ratios."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from threadpoolctl import threadpool_limits

# Worker threads of the library that ran before may spin a little before they sleep; they must not be charged to the
# next one.
PAUSE = 0.05


@dataclass(frozen=True)
class Sample:
    """One repetition: seconds, and the error on the test rows.

    With several threads `cpu` leaves out worker processes, so that only `wall` can be compared.
    """

    cpu: float
    wall: float
    error: float


@dataclass(frozen=True)
class Contestant:
    """A library in a workload: `sample(repetition)` does the work once, `warm_up` imports and starts what it needs."""

    name: str
    sample: Callable[[int], Sample]
    warm_up: Callable[[], Any] = lambda: None


@dataclass(frozen=True)
class Series:
    """All repetitions of one contestant."""

    name: str
    samples: Sequence[Sample]

    @property
    def cpu(self) -> float:
        """Median CPU seconds."""
        return median(sample.cpu for sample in self.samples)

    @property
    def wall(self) -> float:
        """Median elapsed seconds."""
        return median(sample.wall for sample in self.samples)

    @property
    def error(self) -> float:
        """Mean error."""
        return mean(sample.error for sample in self.samples)


@dataclass(frozen=True)
class Ratio:
    """A peer's time divided by ours: of the medians, and the extremes over the repetitions."""

    middle: float
    low: float
    high: float


def ratio(peer: Series, own: Series, clock: str) -> Ratio:
    """How many times longer the peer takes."""
    pairs = [getattr(a, clock) / getattr(b, clock) for a, b in zip(peer.samples, own.samples, strict=True)]
    return Ratio(getattr(peer, clock) / getattr(own, clock), min(pairs), max(pairs))


def timed(work: Callable[[], Any], threads: int) -> tuple[Any, float, float]:
    """Do the work with BLAS and OpenMP held to `threads`; return its result, CPU and elapsed seconds."""
    gc.collect()
    time.sleep(PAUSE)
    with threadpool_limits(limits=threads):
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        return result, time.process_time() - cpu, time.perf_counter() - wall


def in_turn(contestants: Sequence[Contestant], repeats: int) -> list[Series]:
    """Sample A B C, A B C, …: whatever slows the machine down for a while meets all of them."""
    for contestant in contestants:
        contestant.warm_up()
    samples: dict[str, list[Sample]] = {contestant.name: [] for contestant in contestants}
    for repetition in range(repeats):
        for contestant in contestants:
            samples[contestant.name].append(contestant.sample(repetition))
    return [Series(name, taken) for name, taken in samples.items()]
