"""Single tree, bagging, random forest and class-switching on two classic problems.

Prints error, fit and predict time and size of each, and saves the error curves as a picture.
"""

from __future__ import annotations

import time
from typing import Any

from matplotlib.figure import Figure
from numpy.typing import NDArray

from conjunto import BaggingClassifier, CARTClassifier, ClassSwitchingClassifier, RandomForestClassifier
from conjunto.datasets import make_twonorm, make_waveform
from conjunto.evaluation import error_curve
from conjunto.plots import ErrorCurveDisplay

MODELS: dict[str, Any] = {
    "single tree": CARTClassifier(random_state=0),
    "bagging": BaggingClassifier(n_estimators=1000, random_state=0),
    "random forest": RandomForestClassifier(n_estimators=1000, random_state=0),
    "class-switching": ClassSwitchingClassifier(n_estimators=1000, random_state=0),
}
PROBLEMS = {"twonorm": make_twonorm, "waveform": make_waveform}


def run(name: str, train: tuple[NDArray[Any], NDArray[Any]], test: tuple[NDArray[Any], NDArray[Any]], ax: Any) -> None:
    """Fit and judge every model on one problem."""
    print(f"\n{name}: {len(train[0])} training rows, {len(test[0])} test rows")
    print(f"{'model':<17}{'members':>8}{'test error':>12}{'fit':>10}{'predict':>10}{'size':>11}")
    curves = {}
    for label, model in MODELS.items():
        start = time.perf_counter()
        model.fit(*train)
        fitted = time.perf_counter()
        error = 1 - model.score(*test)
        done = time.perf_counter()
        members = getattr(model, "n_estimators", 1)
        print(
            f"{label:<17}{members:>8}{error:>11.1%} {1000 * (fitted - start):>7.0f} ms"
            f"{1000 * (done - fitted):>7.0f} ms{model.nbytes_ / 1024:>8.0f} KiB"
        )
        if hasattr(model, "votes"):
            curves[label] = error_curve(model.votes(test[0]), test[1])
    ErrorCurveDisplay(curves).plot(ax=ax, title=name)
    ax.set_ylabel("test error")


def main() -> None:
    """Run both problems and save the picture."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, (name, make) in zip(axes, PROBLEMS.items(), strict=True):
        run(name, make(300, random_state=1), make(5000, random_state=2), ax)
    figure.savefig("error-curves.png", dpi=110)
    print("\nerror curves: error-curves.png")


if __name__ == "__main__":
    main()
