"""Rows that were read once serve the model that read them, and its parts; another model refuses them."""

import numpy as np
import pandas as pd
import pytest

from conjunto import BaggingClassifier, CARTClassifier, DoubleBaggingClassifier

FRAME = pd.DataFrame({"colour": ["red", "green", "blue", "red"] * 5, "size": np.arange(20.0)})
OTHER = FRAME.replace({"blue": "azure"})
Y = np.arange(20) % 2


@pytest.mark.parametrize("kind", [BaggingClassifier, DoubleBaggingClassifier])
def test_rows_of_another_model_are_refused(kind):
    model, other = kind(random_state=0).fit(FRAME, Y), kind(random_state=0).fit(OTHER, Y)
    rows = model.read(FRAME)
    np.testing.assert_array_equal(model.predict(rows), model.predict(FRAME))
    np.testing.assert_array_equal(model.take([1, 0]).predict(rows), model.take([1, 0]).predict(FRAME))
    for method in (other.predict, other.predict_proba, other.votes, other.contributions):
        with pytest.raises(ValueError, match="read by a model of other columns or categories: read X with this one"):
            method(rows)
    # The same columns and categories are the same reading, whoever read them.
    again = kind(random_state=1).fit(FRAME, Y)
    np.testing.assert_array_equal(again.predict(rows), again.predict(FRAME))
    with pytest.raises(ValueError, match="other columns"):
        CARTClassifier().fit(FRAME[["size"]], Y).predict(rows)
