import itertools
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from conjunto.experiments import MEASURES, Results, Store, StoreError
from conjunto.experiments.combine import DEPENDENCE
from conjunto.report import write_report
from conjunto.report.across import across_section
from conjunto.report.pictures import COLORS, Painter
from conjunto.report.words import evidence

EVIL = "<script>alert('x')</script>"
NAMES = ["one", "many", "failed", "regression", "single", "rare"]


@pytest.mark.parametrize("name", NAMES)
def test_page_is_whole_alone_and_accessible(page, name):
    found = page(name)
    text = found.source
    assert text.startswith("<!DOCTYPE html>")
    assert found.find("html") == [{"lang": "en"}]
    assert len(found.find("title")) == len(found.find("h1")) == len(found.find("main")) == 1
    # Nothing from elsewhere and nothing that runs.
    assert not found.find("script")
    assert not found.find("link")
    assert not found.find("img")
    for tag, facts in found.tags:
        assert not any(key.startswith("on") or key in ("src", "srcset", "action") for key in facts), tag
        assert facts.get("href", "#").startswith("#")
    assert "url(http" not in text
    assert "@import" not in text
    # Ids are of one thing each, and what is referred to is there.
    assert len(found.ids) == len(set(found.ids))
    referred = re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text)
    assert set(referred) <= set(found.ids)
    # Headings go down one step at a time.
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(facts["role"] == "img" and len(facts["aria-label"]) > 40 for facts in found.find("svg"))
    assert len(found.find("caption")) == len(found.find("table"))
    assert all(facts.get("scope") in ("row", "col") for facts in found.find("th"))
    # All colours of pictures are those of the page.
    drawn = "".join(re.findall("<svg.*?</svg>", text, flags=re.DOTALL))
    assert not re.findall("#[0-9a-f]{6}", drawn)
    assert "currentColor" in drawn
    assert set(re.findall(r"var\((--\w+)\)", drawn)) <= set(re.findall(r"(--\w+):", text))


@pytest.mark.parametrize("name", ["failed", "regression"])
def test_the_same_store_gives_the_same_bytes_again(page, stores, tmp_path, name):
    assert write_report(stores[name], tmp_path / "again.html").read_bytes() == page(name).source.encode()


def test_the_same_store_gives_the_same_bytes_in_another_process(page, stores, tmp_path):
    code = "import sys; from conjunto.report import write_report; write_report(*sys.argv[1:])"
    other = tmp_path / "other.html"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code, stores["one"], other], check=True, env=environment)
    assert other.read_bytes() == page("one").source.encode()


def test_numbers_are_those_of_the_results(page, stores):
    found = page("one", models={"wine": "best <model>.skops"})
    with Store(stores["one"]) as store:
        results = Results.read(store)
        confusion = store.confusion("wine", results.leaderboard("wine")["method"][0])
    board = results.leaderboard("wine")
    best = board.iloc[0]
    said = found.said()
    value = f"{100 * best['mean']:.2f} ± {100 * best['sd']:.2f} %".replace(" ", "\N{NO-BREAK SPACE}")
    assert f"{best['method']} has the lowest error, {value}".replace("\N{NO-BREAK SPACE}", " ") in said
    for row in board.itertuples():
        assert row.method in found.cells
        assert f"{100 * row.mean:.2f} ± {100 * row.sd:.2f}" in found.cells
    for row in board.iloc[1:].itertuples():
        verdict = "tied" if row.p_rows >= 0.05 else "worse"  # three partitions are few
        assert f"{verdict}, {evidence(row.p_value, row.p_rows)}" in found.cells
    for number in confusion.values():
        assert f"{number:,}" in found.cells
    assert "3 x " not in said
    assert "1 x 3-fold stratified cross-validation" in said
    assert "conjunto compare wine" in said
    assert "best <model>.skops" in said
    assert "9 done, 0 failed, 0 missing" in said
    assert "Nadeau and Bengio" in said
    assert "slightly optimistic" in said
    assert "wine" in found.cells
    assert "178" in found.cells
    assert "n_estimators = 10" in found.cells
    alts = [facts["aria-label"] for facts in found.find("svg")]
    assert len(alts) == 5  # boxes, curves, time, size, calibration
    assert all(f"{100 * best['mean']:.2f}" in alt for alt in alts[:4])


