"""Leaderboards as one table for other programs: CSV and Parquet with every digit, LaTeX with those of the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conjunto.atomic import whole_file
from conjunto.experiments.results import Results
from conjunto.report.latex import as_latex

if TYPE_CHECKING:
    import pandas as pd

KINDS = (".csv", ".parquet", ".tex")
"""Endings of the files that can be written."""


def leaderboards(results: Results) -> pd.DataFrame:
    """The leaderboards of all data sets that have results, below each other.

    Parameters
    ----------
    results : Results

    Returns
    -------
    DataFrame
        `dataset`, `rank` (missing where a method has no result), `method`, `combined`, `measure` (the one that ranks),
        `partitions`; mean and standard deviation of every measure as `error_mean`, `error_sd` and so on; `p_value`,
        `p_rows`, `verdict`, `fit_seconds`, `predict_seconds`, `model_bytes`, `members`, `failed`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from conjunto.experiments import Experiment, Protocol, run
    >>> from conjunto.report.tables import leaderboards
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> experiment = Experiment(("wine",), ("cart", "bagging"), Protocol("k-fold", repetitions=1, folds=3))
    >>> leaderboards(run(experiment, path))[["dataset", "rank", "method"]].values.tolist()
    [['wine', 1, 'bagging'], ['wine', 2, 'cart']]
    """
    import pandas

    parts = []
    for name, board in results.boards.items():
        part = pandas.DataFrame({"dataset": name, "rank": range(1, len(board) + 1)}, index=board.index)
        part["rank"] = part["rank"].astype("Int64").where(board["n"] > 0)
        part[["method", "combined"]] = board[["method", "combined"]]
        part["measure"], part["partitions"] = results.measures(name)[0], board["n"]
        for measure in results.measures(name):
            scores = results.scores(name, measure)
            part[f"{measure}_mean"] = board["method"].map(scores.mean())
            part[f"{measure}_sd"] = board["method"].map(scores.std(ddof=1))
        rest = ["p_value", "p_rows", "verdict", "fit_seconds", "predict_seconds", "model_bytes", "members", "failed"]
        parts.append(part.join(board[rest]))
    whole = pandas.concat(parts, ignore_index=True)
    # Measures that only some data sets have come behind the others, and not behind the times.
    measured = [column for column in whole.columns if column.endswith(("_mean", "_sd"))]
    first = ["dataset", "rank", "method", "combined", "measure", "partitions"]
    last = [column for column in whole.columns if column not in (*first, *measured)]
    return whole[[*first, *measured, *last]]


def write_table(frame: pd.DataFrame, path: str | Path) -> Path:
    r"""Write what `leaderboards` returns, whole or not at all.

    Parameters
    ----------
    frame : DataFrame
    path : path
        Ends in .csv, .parquet or .tex; the last is a `tabular` for a document with `\usepackage{booktabs}`.

    Returns
    -------
    Path
        `path`.
    """
    path = Path(path)
    if path.suffix not in KINDS:
        raise ValueError(f"path must end in .csv, .parquet or .tex, got {path.name!r}")
    with whole_file(path) as part:
        if path.suffix == ".csv":
            frame.to_csv(part, index=False)
        elif path.suffix == ".parquet":
            frame.to_parquet(part, index=False)
        else:
            part.write_text(as_latex(frame), encoding="utf-8", errors="backslashreplace", newline="\n")
    return path
