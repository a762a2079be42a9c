"""Selection by a genetic algorithm: subsets as chromosomes, one gene per member.

The fitness of a subset S of T members on N examples is 1 / (1 + error(S) + (T - |S|) / (2 T N)): less error comes
first, and of equals the larger subset, because the least error on the selection set tends to come from subsets that are
too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunto.checks import check_count, check_number
from conjunto.ordering._reading import ClassBallot, read_classes
from conjunto.ordering._subsets import SubsetErrors
from conjunto.streams import Stream, root_key
from conjunto.ties import ROUNDING
from conjunto.votes import Votes

# Copies of the best individual in the next generation, and of every seed in the first.
COPIES = 2


def genetic(
    votes: Votes | ArrayLike,
    y: ArrayLike,
    *,
    population: int = 200,
    generations: int = 200,
    mutation: float = 0.005,
    crossover: float = 0.65,
    seeds: Sequence[ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> NDArray[np.intp]:
    """Return the best subset of members that a genetic algorithm finds.

    The defaults are the settings of the thesis, made for 200 members: a mutation of 0.005 flips one gene of each of
    their children on average, as 1 / T does for T members. Parents are drawn in proportion to their fitness, which
    differs little between individuals: the search is mild and long, and a greedy ordering is often better and always
    faster. Its use is to judge greedy orderings, and to improve on their subsets (`seeds`).

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say about the examples of the selection set; class codes, -1 where a member abstains.
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, or codes.
    population : int, at least 3
        Number of individuals. Individual i begins as the subset of member i mod T alone. With fewer individuals than
        members the last members are in nobody at first and come in by mutation only; with more, the first are in
        several.
    generations : int
        Number of generations, of which the initial population is the first: `population * generations` subsets are
        judged.
    mutation : float
        Probability that a gene of a child flips.
    crossover : float
        Probability that two parents mix their genes (each gene goes to either child with probability 1/2) instead of
        being copied.
    seeds : sequence of subsets (index sequences of members), optional
        Two copies of each take the place of the last individuals of the initial population. The result is never worse
        than the best of them. Members of one group come together.
    sample_weight : array-like of shape (n,), optional
        Weights of the examples.
    random_state : int, RandomState or None
        Same value, same result.

    Returns
    -------
    ndarray of int
        The chosen members, sorted: those of the subset with the least error; of equals, of the larger one. That is the
        one of the largest fitness, except with sample weights or abstentions, where errors may differ by less than what
        the fitness gives for size.

    References
    ----------
    Martínez-Muñoz (2006). Clasificación mediante conjuntos, section 5.4, eq. 5.8 and table 5.1. PhD thesis,
    Universidad Autónoma de Madrid.

    Zhou, Tang (2003). Selective ensemble of decision trees. RSFDGrC, LNCS 2639, 476-483.

    Examples
    --------
    >>> from conjunto.ordering.genetic import genetic
    >>> votes = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1], [1, 0, 1, 1]]
    >>> genetic(votes, [0, 1, 1, 1], random_state=0)
    array([0, 1, 2])
    """
    ballot = read_classes(votes, y, sample_weight, "genetic")
    population = check_count("population", population, COPIES + 1)
    generations = check_count("generations", generations)
    mutation = check_number("mutation", mutation, 0, 1)
    crossover = check_number("crossover", crossover, 0, 1)
    random = Stream(root_key(random_state), 0).generator()
    errors_of = SubsetErrors(ballot, population)
    chromosomes = _first_generation(len(ballot), population, _voters_of(seeds, ballot))
    errors = errors_of(chromosomes)
    for _ in range(generations - 1):
        fitness = _fitness(chromosomes, errors, len(ballot.truth))
        elite = chromosomes[_best(chromosomes, errors)]
        chromosomes = _next_generation(chromosomes, fitness, elite, mutation, crossover, random)
        errors = errors_of(chromosomes)
    return np.sort(ballot.permutation(np.flatnonzero(chromosomes[_best(chromosomes, errors)])))


def _voters_of(seeds: Sequence[ArrayLike] | None, ballot: ClassBallot) -> list[NDArray[np.intp]]:
    """The voters of each seed, whose indices are those of members."""
    home = np.arange(len(ballot))
    if ballot.voters is not None:
        home = np.repeat(home, [len(members) for members in ballot.voters])
        home = home[np.argsort(np.concatenate(ballot.voters))]
    subsets = []
    for seed in [] if seeds is None else seeds:
        members = np.asarray(seed)
        if members.ndim != 1 or len(members) == 0 or members.dtype.kind not in "iu":
            raise ValueError(f"seeds must be a list of subsets, each a sequence of indices of members, got {seed!r}")
        if members.min() < 0 or members.max() >= len(home):
            raise ValueError(f"seeds must hold indices of members, 0 .. {len(home) - 1}, got {seed!r}")
        voters = np.unique(home[members])
        if not np.isin(np.flatnonzero(np.isin(home, voters)), members).all():
            raise ValueError(f"seeds must hold all members of a group or none, got {seed!r}")
        subsets.append(voters)
    return subsets


def _first_generation(members: int, population: int, seeds: list[NDArray[np.intp]]) -> NDArray[np.bool_]:
    """(P, T): one member each, and two copies of every seed at the end."""
    if COPIES * len(seeds) > population:
        raise ValueError(
            f"population must be at least {COPIES * len(seeds)}, {COPIES} copies of each of {len(seeds)} seeds, "
            f"got {population}"
        )
    individuals = np.arange(population)
    chromosomes = np.zeros((population, members), dtype=bool)
    chromosomes[individuals, individuals % members] = True
    for place, seed in enumerate(seeds * COPIES, start=population - COPIES * len(seeds)):
        chromosomes[place] = False
        chromosomes[place, seed] = True
    return chromosomes


def _fitness(chromosomes: NDArray[np.bool_], errors: NDArray[np.float64], examples: int) -> NDArray[np.float64]:
    """(P,): eq. 5.8."""
    members = chromosomes.shape[1]
    zeros = members - chromosomes.sum(axis=1)
    return 1.0 / (1.0 + errors + zeros / (2 * members * examples))


def _best(chromosomes: NDArray[np.bool_], errors: NDArray[np.float64]) -> int:
    """The individual with the least error; of equals the one with most members, of these the first."""
    sizes = chromosomes.sum(axis=1)
    return int(np.where(errors <= errors.min() + ROUNDING, sizes, -1).argmax())


def _next_generation(
    chromosomes: NDArray[np.bool_],
    fitness: NDArray[np.float64],
    elite: NDArray[np.bool_],
    mutation: float,
    crossover: float,
    random: np.random.Generator,
) -> NDArray[np.bool_]:
    """(P, T): two copies of the elite as it is, and mutated children of parents drawn by fitness."""
    n_children = len(chromosomes) - COPIES
    pairs = (n_children + 1) // 2
    parents = random.choice(len(chromosomes), size=(2, pairs), p=fitness / fitness.sum())
    first, second = chromosomes[parents]
    mixed = random.random((pairs, 1)) < crossover
    swapped = mixed & random.integers(0, 2, size=first.shape, dtype=bool)
    children = np.concatenate([np.where(swapped, second, first), np.where(swapped, first, second)])[:n_children]
    flipped = random.random(children.shape, dtype=np.float32) < mutation
    return np.concatenate([np.tile(elite, (COPIES, 1)), children ^ flipped])
