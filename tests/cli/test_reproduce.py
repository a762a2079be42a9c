"""`reproduce`: the list, a small run, and its JSON."""

import json


def test_the_list_says_needs_and_costs(cli):
    code, out, _ = cli("reproduce", "--list")
    assert code == 0
    for key in ("martinez-3.6", "martinez-4.2", "martinez-4.3", "martinez-4.5", "martinez-4.6"):
        assert key in out
    assert "australian, heart from a folder" in out
    rows = json.loads(cli("reproduce", "--list", "--json")[1])
    assert all(row["cost"] and row["needs"] for row in rows)


def test_a_small_run(cli):
    options = ("--runs", 2, "--datasets", "waveform 50,sonar", "--jobs", 1)
    code, out, err = cli("reproduce", "martinez-3.6", *options)
    assert code == 0, err
    assert "2 runs instead of 10: the intervals are wider" in out
    assert "not as published: alpha by the one-standard-error rule" in out
    assert "not run: sonar" in err
    assert "26.1" in out
    facts = json.loads(cli("reproduce", "martinez-3.6", *options, "--json")[1])
    assert facts["runs"] == 2
    assert {line["verdict"] for line in facts["lines"]} <= {"agrees", "better", "worse", "differs", "not run"}


def test_what_is_wrong_is_said(cli):
    assert "name a table" in cli("reproduce", "--quick")[2]
    code, _, err = cli("reproduce", "martinez-4.22")
    assert code == 2
    assert "did you mean 'martinez-4.2'" in err
