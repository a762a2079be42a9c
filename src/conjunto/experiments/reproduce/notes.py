"""Lecture notes "Combinación de clasificadores", tabla 1: votes counted against probabilities averaged.

Three classifiers give one row probabilities of two classes. Counted, two votes to one elect t = 1; averaged,
(1/3) sum_i p_i(t), the probabilities are for t = 0.
"""

from __future__ import annotations

import numpy as np

from conjunto.combination import combine, decide
from conjunto.experiments.reproduce.published import read_published
from conjunto.experiments.reproduce.verdicts import Conclusion, Line
from conjunto.votes import Votes

NAME = "one row"
COLUMNS = ("t0", "t1")
DEPARTURES = ("numbers are compared as they are printed, and ours are rounded; 0.496 of the notes is 0.4967, cut off",)


def table_1() -> tuple[list[Line], list[Conclusion]]:
    """Both counts of the printed probabilities, digit by digit, and who wins by each."""
    rows = {row.pop("row"): row for row in read_published("notes-1")}
    shares = np.array([[[float(row[column]) for column in COLUMNS]] for name, row in rows.items() if name[0] == "C"])
    soft = Votes(scores=shares, rule="mean")
    hard = soft.as_labels()
    lines = []
    for name, votes in (("votes", hard), ("mean_probability", soft)):
        for column, ours in zip(COLUMNS, combine(votes).counts[0], strict=True):
            printed = rows[name][column]
            text = f"{ours:.{len(printed.partition('.')[2])}f}"
            verdict = "agrees" if text == printed else "differs"
            title = f"{name.replace('_', ' ')}, t = {column[1]}"
            line = Line(NAME, title, float(printed), float(ours), 0.0, 1, verdict, "", printed, text)
            lines.append(line)
    return lines, [
        Conclusion(f"{how}, t = {winner} wins", bool(decide(votes)[0] == winner), f"t = {decide(votes)[0]}")
        for how, votes, winner in (("counted", hard, 1), ("averaged", soft, 0))
    ]
