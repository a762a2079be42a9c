"""Every public estimator keeps scikit-learn's contract, and conjunto's own: streams, votes, storage, DataFrames."""

import importlib.resources
import inspect
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import conjunto
from conjunto.combination import decide
from conjunto.ensembles._ensemble import Ensemble
from conjunto.ensembles._independent import IndependentEnsemble
from conjunto.ensembles.rules import CLASSIFICATION

# The data of these tests are small, and often one tree of boosting is right on all of them.
pytestmark = pytest.mark.filterwarnings("ignore:.* kept 1 of n_estimators:UserWarning")

# What combines models that it is given has tests of its own: `test_combiners.py`.
NAMES = sorted(
    name for name, home in conjunto._HOMES.items() if name != "Votes" and not home.startswith("conjunto.combiners.")
)
KINDS = {name: getattr(conjunto, name) for name in NAMES}
# What a method is like is said on its class: a new one joins these tests by being listed in `conjunto`.
ENSEMBLES = [name for name, kind in KINDS.items() if issubclass(kind, Ensemble)]
INDEPENDENT = [name for name in ENSEMBLES if issubclass(KINDS[name], IndependentEnsemble)]
GROWING = [name for name in ENSEMBLES if KINDS[name].grows]
ON_COLUMNS = [name for name in ENSEMBLES if KINDS[name].on_columns]
CLASSIFIERS = [name for name, kind in KINDS.items() if issubclass(kind, ClassifierMixin)]

# Whatever a method draws per row (a sample, a weight, a label) is another draw when rows are repeated.
WAIVER = {
    "check_sample_weight_equivalence_on_dense_data": "the random draw depends on the number of rows",
    "check_sample_weight_equivalence_on_sparse_data": "the random draw depends on the number of rows",
}


def make(name, **parameters):
    cls = getattr(conjunto, name)
    if "n_estimators" in inspect.signature(cls).parameters:
        parameters = {"n_estimators": 12} | parameters
    if "committee_size" in inspect.signature(cls).parameters:
        parameters = {"n_committees": 4, "committee_size": 3} | parameters
    if "random_state" not in inspect.signature(cls).parameters:
        # C4.5 draws nothing.
        return cls(**{name: value for name, value in parameters.items() if name != "random_state"})
    return cls(**{"random_state": 0} | parameters)


def expected_failed_checks(estimator):
    waived = dict(WAIVER) if getattr(estimator, "draws_per_row", False) else {}
    if getattr(estimator, "criterion", None) == "poisson":
        waived["check_regressor_multioutput"] = (
            "the check gives negative targets, which are no counts, whatever the tag says"
        )
    return waived


def checked():
    """Default parameters, as a user would have them; only a thousand members are too slow here."""
    for name in NAMES:
        cls = getattr(conjunto, name)
        default = inspect.signature(cls).parameters.get("n_estimators")
        yield cls(n_estimators=25) if default is not None and default.default > 25 else cls()
    for algorithm in CLASSIFICATION:
        # Stumps are no better than chance for M1 on some of the checks' data.
        learner = conjunto.CARTClassifier(max_depth=3) if algorithm.startswith("m1") else None
        yield conjunto.AdaBoostClassifier(learner, 15, algorithm=algorithm)
    yield conjunto.AdaBoostRegressor(n_estimators=15, algorithm="r")
    yield conjunto.CARTClassifier(criterion="misclassification")
    for criterion in ("absolute_error", "poisson"):
        yield conjunto.CARTRegressor(criterion=criterion)
        yield conjunto.RandomForestRegressor(n_estimators=10, criterion=criterion)
    yield conjunto.CARTClassifier(splits="oblique")
    yield conjunto.CARTRegressor(splits="oblique")


STRICT = {"xfail_strict": True} if "xfail_strict" in inspect.signature(parametrize_with_checks).parameters else {}


@pytest.mark.filterwarnings("ignore:flipping a share:UserWarning")
@parametrize_with_checks(list(checked()), expected_failed_checks=expected_failed_checks, **STRICT)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def table(name, n=120):
    X, y = load_iris(return_X_y=True)
    chosen = np.random.default_rng(1).permutation(len(y))[:n]
    return (X[chosen], y[chosen]) if name.endswith("Classifier") else (X[chosen, :3], X[chosen, 3])


def says(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def stored(model):
    # What a pruned classifier wraps; an ensemble's own `estimator_` is its base learner.
    model = model if hasattr(model, "_panel") else getattr(model, "estimator_", model)
    return (model._panel.members.forest if hasattr(model, "_panel") else model.forest_).arrays()


def same_arrays(one, other):
    return list(one) == list(other) and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("name", NAMES)
def test_clone_keeps_parameters_and_nothing_else(name):
    model = make(name).fit(*table(name))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "n_features_in_")
    assert same_arrays(stored(copy.fit(*table(name))), stored(model))


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(model):
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(kind.startswith("conjunto.") for kind in unknown), unknown
    return skops.io.loads(data, trusted=unknown)


