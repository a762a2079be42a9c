import numpy as np
import pytest

from conjunto import BaggingClassifier, RandomForestRegressor
from conjunto.callbacks import has_callbacks
from conjunto.datasets import make_twonorm

pytest.importorskip("sklearn.callback")

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:.*experimental.*:UserWarning")


class Recorder:
    """Writes down what a fit reports."""

    def __init__(self):
        self.seen = []

    def setup(self, *args, **options):
        self.seen.append(("setup", None))

    def teardown(self, *args, **options):
        self.seen.append(("teardown", None))

    def on_fit_task_begin(self, estimator, context, **options):
        self.seen.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, **options):
        self.seen.append(("end", context.task_name))
        return False


X, Y = make_twonorm(60, random_state=0)


@pytest.mark.parametrize("model", [BaggingClassifier, RandomForestRegressor])
def test_a_callback_sees_the_fit_and_its_batches(model):
    recorder = Recorder()
    estimator = model(n_estimators=40, random_state=0)
    estimator.set_callbacks(recorder)
    estimator.fit(X, Y)
    events = [event for event in recorder.seen if event[0] in ("begin", "end")]
    assert [event for event, _ in events] == ["begin", *["begin", "end"] * 20, "end"]
    assert [name for _, name in events][1:-1] == ["members"] * 40
    assert recorder.seen[0][0] == "setup"
    assert recorder.seen[-1][0] == "teardown"


def test_callbacks_do_not_change_the_model():
    plain = BaggingClassifier(n_estimators=30, random_state=0).fit(X, Y)
    watched = BaggingClassifier(n_estimators=30, random_state=0)
    watched.set_callbacks(Recorder())
    watched.fit(X, Y)
    np.testing.assert_array_equal(watched.predict_proba(X), plain.predict_proba(X))
    assert has_callbacks(watched)
    assert not has_callbacks(plain)


def test_callbacks_are_torn_down_after_a_failure():
    recorder = Recorder()
    model = BaggingClassifier(max_samples=1000)
    model.set_callbacks(recorder)
    with pytest.raises(ValueError, match="max_samples"):
        model.fit(X, Y)
    assert [event for event, _ in recorder.seen].count("setup") == [event for event, _ in recorder.seen].count(
        "teardown"
    )
