"""Votes into answers: the one adder, over one table of rules.

`combine` counts all votes, `prefixes` those of the first 1, 2, …, T voters, `decide` gives labels or values back.
"""

from conjunto.combination.adding import begin, by_voter, combine, decide, group_decisions, prefixes
from conjunto.combination.condorcet import condorcet
from conjunto.combination.count import Count
from conjunto.combination.finishing import FINISHES, Finish
from conjunto.combination.rules import RULES, trimmed_mean, weighted_median

__all__ = [
    "FINISHES",
    "RULES",
    "Count",
    "Finish",
    "begin",
    "by_voter",
    "combine",
    "condorcet",
    "decide",
    "group_decisions",
    "prefixes",
    "trimmed_mean",
    "weighted_median",
]
