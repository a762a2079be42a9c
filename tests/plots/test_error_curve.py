import matplotlib as mpl
import numpy as np
import pytest

from conjunto import BaggingClassifier, RandomForestClassifier
from conjunto.datasets import make_twonorm
from conjunto.evaluation import error_curve
from conjunto.plots import ErrorCurveDisplay

mpl.use("Agg")


def test_the_lines_are_the_curves():
    curves = {"one": [0.3, 0.2, 0.1], "two": [0.4, 0.4]}
    display = ErrorCurveDisplay(curves).plot(title="errors")
    assert display.figure_ is display.ax_.figure
    assert len(display.ax_.lines) == 2
    for line, (name, curve) in zip(display.ax_.lines, curves.items(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, len(curve) + 1))
        np.testing.assert_array_equal(line.get_ydata(), curve)
        assert line.get_label() == name
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["one", "two"]
    assert display.ax_.get_title() == "errors"
    assert display.ax_.get_xlabel() == "members"
    assert display.ax_.get_ylim()[0] == 0
    assert len({line.get_linestyle() for line in display.ax_.lines}) == 2
    display.figure_.canvas.draw()


def test_estimators_are_judged_on_the_data():
    X, y = make_twonorm(80, random_state=0)
    new, truth = make_twonorm(200, random_state=1)
    models = {
        "bagging": BaggingClassifier(n_estimators=12, random_state=0).fit(X, y),
        "forest": RandomForestClassifier(n_estimators=7, random_state=0).fit(X, y),
    }
    axes = mpl.figure.Figure().add_subplot()
    display = ErrorCurveDisplay.from_estimators(models, new, truth, ax=axes)
    assert display.ax_ is axes
    for line, (name, model) in zip(axes.lines, models.items(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), error_curve(model.votes(new), truth))
        np.testing.assert_allclose(display.curves[name], line.get_ydata())


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_pictures_can_be_saved(tmp_path, suffix):
    path = tmp_path / f"curve.{suffix}"
    ErrorCurveDisplay({"one": [0.5]}).plot().figure_.savefig(path)
    assert path.stat().st_size > 1000


def test_a_figure_of_its_own_is_shown_by_pyplot():
    from matplotlib import pyplot

    display = ErrorCurveDisplay({"a": [0.5, 0.4]}).plot()
    assert display.figure_.number in pyplot.get_fignums()
