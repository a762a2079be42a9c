"""Tables that look like those of users: integers, ties, categories, missing values, many classes, skew.

Generators are seeded and have the shapes of well-known tables; sets that are not bundled are looked for in the folder
that `CONJUNTO_DATA` names. A table comes as a DataFrame, and as an array of numbers for libraries that want one, where
categories are ordinal codes and a missing value is one less than the least that is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OrdinalEncoder

from conjunto.datasets import load
from conjunto.model_file import column_kinds

Array = NDArray[Any]
Drawn = tuple[pd.DataFrame, Array]


@dataclass(frozen=True)
class Table:
    """Training and test rows, as a DataFrame and as numbers."""

    name: str
    X: pd.DataFrame
    numbers: Array
    y: Array
    X_test: pd.DataFrame
    test_numbers: Array
    y_test: Array

    @property
    def shape(self) -> str:
        """Rows, columns and classes of the training rows."""
        return f"{len(self.X):,} × {self.X.shape[1]}, {len(np.unique(self.y))}"


def images(rows: int, seed: int) -> Drawn:
    """28 × 28 bytes, four in five of them 0: blurred strokes, shifted and mixed, of ten classes."""
    random = np.random.default_rng(seed)
    prototypes = np.zeros((10, 12, 28, 28))
    for prototype in prototypes.reshape(-1, 28, 28):
        at, step = random.uniform(8, 20, 2), random.normal(0, 1, 2)
        for _ in range(30):
            step = 0.7 * step + random.normal(0, 0.6, 2)
            at = np.clip(at + step, 5, 22)
            i, j = at.astype(int)
            prototype[i - 1 : i + 2, j - 1 : j + 2] += ((0.2, 0.5, 0.2), (0.5, 1, 0.5), (0.2, 0.5, 0.2))
    y = random.integers(0, 10, rows)
    pairs, other = random.integers(0, 12, (rows, 2)), random.integers(0, 10, rows)
    shares = random.uniform(0.45, 1, rows)
    shifts = random.integers(-3, 4, (rows, 2))
    X = np.empty((rows, 28, 28))
    for row in range(rows):
        first, second = prototypes[y[row], pairs[row, 0]], prototypes[other[row], pairs[row, 1]]
        X[row] = np.roll(shares[row] * first + (1 - shares[row]) * second, shifts[row], (0, 1))
    X = 200 * X + random.normal(0, 25, X.shape) * (X > 0)
    return _frame(np.clip(X - 30, 0, 255).round().reshape(rows, 784)), y


def terrain(rows: int, seed: int) -> Drawn:
    """10 integer columns, a block of 4 and one of 40 binary columns, 7 classes of very different size."""
    random = np.random.default_rng(seed)
    height = random.normal(0, 1, rows)
    area = np.clip((0.8 * height + random.normal(0, 1, rows)) * 1.2 + 2, 0, 3.99).astype(int)
    soil = np.clip((1.3 * height + 0.6 * area + random.normal(0, 0.8, rows)) * 5 + 15, 0, 39.99).astype(int)
    numbers = np.column_stack(
        [
            2800 + 280 * height,
            random.integers(0, 361, rows),
            np.abs(random.normal(0, 12, rows)),
            np.abs(random.normal(0, 300, rows)) // 30 * 30,
            random.normal(40, 60, rows),
            np.abs(random.normal(0, 2000, rows)),
            np.clip(random.normal(212, 27, rows), 0, 254),
            np.clip(random.normal(223, 20, rows), 0, 254),
            np.clip(random.normal(142, 38, rows), 0, 254),
            np.abs(random.normal(0, 1700, rows)),
        ]
    ).round()
    near = height + 0.25 * np.sin(numbers[:, 5] / 700) + 0.2 * (numbers[:, 9] < 900) + 0.15 * random.normal(0, 1, rows)
    bounds = np.quantile(near, (0.005, 0.07, 0.10, 0.45, 0.90, 0.96))
    y = np.searchsorted(bounds, near + 0.2 * ((soil * 7) % 5 - 2) / 2 + 0.1 * (area == 1))
    blocks = [area[:, None] == np.arange(4), soil[:, None] == np.arange(40)]
    return _frame(np.column_stack([numbers, *blocks])), y


def categories(rows: int, seed: int) -> Drawn:
    """32 categorical columns of 2 to 50 values (Zipf), 8 numeric ones, a fifth missing in half of them, 2 classes."""
    random = np.random.default_rng(seed)
    sizes = np.geomspace(2, 50, 32).round().astype(int)
    frame, score = {}, np.zeros(rows)
    for c, size in enumerate(sizes):
        codes = zipf(random, rows, size)
        score += random.normal(0, 0.45, size)[codes]
        column = np.array([f"v{k}" for k in range(size)], dtype=object)[codes]
        frame[f"c{c}"] = _with_gaps(random, column, 0.2) if c % 2 else column
    for c in range(8):
        values = random.normal(0, 1, rows).round(2)
        score += 0.4 * values
        frame[f"n{c}"] = _with_gaps(random, values, 0.2) if c % 2 else values
    return pd.DataFrame(frame), (score + random.logistic(0, 1, rows) > np.median(score)).astype(int)


def pixels(rows: int, seed: int) -> Drawn:
    """36 correlated integers between 30 and 150, 6 classes."""
    random = np.random.default_rng(seed)
    y = random.choice(6, rows, p=(0.24, 0.11, 0.21, 0.10, 0.11, 0.23))
    centers = random.uniform(55, 115, (6, 4))
    base = centers[y] + random.normal(0, 9, (rows, 4))
    X = np.repeat(base[:, None], 9, axis=1) + random.normal(0, 5, (rows, 9, 4))
    return _frame(np.clip(X.reshape(rows, 36), 30, 150).round()), y


def clusters(rows: int, seed: int) -> Drawn:
    """20 continuous columns, half of them informative, 5 classes of two clusters each."""
    X, y = make_classification(rows, 20, n_informative=10, n_redundant=2, n_classes=5, random_state=seed)
    return _frame(X), y


def sensors(rows: int, seed: int) -> Drawn:
    """9 integer columns, 7 classes, four in five rows of one of them and a handful of the rarest."""
    random = np.random.default_rng(seed)
    share = np.array((0.786, 0.154, 0.051, 0.006, 0.0018, 0.0007, 0.0005))
    y = random.choice(7, rows, p=share / share.sum())
    centers, spread = random.normal(0, 25, (7, 9)), random.uniform(4, 18, (7, 9))
    return _frame((centers[y] + spread[y] * random.standard_t(4, (rows, 9))).round()), y


def rare(rows: int, seed: int) -> Drawn:
    """30 continuous columns, two positives in a thousand."""
    random = np.random.default_rng(seed)
    y = (random.random(rows) < 0.002).astype(int)
    X = random.normal(0, 1, (rows, 30)) * random.uniform(0.5, 3, 30)
    X[:, :12] += y[:, None] * random.normal(0, 2.5, 12)
    return _frame(X), y


def integers(rows: int, seed: int, values: int, classes: int, columns: int = 20) -> Drawn:
    """Integers of 2 to 256 values, duplicated rows (a fifth), one column sorted."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, rows)
    centers = random.uniform(0.2, 0.8, (classes, columns))
    X = np.clip((centers[y] + random.normal(0, 0.15, (rows, columns))) * values, 0, values - 1).astype(int)
    X[:, 0] = np.sort(X[:, 0])
    copies = rows // 5
    X[-copies:], y[-copies:] = X[:copies], y[:copies]
    return _frame(X), y


