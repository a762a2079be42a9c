import math

import pytest

from conjunto.report.words import (
    Scale,
    count,
    evidence,
    human_bytes,
    human_seconds,
    listed,
    moment,
    p_value,
    parameters,
    unbroken,
)


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("measure", "values", "value", "text"),
    [
        ("error", [0.2], 0.23456, "23.46"),
        ("error", [], math.nan, "–"),
        ("error", [0.2, 0.001], 0.001, "0.10"),
        ("error", [0.2, 0.0009], 0.2, "20.000"),
        ("error", [0.2, 0.0009], 0.0009, "0.090"),
        ("error", [0.0, 0.000012], 0.000012, "0.0012"),
        ("error", [1e-7, math.nan], 1e-7, "0.000010"),
        ("error", [0.2, 1e-12], 0.2, "20.00"),
        ("accuracy", [0.99997, 1.0], 0.99997, "99.9970"),
        ("accuracy", [0.99, 1 - 1e-16], 1.0, "100.00"),
        ("rmse", [1582.3, 2029.0], 1582.3, "1,582"),
        ("rmse", [0.01234], 0.012344, "0.01234"),
        ("r2", [0.95], -0.00001, "0.0000"),
        ("r2", [0.95], -0.5, "\N{MINUS SIGN}0.5000"),
        ("mse", [3.2e12], 3.21e12, "3.210e+12"),
        ("mse", [0.0], 0.0, "0.000"),
    ],
)
def test_numbers(measure, values, value, text):
    assert Scale.of(measure, values).write(value) == text


def test_units_and_rounding():
    scale = Scale.of("error", [0.2])
    assert plain(scale.full(0.2)) == "20.00 %"
    assert plain(scale.spread(0.2, 0.01)) == "20.00 ± 1.00 %"
    assert plain(scale.spread(0.2, math.nan)) == "20.00 %"
    assert scale.rounded(0.123456) == 0.1235
    assert Scale.of("rmse", [1500.0]).rounded(1500.4) == 1500
    assert Scale.of("mse", [3e12]).rounded(3.21449e12) == 3.214e12


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0012, "1.2 ms"), (0.25, "250 ms"), (0.9999, "1.0 s"), (3.44, "3.4 s"), (59.99, "1 min 0 s"), (125, "2 min 5 s"),
     (7300, "2 h 1 min"), (math.nan, "–")],
)  # fmt: skip
def test_seconds(seconds, text):
    assert plain(human_seconds(seconds)) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(512, "512 B"), (999.7, "1.0 kB"), (12_345, "12.3 kB"), (123_456, "123 kB"), (2e6, "2.0 MB"), (5e12, "5000 GB")],
)
def test_bytes(size, text):
    assert plain(human_bytes(size)) == text


def test_words():
    assert plain(p_value(0.0001)) == "p < 0.001"
    assert plain(p_value(0.03421)) == "p = 0.034"
    assert p_value(math.nan) == ""
    assert plain(evidence(0.08, 0.0001)) == "p < 0.001 over rows; p = 0.080 over partitions"
    assert plain(evidence(math.nan, 0.2)) == "p = 0.200 over rows"
    assert plain(evidence(0.08, math.nan)) == "p = 0.080"
    assert evidence(math.nan, math.nan) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert plain(listed(["a, cut to 20 %", "b"])) == "a, cut to 20 %; b"
    assert unbroken("cut to 20 % of it") == "cut to 20\N{NO-BREAK SPACE}% of it"
    assert count(1, "cell") == "1 cell"
    assert count(1200, "cell") == "1,200 cells"
    assert parameters({}) == "defaults"
    assert parameters({"a": 1, "b": True}) == "a = 1, b = True"
    assert moment("2026-01-31T12:34:56Z") == "2026-01-31 12:34 UTC"
