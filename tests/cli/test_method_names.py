"""Names of methods on the command line: words for several of them, estimators of the user, what is not there."""

import pytest

from conjunto.cli.inputs import InputError, parse_methods
from conjunto.experiments import METHODS, panel
from conjunto.experiments import methods as table
from conjunto.experiments.methods import estimator_name, installed, rivals


def names(text, task="classification"):
    return [method.label for method in parse_methods(text, task)]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_words_stand_for_several_methods(task):
    assert names("panel", task) == panel(task)
    assert names("rivals", task) == rivals(task)
    assert names("all", task) == [name for name in METHODS if estimator_name(name, task) and installed(name)]


def test_words_stand_beside_names():
    assert names("rivals,panel") == rivals("classification") + [
        name for name in panel("classification") if name not in rivals("classification")
    ]
    assert names("panel,cart,igp")[-1] == "igp"
    assert names("panel,cart").count("cart") == names("cart,panel").count("cart") == 1
    # With other parameters it is another method; what is written twice is left to the experiment to refuse.
    assert names("panel,cart:max_depth=2")[-1] == "cart:max_depth=2"
    assert names("igp,igp") == ["igp", "igp"]
    with pytest.raises(InputError, match="'all' stands for several methods: name one"):
        parse_methods("all")


def test_what_is_not_installed_is_no_part_of_all(monkeypatch):
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    assert not {"lightgbm", "xgboost", "catboost"} & set(names("all"))


def test_an_estimator_of_the_user_has_two_parts_in_its_name():
    (method,) = parse_methods("sklearn.svm:LinearSVC:C=3:dual=false")
    assert (method.name, dict(method.parameters)) == ("sklearn.svm:LinearSVC", {"C": 3, "dual": False})
    assert parse_methods("sklearn.svm:LinearSVC")[0].name == "sklearn.svm:LinearSVC"
    for text, match in (
        ("sklearn.svm:LinearSVCC", "has no class 'LinearSVCC'; did you mean 'LinearSVC'"),
        ("sklearn.nothing:LinearSVC", "there is no module 'sklearn.nothing'"),
        ("bagging:oops", "'oops' is not name=value"),
        ("sklearn.svm:LinearSVC:oops", "'oops' is not name=value"),
        ("sklearn.svm", "unknown method 'sklearn.svm'"),
    ):
        with pytest.raises(InputError, match=match):
            parse_methods(text)


def test_a_module_beside_the_data_is_found(cli, tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\nclass Stump(DecisionTreeClassifier): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli("methods", "beside:Stump:max_depth=1")
    assert code == 0
    assert "max_depth=1" in out
    assert "regression" not in out


def test_a_list_of_methods_says_what_is_not_installed(cli, monkeypatch):
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    _, out, _ = cli("methods")
    assert [line.split()[0] for line in out.splitlines() if line.endswith("(not installed)")] == [
        "lightgbm",
        "xgboost",
        "catboost",
    ]
    code, _, err = cli("methods", "lightgbm")
    assert code == 2
    assert "lightgbm is not installed: pip install 'conjunto[rivals]'" in err
