import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.text import Text

from conjunto.plots import TradeOffDisplay

mpl.use("Agg")


def boxes(display):
    display.figure_.draw_without_rendering()
    return [Text.get_window_extent(text) for text in display.texts_]


def test_points_stand_at_cost_and_error_with_their_names():
    cost, error, names = [0.01, 0.2, 1.5], [0.31, 0.24, 0.25], ["cart", "bagging", "switching"]
    display = TradeOffDisplay(cost, error, names).plot(xlabel="fit seconds", ylabel="error", title="trade")
    offsets = np.vstack([c.get_offsets() for c in display.ax_.collections])
    np.testing.assert_allclose(offsets, np.column_stack([cost, error]))
    assert [text.get_text() for text in display.texts_] == names
    for text, point in zip(display.texts_, offsets, strict=True):
        np.testing.assert_allclose(text.xy, point)
    assert display.ax_.get_xscale() == "log"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("fit seconds", "error")
    assert display.ax_.get_title() == "trade"
    shapes = {c.get_paths()[0].vertices.tobytes() for c in display.ax_.collections}
    assert len(shapes) == 3  # not told apart by colour alone


@pytest.mark.parametrize("seed", range(10))
def test_labels_of_eight_crowded_methods_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    cost, error = 10 ** rng.normal(0, 0.5, 8), rng.normal(0.2, 0.01, 8)
    display = TradeOffDisplay(cost, error, [f"random-method {i}" for i in range(8)]).plot()
    found = boxes(display)
    for one, other in itertools.combinations(found, 2):
        assert not one.overlaps(other)
    inside = display.ax_.get_window_extent()
    for box in found:
        assert inside.x0 - 1 <= box.x0 < box.x1 <= inside.x1 + 1


def test_the_same_point_twice_has_two_labels():
    one, other = boxes(TradeOffDisplay([1, 1], [0.5, 0.5], ["one", "other"]).plot())
    assert not one.overlaps(other)


@pytest.mark.parametrize("seed", range(5))
def test_unbeaten_is_what_brute_force_says(seed):
    rng = np.random.default_rng(seed)
    cost, error = rng.permutation(12) + 1.0, rng.permutation(12) + 1.0
    names = [str(i) for i in range(12)]
    expected = [i for i in range(12) if not any(cost[j] < cost[i] and error[j] < error[i] for j in range(12))]
    assert sorted(TradeOffDisplay(cost, error, names).unbeaten) == sorted(str(i) for i in expected)


def test_what_has_no_place_on_the_axes_is_left_out():
    display = TradeOffDisplay([0.0, np.nan, 2.0], [0.1, 0.2, np.nan], ["a", "b", "c"]).plot()
    assert display.texts_ == []
    display = TradeOffDisplay([1.0, np.nan], [0.1, 0.2], ["a", "b"]).plot()
    assert [text.get_text() for text in display.texts_] == ["a"]
    display.figure_.draw_without_rendering()


def test_colours_and_markers_can_be_given_and_lengths_must_agree():
    axes = mpl.figure.Figure().add_subplot()
    display = TradeOffDisplay([1], [2], ["a"]).plot(ax=axes, colors={"a": "#123456"}, markers={"a": "^"})
    assert display.ax_ is axes
    assert mpl.colors.to_hex(axes.collections[0].get_facecolor()[0]) == "#123456"
    with pytest.raises(ValueError, match="one length"):
        TradeOffDisplay([1, 2], [1], ["a"])
