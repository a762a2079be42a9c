"""What the page makes of answers, against scikit-learn and brute force."""

import re

import numpy as np
import pytest
from sklearn import metrics

from conjunto.experiments import MEASURES, Results
from conjunto.experiments.measures.scored import Scored
from conjunto.report import answered as reading
from conjunto.report.answered import MOST_POINTS, of_classes, precision_recall, read_answers, reliability, roc, thinned


def ranking(results, dataset):
    board = results.boards[dataset]
    return board[board["n"] > 0]["method"].tolist()


def pooled(results, dataset, method):
    """Truth, predictions and probabilities of all partitions, one after the other."""
    parts = [(t.truth, a.predicted, a.proba) for _, _, t, a in results.answers(dataset, [method])]
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


@pytest.fixture(scope="module")
def rare(stores):
    results = Results.read(stores["rare"])
    return results, read_answers(results, "rare", ranking(results, "rare"))


def test_curves_are_those_of_the_pooled_answers(rare):
    results, answered = rare
    best = [method for method in ranking(results, "rare") if method != "constant"][:4]
    assert list(answered.ranked) == best
    for method, said in answered.ranked.items():
        truth, _, proba = pooled(results, "rare", method)
        found = roc(*said)
        x, y, _ = metrics.roc_curve(truth == 0, proba[:, 0])  # "<i>ill</i>" is the rarer class, and the first
        np.testing.assert_array_equal(found.x, x)
        np.testing.assert_array_equal(found.y, y)
        assert found.area == pytest.approx(metrics.roc_auc_score(truth == 0, proba[:, 0]), abs=1e-12)
        found = precision_recall(*said)
        precision, recall, _ = metrics.precision_recall_curve(truth == 0, proba[:, 0])
        chosen = thinned(recall, precision)
        np.testing.assert_array_equal(found.x, recall[chosen])
        np.testing.assert_array_equal(found.y, precision[chosen])
        assert found.area == pytest.approx(metrics.average_precision_score(truth == 0, proba[:, 0]), abs=1e-12)


def test_one_kind_of_rows_has_no_curve():
    assert roc(np.ones(5, dtype=bool), np.linspace(0, 1, 5, dtype=np.float32)) is None
    assert precision_recall(np.zeros(5, dtype=bool), np.linspace(0, 1, 5, dtype=np.float32)) is None


