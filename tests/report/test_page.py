import itertools
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from conjunto.experiments import MEASURES, Results, Store, StoreError
from conjunto.report import write_report
from conjunto.report.across import across_section
from conjunto.report.pictures import COLORS, Painter

EVIL = "<script>alert('x')</script>"
NAMES = ["one", "many", "failed", "regression", "single"]


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
        verdict = "tied" if row.p_value >= 0.05 else "worse"
        assert any(cell.startswith(f"{verdict}, p") for cell in found.cells)
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
    assert len(alts) == 4  # boxes, curves, time, size
    assert all(f"{100 * best['mean']:.2f}" in alt for alt in alts)


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
    assert len(found.find("svg")) == 1 + 4 * 4
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


def test_an_unfinished_store_says_so(page, altered):
    path = altered(
        "many",
        "DELETE FROM cells WHERE dataset = 'wine'",
        "DELETE FROM cells WHERE dataset = 'labor' AND method = 'cart'",
        "DELETE FROM cells WHERE dataset = 'glass' AND repetition = 2 AND method != 'cart'",
        "DELETE FROM datasets WHERE name = 'wine'",
    )
    found = page(path)
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


def test_scores_that_are_not_numbers_are_dashes(page, altered):
    path = altered("one", "UPDATE cells SET measures = json_set(measures, '$.auc', NULL) WHERE method = 'cart'")
    assert "nan" not in page(path).said().lower()
    path = altered("one", "UPDATE cells SET measures = json_set(measures, '$.error', NULL) WHERE method = 'cart'")
    found = page(path)
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
