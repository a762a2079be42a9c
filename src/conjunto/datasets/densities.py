"""One-dimensional densities to estimate (Bourel 2012, section 3.2): f = sum_k w_k f_k.

Bourel names five kinds (M1 .. M5) without parameters; the mixtures of two and of three normals are taken from the
standard test bed of Marron & Wand (1992), where the claw density is from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import expon, norm
from sklearn.utils import check_random_state

from conjunto.checks import check_choice, check_count


@dataclass(frozen=True)
class Density:
    """A known density: a mixture of one or more simple ones.

    Parameters
    ----------
    name : str
        Key in `DENSITIES`.
    title : str
        For headings.
    parts : tuple of (weight, distribution)
        Weights that sum to 1 and frozen distributions of `scipy.stats`.

    Examples
    --------
    >>> from conjunto.datasets import DENSITIES
    >>> claw = DENSITIES["claw"]
    >>> claw.pdf([0, 0.25]).round(3), claw.cdf([0, 1]).round(3)
    (array([0.598, 0.228]), array([0.5  , 0.871]))
    """

    name: str
    title: str
    parts: tuple[tuple[float, Any], ...]

    def pdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """The density at x.

        Parameters
        ----------
        x : array of any shape

        Returns
        -------
        density : array of the same shape

        Examples
        --------
        >>> DENSITIES["exponential"].pdf([-1, 0])
        array([0., 1.])
        """
        return np.asarray(sum(weight * part.pdf(x) for weight, part in self.parts))

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """The chance of a value of at most x.

        Parameters
        ----------
        x : array of any shape

        Returns
        -------
        chance : array of the same shape

        Examples
        --------
        >>> DENSITIES["two-normals"].cdf([-1, 0, 1]).round(3)
        array([0.251, 0.5  , 0.749])
        """
        return np.asarray(sum(weight * part.cdf(x) for weight, part in self.parts))

    def sample(self, n_samples: int, random_state: Any = None) -> NDArray[np.float64]:
        """Independent draws.

        Parameters
        ----------
        n_samples : int
            Number of draws.
        random_state : int, RandomState or None, default=None
            Seed of the draws.

        Returns
        -------
        values : array of shape (n_samples,)

        Examples
        --------
        >>> DENSITIES["normal"].sample(3, random_state=0).shape
        (3,)
        """
        check_count("n_samples", n_samples)
        random = check_random_state(random_state)
        chosen = random.choice(len(self.parts), size=n_samples, p=[weight for weight, _ in self.parts])
        values = np.empty(n_samples)
        for number, (_, part) in enumerate(self.parts):
            here = chosen == number
            values[here] = part.rvs(size=here.sum(), random_state=random)
        return values


DENSITIES: dict[str, Density] = {
    "normal": Density("normal", "Standard normal (M1)", ((1.0, norm()),)),
    "exponential": Density("exponential", "Exponential (M2)", ((1.0, expon()),)),
    # Marron & Wand's density 6, bimodal.
    "two-normals": Density(
        "two-normals", "Mixture of two normals (M3)", ((1 / 2, norm(-1, 2 / 3)), (1 / 2, norm(1, 2 / 3)))
    ),
    # Marron & Wand's density 9, trimodal.
    "three-normals": Density(
        "three-normals",
        "Mixture of three normals (M4)",
        ((9 / 20, norm(-6 / 5, 3 / 5)), (9 / 20, norm(6 / 5, 3 / 5)), (1 / 10, norm(0, 1 / 4))),
    ),
    # Marron & Wand's density 10.
    "claw": Density(
        "claw",
        "Claw density (M5)",
        ((1 / 2, norm()), *((1 / 10, norm(talon / 2 - 1, 1 / 10)) for talon in range(5))),
    ),
}


def make_density(name: str, n_samples: int = 500, *, random_state: Any = None) -> NDArray[np.float64]:
    """Independent draws from one of `DENSITIES`, as a table of one column.

    Parameters
    ----------
    name : {"normal", "exponential", "two-normals", "three-normals", "claw"}
        Which density.
    n_samples : int, default=500
        Number of draws; Bourel takes 500.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 1)

    References
    ----------
    Bourel (2012). Métodos de agregación de modelos y aplicaciones. Universidad de Montevideo, section 3.2.
    Marron, Wand (1992). Exact mean integrated squared error. Annals of Statistics 20, 712-736.

    Examples
    --------
    >>> from conjunto.datasets import make_density
    >>> make_density("claw", 4, random_state=0).shape
    (4, 1)
    """
    return DENSITIES[check_choice("name", name, DENSITIES)].sample(n_samples, random_state)[:, None]
