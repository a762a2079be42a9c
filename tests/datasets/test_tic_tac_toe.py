from itertools import product
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from conjunto import CARTClassifier  # noqa: E402
from conjunto.datasets import make_tic_tac_toe  # noqa: E402
from conjunto.datasets.tic_tac_toe import bayes_tic_tac_toe  # noqa: E402

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "tic-tac-toe.csv"


def winners(board):
    square = np.array(board).reshape(3, 3)
    lines = [*square, *square.T, square.diagonal(), square[:, ::-1].diagonal()]
    return {line[0] for line in lines if len(set(line)) == 1} - {"b"}


def test_brute_force_over_all_boards():
    """A board is final if x has moved last and not o won, or o last and not x, and someone won or none is blank.

    A winner's last move must have made the row; with x first, x wins on x = o + 1 and o on x = o.
    """
    final = set()
    for board in product("xob", repeat=9):
        ahead = board.count("x") - board.count("o")
        who = winners(board)
        if (
            (who == {"x"} and ahead == 1)
            or (who == {"o"} and ahead == 0)
            or (not who and "b" not in board and ahead == 1)
        ):
            final.add((*board, "positive" if who == {"x"} else "negative"))
    X, y = make_tic_tac_toe()
    assert len(X) == len(final) == 958
    assert {(*row, label) for row, label in zip(X.itertuples(index=False, name=None), y, strict=True)} == final
    assert (y == "positive").sum() == 626
    np.testing.assert_array_equal(bayes_tic_tac_toe(X), y)


def test_equals_the_reference_file():
    if not REFERENCE.is_file():
        pytest.skip("the reference file is not here")
    table = pd.read_csv(REFERENCE)
    X, y = make_tic_tac_toe()
    assert list(X.columns) == list(table.columns[:-1])
    rows = {tuple(row) for row in table.to_numpy()}
    assert {(*row, label) for row, label in zip(X.to_numpy(), y, strict=True)} == rows
    # Even the order is UCI's.
    np.testing.assert_array_equal(X.to_numpy(), table.iloc[:, :-1].to_numpy())
    np.testing.assert_array_equal(y, table["target"])


def test_columns_are_categories_that_a_tree_can_learn():
    X, y = make_tic_tac_toe()
    assert all(isinstance(kind, pd.CategoricalDtype) and list(kind.categories) == ["x", "o", "b"] for kind in X.dtypes)
    assert CARTClassifier(random_state=0).fit(X, y).score(X, y) == 1
