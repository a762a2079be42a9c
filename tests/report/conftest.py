"""Small stores, each run once, and a reader of their pages."""

import re
import sqlite3
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from conjunto.datasets import Dataset
from conjunto.experiments import Experiment, Method, Protocol, Results, Source, Store, combine, run
from conjunto.experiments.explain import explain
from conjunto.report import write_report
from conjunto.report.pictures import Painter

EVIL = "<script>alert('x')</script>"


class Failing(ClassifierMixin, BaseEstimator):
    """Fails where it is told to."""

    def fit(self, X, y):
        raise RuntimeError(f"no luck with {EVIL}")


def evil_data(name, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    y = pd.Series(np.where(X["a"] > 0, EVIL, "b & c"), name="<b>target</b>")
    return Dataset(name, X, y, "classification", f"source {EVIL}", "licence <i>", notes=(f"note {EVIL}",))


def rare_data():
    """A rare class that one column decides, and a column whose name and values are evil."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"decides": rng.normal(size=240), "noise": rng.normal(size=240)})
    X[EVIL] = pd.Categorical(np.where(rng.random(240) < 0.5, "<b>one</b>", "two & three"))
    y = pd.Series(np.where(X["decides"] + 0.4 * rng.normal(size=240) > 1.6, "<i>ill</i>", "well"), name="<b>state</b>")
    return Dataset("rare", X, y, "classification")


def rare_store(path, protocol, small):
    """Two classes, the constant, combinations, and remarks on the best and on a hold-out."""
    methods = (
        Method("constant"),
        Method("random-forest", parameters=small),
        Method("cart"),
        Method("logistic-regression"),
        Method("bagging", parameters=small),
        Method("extra-trees", parameters=small),
    )
    data = rare_data()
    run(Experiment((Source("rare", data=data),), methods, protocol), path, command="first run\nsecond <run>")
    combine(path, ways=["stacking", "vote"], methods=["random-forest", "cart"])
    y = data.y.to_numpy()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.X[["decides", "noise"]][:120], y[:120])
    known = data.X[["decides", "noise"]]
    facts = explain(model, known[120:], y[120:], "classification", "error", seed=0, classes=np.unique(y), positive=0)
    facts["importances"].append({"column": EVIL, "mean": 0.0, "low": None, "high": None})
    part = {"column": EVIL, "kind": "category", "grid": ["<b>one</b>", "two & three"]}
    facts["partial"].append(part | {"curves": [{"label": "<i>ill</i>", "values": [0.1, 0.2]}]})
    board = Results.read(path).leaderboard()
    single = board[~board["combined"]]["method"].iloc[0]
    with Store(path) as store:
        store.remark("rare", "explained", "key", {**facts, "method": single})
        holdout = {"file": "<i>test.csv", "rows": 1234, "method": single, "looks": 2}
        holdout |= {"measures": {"error": [0.05, 0.03, 0.08]}, "constant": {"error": 0.0666}}
        store.remark("rare", "holdout", "key", holdout)
        store.remark("rare", "model", "key", {"file": "model.skops", "method": "cart", "content": ""})


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """Paths of stores by what is special about them."""
    home = tmp_path_factory.mktemp("stores")
    protocol = Protocol("k-fold", repetitions=1, folds=3)
    sizes = (1, 2, 5, 10)
    small = {"n_estimators": 10}
    panel = (
        Method("cart"),
        Method("bagging", parameters=small, sizes=sizes),
        Method("random-forest", parameters=small, sizes=sizes),
    )
    run(Experiment(("wine",), panel, protocol), home / "one.sqlite", command="conjunto compare wine")
    run(Experiment(("wine", "labor", "glass", "iris"), panel, protocol, name="four"), home / "many.sqlite")
    source = Source("<i>data", data=evil_data("evil", 0))
    odd = (
        Method("cart", label=EVIL),
        Method("bagging", label='_$x$ &amp; "y"', parameters=small, sizes=sizes),
        Method("fails", estimator=Failing()),
        Method("sklearn tree", estimator=DecisionTreeClassifier()),
    )
    run(Experiment((source,), odd, protocol), home / "failed.sqlite", command="run '<b>'")
    X = pd.DataFrame({"x": np.linspace(0, 1, 80)})
    y = pd.Series(1234 * np.sin(6 * X["x"]), name="height")
    regression = Source("sine", data=Dataset("sine", X, y, "regression"))
    methods = (Method("cart"), Method("bagging", parameters=small, sizes=sizes))
    run(Experiment((regression,), methods, Protocol("holdout", 2)), home / "regression.sqlite")
    run(Experiment(("wine",), ("cart",), Protocol("holdout", 1)), home / "single.sqlite")
    rare_store(home / "rare.sqlite", protocol, small)
    return {path.stem: path for path in home.glob("*.sqlite")}


@pytest.fixture
def altered(stores, tmp_path):
    """A copy of a store after some SQL."""

    def alter(name, *statements):
        path = tmp_path / f"{name}.sqlite"
        with sqlite3.connect(stores[name]) as old, sqlite3.connect(path) as new:
            old.backup(new)
            for statement in statements:
                new.execute(statement)
        new.close()
        old.close()
        return path

    return alter


VOID = {"meta", "br", "img", "hr", "input", "link"}


class Page(HTMLParser):
    """Reads a page and complains of tags that do not match; keeps what tests ask for."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.text, self.cells = [], [], [], [], []
        self.source = text
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        assert len(facts) == len(attributes), f"an attribute of {tag} stands twice"
        self.tags.append((tag, facts))
        if "id" in facts:
            self.ids.append(facts["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data

    def find(self, tag):
        return [facts for name, facts in self.tags if name == tag]

    def said(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


@pytest.fixture(scope="session")
def plain(stores, tmp_path_factory):
    """The page of a store by its name, written once."""
    home = tmp_path_factory.mktemp("pages")

    @cache
    def read(name):
        path = write_report(stores[name], home / f"{name}.html")
        assert not list(home.glob("*.part"))
        return Page(path.read_text(encoding="utf-8"))

    return read


@pytest.fixture
def page(stores, plain, tmp_path):
    """The page of a store by its name or path."""

    def read(store, **settings):
        if store in stores and not settings:
            return plain(store)
        path = write_report(stores.get(store, store), tmp_path / "report.html", **settings)
        return Page(path.read_text(encoding="utf-8"))

    return read


@pytest.fixture
def unpainted(stores, tmp_path, monkeypatch):
    """The page of a store without its pictures, which take most of the time."""

    def read(store, **settings):
        with monkeypatch.context() as patch:
            patch.setattr(Painter, "svg", lambda self, draw, alt, *, shrink=True: "")
            path = write_report(stores.get(store, store), tmp_path / "report.html", **settings)
        return Page(path.read_text(encoding="utf-8"))

    return read
