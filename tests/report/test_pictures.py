"""Pictures with long names: what is written stays inside the picture."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context

from conjunto.experiments.methods import panel
from conjunto.report import pictures


@pytest.mark.parametrize("ending", ["", ", pruned to 20 %", ":n_estimators=200:estimator__max_depth=3"])
def test_the_legend_of_the_curves_fits_the_picture(monkeypatch, ending):
    monkeypatch.setattr(pictures.Painter, "svg", lambda self, draw, alt: draw())
    names = [f"{name}{ending}" for name in panel("classification")]
    table = pd.DataFrame({name: [0.3, 0.2] for name in names}, index=[1, 10])
    with rc_context(pictures._SETTINGS):
        figure = pictures.Painter(names).curves(table, "error (%)", "alt")
        figure.draw_without_rendering()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 < figure.axes[0].xaxis.label.get_window_extent().y0
        assert len(legend.get_texts()) == len(names)
        assert np.ptp(figure.axes[0].get_window_extent().get_points()[:, 1]) > 100


def test_a_percent_sign_stays_with_its_number():
    folded = pictures.folded("random-forest, pruned to 20 %", 26)
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in folded.split("\n")] == [
        "random-forest, pruned to",
        "20 %",
    ]