def frame(name, library=pd, n=120):
    """A table with a number, a category with gaps and an informative category; y as text or numbers."""
    random = np.random.default_rng(3)
    number = random.normal(size=n)
    colour = random.choice(["red", "green", "blue"], size=n).tolist()
    size = [None if i % 7 == 0 else kind for i, kind in enumerate(random.choice(["s", "m", "l"], size=n).tolist())]
    data = {"number": number, "colour": colour, "size": size}
    X = library.DataFrame(data)
    if library is pd:
        X["size"] = X["size"].astype("category")
    else:
        X = X.with_columns(pl.col("size").cast(pl.Categorical))
    score = number + np.where(np.array(colour) == "red", 2.0, -2.0)
    return X, np.where(score > 0, "yes", "no") if name.endswith("Classifier") else score


@pytest.mark.parametrize("way", [by_pickle, by_joblib, by_skops])
@pytest.mark.parametrize("data", [table, frame])
@pytest.mark.parametrize("name", NAMES)
def test_storage_keeps_predictions(name, data, way):
    X, y = data(name)
    model = make(name).fit(X, y)
    again = way(model)
    np.testing.assert_array_equal(says(again, X), says(model, X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if name in INDEPENDENT:
        for one, other in zip(again.estimators_samples_, model.estimators_samples_, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_threads_do_not_change_the_result(name):
    X, y = table(name)
    models = [make(name, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 7)]
    for model in models[1:]:
        assert same_arrays(stored(model), stored(models[0]))
        np.testing.assert_array_equal(says(model, X), says(models[0], X))


@pytest.mark.parametrize("name", NAMES)
def test_seeds(name):
    X, y = table(name)
    assert same_arrays(stored(make(name).fit(X, y)), stored(make(name).fit(X, y)))
    if "random_state" not in make(name).get_params():
        return
    one, other = (make(name, random_state=np.random.RandomState(5)).fit(X, y) for _ in range(2))
    assert same_arrays(stored(one), stored(other))
    if name in ENSEMBLES:
        assert not same_arrays(stored(make(name, random_state=1).fit(X, y)), stored(make(name).fit(X, y)))


@pytest.mark.parametrize("name", GROWING)
def test_first_members_do_not_depend_on_how_many_follow(name):
    X, y = table(name)
    sixty = make(name, n_estimators=60).fit(X, y)
    twenty = make(name, n_estimators=20).fit(X, y)
    # A member that leaves nothing to learn ends a sequence early.
    assert len(sixty) > 10
    assert same_arrays(sixty._panel.members.forest.take(np.arange(min(20, len(sixty)))).arrays(), stored(twenty))


@pytest.mark.parametrize("name", GROWING)
def test_warm_start_in_two_steps_is_one_fit(name):
    X, y = table(name)
    whole = make(name, n_estimators=30).fit(X, y)
    grown = make(name, n_estimators=11, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=30).fit(X, y)
    assert same_arrays(stored(grown), stored(whole))
    np.testing.assert_array_equal(says(grown, X), says(whole, X))


@pytest.mark.parametrize("name", GROWING)
def test_warm_start_with_categories_is_one_fit(name):
    X, y = frame(name)
    whole = make(name, n_estimators=9).fit(X, y)
    grown = make(name, n_estimators=4, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    assert same_arrays(stored(grown), stored(whole))


@pytest.mark.parametrize("name", GROWING)
def test_without_warm_start_a_second_fit_starts_again(name):
    X, y = table(name)
    model = make(name, n_estimators=11).fit(X, y)
    model.set_params(n_estimators=5).fit(X, y)
    assert len(model.estimators_) == 5


@pytest.mark.parametrize("name", NAMES)
def test_feature_names(name):
    X, y = table(name)
    names = [f"x{i}" for i in range(X.shape[1])]
    model = make(name).fit(pd.DataFrame(X, columns=names), y)
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == len(names)
    np.testing.assert_array_equal(says(model, pd.DataFrame(X, columns=names)), says(make(name).fit(X, y), X))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_may_be_text(name):
    X, y = table(name)
    words = np.array(["one", "three", "two"])
    coded = make(name).fit(X, y)
    # "one", "three", "two" in the order of codes: the same problem with other names.
    named = make(name).fit(X, words[y])
    assert named.classes_.tolist() == words.tolist()
    np.testing.assert_array_equal(named.predict(X), words[coded.predict(X)])


@pytest.mark.parametrize("name", NAMES)
def test_missing_values_in_training_and_prediction(name):
    X, y = table(name)
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = make(name, **({"p_hat": 0.2} if name == "FlippingClassifier" else {})).fit(holes, y)
    # Chance is 1/3 for the three classes and 0 for R^2.
    assert model.score(holes, y) > 0.6
    nothing = model.predict(np.full((3, X.shape[1]), np.nan))
    assert len(set(nothing)) == 1
    assert nothing[0] in y if name in CLASSIFIERS else np.isfinite(nothing[0])


@pytest.mark.parametrize("name", NAMES)
def test_pandas_and_polars_frames_are_one_problem(name):
    X, y = frame(name)
    model = make(name).fit(X, y)
    # y is a function of number and colour: far above the majority (about one half) or the mean.
    assert model.score(X, y) > 0.8
    polar, _ = frame(name, pl)
    other = make(name).fit(polar, y)
    assert same_arrays(stored(other), stored(model))
    np.testing.assert_array_equal(says(other, polar), says(model, X))


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("name", NAMES)
def test_an_unseen_category_counts_as_missing(name, library):
    X, y = frame(name, library)
    model = make(name).fit(X, y)
    unseen = library.DataFrame({"number": [0.5, 0.5], "colour": ["violet", None], "size": ["xxl", None]})
    said = says(model, unseen)
    np.testing.assert_array_equal(said[0], said[1])
    assert np.isfinite(said).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_probabilities_are_shares(name, vote):
    X, y = table(name)
    model = make(name)
    if "vote" in model.get_params():
        model.set_params(vote=vote)
    shares = model.fit(X, y).predict_proba(X)
    assert shares.shape == (len(X), 3)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(shares))


def hard(name):
    """Votes that are counted, where a method can also add up shares."""
    return {"vote": "hard"} if "vote" in inspect.signature(KINDS[name]).parameters else {}


def own_columns(model, X):
    """Each member with the columns that it takes: those that were drawn for it, where a method draws columns."""
    everything = [np.arange(X.shape[1])] * len(model.estimators_)
    drawn = getattr(model, "estimators_features_", everything)
    return [(member, columns, X[:, columns]) for member, columns in zip(model.estimators_, drawn, strict=True)]


def committees(each, groups):
    """What each committee says: the label that most of its members give, of equal ones the lowest."""
    return np.stack(
        [[min(col, key=lambda k: (-(col == k).sum(), k)) for col in each[groups == g].T] for g in set(groups)]
    )


@pytest.mark.parametrize("name", ENSEMBLES)
def test_votes_are_what_the_members_say(name):
    X, y = table(name)
    if name in CLASSIFIERS:
        # Labels that are no codes: members of independent ensembles know codes, those of others labels.
        y = np.array([5, 7, 11])[y]
    model = make(name, **hard(name)).fit(X, y)
    votes = model.votes(X)
    members = 12 if KINDS[name].size_parameter else 3
    assert votes.answers.shape[:2] == (members, len(X))
    assert len(model.estimators_) == len(model.estimator_weights_) == members
    each = np.stack([member.predict(own) for member, _, own in own_columns(model, X)])
    weights = model.estimator_weights_
    if votes.for_sets:
        np.testing.assert_array_equal(votes.scores, each[:, :, None] == model.code_[:, None])
    elif name in CLASSIFIERS:
        if name in INDEPENDENT:
            assert all(member.classes_.tolist() == [0, 1, 2] for member in model.estimators_)
            each = model.classes_[each]
        np.testing.assert_array_equal(model.classes_[votes.labels], each)
        if votes.groups is not None:
            each, weights = committees(each, votes.groups), np.ones(len(set(votes.groups)))
        counts = np.stack([weights @ (each == label) for label in model.classes_], axis=1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[counts.argmax(axis=1)])
        if name != "AdaBoostClassifier":
            np.testing.assert_allclose(model.predict_proba(X), counts / weights.sum(), rtol=1e-12, atol=1e-15)
    else:
        np.testing.assert_array_equal(votes.values, each)
        if name in INDEPENDENT:
            np.testing.assert_allclose(model.predict(X), each.mean(axis=0), rtol=1e-12)
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(decide(votes), model.predict(X))
    else:
        np.testing.assert_allclose(decide(votes), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("name", GROWING)
def test_stages(name):
    X, y = table(name)
    model = make(name, **hard(name)).fit(X, y)
    stages = [stage.copy() for stage in model.staged_predict(X)]
    assert len(stages) == 12
    four = make(name, n_estimators=4, **hard(name)).fit(X, y)
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(stages[3], four.predict(X))
        np.testing.assert_array_equal(stages[-1], model.predict(X))
    else:
        np.testing.assert_allclose(stages[3], four.predict(X), rtol=1e-12)
        np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("name", ON_COLUMNS)
def test_importances_are_the_mean_of_the_members(name):
    X, y = table(name)
    model = make(name).fit(X, y)
    each = np.zeros((len(model.estimators_), X.shape[1]))
    for importances, (member, columns, _) in zip(each, own_columns(model, X), strict=True):
        importances[columns] = member.feature_importances_
    mean = np.average(each, axis=0, weights=model.estimator_weights_)
    np.testing.assert_allclose(model.feature_importances_, mean / mean.sum(), rtol=1e-6)
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ON_COLUMNS)
def test_leaves_are_those_of_the_members(name):
    X, y = table(name)
    model = make(name).fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (len(X), len(model.estimators_))
    each = [member.apply(own) for member, _, own in own_columns(model, X)]
    np.testing.assert_array_equal(leaves, np.stack(each, axis=1))


def test_types_are_shipped():
    assert importlib.resources.files("conjunto").joinpath("py.typed").is_file()