def test_several_data_sets_are_compared_first_and_folded_up(page, stores):
    found = page("many")
    said = found.said()
    with Store(stores["many"]) as store:
        results = Results.read(store)
    from conjunto.experiments.statistics import average_ranks, friedman

    means = results.means("error").round(4)
    test = friedman(means.to_numpy())
    for rank in average_ranks(means.to_numpy()):
        assert f"{rank:.2f}" in found.cells
    assert f"F = {test.f_statistic:.2f}" in said
    for _, row in means.iterrows():
        assert f"★{100 * row.min():.2f}" in found.cells
    best = means.eq(means.min(axis=1), axis=0)
    assert sum(cell.startswith("★") for cell in found.cells) == best.to_numpy().sum()
    assert said.index("All data sets together") < said.index("Each data set")
    sections = [facts for facts in found.find("details") if facts.get("class") == "dataset"]
    assert len(sections) == 4
    assert all("open" not in facts for facts in sections)
    # Ranks; boxes, curves, time, size and calibration of each; ROC and precision-recall of two classes.
    assert len(found.find("svg")) == 1 + 4 * 5 + 2
    assert said.count("0/0/") or said.count("/0/")
    assert "four" in said  # its name


def test_data_sets_that_all_agree_have_no_f(altered):
    """Of three methods there are 6 orders: four that are the same have a chance of 6^-3, two one of 1/6."""
    place = "CASE method WHEN 'cart' THEN 0.1 WHEN 'bagging' THEN 0.2 ELSE 0.3 END"
    results = Results.read(altered("many", f"UPDATE cells SET measures = json_set(measures, '$.error', {place})"))
    for names, chance, sentence in (
        (results.datasets, "0.005", "Nemenyi's test cannot tell it from"),
        (results.datasets[:2], "0.167", "do not differ significantly (chance of agreement, p = 0.167)"),
    ):
        some = replace(results, spec=results.spec | {"datasets": [{"name": name} for name in names]})
        section = across_section(some, Painter(results.methods))
        tests = f"all {len(names)} data sets put the methods in the same order, which by chance has p = {chance}."
        assert tests in section["ranks"]["tests"].replace("\N{NO-BREAK SPACE}", " ")
        assert sentence in section["sentence"].replace("\N{NO-BREAK SPACE}", " ")


def test_what_users_wrote_is_escaped(page):
    found = page("failed", models={"<i>data": EVIL})
    text = found.source
    assert "<script" not in text
    assert "<i>" not in text
    assert "<b>" not in text
    said = found.said()
    for words in (EVIL, "<i>data", "<b>target</b>", "licence <i>", f"note {EVIL}", f"source {EVIL}", "run '<b>'"):
        assert words in said
    assert '_$x$ &amp; "y"' in said  # in tables and in pictures, as it was written
    drawn = type(found)("".join(re.findall("<svg.*?</svg>", text, flags=re.DOTALL)))
    assert EVIL in drawn.said().replace(" ", "")  # over two lines
    assert '_$x$ &amp; "y"' in drawn.said()


def test_failures_are_told_with_their_tracebacks(page):
    found = page("failed")
    said = found.said()
    assert "9 done, 3 failed, 0 missing" in said
    assert any(cell.startswith(f"RuntimeError: no luck with {EVIL}") for cell in found.cells)
    assert "Traceback (most recent call last)" in said
    assert "the whole traceback of the first" in said
    assert "failed" in found.ids


def test_an_unfinished_store_says_so(unpainted, altered):
    path = altered(
        "many",
        "DELETE FROM cells WHERE dataset = 'wine'",
        "DELETE FROM cells WHERE dataset = 'labor' AND method = 'cart'",
        "DELETE FROM cells WHERE dataset = 'glass' AND repetition = 2 AND method != 'cart'",
        "DELETE FROM datasets WHERE name = 'wine'",
    )
    found = unpainted(path)
    said = found.said()
    assert "Not finished: 22 of 36 cells are done, 14 are missing" in said
    assert "No cell of this data set is done yet" in said
    assert "not read yet" in said
    assert "2 of 3" in found.cells
    assert "0 of 3" in found.cells
    assert "not run yet" in found.cells
    assert "Ranks leave out data sets on which a method has no result: labor" in said


