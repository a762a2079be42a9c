import itertools

import matplotlib as mpl
import numpy as np
import pytest

from conjunto.experiments.statistics import nemenyi_cliques
from conjunto.plots import CriticalDifferenceDisplay

mpl.use("Agg")


def parts(display, name):
    return [line for line in display.ax_.lines if (line.get_gid() or "").startswith(name)]


def labels(display):
    """Texts that name a method: all but ticks and the length of the bar."""
    return [text for text in display.ax_.texts if text.get_position()[1] < 0]


@pytest.mark.parametrize("seed", range(20))
def test_bars_are_the_cliques_of_the_test(seed):
    rng = np.random.default_rng(seed)
    ranks = {f"m{i}": float(rank) for i, rank in enumerate(np.round(rng.uniform(1, 6, 6), 1))}
    difference = float(rng.uniform(0, 3))
    names = list(ranks)
    expected = [tuple(names[i] for i in clique) for clique in nemenyi_cliques(list(ranks.values()), difference)]
    display = CriticalDifferenceDisplay(ranks, difference).plot()
    assert display.cliques == expected
    bars = parts(display, "clique")
    assert len(bars) == len(expected)
    for bar, clique in zip(bars, expected, strict=True):
        np.testing.assert_allclose(bar.get_xdata(), [ranks[clique[0]], ranks[clique[-1]]], atol=0.05)
    # No two bars on one height share a rank.
    for one, other in itertools.combinations(bars, 2):
        if one.get_ydata()[0] == other.get_ydata()[0]:
            assert one.get_xdata()[1] < other.get_xdata()[0]


@pytest.mark.parametrize("count", range(2, 13))
@pytest.mark.parametrize("letters", [3, 40])
def test_every_method_is_named_once_without_overlap_inside_the_figure(count, letters):
    rng = np.random.default_rng(count)
    ranks = {f"{'x' * letters} {i}": float(rank) for i, rank in enumerate(np.sort(rng.uniform(1, count, count)))}
    display = CriticalDifferenceDisplay(ranks, 1.5).plot()
    display.figure_.draw_without_rendering()
    texts = labels(display)
    for (name, rank), text in zip(ranks.items(), texts, strict=True):
        assert name in text.get_text()
        assert f"{rank:.2f}" in text.get_text()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    whole = display.figure_.bbox
    for box in boxes:
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    # Better methods stand on the left, and each leader starts at its rank.
    for place, (line, rank) in enumerate(zip(parts(display, "leader"), ranks.values(), strict=True)):
        assert line.get_xdata()[0] == rank
        assert (line.get_xdata()[-1] < 1) == (place < -(-count // 2))


def test_the_bar_has_the_length_of_the_difference_and_is_cut_at_the_axis():
    ranks = {"a": 1.2, "b": 2.0, "c": 2.8}
    display = CriticalDifferenceDisplay(ranks, 0.7).plot(title="ranks")
    np.testing.assert_allclose(parts(display, "critical")[0].get_xdata(), [1, 1.7])
    assert "critical difference 0.70" in [text.get_text() for text in display.ax_.texts]
    assert display.ax_.get_title() == "ranks"
    display = CriticalDifferenceDisplay(ranks, 9).plot()
    np.testing.assert_allclose(parts(display, "critical")[0].get_xdata(), [1, 3])
    assert display.cliques == [("a", "b", "c")]


def test_given_axes_are_used():
    axes = mpl.figure.Figure(figsize=(8, 3)).add_subplot()
    assert CriticalDifferenceDisplay({"a": 1.0, "b": 2.0}, 1).plot(ax=axes).ax_ is axes


@pytest.mark.parametrize(
    ("ranks", "difference", "error"),
    [
        ([1, 2], 1, TypeError),
        ({"a": 1.0}, 1, ValueError),
        ({"a": 1.0, "b": float("nan")}, 1, ValueError),
        ({"a": 1.0, "b": 2.0}, -1, ValueError),
        ({"a": 1.0, "b": 2.0}, float("nan"), ValueError),
    ],
)
def test_what_is_no_diagram_is_refused(ranks, difference, error):
    with pytest.raises(error):
        CriticalDifferenceDisplay(ranks, difference)
