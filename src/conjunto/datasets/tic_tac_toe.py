"""Tic-tac-toe: every board at which a game can end, x moving first (Aha's data set at UCI, made by playing)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

SQUARES = tuple(
    f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
THREE_IN_A_ROW = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
# x, o and blank, in the order in which UCI's file counts.
MARKS = "xob"


def make_tic_tac_toe() -> tuple[pd.DataFrame, NDArray[np.str_]]:
    """All 958 final boards of tic-tac-toe; "positive" where x, who moves first, has three in a row.

    There are 626 positive boards; of the 332 negative ones o wins 316 and 16 are draws. Rows stand as in UCI's file:
    x wins, o wins, draws, and in each x before o before b. Needs pandas.

    Returns
    -------
    X : DataFrame of shape (958, 9)
        Categorical columns "top-left-square" .. "bottom-right-square" with the values x, o and b (blank).
    y : array of shape (958,)
        "positive" or "negative".

    References
    ----------
    Aha (1991). Tic-Tac-Toe Endgame. UCI Machine Learning Repository. https://doi.org/10.24432/C5688J

    Examples
    --------
    >>> from conjunto.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe()
    >>> X.shape, int((y == "positive").sum())
    ((958, 9), 626)
    """
    import pandas as pd

    boards = sorted(_final_boards(), key=lambda board: (_result(board), [MARKS.index(mark) for mark in board]))
    table = pd.DataFrame([list(board) for board in boards], columns=list(SQUARES))
    return table.astype(pd.CategoricalDtype(list(MARKS))), bayes_tic_tac_toe(table)


def bayes_tic_tac_toe(X: ArrayLike) -> NDArray[np.str_]:
    """The rule of the game: "positive" where x has three in a row.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, 9)
        Values x, o and b.

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> bayes_tic_tac_toe([list("xxxoobbbb"), list("oooxxbxbb")])
    array(['positive', 'negative'], dtype='<U8')
    """
    has_x = np.asarray(X, dtype=object) == "x"
    wins = has_x[:, np.array(THREE_IN_A_ROW)].all(axis=2).any(axis=1)
    return np.where(wins, "positive", "negative")


def _final_boards() -> set[str]:
    """Play all games, move by move; boards reached in several ways count once."""
    open_boards, final = {"b" * 9}, set[str]()
    for move in range(9):
        mark = "xo"[move % 2]
        open_boards = {
            board[:square] + mark + board[square + 1 :]
            for board in open_boards
            for square in range(9)
            if board[square] == "b"
        }
        final |= {board for board in open_boards if move == 8 or _has_row(board, mark)}
        open_boards -= final
    return final


def _has_row(board: str, mark: str) -> bool:
    return any(all(board[square] == mark for square in row) for row in THREE_IN_A_ROW)


def _result(board: str) -> int:
    """0 if x wins, 1 if o wins, 2 for a draw."""
    return 0 if _has_row(board, "x") else 1 if _has_row(board, "o") else 2