def test_regression_has_its_own_measures_and_no_confusion(page):
    found = page("regression")
    said = found.said()
    assert "lowest root mean squared error" in said
    assert "R²" in found.cells
    assert "MAE" in found.cells
    assert "confuses" not in said
    assert "stratified" not in said
    assert "%" not in found.find("svg")[0]["aria-label"]


def test_one_method_once(page):
    found = page("single")
    said = found.said()
    assert "cart, the only method with results, has an error of" in said
    assert "±" not in found.find("svg")[0]["aria-label"].split("mean ± sd:")[1]
    assert "nan" not in said.lower()


def test_scores_that_are_not_numbers_are_dashes(unpainted, altered):
    path = altered("one", "UPDATE cells SET measures = json_set(measures, '$.auc', NULL) WHERE method = 'cart'")
    assert "nan" not in unpainted(path).said().lower()
    # What is kept of the answers would fill the gap.
    path = altered(
        "one",
        "UPDATE cells SET measures = json_set(measures, '$.error', NULL) WHERE method = 'cart'",
        "DELETE FROM answers WHERE method = 'cart'",
    )
    found = unpainted(path)
    assert "nan" not in found.said().lower()
    assert "– ± –" in found.cells


def test_a_store_without_results_is_refused_in_words(altered, tmp_path):
    out = tmp_path / "report.html"
    out.write_text("old")
    with pytest.raises(StoreError, match="no cell of it is done yet"):
        write_report(altered("one", "DELETE FROM cells"), out)
    failed = altered("failed", "DELETE FROM cells WHERE status = 'done'")
    with pytest.raises(StoreError, match=r"all of its 3 cells so far failed: RuntimeError: no luck"):
        write_report(failed, out)
    with pytest.raises(FileNotFoundError):
        write_report(tmp_path / "missing.sqlite", out)
    assert out.read_text() == "old"


def test_what_is_missing_is_named(monkeypatch, stores, tmp_path):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"jinja2.*pip install 'conjunto\[report\]'"):
        write_report(stores["one"], tmp_path / "report.html")


def test_many_classes_are_pairs(page, altered):
    classes = [f"k{i}" for i in range(26)]
    quoted = str(classes).replace("'", '"')
    path = altered("one", f"UPDATE datasets SET facts = json_set(facts, '$.classes', json('{quoted}'))")
    said = page(path).said()
    assert "The pairs of the 26 classes" in said
    assert re.search(r"k\d taken for k\d: \d+ of \d+ \(\d+\.\d %\)", said)


def test_the_constant_is_on_the_page_whatever_methods_were_named(page, stores):
    """Of always saying the most frequent class of the training rows, by hand."""
    results = Results.read(stores["one"])
    errors, losses = [], []
    with Store(stores["one"]) as store:
        for repetition in range(3):
            tested = store.tested("wine", repetition)
            errors.append((tested.truth != tested.prior.argmax()).mean())
            losses.append(-np.log(tested.prior.astype(np.float32)[tested.truth]).mean())
    said = page("one").said().replace("\N{NO-BREAK SPACE}", " ")
    assert "The constant (always 'class_1', with the class shares of the training rows as probabilities)" in said
    assert f": error {100 * np.mean(errors):.2f} %, balanced error 66.67 %, AUC 0.5000" in said
    assert f"log loss {np.mean(losses):.4f}"[:-2] in said
    assert "constant" not in results.methods
    assert "No method is better than" not in said
    assert "The constant (always the mean): RMSE" in page("regression").said()


def test_methods_that_learn_nothing_are_told_so_in_the_lead(unpainted, altered):
    path = altered("one", "UPDATE cells SET measures = json_set(measures, '$.error', 0.7)", "DELETE FROM answers")
    text = unpainted(path).source
    lead = re.search('<p class="lead">(.*?)</p>', text)[1]
    assert "No method is better than to answer always" in lead
    path = altered("many", "UPDATE cells SET measures = json_set(measures, '$.error', 0.9) WHERE dataset != 'iris'")
    lead = re.search('<p class="lead">(.*?)</p>', unpainted(path).source)[1]
    assert "On wine, labor and glass no method is better than the constant." in lead


