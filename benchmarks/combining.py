"""What combining models gains and costs: errors beside what a user has for free, and times beside scikit-learn's.

    python -m benchmarks.combining [--partitions N] [--repeats N] [--share S] [--only errors|regions|cascades|times]

Errors: five models of different kinds on tables with many classes, categories, gaps and skew; beside them the model
that is best in cross-validation, the best one on the test rows (which nobody can choose), and a forest alone. Times:
voting and stacking of the same models on the same folds, wall and CPU, in turn, the median of the repeats.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import sklearn.ensemble
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import conjunto
from conjunto.datasets import load, make_waveform

TABLES = ("vehicle", "vowel", "segment", "german", "horse-colic", "hypothyroid-3163", "audiology", "letter")
MOST_ROWS = 4000


def coded(X: pd.DataFrame) -> Any:
    """Numbers scaled, categories as 0 and 1, gaps filled: what other libraries need."""
    text = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X.columns if name not in text]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=5)
    # A column without a single value in a fold is a column of zeros.
    filled = SimpleImputer(keep_empty_features=True)
    return make_column_transformer((make_pipeline(filled, StandardScaler()), numbers), (encoder, text))


def members(X: pd.DataFrame) -> list[tuple[str, Any]]:
    """Five models that are unlike each other."""
    return [
        ("logistic", make_pipeline(coded(X), LogisticRegression(max_iter=2000))),
        ("near", make_pipeline(coded(X), KNeighborsClassifier(7))),
        ("normal", make_pipeline(coded(X), GaussianNB(var_smoothing=1e-3))),
        ("forest", conjunto.RandomForestClassifier(100, random_state=0)),
        ("boosting", conjunto.AdaBoostClassifier(conjunto.CARTClassifier(max_depth=3), 100, random_state=0)),
    ]


def combined(models: list[tuple[str, Any]]) -> dict[str, Any]:
    """Every way to combine them; folds are the same."""
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    return {
        "hard": conjunto.VotingClassifier(models),
        "log-odds": conjunto.VotingClassifier(models, weights="log-odds", cv=cv),
        "soft": conjunto.VotingClassifier(models, voting="soft"),
        "product": conjunto.VotingClassifier(models, voting="product"),
        "Borda": conjunto.VotingClassifier(models, voting="borda"),
        "naive Bayes": conjunto.NaiveBayesCombinationClassifier(models, cv=cv),
        "Bayesian": conjunto.BayesianAveragingClassifier(models, cv=cv),
        "stacking": conjunto.StackingClassifier(models, LogisticRegression(max_iter=2000), cv=cv),
        "multi-response": conjunto.StackingClassifier(models, "non-negative", cv=cv),
        "greedy": conjunto.GreedySelectionClassifier(models, cv=cv),
        "arbiter": conjunto.ArbiterClassifier(models, decision="weigh", cv=cv),
        "KNORA-U": conjunto.LocalSelectionClassifier(models, method="knora-u", cv=cv),
    }


def errors(partitions: int, share: float) -> None:
    """Print the test errors, in percent, as a table."""
    print("| table | rows, classes | best in folds | best there is | forest | " + " | ".join(combined([])) + " |")
    print("|---|---|" + "---:|" * (3 + len(combined([]))))
    for name in TABLES:
        data = load(name)
        X, y = data.X, data.y.to_numpy()
        # A class of a single row can be on one side only.
        many = np.isin(y, [label for label in np.unique(y) if (y == label).sum() >= 5])
        X, y = X[many], y[many]
        found: dict[str, list[float]] = {}
        rows = min(len(y), max(150, round(share * MOST_ROWS)))
        for seed in range(partitions):
            drawn = np.random.default_rng(seed).permutation(len(y))[:rows]
            X_fit, X_test, y_fit, y_test = train_test_split(X.iloc[drawn], y[drawn], test_size=1 / 3, random_state=seed)
            models = members(X)
            weighed = conjunto.VotingClassifier(models, weights="accuracy").fit(X_fit, y_fit)
            alone = [np.mean(weighed.classes_[m.predict(X_test)] != y_test) for m in weighed.estimators_]
            found.setdefault("best in folds", []).append(alone[int(np.argmax(weighed.weights_))])
            found.setdefault("best there is", []).append(min(alone))
            found.setdefault("forest", []).append(alone[3])
            for way, model in combined(models).items():
                found.setdefault(way, []).append(np.mean(model.fit(X_fit, y_fit).predict(X_test) != y_test))
        means = [f"{100 * np.mean(each):.1f}" for each in found.values()]
        print(f"| {name} | {rows:,}, {len(np.unique(y))} | " + " | ".join(means) + " |", flush=True)


def regions(partitions: int) -> None:
    """Print the test errors of trees, weak and full, by vote and chosen by region, beside a forest."""
    print("| table | vote, depth 3 | KNORA-E | vote, full trees | KNORA-E | forest |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in ("segment", "vowel", "vehicle", "german"):
        data = load(name)
        X, y = data.X, data.y.to_numpy()
        found: list[list[float]] = []
        for seed in range(partitions):
            X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
            row = []
            for depth in (3, None):
                pool = conjunto.BaggingClassifier(conjunto.CARTClassifier(max_depth=depth), 100, random_state=seed)
                local = conjunto.LocalSelectionClassifier(pool).fit(X_fit, y_fit)
                row += [1 - local.pool_.score(X_test, y_test), 1 - local.score(X_test, y_test)]
            forest = conjunto.RandomForestClassifier(100, random_state=seed).fit(X_fit, y_fit)
            found.append([*row, 1 - forest.score(X_test, y_test)])
        print(f"| {name} | " + " | ".join(f"{100 * each:.1f}" for each in np.mean(found, axis=0)) + " |", flush=True)


def cascades() -> None:
    """Print what cascades cost and lose on letters and waveform, beside forests of fewer trees."""
    data = load("letter")
    X, y = data.X.to_numpy(), np.unique(data.y.to_numpy(), return_inverse=True)[1]
    drawn = np.random.default_rng(0).permutation(len(y))
    letters = X[drawn[:8000]], y[drawn[:8000]], X[drawn[8000:]], y[drawn[8000:]]
    waves = *make_waveform(1000, random_state=0), *make_waveform(10_000, random_state=1)
    for name, (X, y, X_test, y_test) in {"letter": letters, "waveform": waves}.items():
        sizes = (10, 50, 500)
        forests = [(str(size), conjunto.RandomForestClassifier(size, random_state=0)) for size in sizes]
        model = conjunto.CascadeClassifier(forests, loss=0.005).fit(X, y)
        trees = np.cumsum(sizes)[model.stage(X_test)].mean()
        alone = {
            size: 1 - conjunto.RandomForestClassifier(size, random_state=0).fit(X, y).score(X_test, y_test)
            for size in (20, 40, 50, 100, 500)
        }
        print(f"{name}: {trees:.0f} trees per row, {1 - model.score(X_test, y_test):.2%}; forests alone:", end=" ")
        print(", ".join(f"{size} {error:.2%}" for size, error in alone.items()), flush=True)
    X, y, X_test, y_test = letters
    machine = CalibratedClassifierCV(SVC(C=10), cv=3)
    first = conjunto.RandomForestClassifier(50, random_state=0)
    model = conjunto.CascadeClassifier([("trees", first), ("machine", machine)], loss=0.002, cv=3).fit(X, y)
    ours, theirs = (clocked(lambda each=each: each.predict(X_test))[1] for each in (model, model.estimators_[1]))
    errors = [1 - each.score(X_test, y_test) for each in (model, *model.estimators_)]
    share = (model.stage(X_test) == 0).mean()
    print(f"letter, 50 trees before a machine: trees answer {share:.0%}; CPU {ours:.2f} s, machine {theirs:.2f} s")
    print("errors of both, trees, machine: " + ", ".join(f"{each:.2%}" for each in errors))


def clocked(action: Any) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def times(repeats: int, share: float) -> None:
    """Print fit and predict times of both libraries as a table."""
    print("| what | table | conjunto, fit | scikit-learn | conjunto, predict | scikit-learn |")
    print("|---|---|---:|---:|---:|---:|")
    for name in ("vehicle", "german", "letter"):
        data = load(name)
        drawn = np.random.default_rng(0).permutation(len(data.y))[: max(150, round(share * MOST_ROWS))]
        X, y = data.X.iloc[drawn], data.y.to_numpy()[drawn]
        models = members(X)
        cv = StratifiedKFold(5, shuffle=True, random_state=0)
        kinds = {
            "soft voting": lambda library, models=models: library.VotingClassifier(models, voting="soft"),
            "stacking": lambda library, models=models, cv=cv: library.StackingClassifier(
                models, LogisticRegression(max_iter=500), cv=cv
            ),
            "stacking, n_jobs=2": lambda library, models=models, cv=cv: library.StackingClassifier(
                models, LogisticRegression(max_iter=500), cv=cv, n_jobs=2
            ),
        }
        for what, make in kinds.items():
            taken: dict[Any, list[tuple[float, float]]] = {}
            for _ in range(repeats):
                for library in (conjunto, sklearn.ensemble):
                    model = make(library)
                    fit = clocked(lambda model=model, X=X, y=y: model.fit(X, y))
                    predict = clocked(lambda model=model, X=X: model.predict(X))
                    taken.setdefault((library.__name__, "fit"), []).append(fit)
                    taken.setdefault((library.__name__, "predict"), []).append(predict)
            cells = []
            for step in ("fit", "predict"):
                ours, theirs = (
                    [median(part) for part in zip(*taken[library.__name__, step], strict=True)]
                    for library in (conjunto, sklearn.ensemble)
                )
                cells += [
                    f"{ours[0]:.3g} s",
                    f"{theirs[0]:.3g} s ({theirs[0] / ours[0]:.2f} ×, CPU {theirs[1] / ours[1]:.2f} ×)",
                ]
            print(f"| {what} | {name} ({len(y):,} rows) | " + " | ".join(cells) + " |", flush=True)


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.combining", description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows; small: does everything run?")
    parser.add_argument("--only", choices=("errors", "regions", "cascades", "times"))
    asked = parser.parse_args(given)
    warnings.filterwarnings("ignore")
    parts = {
        "errors": lambda: errors(asked.partitions, asked.share),
        "regions": lambda: regions(asked.partitions),
        "cascades": cascades,
        "times": lambda: times(asked.repeats, asked.share),
    }
    for name, part in parts.items():
        if asked.only in (None, name):
            part()


if __name__ == "__main__":
    main()
