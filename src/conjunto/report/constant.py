"""What the constant reaches, in words: without it a comparison may praise a model that has learned nothing."""

from __future__ import annotations

from conjunto.experiments.results import Results
from conjunto.report.words import Scale


def constant_answer(results: Results, dataset: str) -> str:
    """What the constant says: `always 'no'`, or `always the mean`."""
    facts = results.facts[dataset]
    if "counts" not in facts:
        return "always the mean"
    most = max(range(len(facts["counts"])), key=facts["counts"].__getitem__)
    return f"always {facts['classes'][most]!r}"


def constant_sentence(results: Results, dataset: str) -> str:
    """A plain sentence where the best method is not better than the constant; empty where it is."""
    against = results.against_constant(dataset)
    if against is None or against[1].word == "worse":
        return ""
    mean, verdict = against
    scale = Scale.of(results.measures(dataset)[0], [mean, *results.boards[dataset]["mean"]])
    answer = constant_answer(results, dataset).replace("always", "to answer always", 1)
    if verdict.word == "too few runs to tell":
        return f"Too few runs to tell whether any method is better than {answer} ({scale.full(mean)})."
    known = "significantly better" if verdict.word == "tied" else "better"
    return f"No method is {known} than {answer} ({scale.full(mean)})."
