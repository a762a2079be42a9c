"""Leaderboards for other programs."""

import re

import pandas as pd
import pytest

from conjunto.experiments import Results
from conjunto.report.latex import escaped
from conjunto.report.tables import leaderboards, write_table


@pytest.fixture(scope="module")
def frame(stores):
    return leaderboards(Results.read(stores["rare"]))


def test_every_number_is_that_of_the_results(stores):
    results = Results.read(stores["many"])
    whole = leaderboards(results)
    assert whole["dataset"].unique().tolist() == results.datasets
    for name, part in whole.groupby("dataset"):
        board = results.leaderboard(name)
        assert part["method"].tolist() == board["method"].tolist()
        assert part["rank"].tolist() == [1, 2, 3]
        assert part["error_mean"].tolist() == pytest.approx(board["mean"].tolist())
        assert part["error_sd"].tolist() == pytest.approx(board["sd"].tolist())
        assert part["auc_mean"].tolist() == pytest.approx(results.scores(name, "auc").mean()[board["method"]].tolist())
        assert part["p_rows"].equals(board["p_rows"].set_axis(part.index))


def test_a_method_without_results_has_no_rank(altered):
    path = altered("one", "DELETE FROM cells WHERE method = 'cart'")
    whole = leaderboards(Results.read(path))
    assert whole["rank"].isna().tolist() == [False, False, True]


def test_files_hold_the_table(frame, tmp_path):
    back = pd.read_csv(write_table(frame, tmp_path / "t.csv"))
    assert back["error_mean"].tolist() == pytest.approx(frame["error_mean"].tolist())
    back = pd.read_parquet(write_table(frame, tmp_path / "t.parquet"))
    pd.testing.assert_frame_equal(back, frame)
    with pytest.raises(ValueError, match=r"\.csv, \.parquet or \.tex, got 't\.xlsx'"):
        write_table(frame, tmp_path / "t.xlsx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.parquet"]


def test_latex_has_the_numbers_of_the_page(frame, tmp_path, page):
    text = write_table(frame, tmp_path / "t.tex").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.endswith(r"\\")]
    assert len(lines) == 1 + len(frame)
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1]
    for line in lines:
        assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
    for line, row in zip(lines[1:], frame.itertuples(), strict=True):
        number = rf"{100 * row.error_mean:.2f}"
        bold = number == f"{100 * frame['error_mean'].min():.2f}"  # equal in print is equally bold
        assert (rf"\textbf{{{number}}} $\pm$ {100 * row.error_sd:.2f}" in line) == bold
        assert number in line
        assert (r"$\oplus$" in line) == row.combined
        assert any(cell.startswith(number) for cell in page("rare").cells)
    greatest = frame["auc_mean"].max()
    assert rf"\textbf{{{greatest:.4f}}}" in text
    for command in ("toprule", "midrule", "bottomrule", r"end{tabular}"):
        assert f"\\{command}" in text


def test_several_data_sets_have_a_column_and_rules(stores, tmp_path):
    whole = leaderboards(Results.read(stores["many"]))
    text = write_table(whole, tmp_path / "t.tex").read_text(encoding="utf-8")
    assert text.count(r"\midrule") == 4
    assert text.count("wine") == 1


def test_what_means_something_to_latex_is_escaped():
    given = r"a\b{c}$x$&100%#1_y~z^2<d>|[*R²"
    expected = (
        r"a\textbackslash{}b\{c\}\$x\$\&100\%\#1\_y\textasciitilde{}z\textasciicircum{}2\textless{}d\textgreater{}"
        r"\textbar{}{[}{*}R$^2$"
    )
    assert escaped(given) == expected
    assert escaped("two\nlines") == "two lines"


def test_evil_names_are_escaped(stores, tmp_path):
    whole = leaderboards(Results.read(stores["failed"]))
    text = write_table(whole, tmp_path / "t.tex").read_text(encoding="utf-8")
    assert r"\_\$x\$ \&amp; ''y''" in text
    assert "<script" not in text
    assert "nan" not in text.lower()
