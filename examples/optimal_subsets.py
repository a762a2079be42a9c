"""How far greedy orders of bagging are from the best subset of every size.

Figures 5.6 and 5.7 of Martínez Muñoz (2006): 25 CART trees on waveform, all subsets of odd size searched. Writes the
mean error of the best subset and of three orders (optimal-errors.csv) and how the best subsets coincide with
reduce-error's order (optimal-coincidences.csv), and prints what the text says of them beside what was found.
"""

from __future__ import annotations

import csv
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto import BaggingClassifier, CARTClassifier
from conjunto.datasets import make_waveform
from conjunto.evaluation import error_curve
from conjunto.ordering import Subsets, exhaustive, margin_distance, random_order, reduce_error
from conjunto.votes import Votes

Array = NDArray[Any]
MEMBERS, ROWS, TEST_ROWS = 25, 300, 5000
SIZES = np.arange(1, MEMBERS + 1, 2)
CURVES = ("random order", "reduce-error", "margin distance", "best subset")
# Mean numbers of subsets with the least error, as figure 5.7 prints them.
PUBLISHED_COUNTS = (1.1, 1.3, 2.1, 2.7, 3.7, 3.6, 4.8, 7.3, 9.7, 8.7, 8.6, 5.0, 1.0)


def bagging(seed: int) -> BaggingClassifier:
    """Trees pruned as in the tables of the thesis (`conjunto.experiments.reproduce`)."""
    tree = CARTClassifier(prune="cv", rule="1se", prune_to_root=False, copies="together")
    return BaggingClassifier(tree, n_estimators=MEMBERS, random_state=seed)


def one_run(seed: int) -> dict[str, Array]:
    """Errors (training and test) x curves x sizes, coincidences, numbers of best subsets, and what they share."""
    X, y = make_waveform(ROWS, random_state=2 * seed)
    X_test, y_test = make_waveform(TEST_ROWS, random_state=2 * seed + 1)
    model = bagging(seed).fit(X, y)
    votes, test = model.votes(X), model.votes(X_test)
    greedy = reduce_error(votes, y)
    best = exhaustive(votes, y, prefer=greedy)
    orders = (random_order(votes, y, random_state=seed), greedy, margin_distance(votes, y))
    errors = [
        [*(error_curve(said, truth, order=order)[SIZES - 1] for order in orders), subset_errors(best, said, truth)]
        for said, truth in ((votes, y), (test, y_test))
    ]
    shared = [
        len(np.intersect1d(small, large)) / len(small)
        for small, large in zip(best.members[:-1], best.members[1:], strict=True)
    ]
    return {
        "errors": np.array(errors),
        "coincidences": np.array([np.isin(greedy, members) for members in best.members]),
        "counts": best.counts,
        "shared": np.array(shared),
    }


def subset_errors(best: Subsets, votes: Votes, y: Array) -> Array:
    """The error of the best subset of every size on some rows."""
    return np.array([error_curve(votes.take(members), y)[-1] for members in best.members])


def write(means: dict[str, Array]) -> None:
    """The figures as tables."""
    with open("optimal-errors.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["curve", "size", "training_error_pct", "test_error_pct"])
        for name, training, test in zip(CURVES, *(100 * means["errors"]), strict=True):
            table.writerows(
                [name, size, f"{a:.3f}", f"{b:.3f}"] for size, a, b in zip(SIZES, training, test, strict=True)
            )
    with open("optimal-coincidences.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        places = [f"place_{place}" for place in range(1, MEMBERS + 1)]
        table.writerow(["size", "best_subsets", "best_subsets_published", *places])
        for size, count, printed, row in zip(
            SIZES, means["counts"], PUBLISHED_COUNTS, means["coincidences"], strict=True
        ):
            table.writerow([size, f"{count:.2f}", printed, *(f"{share:.2f}" for share in row)])


def tell(means: dict[str, Array], runs: int) -> None:
    """What the text says of the figures, beside what was found."""
    errors = dict(zip(CURVES, np.moveaxis(100 * means["errors"], 1, 0), strict=True))
    gap = {name: (errors[name] - errors["best subset"])[:, 1:-1].mean(axis=1) for name in CURVES}
    inside = np.mean([means["coincidences"][at, :size].mean() for at, size in enumerate(SIZES[:-1])])
    late = means["coincidences"][SIZES <= MEMBERS // 2][:, -5:].mean()
    print(f"waveform, {ROWS} training rows, {MEMBERS} trees, {runs} runs; sizes 3 to {MEMBERS - 2}, points of error")
    for name in CURVES[:-1]:
        print(f"{name:<16} above the best subset: {gap[name][0]:+.2f} in training, {gap[name][1]:+.2f} in test")
    print(f"of the first i of reduce-error's order {inside:.0%} are in the best subset of size i")
    print(f"of its last five {late:.0%} are in the best subsets of up to {MEMBERS // 2}")
    print(f"the best subset of a size shares {means['shared'].mean():.0%} of its members with the next one")
    print("best subsets by size:", " ".join(f"{count:.1f}" for count in means["counts"]))
    print("           published:", " ".join(map(str, PUBLISHED_COUNTS)))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    found = [one_run(seed) for seed in range(count)]
    averages = {key: np.mean([run[key] for run in found], axis=0) for key in found[0]}
    write(averages)
    tell(averages, count)
