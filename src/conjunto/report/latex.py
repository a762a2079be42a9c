"""Leaderboards as LaTeX: a `tabular` with the rules of booktabs, for a document that asks for nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from conjunto.experiments.measures import MEASURES
from conjunto.report.words import DASH, NO_BREAK, Scale, evidence, human_bytes, human_seconds, title

if TYPE_CHECKING:
    import pandas as pd

# What means something to LaTeX, or has no sign in the fonts that it starts with.
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    # At the head of a line these would belong to the end of the line before.
    "[": "{[}",
    "*": "{*}",
    "²": "$^2$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "⊕": r"$\oplus$",
    "…": r"\dots{}",
    "\N{MINUS SIGN}": "$-$",
    DASH: "--",
    NO_BREAK: "~",
}


def as_latex(frame: pd.DataFrame) -> str:
    """What `leaderboards` returns, with numbers as on the page, the best of every measure and data set in bold."""
    measures = [name.removesuffix("_mean") for name in frame.columns if name.endswith("_mean")]
    several = frame["dataset"].nunique() > 1
    heads = [*(["data set"] if several else []), "rank", "method", *(f"{title(name)} ± sd" for name in measures)]
    heads += ["against the best", "fit", "predict", "size"]
    lines = [
        r"% needs \usepackage{booktabs}",
        f"\\begin{{tabular}}{{{'l' * several}rl{'r' * len(measures)}lrrr}}",
        r"\toprule",
        _line(escaped(head) for head in heads),
    ]
    for name in frame["dataset"].unique():
        lines.append(r"\midrule")
        for number, cells in enumerate(_board(frame[frame["dataset"] == name], measures)):
            first = [escaped(str(name)) if number == 0 else ""] if several else []
            lines.append(_line([*first, *cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escaped(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(_ESCAPES.get(sign, sign) for sign in re.sub(r"\s*[\n\r\t]\s*", " ", text))


def _board(board: pd.DataFrame, measures: list[str]) -> Iterable[list[str]]:
    """The cells of one data set, line by line."""
    means = {measure: board[f"{measure}_mean"] for measure in measures}
    scales = {measure: Scale.of(measure, means[measure]) for measure in measures}
    best = {measure: _best(means[measure], measure, scales[measure]) for measure in measures}
    for row in board.to_dict("records"):
        done = row["partitions"] > 0
        mark = "⊕ " if row["combined"] else ""
        cells = [str(row["rank"]) if done else escaped(DASH), escaped(mark + row["method"])]
        for measure, scale in scales.items():
            mean, sd = row[f"{measure}_mean"], row[f"{measure}_sd"]
            text = scale.write(mean)
            shown = f"\\textbf{{{escaped(text)}}}" if text == best[measure] else escaped(text)
            cells.append(shown if text == DASH else f"{shown} {escaped(f'± {scale.write(sd)}')}")
        p = evidence(row["p_value"], row["p_rows"])
        said = "the best" if row["verdict"] == "best" else row["verdict"]
        cells.append(escaped(f"{said}, {p}" if p else said))
        times = [human_seconds(row["fit_seconds"]), human_seconds(row["predict_seconds"])]
        yield [*cells, *map(escaped, [*times, human_bytes(row["model_bytes"])])]


def _best(means: pd.Series, measure: str, scale: Scale) -> str | None:
    """The best value as it is printed: what looks equal is equally bold."""
    known = means.dropna()
    if known.empty:
        return None
    return scale.write(known.max() if MEASURES[measure].greater_is_better else known.min())


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
