import matplotlib as mpl
import numpy as np
import pytest

from conjunto import BaggingClassifier, BaggingRegressor, PrunedClassifier, PruningCurveDisplay, prune
from conjunto.datasets import make_twonorm

mpl.use("Agg")
CURVE = {"members": [1, 2, 3, 4], "test": [0.4, 0.2, 0.25, 0.3], "train": [0.2, 0.1, 0.0, 0.1]}


def lines_of(display):
    """The curves by what the legend calls them, without the lines that stand for all and for the cut."""
    return {line.get_label(): line for line in display.ax_.lines if not line.get_label().startswith("_")}


def test_the_lines_are_the_curves_the_whole_and_the_cut():
    display = PruningCurveDisplay(CURVE, 2, optimistic=["train"]).plot(title="twonorm")
    lines = lines_of(display)
    assert list(lines) == ["training rows (optimistic)", "test rows", "all 4 members", "2 kept"]
    for name, label in (("train", "training rows (optimistic)"), ("test", "test rows")):
        np.testing.assert_array_equal(lines[label].get_xdata(), [1, 2, 3, 4])
        np.testing.assert_array_equal(lines[label].get_ydata(), CURVE[name])
    others = [line for line in display.ax_.lines if line.get_label().startswith("_")]
    flat = {line.get_color(): line.get_ydata()[0] for line in others if list(line.get_xdata()) == [0, 1]}
    assert flat == {lines["training rows (optimistic)"].get_color(): 0.1, lines["test rows"].get_color(): 0.3}
    points = {line.get_color(): line.get_ydata()[0] for line in others if line.get_marker() == "o"}
    assert points == {lines["training rows (optimistic)"].get_color(): 0.1, lines["test rows"].get_color(): 0.2}
    (upright,) = [line for line in others if list(line.get_ydata()) == [0, 1]]
    assert list(upright.get_xdata()) == [2, 2]
    assert len({str(line.get_linestyle()) for line in lines.values()}) > 1  # not told apart by colour alone
    assert display.ax_.get_title() == "twonorm"
    assert display.ax_.get_ylabel() == "error"
    assert display.ax_.get_ylim()[0] == 0


def test_the_legend_covers_no_line_and_no_label():
    all_rows = {**CURVE, "oob": [0.4, 0.3, 0.3, 0.3], "selection": [0.5, 0.3, 0.3, 0.2]}
    display = PruningCurveDisplay(all_rows, 3, optimistic=all_rows).plot()
    display.figure_.draw_without_rendering()
    (legend,) = display.figure_.legends
    box, figure = legend.get_window_extent(), display.figure_.bbox
    assert box.y1 <= display.ax_.xaxis.label.get_window_extent().y0
    assert figure.x0 <= box.x0 < box.x1 <= figure.x1
    assert len(legend.get_texts()) == 6


@pytest.mark.parametrize("selection", ["train", "oob"])
def test_a_pruned_ensemble_shows_what_prune_measured(selection):
    X, y = make_twonorm(80, random_state=0)
    bag = BaggingClassifier(n_estimators=12, random_state=0).fit(X, y)
    pruned = prune(bag, X, y, keep=5, selection=selection, evaluate=make_twonorm(100, random_state=1))
    axes = mpl.figure.Figure().add_subplot()
    display = PruningCurveDisplay.from_estimator(pruned, ax=axes)
    assert display.ax_ is axes
    assert display.size == 5
    assert display.optimistic == {selection}
    assert list(display.curves) == ["train", "oob", "test"]
    for name, curve in display.curves.items():
        np.testing.assert_array_equal(curve, pruned.curve_[name])
        if name != "oob":  # there the report is about the rows that the part judges
            assert display.whole[name] == pytest.approx(pruned.pruning_report_["error"][name]["before"])
        assert curve[4] == pytest.approx(pruned.pruning_report_["error"][name]["after"])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines_of(display))


def test_a_regression_shows_squared_errors():
    X = np.linspace(0, 1, 60)[:, None]
    bag = BaggingRegressor(n_estimators=6, random_state=0).fit(X, X[:, 0])
    display = PruningCurveDisplay.from_estimator(prune(bag, X, X[:, 0], keep=2))
    assert display.ax_.get_ylabel() == "mean squared error"


def test_an_estimator_that_prunes_itself():
    X, y = make_twonorm(60, random_state=0)
    model = PrunedClassifier(BaggingClassifier(n_estimators=10, random_state=0), keep=0.3, report=True).fit(X, y)
    assert PruningCurveDisplay.from_estimator(model).size == 3
    with pytest.raises(ValueError, match="report=True"):
        PruningCurveDisplay.from_estimator(model.set_params(report=False).fit(X, y))


def test_curves_that_cannot_be_drawn():
    for curve, size, message in (
        ([0.1, 0.2], 1, "must be a dict of 'members'"),
        ({"test": [0.1]}, 1, "must be a dict of 'members'"),
        ({"members": [1], "new": [0.1]}, 1, "train, oob, selection, test"),
        ({"members": [1, 2], "test": [0.1]}, 1, r"'test' has shape \(1,\)"),
        (CURVE, 0, "size must be a whole number of at least 1"),
        (CURVE, 5, "at most the 4 members"),
    ):
        with pytest.raises(ValueError, match=message):
            PruningCurveDisplay(curve, size)


def test_what_is_not_known_is_left_out():
    display = PruningCurveDisplay({**CURVE, "oob": [np.nan] * 4, "train": [np.nan, 0.5, 0.4, 0.3]}, 1).plot()
    assert list(display.curves) == ["train", "test"]
    display.figure_.draw_without_rendering()


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_pictures_can_be_saved(tmp_path, suffix):
    path = tmp_path / f"curve.{suffix}"
    PruningCurveDisplay(CURVE, 2).plot().figure_.savefig(path)
    assert path.stat().st_size > 1000
