"""Selection by clustering: members that answer alike form a cluster, and the best of each cluster stays.

The distance of two members is the share of the examples on which they disagree (of values: the root of their mean
squared difference); clusters are joined by average linkage.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import cut_tree, linkage

from conjunto.checks import check_count
from conjunto.ordering._errors import example_weights, known_mean, member_errors
from conjunto.ordering._reading import ClassBallot, ValueBallot, first_best, read
from conjunto.votes import Votes


def clustering(
    votes: Votes | ArrayLike, y: ArrayLike, size: int, *, sample_weight: ArrayLike | None = None
) -> NDArray[np.intp]:
    """Return one member of each cluster of members that answer alike.

    Members of one cluster stand for each other, so that the most accurate of them is enough; diversity comes from the
    clusters. What the chosen members answer together plays no part.

    Parameters
    ----------
    votes : Votes or array of shape (T, n)
        What the members say about the examples of the selection set: class codes, -1 where a member abstains, or
        values, NaN where it abstains. Scores count by the class that they are highest for.
    y : array-like of shape (n,)
        The truth: labels of `votes.classes`, codes, or values.
    size : int
        Number of clusters, and of members to choose. Where groups of members vote, groups are clustered, and all
        members of a chosen group are returned.
    sample_weight : array-like of shape (n,), optional
        Weights of the examples, in distances and errors.

    Returns
    -------
    ndarray of int
        The chosen members in the order of rising error: share of wrong answers, or mean squared error, where they vote.

    Notes
    -----
    Distances are over the examples on which both members vote. Two members without such an example are taken to be as
    far apart as any two: 1 for classes, the largest distance found for values. A member that never votes is worse than
    all others.

    References
    ----------
    Giacinto, Roli (2001). An approach to the automatic design of multiple classifier systems. Pattern Recognition
    Letters 22, 25-33.

    Bakker, Heskes (2003). Clustering ensembles of neural network models. Neural Networks 16, 261-269.

    Examples
    --------
    >>> from conjunto.ordering.clustering import clustering
    >>> votes = [[0, 1, 1, 1], [0, 1, 1, 0], [1, 0, 1, 1], [1, 0, 0, 1]]
    >>> clustering(votes, [0, 1, 1, 1], 2)
    array([0, 2])
    """
    ballot = read(votes, y, sample_weight)
    size = check_count("size", size)
    if size > len(ballot):
        raise ValueError(f"size must be at most the number of voters, {len(ballot)}, got {size}")
    errors = member_errors(ballot, np.inf)
    # A single voter has no distances to link.
    cluster = np.arange(len(ballot))
    if size < len(ballot):
        # Of clusters at the same height fcluster opens all or none; this opens as many as asked for.
        cluster = cut_tree(linkage(_distances(ballot), method="average"), n_clusters=size)[:, 0]
    best = []
    for c in range(size):
        alike = np.flatnonzero(cluster == c)
        best.append(alike[first_best(errors[alike])])
    best.sort()
    order = []
    while best:
        order.append(best.pop(first_best(errors[best])))
    return ballot.permutation(order)


def _distances(ballot: ClassBallot | ValueBallot) -> NDArray[np.float64]:
    """(T (T - 1) / 2,): the distances of all pairs, in the order of scipy; a voter at a time, to bound the memory."""
    parts, example_weight = [], example_weights(ballot)
    for t in range(len(ballot) - 1):
        if isinstance(ballot, ClassBallot):
            own, others = ballot.labels[t], ballot.labels[t + 1 :]
            known = (own >= 0) & (others >= 0)
            parts.append(known_mean(known & (own != others), known, example_weight, 1.0))
        else:
            squares = (ballot.values[t] - ballot.values[t + 1 :]) ** 2
            known = ~np.isnan(squares)
            parts.append(np.sqrt(known_mean(np.where(known, squares, 0.0), known, example_weight, np.nan)))
    distances = np.concatenate(parts)
    return np.where(np.isnan(distances), np.nanmax(distances, initial=0.0), distances)
