import pytest

from conjunto.experiments import Experiment, panel
from conjunto.experiments.defaults import CURVE_SIZES, suggest_methods, suggest_protocol


def test_small_tables_get_ten_times_ten_folds():
    protocol = suggest_protocol(1000, 20)
    assert (protocol.kind, protocol.repetitions, protocol.folds) == ("k-fold", 10, 10)


def test_larger_tables_get_less_work():
    """Fits times rows times attributes never jumps up when one more row is added, and every limit is inclusive."""
    sizes = [10, 60_000, 60_001, 150_000, 150_001, 500_000, 500_001, 2_000_000, 2_000_001, 10**9]
    partitions = [suggest_protocol(size, 1).partitions for size in sizes]
    assert partitions == [100, 100, 30, 30, 10, 10, 5, 5, 3, 3]
    assert suggest_protocol(1, 10**9).kind == "holdout"
    assert suggest_protocol(6_000, 10) == suggest_protocol(60_000, 1)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_panel_can_be_run(task):
    methods = suggest_methods(task, 100)
    assert [method.name for method in methods] == panel(task)
    assert all(method.sizes == CURVE_SIZES for method in methods)
    Experiment(("wine",), tuple(methods))
    assert sorted(set(CURVE_SIZES)) == list(CURVE_SIZES)


def test_a_thousand_members_only_for_small_data():
    def members(rows):
        return {method.name: dict(method.parameters) for method in suggest_methods("classification", rows)}

    assert members(3000)["class-switching"] == {}
    assert members(3001)["class-switching"] == {"n_estimators": 200}
    assert members(3001)["bagging"] == {}
    assert members(10**6)["boosting"] == {}
    assert members(3001)["cart"] == {}
