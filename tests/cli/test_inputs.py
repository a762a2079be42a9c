"""What stands behind options that commands share."""

import pytest

from conjunto.cli.inputs import FORWARD, InputError, find_source, parse_protocol
from conjunto.experiments import Protocol, Source


@pytest.mark.parametrize(
    ("text", "time", "protocol"),
    [
        ("3x5", None, Protocol("k-fold", 3, 5)),
        ("5-fold", None, Protocol("k-fold", 1, 5)),
        ("5-fold", "day", Protocol("forward", folds=5)),
        ("1x4", "day", Protocol("forward", folds=4)),
        (FORWARD, "day", Protocol("forward", folds=5)),
        ("forward:3", "day", Protocol("forward", folds=3)),
        ("forward", "day", Protocol("forward", folds=5)),
    ],
)
def test_protocols(text, time, protocol):
    assert parse_protocol(text, time) == protocol


@pytest.mark.parametrize(
    ("text", "time", "message"),
    [
        ("10x10", "day", "--protocol: '10x10' would repeat the same blocks, for --time cuts .*; give forward:5"),
        ("holdout:5", "day", "--protocol: 'holdout:5' would train on rows later than those it tests"),
        ("bootstrap:50", "day", "'bootstrap:50' would train on rows later"),
        ("forward:5", None, "--protocol: 'forward:5' needs to know which rows came first: .* --time"),
        ("forward:1", "day", "--protocol: folds must be a whole number of at least 2"),
        ("backward", "day", "none of 10x10, 5-fold, holdout:100, bootstrap:50, forward:5"),
    ],
)
def test_protocols_that_do_not_fit(text, time, message):
    with pytest.raises(InputError, match=message):
        parse_protocol(text, time)


def test_columns_to_split_by(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("x,y\n")
    found = find_source(str(path), "y", None, (), (), groups="customer")
    assert found == Source("sales", path=str(path), target="y", groups="customer")
    assert find_source("wine", None, None, (), (), time="alcohol") == Source("wine", time="alcohol")
    with pytest.raises(InputError, match="groups and time cannot be given both: blocks of time part"):
        find_source(str(path), None, None, (), (), groups="customer", time="day")
    with pytest.raises(InputError, match="groups: 'y' is the target, and must be a column of its own"):
        find_source(str(path), "y", None, (), (), groups="y")