def test_a_long_curve_keeps_its_steep_beginning():
    """One positive row in a thousand: in its first hundredth the curve rises, and there it needs its points."""
    rng = np.random.default_rng(0)
    positive = rng.random(100_000) < 0.001
    score = (rng.normal(size=100_000) + 4 * positive).astype(np.float32)
    found = roc(positive, score)
    assert len(found.x) <= MOST_POINTS
    assert (found.x[0], found.y[0], found.x[-1], found.y[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(found.y, found.x) == pytest.approx(found.area, abs=1e-3)


def test_calibration_has_bins_of_equal_counts(rare):
    results, answered = rare
    truth, _, proba = pooled(results, "rare", ranking(results, "rare")[0])
    bins = reliability(answered.best)
    assert sum(rows for _, _, rows in bins) == len(truth)
    # Every probability is in one bin, in order, and the means are those of the rows between two edges.
    first = 0
    order = np.argsort(proba[:, 0], kind="stable")
    for sure, share, rows in bins:
        inside = order[first : first + rows]
        assert sure == pytest.approx(proba[inside, 0].mean(), rel=1e-6)
        assert share == pytest.approx((truth[inside] == 0).mean())
        first += rows


def test_a_probability_that_fills_a_bin_has_its_own():
    """Nine in ten rows are given 0 or 1, as trees do; the others are not mixed with them."""
    proba = np.concatenate([np.zeros(90), np.linspace(0.1, 0.9, 20), np.ones(90)]).astype(np.float32)
    truth = np.concatenate([np.zeros(100, dtype=int), np.ones(100, dtype=int)])
    scored = Scored(None, None, truth, truth, np.arange(2), np.column_stack([1 - proba, proba]), 1)
    bins = reliability(scored)
    assert bins[0] == (0, 0, 90)
    assert bins[-1] == (1, 1, 90)
    assert sum(rows for _, _, rows in bins[1:-1]) == 20
    even = np.linspace(0, 1, 200, dtype=np.float32)
    scored = Scored(None, None, truth, truth, np.arange(2), np.column_stack([1 - even, even]), 1)
    assert all(19 <= rows <= 21 for _, _, rows in reliability(scored))
    assert len(reliability(scored)) == 10


def test_calibration_of_more_classes_is_of_the_likeliest(stores):
    results = Results.read(stores["one"])
    answered = read_answers(results, "wine", ranking(results, "wine"))
    truth, _, proba = pooled(results, "wine", ranking(results, "wine")[0])
    bins = reliability(answered.best)
    right = proba.argmax(axis=1) == truth
    assert sum(share * rows for _, share, rows in bins) == pytest.approx(right.sum())
    assert sum(sure * rows for sure, _, rows in bins) == pytest.approx(proba.max(axis=1).sum(), rel=1e-6)


@pytest.mark.parametrize(("store", "dataset"), [("one", "wine"), ("rare", "rare")])
def test_the_table_of_classes_is_that_of_sklearn(page, stores, store, dataset):
    results = Results.read(stores[store])
    best = ranking(results, dataset)[0]
    answered = read_answers(results, dataset, [best])
    truth, predicted, proba = pooled(results, dataset, best)
    expected = metrics.precision_recall_fscore_support(truth, predicted, zero_division=np.nan)
    classes = results.facts[dataset]["classes"]
    cells = page(store).cells
    for code, line in enumerate(of_classes(answered.best, classes, 25)):
        np.testing.assert_allclose(
            (line.precision, line.recall, line.f1, line.rows), [column[code] for column in expected]
        )
        assert line.auc == pytest.approx(metrics.roc_auc_score(truth == code, proba[:, code]))
        place = [i for i, cell in enumerate(cells) if cell == classes[code] and cells[i + 1] == f"{line.rows:,}"]
        numbers = [f"{value:.3f}" for value in (line.precision, line.recall, line.f1, line.auc)]
        assert any(cells[i + 2 : i + 6] == numbers for i in place)
    assert len(of_classes(answered.best, classes, 1)) == 1


def test_hardest_rows_of_classes_by_brute_force(page, rare):
    results, answered = rare
    said = {}
    for method, _, tested, answers in results.answers("rare"):
        if method == "constant" or method in results.combined:
            continue
        for row, truth, predicted, proba in zip(
            tested.rows, tested.truth, answers.predicted, answers.proba, strict=True
        ):
            said.setdefault(int(row), []).append((int(predicted), int(truth), float(proba[truth])))
    wrong = {row: np.mean([p != t for p, t, _ in lines]) for row, lines in said.items()}
    likely = {row: round(float(np.mean([given for _, _, given in lines])), 6) for row, lines in said.items()}
    hard = sorted((row for row in said if wrong[row] > 0.5), key=lambda row: (-wrong[row], likely[row], row))
    assert answered.hard == len(hard) > 0
    assert answered.tested == len(said) == 240
    assert answered.judges == 5
    assert [line.row for line in answered.hardest] == hard[:10]
    classes = results.facts["rare"]["classes"]
    cells = page("rare").cells
    for line in answered.hardest:
        answers = [predicted for predicted, _, _ in said[line.row]]
        assert line.said == max(set(answers), key=lambda code: (answers.count(code), -code))
        assert line.truth == said[line.row][0][1]
        assert line.lost == pytest.approx(wrong[line.row])
        assert line.answers == len(answers) == 5
        shown = [str(line.row + 1), classes[int(line.truth)], classes[int(line.said)], f"{100 * line.lost:.0f}"]
        assert any(cells[i : i + 4] == shown for i in range(len(cells)))


def test_hardest_rows_of_values_by_brute_force(page, stores):
    results = Results.read(stores["regression"])
    answered = read_answers(results, "sine", ranking(results, "sine"))
    lost, said = {}, {}
    for _, _, tested, answers in results.answers("sine"):
        for row, truth, predicted in zip(tested.rows, tested.truth, answers.predicted, strict=True):
            lost.setdefault(int(row), []).append(abs(predicted - truth))
            said.setdefault(int(row), []).append(predicted)
    order = sorted(lost, key=lambda row: (-round(np.mean(lost[row]), 12), row))
    assert [line.row for line in answered.hardest] == order[:10]
    assert [line.lost for line in answered.hardest] == pytest.approx([np.mean(lost[row]) for row in order[:10]])
    assert [line.said for line in answered.hardest] == pytest.approx([np.mean(said[row]) for row in order[:10]])
    assert "The rows with the largest mean error, over 2 methods" in page("regression").said()


def test_precision_and_recall_come_first_where_a_class_is_rare(page):
    for store, first, second in (("rare", "Precision-recall curves", "ROC curves"), ("many", "ROC", "Precision")):
        alts = [facts["aria-label"] for facts in page(store).find("svg")]
        places = [next(i for i, alt in enumerate(alts) if alt.startswith(start)) for start in (first, second)]
        assert places[0] == places[1] - 1
    alts = [facts["aria-label"] for facts in page("rare").find("svg")]
    assert not any("constant 0.500" in alt for alt in alts)


def test_the_calibration_error_is_the_measure(page, rare):
    error = MEASURES["calibration-error"].of(rare[1].best)
    assert f"over ten bins of equal width): {error:.3f}" in page("rare").said()


def test_without_answers_there_are_no_such_parts(page, unpainted, altered):
    said = unpainted(altered("rare", "DELETE FROM answers")).said()
    for words in ("What probabilities are worth", "The hardest rows", "by class"):
        assert words not in said
        assert words in page("rare").said()
    assert "none were kept" in said


def test_of_many_answers_whole_partitions_are_enough(monkeypatch, stores, unpainted):
    monkeypatch.setattr(reading, "MOST_POOLED", 100)
    results = Results.read(stores["rare"])
    answered = read_answers(results, "rare", ranking(results, "rare"))
    assert answered.partitions == 1
    assert len(answered.best.y) == answered.tested == 80
    assert "of the first 1 of 3 partitions" in unpainted("rare").said()


def test_a_threshold_changes_what_is_confused(unpainted, stores):
    results = Results.read(stores["rare"], threshold=0.05)
    truth, predicted, _ = pooled(results, "rare", ranking(results, "rare")[0])
    found = unpainted("rare", results=results)
    assert "predicted from a probability of 0.05 on" in found.said()
    counts = metrics.confusion_matrix(truth, predicted)
    cells = found.cells
    for code, label in enumerate(results.facts["rare"]["classes"]):
        shown = [label, *map(str, counts[code])]
        assert any(cells[i : i + 3] == shown for i in range(len(cells)))
    assert not re.search("nan", found.said().lower())
