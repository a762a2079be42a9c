"""Tools that take scikit-learn's own classes take what `to_sklearn` gives; skipped where they are not installed."""

import numpy as np
import pytest

import conjunto
from conjunto import to_sklearn
from conjunto.datasets import make_waveform


@pytest.fixture(scope="module")
def forest():
    X, y = make_waveform(300, random_state=0)
    return conjunto.RandomForestClassifier(20, max_depth=6, random_state=0).fit(X, y), X


def test_shap_values_add_up_to_the_prediction(forest):
    shap = pytest.importorskip("shap")
    model, X = forest
    explained = shap.TreeExplainer(to_sklearn(model, X))(X[:50])
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, model.predict_proba(X[:50]), atol=1e-6)


def test_onnx_predicts_alike(forest):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X = forest
    rows = X.astype(np.float32)
    written = skl2onnx.to_onnx(to_sklearn(model, X), rows[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, shares = session.run(None, {session.get_inputs()[0].name: rows})
    np.testing.assert_allclose(shares, model.predict_proba(rows.astype(float)), atol=1e-5)
    np.testing.assert_array_equal(labels, model.predict(rows.astype(float)))
