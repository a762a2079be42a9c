"""`TablePreparation` against the same numbers worked out by hand, value by value."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from conjunto import TablePreparation
from conjunto.learners.coded import CodedClassifier


def table(n=60, seed=0):
    """Numbers with gaps, a constant, an empty column; text, truth values and categories, with gaps."""
    rng = np.random.default_rng(seed)
    skins = rng.choice(["rough", "smooth", "waxy", None], n)
    return pd.DataFrame(
        {
            "grams": np.where(rng.random(n) < 0.2, np.nan, rng.normal(150, 20, n)),
            "skin": pd.Series(skins, dtype=object),
            "same": 3.0,
            "empty": np.nan,
            "ripe": rng.random(n) < 0.5,
            "size": pd.Series(rng.choice(["s", "m", "l"], n)).astype("category"),
            "seeds": rng.integers(0, 9, n),
        }
    )


def by_hand(train, rows):
    """One-hot columns, medians and scales, one value after another."""
    out = {}
    numbers = ["grams", "same", "empty", "seeds"]
    for name in numbers:
        known = [v for v in train[name] if v == v]
        median = np.median(known) if known else 0.0
        filled = [v if v == v else median for v in train[name]]
        mean, deviation = np.mean(filled), np.std(filled)
        out[name] = [((v if v == v else median) - mean) / (deviation or 1.0) for v in rows[name]]
    for name in numbers:
        if any(v != v for v in train[name]):
            out[f"{name} is missing"] = [float(v != v) for v in rows[name]]
    for name in ("skin", "ripe", "size"):
        for label in sorted({v for v in train[name] if isinstance(v, (str, bool))}):
            out[f"{name}={label}"] = [float(v == label) for v in rows[name]]
        if train[name].isna().any():
            out[f"{name}=(missing)"] = [float(not isinstance(v, (str, bool))) for v in rows[name]]
    return pd.DataFrame(out)


def test_one_hot_columns_medians_and_scales_are_those_worked_out_by_hand():
    train, new = table(), table(30, seed=1)
    new.loc[4, "skin"] = "never seen"
    new.loc[5, "empty"] = 7.0
    prepare = TablePreparation(sparse_output=False).fit(train)
    for rows in (train, new):
        wanted = by_hand(train, rows)
        assert list(prepare.get_feature_names_out()) == list(wanted)
        found = prepare.transform(rows)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted.to_numpy(), atol=1e-12)
    # All zeros for a category that training did not have.
    assert prepare.transform(new)[4, [name.startswith("skin=") for name in wanted]].sum() == 0


def test_codes_keep_gaps_or_count_them():
    train, new = table(), table(30, seed=1)
    new.loc[4, "skin"] = "never seen"
    labels = ["rough", "smooth", "waxy"]
    plain = TablePreparation("codes", scale=False, impute=False).fit(train)
    assert list(plain.get_feature_names_out()) == ["grams", "same", "empty", "seeds", "skin", "ripe", "size"]
    found = plain.transform(new)
    np.testing.assert_array_equal(found[:, 4], [labels.index(v) if v in labels else np.nan for v in new["skin"]])
    np.testing.assert_array_equal(found[:, 0], new["grams"])
    # A column without a number in training says nothing, and not every library takes it.
    assert not found[:, 2].any()
    filled = TablePreparation("codes").fit(train).transform(new)
    assert list(filled[:, -3]) == [labels.index(v) if v in labels else 3.0 for v in new["skin"]]
    assert not np.isnan(filled).any()


def test_native_categories_are_the_same_in_every_call():
    train, new = table(), table(5, seed=1)
    new["skin"] = ["waxy", "never seen", None, "rough", "waxy"]
    prepare = TablePreparation("native", scale=False, impute=False).fit(train)
    whole, part = prepare.transform(train), prepare.transform(new)
    assert list(whole.dtypes) == list(part.dtypes)
    assert [str(kind) for kind in part.dtypes] == ["float64"] * 4 + ["category"] * 3
    assert part["x4"].cat.codes.tolist() == [2, -1, -1, 0, 2]
    codes = TablePreparation("codes", scale=False, impute=False).fit(train).transform(train)
    np.testing.assert_array_equal(whole.astype(float).to_numpy(), codes)
    # An array has no categories, and stays one.
    assert isinstance(TablePreparation("native").fit_transform(np.eye(4)), np.ndarray)


def test_text_and_category_are_the_same_to_it():
    train = table()
    other = train.assign(skin=train["skin"].astype("category"), size=train["size"].astype(object))
    for categories in ("one-hot", "codes"):
        prepare = TablePreparation(categories, sparse_output=False).fit(train)
        np.testing.assert_array_equal(prepare.transform(train), prepare.transform(other))
        polars = pl.DataFrame({name: train[name].tolist() for name in train}).with_columns(pl.col("empty").cast(float))
        again = TablePreparation(categories, sparse_output=False).fit(polars).transform(polars)
        np.testing.assert_allclose(again, prepare.transform(train))


@pytest.mark.parametrize("categories", ["one-hot", "codes"])
def test_rare_categories_share_one(categories):
    words = ["a"] * 9 + ["b"] * 8 + ["c", "d", "e"] + [None] * 7
    X = pd.DataFrame({"word": words})
    prepare = TablePreparation(categories, max_categories=4, impute=False, sparse_output=False).fit(X)
    found = prepare.transform(X)
    if categories == "one-hot":
        assert list(prepare.get_feature_names_out()) == ["word=a", "word=b", "word=(missing)", "word=(rare)"]
        assert found.sum(axis=0).tolist() == [9, 8, 7, 3]
    else:
        few = TablePreparation(categories, max_categories=3, impute=False).fit(X).transform(X)
        assert few[:20, 0].tolist() == [0] * 9 + [1] * 8 + [2] * 3
        assert np.isnan(few[20:]).all()
        filled = TablePreparation(categories, max_categories=3).fit(X).transform(X)
        assert filled[20:, 0].tolist() == [3] * 7


def test_a_thousand_words_become_few_columns():
    X = pd.DataFrame({"word": [f"w{i}" for i in range(1000)] + ["often"] * 9})
    found = TablePreparation().fit_transform(X)
    assert found.shape == (1009, 100)
    assert sparse.issparse(found)
    # At most 256 are told apart, and the last stands for the others.
    assert TablePreparation("native", max_categories=255).fit_transform(X)["x0"].cat.codes.max() <= 254


def test_the_smaller_form_is_chosen():
    wide = pd.DataFrame({"word": [f"w{i % 40}" for i in range(200)], "number": np.arange(200.0)})
    found = TablePreparation().fit_transform(wide)
    assert sparse.issparse(found)
    assert found.data.nbytes + found.indices.nbytes + found.indptr.nbytes < 8 * found.shape[0] * found.shape[1]
    np.testing.assert_array_equal(found.toarray(), TablePreparation(sparse_output=False).fit_transform(wide))
    assert isinstance(TablePreparation().fit_transform(table()[["grams", "ripe"]]), np.ndarray)


def test_sparse_rows_are_scaled_without_centring():
    X = sparse.random(50, 6, 0.3, format="csr", random_state=0)
    found = TablePreparation().fit_transform(X)
    assert sparse.issparse(found)
    deviation = X.toarray().std(axis=0)
    np.testing.assert_allclose(found.toarray(), X.toarray() / deviation)
    np.testing.assert_array_equal(TablePreparation(scale=False).fit_transform(X).toarray(), X.toarray())
    dense = TablePreparation(sparse_output=False).fit_transform(X)
    np.testing.assert_array_equal(dense, found.toarray())
    gaps = X.copy()
    gaps.data[0] = np.nan
    assert TablePreparation().fit_transform(gaps).shape == (50, 7)
    empty = sparse.csr_matrix(np.column_stack([np.full(5, np.nan), np.arange(5.0)]))
    kept = TablePreparation(scale=False, impute=False).fit_transform(empty)
    np.testing.assert_array_equal(kept.toarray(), np.column_stack([np.zeros(5), np.arange(5.0)]))


@pytest.mark.parametrize("categories", ["one-hot", "codes", "native"])
def test_the_contract_of_scikit_learn(categories):
    check_estimator(TablePreparation(categories), on_skip=None)


def test_what_makes_no_sense_is_refused():
    X = table()
    for parameters, match in (
        ({"categories": "onehot"}, "categories must be one of"),
        ({"max_categories": 1}, "max_categories must be a whole number of at least 2"),
        ({"scale": "yes"}, "scale must be one of"),
    ):
        with pytest.raises(ValueError, match=match):
            TablePreparation(**parameters).fit(X)
    prepare = TablePreparation().fit(X)
    with pytest.raises(ValueError, match="input_features should have length"):
        prepare.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="held numbers when the model was fitted, and now holds categories"):
        prepare.transform(X.assign(grams="much"))
    with pytest.raises(ValueError, match="infinity"):
        TablePreparation().fit(X.assign(grams=np.inf))


def test_labels_around_codes():
    from sklearn.linear_model import LogisticRegression

    X = np.arange(30.0).reshape(-1, 1)
    y = np.repeat(["one", "two", "three"], 10)
    model = CodedClassifier(LogisticRegression(max_iter=1000)).fit(X, y)
    assert model.estimator_.classes_.tolist() == [0, 1, 2]
    plain = LogisticRegression(max_iter=1000).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))
    assert set(CodedClassifier(LogisticRegression()).fit(X, ["one"] * 30).predict(X)) == {"one"}
