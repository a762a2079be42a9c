"""Sparse X: every estimator that takes it gives the trees of the same rows written out."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import get_tags

import conjunto
from conjunto import BaggingClassifier, CARTClassifier, RandomForestClassifier, order, prune
from conjunto.evaluation import oob_votes
from conjunto.sparse import as_csr

# What combines models takes what they take: `tests/contract/test_combiners.py`.
NAMES = [
    name
    for name in conjunto.__all__
    if hasattr(getattr(conjunto, name), "predict") and ".combiners." not in conjunto._HOMES.get(name, "")
]
TAKING = [name for name in NAMES if get_tags(getattr(conjunto, name)()).input_tags.sparse]
FORMS = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array]


def small(name):
    model = getattr(conjunto, name)()
    wanted = {"n_estimators": 4, "n_committees": 2, "committee_size": 2, "random_state": 0}
    return model.set_params(**{key: value for key, value in wanted.items() if key in model.get_params()})


def written_out(n=90, m=12, seed=0, missing=False):
    """Mostly zeros; a column without entries, one without zeros, whole and real numbers, negative ones."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(0, 3, (n, m)), 1) * (random.random((n, m)) < 0.2)
    X[:, 3] = 0
    X[:, 4] = random.integers(1, 4, n)
    if missing:
        X[random.random((n, m)) < 0.03] = np.nan
    filled = np.nan_to_num(X)
    return X, ((filled[:, 0] > 0) + (filled[:, 1] + filled[:, 4] > 2)).astype(int)


def test_nearly_all_take_it():
    assert set(NAMES) - set(TAKING) == {"C45Classifier", "DoubleBaggingClassifier"}
    for name in ("C45Classifier", "DoubleBaggingClassifier"):
        with pytest.raises(TypeError, match="toarray"):
            small(name).fit(sparse.csr_matrix(np.eye(4)), [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore:.*kept:UserWarning", "ignore:flipping a share:UserWarning")
@pytest.mark.parametrize("name", TAKING)
def test_the_same_model_of_both_forms(name):
    # Noise on targets makes sums round: where rows with and without a value are on one side, in different ways.
    X, y = written_out(missing=name != "OutputSmearingRegressor")
    target = y if name.endswith("Classifier") else y / 4
    ask = "predict_proba" if hasattr(small(name), "predict_proba") else "predict"
    dense = small(name).fit(X, target)
    scattered = small(name).fit(sparse.csr_matrix(X), target)
    expected = getattr(dense, ask)(X)
    for model, rows in ((scattered, X), (scattered, sparse.csc_array(X)), (dense, sparse.csr_array(X))):
        np.testing.assert_array_equal(getattr(model, ask)(rows), expected)
    if hasattr(dense, "apply"):
        np.testing.assert_array_equal(scattered.apply(sparse.csr_matrix(X)), dense.apply(X))
    again = pickle.loads(pickle.dumps(scattered))
    np.testing.assert_array_equal(getattr(again, ask)(sparse.csr_matrix(X)), expected)


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(
        st.lists(st.sampled_from([0.0] * 6 + [1.0, 2.0, -1.0, 0.5, np.nan]), min_size=4, max_size=4),
        min_size=2,
        max_size=24,
    ),
    kept=st.booleans(),
    weighted=st.booleans(),
    regression=st.booleans(),
    parameters=st.sampled_from(
        [{}, {"max_features": 2}, {"splitter": "random"}, {"max_leaf_nodes": 4}, {"min_samples_leaf": 2}, {"k_best": 2}]
    ),
    seed=st.integers(0, 99),
)
def test_trees_of_any_rows(cells, kept, weighted, regression, parameters, seed):
    X = np.array(cells)
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, len(X)) / (8 if regression else 1)
    weights = random.integers(0, 3, len(X)) if weighted else None
    if weighted:
        weights[0] = 1
    rows = sparse.csr_matrix(X)
    if kept:
        # Zeros that are stored all the same.
        rows = sparse.csr_matrix((X.ravel(), np.tile(np.arange(4), len(X)), np.arange(0, X.size + 1, 4)), shape=X.shape)
    kind = conjunto.CARTRegressor if regression else CARTClassifier
    dense = kind(random_state=seed, **parameters).fit(X, y, weights).tree_
    scattered = kind(random_state=seed, **parameters).fit(rows, y, weights).tree_
    for field in ("feature", "threshold", "children_left", "missing_go_to_left", "value", "impurity"):
        np.testing.assert_array_equal(getattr(dense, field), getattr(scattered, field))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken_and_none_is_changed(form):
    X, y = written_out()
    given_rows = form(X)
    before = given_rows.copy()
    model = RandomForestClassifier(30, oob_score=True, random_state=0).fit(given_rows, y)
    assert (abs(given_rows - before)).sum() == 0
    dense = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ == dense.oob_score_
    np.testing.assert_array_equal(model.feature_importances_, dense.feature_importances_)
    np.testing.assert_array_equal(model.decision_path(given_rows)[0].toarray(), dense.decision_path(X)[0].toarray())
    np.testing.assert_array_equal(oob_votes(model, given_rows).labels, oob_votes(dense, X).labels)