def test_both_p_values_are_shown_and_explained(page):
    found = page("rare")
    said = found.said().replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"(tied|worse) , p [<=] [\d.]+ over rows; p [<=] [\d.]+ over partitions", said)
    assert "Tied: p ≥ 0.05 over rows" in said
    assert "it ignores that other training rows would have given other models" in said
    # Of one method there is nothing to test.
    assert "over rows" not in page("single").said()


def test_combinations_are_marked_and_said_not_to_be_models(page, unpainted, altered):
    found = page("rare")
    said = found.said()
    assert "⊕ stacking of all" in found.cells
    assert "⊕ random-forest" not in found.cells
    assert "combines random-forest and cart" in found.cells
    assert re.search("(stacking of all and vote of all|vote of all and stacking of all) combine random-forest", said)
    assert DEPENDENCE in said
    head = "UPDATE cells SET measures = json_set(measures, '$.error', 0.001) WHERE method = 'stacking of all'"
    found = unpainted(altered("rare", head), models={"rare": "model.skops"})
    said = found.said().replace("\N{NO-BREAK SPACE}", " ")
    assert "stacking of all, a combination of methods, has the lowest error, 0.10 ± 0.00 %." in said
    assert re.search(r"The best single method: [a-z-]+, 2\.50 %\.", said)
    assert "cart, the best that can be saved, fitted on all rows, is in model.skops" in said


def test_what_was_not_saved_is_said(unpainted):
    found = unpainted("one", models={"wine": "model.skops"}, unsaved={"wine": f"x is better, and {EVIL}"})
    assert f"x is better, and {EVIL}." in found.said()
    assert "the best that can be saved, fitted on all rows" in found.said()
    assert "<script" not in found.source


def test_what_was_run_is_told(page, unpainted, altered):
    found = page("rare")
    said = found.said()
    assert "first run" in said
    assert "second <run>" in said
    assert "The store has grown" in said
    assert re.search(r"each model could use \d+ thread", said)
    assert re.search(r"Answers [\d.]+ kB of what models said about test rows", said.replace("\N{NO-BREAK SPACE}", " "))
    assert "Positive class <i>ill</i> (the rarer one, " in said
    groups = """UPDATE datasets SET facts = json_set(facts, '$.groups', json('{"column": "<i>who", "count": 40}'))"""
    path = altered(
        "one",
        groups,
        "UPDATE cells SET threads = 1 WHERE method = 'cart'",
        "UPDATE cells SET threads = 2 WHERE method != 'cart'",
    )
    said = unpainted(path).said()
    assert "rows with the same <i>who are never in training and test at once; 40 groups" in said
    assert "groups kept together" in said
    assert "each model could use 1 or 2 threads" in said
    days = '{"column": "day", "first": "1", "last": "9"}'
    time = f"UPDATE datasets SET facts = json_set(facts, '$.time', json('{days}'))"
    assert "rows in the order of day, from 1 to 9" in unpainted(altered("single", time)).said()


def test_tiny_errors_are_not_shown_as_none(unpainted, altered):
    tiny = (
        "UPDATE cells SET measures = json_set(measures, '$.error', CASE method WHEN 'cart' THEN 0.00012 ELSE 0.3 END)"
    )
    found = unpainted(altered("one", tiny))
    assert "0.012 ± 0.000" in found.cells
    assert "30.000 ± 0.000" in found.cells


def test_colours_of_methods_stand_out_on_both_backgrounds(page):
    style = page("single").source.split("</style>")[0]
    light, dark = (dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", part)) for part in style.split("@media")[:2])
    for theme in (light, dark):
        assert contrast(theme["--ink"], theme["--page"]) > 7
        assert contrast(theme["--soft"], theme["--page"]) > 4.5
        assert contrast(theme["--line"], theme["--page"]) > 3
        for number in range(COLORS):
            assert contrast(theme[f"--c{number}"], theme["--page"]) > 4.5


def contrast(one, other):
    """WCAG 2: (L1 + 0.05) / (L2 + 0.05) of relative luminances."""

    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_measure_has_a_title_and_a_scale():
    from conjunto.report.words import Scale, title

    for measure in MEASURES:
        assert title(measure)
        assert Scale.of(measure, [0.5, float("nan")]).write(0.25) in ("25.00", "0.2500")
