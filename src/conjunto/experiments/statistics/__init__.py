"""Are the differences real: tests for two methods, for many methods, and summaries of repeated measurements.

Where it matters which of two numbers is better, `greater_is_better` says so; by default numbers are errors and
smaller is better. A difference is always the first (left) method minus the second (right) one.
"""

from conjunto.experiments.statistics.bayes import BayesianComparison, bayesian_correlated_t, bayesian_signed_rank
from conjunto.experiments.statistics.mcnemar import mcnemar
from conjunto.experiments.statistics.paired import PairedTest, corrected_resampled_t, paired_t, wilcoxon
from conjunto.experiments.statistics.ranks import (
    FriedmanTest,
    average_ranks,
    friedman,
    nemenyi_cliques,
    nemenyi_critical_difference,
)
from conjunto.experiments.statistics.summary import MeanAndError, mean_and_error
from conjunto.experiments.statistics.win_draw_loss import win_draw_loss

__all__ = [
    "BayesianComparison",
    "FriedmanTest",
    "MeanAndError",
    "PairedTest",
    "average_ranks",
    "bayesian_correlated_t",
    "bayesian_signed_rank",
    "corrected_resampled_t",
    "friedman",
    "mcnemar",
    "mean_and_error",
    "nemenyi_cliques",
    "nemenyi_critical_difference",
    "paired_t",
    "wilcoxon",
    "win_draw_loss",
]
