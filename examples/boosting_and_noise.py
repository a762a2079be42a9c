"""Boosting and bagging with clean labels, and with a fifth of them flipped.

Boosting spends its weight on examples that it cannot get right, also where it should not: with flipped labels bagging
overtakes it. Prints mean test errors over ten training sets and draws their curves, AdaBoost's training error below its
bound, and the margins that it leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from conjunto import AdaBoostClassifier, BaggingClassifier, CARTClassifier
from conjunto.datasets import make_twonorm
from conjunto.evaluation import error_curve, margins
from conjunto.plots import ErrorCurveDisplay

Array = NDArray[Any]
MEMBERS, SETS = 200, 10
TEST = make_twonorm(5000, random_state=1000)


def models(seed: int) -> dict[str, Any]:
    """Both on trees of depth 4."""
    tree = CARTClassifier(max_depth=4)
    return {
        "boosting": AdaBoostClassifier(tree, MEMBERS, algorithm="m1", restart="bootstrap", random_state=seed),
        "bagging": BaggingClassifier(tree, MEMBERS, random_state=seed),
    }


def noisy(y: Array, share: float, seed: int) -> Array:
    """The labels, exactly a share of them flipped."""
    flipped = np.random.default_rng(seed).permutation(len(y))[: round(share * len(y))]
    y = y.copy()
    y[flipped] = 1 - y[flipped]
    return y


def compare() -> dict[str, Array]:
    """Print mean test errors with clean and with noisy labels; return the mean error curves."""
    print(f"twonorm, 300 training rows, {MEMBERS} trees of depth 4, mean test error of {SETS} training sets")
    means = {}
    for share, words in ((0.0, "clean"), (0.2, "a fifth flipped")):
        curves: dict[str, list[Array]] = {"boosting": [], "bagging": []}
        for seed in range(SETS):
            X, y = make_twonorm(300, random_state=seed)
            for name, model in models(seed).items():
                model.fit(X, noisy(y, share, seed))
                curves[name].append(error_curve(model.votes(TEST[0]), TEST[1]))
        for name, values in curves.items():
            means[f"{name}, {words}"] = np.mean(values, axis=0)
            print(f"{share:>4.0%} flipped: {name:<9}{means[f'{name}, {words}'][-1]:>6.1%}")
        gap = np.subtract(curves["boosting"], curves["bagging"])[:, -1]
        print(f"      boosting - bagging {gap.mean():+.1%} ± {2 * gap.std(ddof=1) / np.sqrt(SETS):.1%}")
    return means


def draw(means: dict[str, Array], path: str) -> None:
    """The mean curves, boosting's bound, and the margins that it leaves."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    ErrorCurveDisplay(means).plot(ax=left, title=f"twonorm, mean of {SETS} training sets")
    left.set_ylabel("test error")
    X, y = make_twonorm(300, random_state=0)
    clean = AdaBoostClassifier(n_estimators=MEMBERS, algorithm="m1").fit(X, y)
    curves = {"training error": error_curve(clean.votes(X), y), "its bound": clean.bound_}
    ErrorCurveDisplay({**curves, "test error": error_curve(clean.votes(TEST[0]), TEST[1])}).plot(ax=middle)
    middle.set(title="boosted stumps, clean labels")
    for label, size in (("after 10 rounds", 10), (f"after {MEMBERS}", MEMBERS)):
        values = np.sort(margins(clean.votes(X).take(np.arange(size)), y))
        right.step(values, np.arange(1, len(values) + 1) / len(values), label=label)
    right.set(
        title="margins of the training examples",
        xlabel="margin",
        ylabel="share below",
        xlim=(-1, 1),
        xticks=(-1, -0.5, 0, 0.5, 1),
    )
    right.grid(alpha=0.3)
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")


if __name__ == "__main__":
    draw(compare(), "boosting-and-noise.png")
