import matplotlib as mpl
import numpy as np
import pytest

from conjunto.plots import ScoreBoxDisplay
from conjunto.plots.score_box import MOST_POINTS

mpl.use("Agg")


def lines_at(display, place):
    return [line for line in display.ax_.lines if np.abs(np.mean(line.get_ydata()) - place) < 0.4]


def test_boxes_stand_in_the_order_given_at_the_quartiles():
    rng = np.random.default_rng(0)
    scores = {"b": rng.normal(1, 1, 21), "a": rng.normal(5, 1, 21)}
    display = ScoreBoxDisplay(scores).plot(xlabel="error", title="two")
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["b", "a"]
    low, high = display.ax_.get_ylim()
    assert low > high  # the first is on top
    for place, values in enumerate(scores.values()):
        drawn = np.concatenate([line.get_xdata() for line in lines_at(display, place)])
        for number in np.quantile(values, [0.25, 0.5, 0.75]):
            assert np.isclose(drawn, number).any()
    assert display.ax_.get_xlabel() == "error"
    assert display.ax_.get_title() == "two"
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()


@pytest.mark.parametrize(("n", "shown"), [(MOST_POINTS, True), (MOST_POINTS + 1, False)])
def test_scores_are_drawn_while_they_are_few_and_the_mean_always(n, shown):
    values = np.linspace(0, 1, n) ** 2
    display = ScoreBoxDisplay({"one": values}).plot(colors={"one": "#123456"}, markers={"one": "s"})
    clouds = [c.get_offsets() for c in display.ax_.collections]
    assert [len(cloud) for cloud in clouds] == ([n, 1] if shown else [1])
    np.testing.assert_allclose(clouds[-1], [[values.mean(), 0]])
    if shown:
        np.testing.assert_allclose(np.sort(clouds[0][:, 0]), values)
        assert np.abs(clouds[0][:, 1]).max() < 0.28  # inside the box's line
    assert mpl.colors.to_hex(display.ax_.collections[-1].get_facecolor()[0]) == "#123456"


def test_nan_is_left_out_and_a_method_without_scores_keeps_its_line():
    display = ScoreBoxDisplay({"none": [np.nan, np.nan], "one": [0.5, np.nan]}).plot()
    assert len(display.scores["none"]) == 0
    np.testing.assert_array_equal(display.scores["one"], [0.5])
    assert not lines_at(display, 0)
    assert lines_at(display, 1)
    assert len(display.ax_.get_yticklabels()) == 2


def test_given_axes_are_used_and_lists_are_refused():
    axes = mpl.figure.Figure().add_subplot()
    assert ScoreBoxDisplay({"one": [1, 2]}).plot(ax=axes).ax_ is axes
    with pytest.raises(TypeError, match="dict"):
        ScoreBoxDisplay([1, 2])