def zipf_categories(rows: int, seed: int, values: int, classes: int = 2) -> Drawn:
    """10 categorical columns of so many values, a fifth missing, and a one-hot block of 10."""
    random = np.random.default_rng(seed)
    frame, score = {}, random.normal(0, 1, (rows, classes))
    for c in range(10):
        codes = zipf(random, rows, values)
        score += random.normal(0, 0.7, (values, classes))[codes]
        frame[f"c{c}"] = _with_gaps(random, np.char.add("v", codes.astype(str)).astype(object), 0.2)
    block = zipf(random, rows, 10)
    score += random.normal(0, 0.7, (10, classes))[block]
    for k in range(10):
        frame[f"b{k}"] = (block == k).astype(int)
    return pd.DataFrame(frame), score.argmax(axis=1)


def zipf(random: np.random.Generator, rows: int, values: int) -> Array:
    """Codes of which each is about half as frequent as the one at half its number."""
    share = 1 / np.arange(1, values + 1)
    return random.choice(values, rows, p=share / share.sum())


def bundled(rows: int, seed: int, name: str) -> Drawn:
    """A reference set, whole."""
    data = load(name)
    return data.X, data.y.to_numpy()


def _frame(X: Array) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{c}" for c in range(X.shape[1])])


def _with_gaps(random: np.random.Generator, column: Array, share: float) -> Array:
    column = column.copy()
    column[random.random(len(column)) < share] = None if column.dtype == object else np.nan
    return column


