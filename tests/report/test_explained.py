"""What the page shows of what was found out after a run."""

from conjunto.experiments import Store

EVIL = "<script>alert('x')</script>"


def remarked(altered, topic, **changes):
    """A copy of the store with some facts of a remark changed."""
    path = altered("rare")
    with Store(path) as store:
        store.remark("rare", topic, "key", {**store.remarked("rare", topic), **changes})
    return path


def test_importances_and_partial_dependence_are_drawn(page, stores):
    found = page("rare")
    with Store(stores["rare"]) as store:
        facts = store.remarked("rare", "explained")
    alts = [facts["aria-label"] for facts in found.find("svg")]
    (alt,) = [alt for alt in alts if alt.startswith("How much the error of")]
    assert [line["column"] for line in facts["importances"]] == ["decides", "noise", EVIL]
    first = facts["importances"][0]
    assert f"decides {100 * first['mean']:.3g} ({100 * first['low']:.3g} to {100 * first['high']:.3g})" in alt
    assert f"{EVIL} 0 (0 to 0)" in alt
    partial = [alt for alt in alts if alt.startswith("Partial dependence")]
    assert len(partial) == len(facts["partial"]) == 3
    assert partial[0].startswith("Partial dependence of the probability of <i>ill</i> on decides")
    said = found.said()
    assert f"What {facts['method']} looks at" in said
    assert "not the best method" not in said
    assert "<script" not in found.source
    assert "<b>one" not in found.source
    assert "<b>one</b>" in said  # drawn as it was written


def test_an_explanation_of_another_method_says_so(unpainted, altered):
    said = unpainted(remarked(altered, "explained", method="some other")).said()
    assert "What some other looks at" in said
    assert "This is of some other, which is not the best method of this page." in said


def test_what_was_skipped_and_left_out_is_said(unpainted, altered):
    said = unpainted(remarked(altered, "explained", skipped="the rows are sparse")).said()
    assert "Nothing is shown of the columns: the rows are sparse." in said
    said = unpainted(remarked(altered, "explained", notes=["time was up"], partial=[])).said()
    assert "Left out: time was up." in said
    assert "Partial dependence:" not in said


def test_the_hold_out_stands_beside_the_constant(page, unpainted, altered):
    found = page("rare")
    cells = found.cells
    assert any(cells[i : i + 4] == ["error (%)", "5.00", "3.00 to 8.00", "6.66"] for i in range(len(cells)))
    said = found.said()
    assert "On <i>test.csv, rows that had no part in anything" in said
    assert "This file was looked at 2 times" in said
    path = remarked(altered, "holdout", looks=1, measures={"error": [0.05, float("nan"), float("nan")]})
    said = unpainted(path).said()
    assert "looked at" not in said
    assert "nan" not in said.lower()
