"""A random forest of scikit-learn with 500 trees, cut to 100: error, size and speed before and after.

Selection on the training data, where a forest makes no errors that could tell its trees apart, and out of bag.
Prints a table; `python examples/prune_a_forest.py` takes two minutes.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from conjunto import prune
from conjunto.datasets import load, make_waveform

PARTITIONS = 5


def partition(name, seed):
    """Training and test rows: a third of a data set, or a fresh sample, is for testing."""
    if name == "waveform":
        return (*make_waveform(300, random_state=seed), *make_waveform(5000, random_state=1000 + seed))
    data = load(name)
    X, X_test, y, y_test = train_test_split(
        data.X.to_numpy(float), data.y.to_numpy(), test_size=1 / 3, stratify=data.y, random_state=seed
    )
    return X, y, X_test, y_test


def main():
    """Print a line for each data set and selection."""
    print("| data set | selection | error before | error after | difference | kB | ms per 1000 rows |")
    print("|---|---|---|---|---|---|---|")
    for name in ("waveform", "diabetes", "breast-w", "vehicle", "segment"):
        for selection in ("train", "oob"):
            reports = []
            for seed in range(PARTITIONS):
                X, y, X_test, y_test = partition(name, seed)
                forest = RandomForestClassifier(500, random_state=seed).fit(X, y)
                small = prune(forest, X, y, selection=selection, evaluate=(X_test, y_test))
                reports.append(small.pruning_report_)
            errors = [100 * np.array([r["error"]["test"][when] for r in reports]) for when in ("before", "after")]
            difference = errors[1] - errors[0]
            kilobytes = [np.mean([r["bytes"][when] for r in reports]) / 1000 for when in ("before", "after")]
            spent = [
                np.median([r["milliseconds_per_1000_rows"][when]["median"] for r in reports])
                for when in ("before", "after")
            ]
            print(
                f"| {name} | {selection} | {errors[0].mean():.1f} % | {errors[1].mean():.1f} % "
                f"| {difference.mean():+.1f} ± {difference.std(ddof=1) / np.sqrt(PARTITIONS):.1f} "
                f"| {kilobytes[0]:,.0f} → {kilobytes[1]:,.0f} | {spent[0]:.0f} → {spent[1]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
