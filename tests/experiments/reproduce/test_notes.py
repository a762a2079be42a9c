"""Table 1 of the lecture notes: two votes to one against probabilities of (0.37 + 0.87 + 0.27) / 3."""

import pytest

from conjunto.experiments.reproduce import ReproduceError, reproduce


def test_votes_and_means(tmp_path):
    compared = reproduce("notes-1", tmp_path)
    found = {line.column: line for line in compared.lines}
    assert found["votes, t = 0"].ours == 1
    assert found["votes, t = 1"].ours == 2
    assert found["mean probability, t = 0"].ours == pytest.approx(1.51 / 3)
    assert found["mean probability, t = 1"].ours == pytest.approx(1.49 / 3)
    assert [line.verdict for line in compared.lines] == ["agrees", "agrees", "agrees", "differs"]
    # 0.4967, which the notes cut off.
    assert (compared.lines[-1].published_text, compared.lines[-1].ours_text) == ("0.496", "0.497")
    assert [conclusion.holds for conclusion in compared.conclusions] == [True, True]
    assert not list(tmp_path.iterdir())


def test_there_is_nothing_to_repeat(tmp_path):
    with pytest.raises(ReproduceError, match="neither runs nor data sets"):
        reproduce("notes-1", tmp_path, runs=3)
