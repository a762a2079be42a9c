"""Three ways to combine models, in three pictures: chosen by region, chosen greedily, asked one after another.

Saves what a vote of stumps and a local selection of them decide, how the score of a greedy selection goes with the
number of members, and what a cascade saves for a stated loss of accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from conjunto import (
    BaggingClassifier,
    CARTClassifier,
    CascadeClassifier,
    GreedySelectionClassifier,
    LocalSelectionClassifier,
    RandomForestClassifier,
)
from conjunto.datasets import make_waveform

LOSSES = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.04)


def maps(left: Any, right: Any) -> None:
    """What stumps decide by a vote, and those of them that are right nearby."""
    X, y = make_moons(600, noise=0.2, random_state=0)
    X_test, y_test = make_moons(5000, noise=0.2, random_state=1)
    stumps = BaggingClassifier(CARTClassifier(max_depth=1, max_features=1), 40, random_state=0)
    local = LocalSelectionClassifier(stumps).fit(X, y)
    across, up = np.meshgrid(np.linspace(-2, 3, 250), np.linspace(-1.5, 2, 250))
    grid = np.c_[across.ravel(), up.ravel()]
    for ax, model, title in ((left, local.pool_, "40 stumps, vote"), (right, local, "the same, KNORA-E")):
        ax.contourf(across, up, model.predict(grid).reshape(across.shape), levels=1, cmap="coolwarm", alpha=0.35)
        ax.scatter(*X.T, c=y, s=6, cmap="coolwarm")
        error = 1 - model.score(X_test, y_test)
        ax.set(title=f"{title}: {error:.1%} errors", xticks=[], yticks=[])
        print(f"{title}: {error:.1%}")


def path(ax: Any) -> None:
    """The score of a greedy selection, on the rows that it is made on and on others."""
    X, y = make_waveform(600, random_state=0)
    X_test, y_test = make_waveform(5000, random_state=1)
    models = [(f"near {k}", KNeighborsClassifier(k)) for k in (1, 5, 15, 45)]
    models += [(f"tree {depth}", CARTClassifier(max_depth=depth, random_state=0)) for depth in (2, 4, 6, 8)]
    models += [("normal", GaussianNB()), ("linear", LogisticRegression(max_iter=1000))]
    models += [("forest", RandomForestClassifier(random_state=0))]
    greedy = GreedySelectionClassifier(models, n_iter_no_change=None, max_size=30).fit(X, y)
    added, scores = greedy.paths_[0]
    shares = np.stack([member.predict_proba(X_test) for member in greedy.estimators_])[added]
    means = np.cumsum(shares, axis=0) / np.arange(1, len(added) + 1)[:, None, None]
    test = -np.log(np.clip(means[:, np.arange(len(y_test)), y_test], 1e-15, 1)).mean(axis=1)
    ax.plot(range(1, len(added) + 1), -scores, label="out of fold")
    ax.plot(range(1, len(added) + 1), test, label="test rows")
    ax.set(title="greedy selection from 11 models", xlabel="members added", ylabel="log loss")
    ax.legend()
    chosen = {models[t][0]: int((added == t).sum()) for t in np.unique(added)}
    print(f"greedy selection: {chosen}, test log loss {test[0]:.3f} -> {test[-1]:.3f}")


def saved(ax: Any) -> None:
    """How many rows the small forest of a cascade answers, and what that costs, for several losses."""
    X, y = make_waveform(1000, random_state=0)
    X_test, y_test = make_waveform(10_000, random_state=1)
    models = [(str(size), RandomForestClassifier(size, random_state=0)) for size in (10, 50, 500)]
    asked, lost = [], []
    for loss in LOSSES:
        cascade = CascadeClassifier(models, loss=loss).fit(X, y)
        stages = cascade.stage(X_test)
        trees = np.cumsum([10, 50, 500])[stages]
        asked.append(trees.mean())
        lost.append(cascade.estimators_[-1].score(X_test, y_test) - cascade.score(X_test, y_test))
        print(f"cascade, loss {loss:.2%} stated, {lost[-1]:+.2%} on test rows: {asked[-1]:.0f} trees per row")
    ax.plot(np.array(LOSSES) * 100, asked, marker="o")
    for stated, trees, real in zip(LOSSES, asked, lost, strict=True):
        ax.annotate(f"{100 * real:+.1f}", (100 * stated, trees), textcoords="offset points", xytext=(4, 5), fontsize=8)
    ax.set(title="forests of 10, 50, 500 in a cascade", xlabel="stated loss, points (labels: on test rows)")
    ax.set(ylabel="trees asked per row (of 500)", ylim=(0, 220), xlim=(-0.2, 4.4))


def main() -> None:
    """Draw all and save the picture."""
    figure = Figure(figsize=(13, 6.5), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    maps(axes[0], axes[1])
    path(axes[2])
    saved(axes[3])
    figure.savefig("combining.png", dpi=100)
    print("pictures: combining.png")


if __name__ == "__main__":
    main()
