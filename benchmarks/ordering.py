"""Orders of members: seconds and memory of every criterion, against the same in numpy; exhaustive search.

`python -m benchmarks.ordering` prints tables. No library that can be installed has these criteria, so the peer is what
one would write: each step vectorised over the members that are left. Ours and numpy's runs are interleaved.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import BaggingClassifier, CARTClassifier
from conjunto.datasets import make_waveform
from conjunto.ordering import ORDERINGS, exhaustive

CRITERIA = ("reduce_error", "complementarity", "margin_distance", "orientation", "boosting_based")
CLASSES = 3


def votes_of(members: int, examples: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Votes on examples of different difficulty."""
    random = np.random.default_rng(0)
    y = random.integers(0, CLASSES, examples)
    skill = random.uniform(0.35, 0.98, examples)
    votes = np.empty((members, examples), dtype=np.int32)
    for row in votes:
        row[:] = np.where(random.random(examples) < skill, y, random.integers(0, CLASSES, examples))
    return votes, y


def numpy_order(name: str, votes: NDArray[np.int32], y: NDArray[np.int64]) -> list[int]:
    """The criterion as one would write it."""
    right = votes == y
    c = np.where(right, 1.0, -1.0)
    if name == "orientation":
        ensemble = c.mean(axis=0)
        reference = 1 - ensemble.sum() / (ensemble @ ensemble) * ensemble
        return [int(t) for t in np.argsort(-(c @ reference), kind="stable")]
    one_hot = np.eye(CLASSES, dtype=np.int32)[votes]
    counts, sums, weights = np.zeros(one_hot.shape[1:], dtype=np.int32), np.zeros(len(y)), np.full(len(y), 1 / len(y))
    left, chosen = list(range(len(votes))), []
    while left:
        if name == "reduce_error" or (name == "complementarity" and not chosen):
            cost = ((counts + one_hot[left]).argmax(axis=2) != y).sum(axis=1).astype(float)
        elif name == "complementarity":
            cost = -right[left][:, counts.argmax(axis=1) != y].sum(axis=1).astype(float)
        elif name == "margin_distance":
            cost = ((0.075 - (sums + c[left]) / len(votes)) ** 2).sum(axis=1)
        else:
            cost = (~right[left]) @ weights
        best = left.pop(int(cost.argmin()))
        chosen.append(best)
        counts += one_hot[best]
        sums += c[best]
        error = weights[~right[best]].sum()
        if 0 < error < 0.5:
            weights = weights / np.where(right[best], 2 * (1 - error), 2 * error)
        elif error >= 0.5:
            weights = np.full(len(y), 1 / len(y))
    return chosen


def seconds(run: Callable[[], Any]) -> float:
    """Elapsed seconds of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _alone(name: str, members: int, examples: int, threads: int, repeats: int, results: Any) -> None:
    votes, y = votes_of(members, examples)
    spent = [seconds(lambda: ORDERINGS[name](votes, y, n_jobs=threads)) for _ in range(repeats)]
    results.put((statistics.median(spent), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def alone(name: str, members: int, examples: int, threads: int, repeats: int) -> tuple[float, float]:
    """Median seconds, and the most megabytes of a process that does nothing else, votes included."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_alone, args=(name, members, examples, threads, repeats, results))
    process.start()
    found: tuple[float, float] = results.get()
    process.join()
    return found


def sizes(repeats: int) -> None:
    """Seconds and memory at full size."""
    print("| members x examples | threads |", " | ".join(CRITERIA), "| most memory |")
    print("|---|---|" + "---|" * (len(CRITERIA) + 1))
    for members, examples in ((1000, 10_000), (5000, 10_000)):
        for threads in (1, 2):
            found = [alone(name, members, examples, threads, repeats) for name in CRITERIA]
            spent = " | ".join(f"{s:.2f} s" for s, _ in found)
            print(f"| {members} x {examples} | {threads} | {spent} | {max(m for _, m in found):.0f} MB |", flush=True)


def ratios(repeats: int) -> None:
    """Against numpy, interleaved, both on one thread."""
    members, examples = 200, 2000
    votes, y = votes_of(members, examples)
    print(f"\n| {members} x {examples} | conjunto | numpy | ratio |\n|---|---|---|---|")
    for name in CRITERIA:
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(seconds(lambda name=name: ORDERINGS[name](votes, y)))
            theirs.append(seconds(lambda name=name: numpy_order(name, votes, y)))
        pairs = [b / a for a, b in zip(ours, theirs, strict=True)]
        line = f"{1000 * statistics.median(ours):.1f} ms | {1000 * statistics.median(theirs):.0f} ms"
        print(f"| {name} | {line} | {statistics.median(pairs):.0f} ({min(pairs):.0f} … {max(pairs):.0f}) |", flush=True)


def searches(repeats: int) -> None:
    """All subsets of bagged trees on waveform, N = 300, on one core."""
    X, y = make_waveform(300, random_state=0)
    tree = CARTClassifier(prune="cv")
    print("\n| exhaustive search, waveform N = 300 | elapsed | CPU |\n|---|---|---|")
    for members in (25, 31):
        votes = BaggingClassifier(tree, n_estimators=members, random_state=0).fit(X, y).votes(X)
        spent, used = [], []
        for _ in range(repeats):
            start = time.process_time()
            spent.append(seconds(lambda votes=votes: exhaustive(votes, y)))
            used.append(time.process_time() - start)
        print(f"| {members} members | {statistics.median(spent):.2f} s | {statistics.median(used):.2f} s |", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordering", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    sizes(options.repeats)
    ratios(options.repeats)
    searches(options.repeats)


if __name__ == "__main__":
    main()
