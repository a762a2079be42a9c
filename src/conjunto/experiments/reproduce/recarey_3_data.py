"""The data of Recarey (2021), chapter 3, prepared as in the listings of its appendix B.

P1 drops gaps, duplicates and everybody outside the United States, joins levels of two attributes and codes one column
per level; P2 makes pixels black or white; P3 codes one column per level and keeps the 80 % that the table is of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from conjunto.datasets import Dataset, is_number

if TYPE_CHECKING:
    import pandas as pd

SCHOOL = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th")
LEVELS = {
    "education": {
        **dict.fromkeys(SCHOOL, "dropout"),
        "HS-grad": "HighGrad",
        **dict.fromkeys(("Some-college", "Assoc-acdm", "Assoc-voc"), "CommunityCollege"),
        "Prof-school": "Masters",
    },
    "marital-status": {
        **dict.fromkeys(("Never-married", "Married-spouse-absent"), "NotMarried"),
        **dict.fromkeys(("Married-AF-spouse", "Married-civ-spouse"), "Married"),
        "Divorced": "Separated",
    },
}
"""The levels of P1 that are joined with others, and what they are called then."""
UNUSED = ("fnlwgt", "education-num", "native-country")
CARS_SHARE = 0.8


def prepare_adult(data: Dataset) -> Dataset:
    """P1: 41,256 of the 48,842 people, 48 columns."""
    people = data.X.assign(target=data.y).dropna().drop_duplicates()
    people = people[people["native-country"] == "United-States"]
    X = people.drop(columns=["target", *UNUSED])
    for column, joined in LEVELS.items():
        X[column] = X[column].astype(object).replace(joined)
    notes = ("without gaps and duplicates, United States only", "levels of education and marital-status joined")
    return replace(data, X=_coded(X), y=people["target"].reset_index(drop=True), notes=(*data.notes, *notes))


def prepare_digits(data: Dataset) -> Dataset:
    """P2: every pixel that is not white is black."""
    return replace(data, X=(data.X > 0).astype(float), notes=(*data.notes, "pixels are 0 or 1"))


def prepare_cars(data: Dataset) -> Dataset:
    """P3: 39 columns, and with the price the 40 that the thesis counts; a random 80 % of the rows."""
    chosen = np.random.default_rng(0).permutation(len(data.y))[: int(CARS_SHARE * len(data.y))]
    X = _coded(data.X).iloc[chosen].reset_index(drop=True)
    y = data.y.iloc[chosen].reset_index(drop=True)
    return replace(data, X=X, y=y, notes=(*data.notes, f"a random {CARS_SHARE:.0%} of the rows"))


def _coded(X: pd.DataFrame) -> pd.DataFrame:
    """One column of 0 and 1 for every level that occurs; numbers stay."""
    import pandas

    texts = [column for column in X.columns if not is_number(X[column].dtype)]
    return pandas.get_dummies(X.astype(dict.fromkeys(texts, object)), dtype=float).reset_index(drop=True)