def test_unsorted_and_doubled_entries_mean_what_scipy_means():
    X, y = written_out()
    rows = sparse.csr_matrix(X)
    entries = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)])
    halves = np.repeat(rows.data[entries] / 2, 2)
    doubled = sparse.csr_matrix((halves, np.repeat(rows.indices[entries], 2), 2 * rows.indptr), shape=rows.shape)
    kept = doubled.copy()
    np.testing.assert_array_equal(
        CARTClassifier().fit(doubled, y).predict(doubled), CARTClassifier().fit(X, y).predict(X)
    )
    assert np.array_equal(doubled.data, kept.data)
    assert np.array_equal(doubled.indices, kept.indices)
    # In single precision the numbers are copied, and the places are not.
    single = doubled.astype(np.float32)
    before = single.toarray()
    CARTClassifier().fit(X, y).apply(single)
    CARTClassifier().fit(single, y)
    np.testing.assert_array_equal(single.toarray(), before)
    wide = sparse.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert as_csr(wide).indices.dtype == np.int32
    np.testing.assert_array_equal(CARTClassifier().fit(wide, y).predict(wide), CARTClassifier().fit(X, y).predict(X))


def test_a_dataframe_of_sparse_columns():
    X, y = written_out()
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=[f"x{i}" for i in range(12)])
    model = RandomForestClassifier(5, random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    expected = RandomForestClassifier(5, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_pipelines_of_words_and_categories():
    words = [
        "red round sweet apple",
        "green sour apple",
        "yellow long sweet banana",
        "green banana",
        "round orange",
    ] * 8
    fruit = ["apple", "apple", "banana", "banana", "orange"] * 8
    model = make_pipeline(TfidfVectorizer(), RandomForestClassifier(20, random_state=0)).fit(words, fruit)
    assert model.score(words, fruit) == 1
    random = np.random.default_rng(0)
    colours = random.choice(["a", "b", "c"], (120, 3))
    answer = (colours[:, 0] == "a") & (colours[:, 1] != "b")
    assert make_pipeline(OneHotEncoder(), CARTClassifier()).fit(colours, answer).score(colours, answer) == 1


def test_members_of_other_libraries_receive_sparse_rows():
    X, y = make_classification(120, 10, random_state=0)
    X = np.abs(np.where(np.abs(X) < 0.8, 0, X))

    class Watching(MultinomialNB):
        def fit(self, X, y, sample_weight=None):
            assert sparse.issparse(X)
            return super().fit(X, y, sample_weight)

    model = BaggingClassifier(Watching(), n_estimators=5, random_state=0).fit(sparse.csr_matrix(X), y)
    dense = BaggingClassifier(MultinomialNB(), n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(X)), dense.predict(X))
    with pytest.raises(TypeError, match="toarray"):
        BaggingClassifier(GaussianNB()).fit(sparse.csr_matrix(X), y)


def test_after_the_fit_rows_may_be_sparse():
    X, y = written_out(200)
    rows = sparse.csr_matrix(X)
    bagging = BaggingClassifier(n_estimators=15, random_state=0).fit(rows, y)
    dense = BaggingClassifier(n_estimators=15, random_state=0).fit(X, y)
    np.testing.assert_array_equal(order(bagging, rows, y), order(dense, X, y))
    small_one = prune(bagging, rows, y, keep=5, selection="oob")
    np.testing.assert_array_equal(small_one.predict(rows), prune(dense, X, y, keep=5, selection="oob").predict(X))
    with pytest.raises(ValueError, match="order"):
        prune(bagging, rows[::-1], y[::-1], selection="oob")
    more = clone(bagging).set_params(n_estimators=4, warm_start=True).fit(rows, y)
    more.set_params(n_estimators=8).fit(rows, y)
    np.testing.assert_array_equal(more.votes(rows).labels, bagging.votes(rows).labels[:8])
    with pytest.raises(ValueError, match="first fit"):
        more.set_params(n_estimators=12).fit(2 * rows, y)


def test_what_cannot_be_is_refused():
    X, y = written_out()
    rows = sparse.csr_matrix(X)
    with pytest.raises(ValueError, match="infinity"):
        CARTClassifier().fit(sparse.csr_matrix(np.where(X > 2, np.inf, X)), y)
    with pytest.raises(ValueError, match="12 features"):
        CARTClassifier().fit(rows, y).predict(rows[:, :5])
    with pytest.raises(ValueError, match="max_bins is for dense X"):
        CARTClassifier(max_bins=16).fit(rows, y)
    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": range(40)})
    with pytest.raises(ValueError, match="must be like it, and not sparse"):
        CARTClassifier().fit(frame, [0, 1] * 20).predict(sparse.csr_matrix((3, 2)))
    with pytest.raises(TypeError, match="X_val must not be sparse"):
        CARTClassifier(prune="reduced-error").fit(rows, y, X_val=rows, y_val=y)
