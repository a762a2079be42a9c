import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    PrunedClassifier,
    PrunedRegressor,
    RandomForestClassifier,
    problem,
    prune,
)
from conjunto.datasets import make_waveform

X, y = make_waveform(150, random_state=0)


def test_fit_is_fit_and_prune():
    bag = BaggingClassifier(n_estimators=30, random_state=0)
    for selection in ("train", "oob"):
        model = PrunedClassifier(bag, method="reduce_error", keep=7, selection=selection).fit(X, y)
        by_hand = prune(bag.fit(X, y), X, y, method="reduce_error", keep=7, selection=selection)
        assert model.order_.tolist() == by_hand.order_.tolist()
        np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(X))
        assert len(model) == len(model.estimators_) == 7
        stages = list(model.staged_predict(X))
        assert len(stages) == 7
        np.testing.assert_array_equal(stages[-1], model.predict(X))


def test_a_share_is_set_aside():
    forest = RandomForestClassifier(20, random_state=0)
    model = PrunedClassifier(forest, selection=0.2, keep=5, random_state=0).fit(X, y)
    assert model.estimator_._drawn.outline.n == 120
    with pytest.raises(ValueError, match=r"selection=0.001 of 150 rows"):
        PrunedClassifier(forest, selection=0.001).fit(X, y)


def test_weights_reach_the_ensemble_and_the_selection():
    bag = BaggingClassifier(n_estimators=20, random_state=0)
    weight = np.linspace(0.5, 2, len(y))
    model = PrunedClassifier(bag, keep=5).fit(X, y, sample_weight=weight)
    by_hand = prune(bag.fit(X, y, sample_weight=weight), X, y, keep=5, sample_weight=weight)
    assert model.order_.tolist() == by_hand.order_.tolist()
    aside = PrunedClassifier(bag, keep=5, selection=0.3, random_state=0).fit(X, y, sample_weight=weight)
    assert len(aside) == 5


def test_reports_only_if_asked():
    bag = BaggingClassifier(n_estimators=20, random_state=0)
    model = PrunedClassifier(bag, report=True).fit(X, y)
    assert model.pruning_report_["members"] == {"before": 20, "after": 4}
    assert len(model.curve_["train"]) == 20
    assert not hasattr(model.set_params(report=False).fit(X, y), "curve_")


def test_grid_search_and_pipelines():
    pipe = make_pipeline(StandardScaler(), PrunedClassifier(BaggingClassifier(n_estimators=20, random_state=0)))
    search = GridSearchCV(
        pipe,
        {
            "prunedclassifier__keep": [0.2, "auto"],
            "prunedclassifier__method": ["orientation", "margin_distance"],
            "prunedclassifier__estimator__max_samples": [0.5, 1.0],
        },
        cv=2,
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(search.best_estimator_[-1]) < 20


def test_other_ensembles_and_pipelines_inside():
    inner = make_pipeline(StandardScaler(), sklearn.ensemble.RandomForestClassifier(20, random_state=0))
    model = PrunedClassifier(inner, keep=4).fit(X, y)
    assert len(model.estimator_[-1].estimators_) == 4
    assert not hasattr(model, "staged_predict")
    assert hasattr(model, "predict_proba")
    assert cross_val_score(model, X, y, cv=2).shape == (2,)


def test_regressor():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = X[:, 0] + random.normal(size=120)
    bag = BaggingRegressor(n_estimators=30, random_state=0)
    model = PrunedRegressor(bag, selection="oob", keep=10).fit(X, y)
    by_hand = prune(bag.fit(X, y), X, y, selection="oob", keep=10)
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(X))


def test_bad_parameters():
    with pytest.raises(TypeError, match="LogisticRegression cannot be taken apart"):
        PrunedClassifier(LogisticRegression(max_iter=1000)).fit(X, y)
    with pytest.raises(ValueError, match="selection must be"):
        PrunedClassifier(selection="all").fit(X, y)
    with pytest.raises(ValueError, match="keep must be"):
        PrunedClassifier(BaggingClassifier(), keep=3.5).fit(X, y)


@pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")
def test_a_single_member_stays():
    # A fully grown tree makes no error, which ends boosting.
    boosting = AdaBoostClassifier(CARTClassifier(), 20, random_state=0)
    model = PrunedClassifier(boosting, report=True).fit(X, y)
    assert len(model) == 1
    assert model.order_.tolist() == [0]
    assert not hasattr(model, "curve_")


def test_pipelines_have_the_length_of_their_ensemble():
    inner = make_pipeline(StandardScaler(), sklearn.ensemble.RandomForestClassifier(20, random_state=0))
    model = PrunedClassifier(inner, keep=4).fit(X, y, sample_weight=np.linspace(1, 2, len(y)))
    assert len(model) == len(model.estimators_) == 4


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        (PrunedClassifier(keep=2), True),
        (PrunedClassifier(RandomForestClassifier(5), keep=2), True),
        (PrunedClassifier(BaggingClassifier(C45Classifier()), keep=2), False),
        (PrunedClassifier(sklearn.ensemble.RandomForestClassifier(5), keep=2), True),
        (PrunedClassifier(make_pipeline(StandardScaler(), sklearn.ensemble.BaggingClassifier())), False),
        (PrunedClassifier(make_pipeline(StandardScaler(with_mean=False), sklearn.ensemble.BaggingClassifier())), True),
        (PrunedRegressor(keep=2), True),
        (PrunedRegressor(sklearn.ensemble.ExtraTreesRegressor(5), keep=2), True),
    ],
    ids=repr,
)
def test_the_tag_says_whether_sparse_rows_are_taken(model, takes):
    assert model.__sklearn_tags__().input_tags.sparse == takes
    if takes:
        model.fit(csr_matrix(X), y)
    else:
        with pytest.raises((TypeError, ValueError), match="parse"):
            model.fit(csr_matrix(X), y)


def test_sparse_rows_and_text_go_to_those_who_take_them():
    forest = sklearn.ensemble.RandomForestClassifier(10, random_state=0)
    model = PrunedClassifier(forest, keep=4).fit(coo_matrix(X), y)
    np.testing.assert_array_equal(model.predict(csr_matrix(X)), PrunedClassifier(forest, keep=4).fit(X, y).predict(X))
    texts = np.array(["red apple", "green apple", "red car", "green car"] * 10)
    pipe = make_pipeline(CountVectorizer(), forest)
    assert (
        PrunedClassifier(pipe, keep=4)
        .fit(texts, np.array(["fruit", "fruit", "car", "car"] * 10))
        .score(texts, ["fruit", "fruit", "car", "car"] * 10)
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_class_of_one_row_is_learned(seed):
    rare = y.copy()
    rare[0] = 7
    model = PrunedClassifier(RandomForestClassifier(5, random_state=0), selection=0.5, random_state=seed).fit(X, rare)
    assert 7 in model.classes_


def test_the_wrong_kind_of_ensemble():
    with pytest.raises(TypeError, match="must be an ensemble that is a classifier"):
        PrunedClassifier(BaggingRegressor()).fit(X, y)
    with pytest.raises(TypeError, match="must be an ensemble that is a regressor"):
        PrunedRegressor(BaggingClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="unknown method"):
        PrunedClassifier(method="nonsense").fit(X, y)


@pytest.mark.parametrize("selection", ["train", "oob"])
def test_rows_are_read_once_in_a_fit_and_once_in_a_prediction(selection, monkeypatch):
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame["side"] = np.where(X[:, 0] > 0, "left", "right")
    read = []
    encode = problem._codes_of
    monkeypatch.setattr(problem, "_codes_of", lambda rows, columns: (read.append(len(rows)), encode(rows, columns))[1])
    model = PrunedClassifier(BaggingClassifier(n_estimators=20, random_state=0), selection=selection).fit(frame, y)
    assert read == [len(frame)]
    rows = model.estimator_.read(frame)
    assert len(read) == 2
    for method in (model.predict, model.predict_proba, model.staged_predict, model.estimator_.votes):
        list(method(rows).answers if method == model.estimator_.votes else method(rows))
    assert len(read) == 2
