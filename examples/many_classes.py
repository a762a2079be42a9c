"""What AdaBoost's forms make of 26 letters: 16,000 to train, 4000 to test, 100 rounds.

M1 needs members that are right on half of the weight, which stumps are not; the others ask for less.
"""

from __future__ import annotations

import time

from conjunto import AdaBoostClassifier, CARTClassifier
from conjunto.datasets import load

ALGORITHMS = ("m1", "samme.r", "samme", "m2", "mh", "gentle", "logit")


def main() -> None:
    """Fit every form on stumps and on trees of depth 5."""
    letters = load("letter")
    X, y = letters.X.to_numpy(), letters.y.to_numpy()
    train, test = slice(16_000), slice(16_000, None)
    for depth in (1, 5):
        print(f"trees of depth {depth}")
        for algorithm in ALGORITHMS:
            start = time.perf_counter()
            model = AdaBoostClassifier(CARTClassifier(max_depth=depth), 100, algorithm=algorithm, random_state=0)
            try:
                model.fit(X[train], y[train])
            except ValueError as error:
                print(f"  {algorithm:<9}gives up: {str(error).partition('. ')[0]}")
                continue
            took = time.perf_counter() - start
            print(f"  {algorithm:<9}test error {1 - model.score(X[test], y[test]):>6.1%}, {took:>5.1f} s")


if __name__ == "__main__":
    main()