# The nine tables of the headline: (rows with those of the test, generator).
HEADLINE: dict[str, tuple[int, Callable[[int, int], Drawn]]] = {
    "images": (28_571, images),
    "terrain": (200_000, terrain),
    "categories": (200_000, categories),
    "adult": (0, partial(bundled, name="adult")),
    "letter": (0, partial(bundled, name="letter")),
    "pixels": (6435, pixels),
    "clusters": (14_286, clusters),
    "sensors": (58_000, sensors),
    "rare": (142_857, rare),
}
OTHERS: dict[str, tuple[int, Callable[[int, int], Drawn]]] = {
    "segment": (0, partial(bundled, name="segment")),
    "german": (0, partial(bundled, name="german")),
    "audiology": (0, partial(bundled, name="audiology")),
    "mnist5k": (0, partial(bundled, name="mnist5k")),
    "vw": (0, partial(bundled, name="vw")),
    "integers-2": (30_000, partial(integers, values=2, classes=7)),
    "integers-16": (30_000, partial(integers, values=16, classes=26)),
    "integers-256": (30_000, partial(integers, values=256, classes=100)),
    "zipf-3": (30_000, partial(zipf_categories, values=3)),
    "zipf-30": (30_000, partial(zipf_categories, values=30, classes=7)),
    "zipf-300": (30_000, partial(zipf_categories, values=300)),
    "zipf-3000": (30_000, partial(zipf_categories, values=3000)),
}
TABLES = HEADLINE | OTHERS


def make_table(name: str, share: float = 1.0) -> Table:
    """Draw a table, always the same, and part it: 70 % of the rows to learn from. `share` of the rows is drawn."""
    rows, draw = TABLES[name]
    X, y = draw(max(300, round(share * rows)), 0)
    if share < 1 and not rows:
        X, y = X.iloc[: max(300, round(share * len(X)))], y[: max(300, round(share * len(X)))]
    texts = [column for column, kind in column_kinds(X).items() if kind == "category"]
    numbers = X.copy()
    if texts:
        numbers[texts] = OrdinalEncoder().fit_transform(X[texts])
    coded = numbers.to_numpy(dtype=np.float64)
    coded = np.where(np.isnan(coded), np.nanmin(coded, axis=0) - 1, coded)
    train, test, coded, test_coded, y, y_test = train_test_split(X, coded, y, test_size=0.3, random_state=0)
    train, test = train.reset_index(drop=True), test.reset_index(drop=True)
    return Table(name, train, coded, y, test, test_coded, y_test)
