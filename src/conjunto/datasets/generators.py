"""The generators of classification problems by name, with what is known of each: the Bayes rule and its error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from conjunto.datasets.geometric import (
    bayes_chi_squared,
    bayes_circle,
    bayes_line,
    bayes_parabola,
    make_chi_squared,
    make_circle,
    make_line,
    make_parabola,
)
from conjunto.datasets.norms import (
    bayes_ringnorm,
    bayes_threenorm,
    bayes_twonorm,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
)
from conjunto.datasets.tic_tac_toe import bayes_tic_tac_toe, make_tic_tac_toe
from conjunto.datasets.waveform import bayes_waveform, make_waveform


@dataclass(frozen=True)
class Generator:
    """A synthetic problem.

    Parameters
    ----------
    make : callable
        `make(n_samples, random_state=...)` gives X and y; that of tic-tac-toe takes nothing.
    title : str
        For headings.
    columns, classes : int
        What X and y have.
    rows : int or None
        How many rows there are in all, where the problem is not a distribution to draw from.
    home, licence : str
        As an `Entry` of the catalogue has them.
    bayes : callable or None
        The rule of least error for equal class shares: X to labels.
    bayes_error : float or None
        Its error, as a fraction: exact or by numerical integration, see the docstring of `make`.
    source : str
        Where the problem is described.
    citation : str
        Who proposed it.

    Examples
    --------
    >>> from conjunto.datasets.generators import GENERATORS
    >>> twonorm = GENERATORS["twonorm"]
    >>> X, y = twonorm.make(5000, random_state=0)
    >>> bool(abs((twonorm.bayes(X) != y).mean() - twonorm.bayes_error) < 0.005)
    True
    """

    make: Callable[..., tuple[Any, Any]]
    title: str
    columns: int
    classes: int
    bayes: Callable[[ArrayLike], NDArray[Any]] | None
    bayes_error: float | None
    source: str
    citation: str
    rows: int | None = None
    home: str = "generator"
    licence: str = "generated"


THESIS = "Martínez Muñoz (2006), Clasificación mediante conjuntos"
ARCING = (
    "Breiman (1996). Bias, variance, and arcing classifiers. Technical Report 460, University of California, Berkeley"
)

GENERATORS: dict[str, Generator] = {
    "twonorm": Generator(
        make_twonorm, "Twonorm", 20, 2, bayes_twonorm, 0.0227501, source=f"{THESIS}, A.1.15", citation=ARCING
    ),
    "threenorm": Generator(
        make_threenorm, "Threenorm", 20, 2, bayes_threenorm, 0.104633, source=f"{THESIS}, A.1.13", citation=ARCING
    ),
    "ringnorm": Generator(
        make_ringnorm, "Ringnorm", 20, 2, bayes_ringnorm, 0.0123966, source="Breiman (1996)", citation=ARCING
    ),
    "waveform": Generator(
        make_waveform,
        "Waveform",
        21,
        3,
        bayes_waveform,
        0.132933,
        source=f"{THESIS}, A.1.18",
        citation="Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees. Chapman & Hall",
    ),
    "chi-squared": Generator(
        make_chi_squared,
        "Chi-squared",
        10,
        2,
        bayes_chi_squared,
        0.0,
        source="Recarey (2021), Métodos de ensamblado en Machine Learning, eq. 2.48",
        citation="Hastie, Tibshirani, Friedman (2009). The Elements of Statistical Learning. Springer, eq. 10.2",
    ),
    "line": Generator(
        make_line, "Line", 2, 2, bayes_line, 0.0, source=f"{THESIS}, section 4.3", citation=f"{THESIS}, section 4.3"
    ),
    "parabola": Generator(
        make_parabola, "Parabola", 2, 2, bayes_parabola, 0.0, source="this library", citation=f"after {THESIS}, 4.3"
    ),
    "circle": Generator(
        make_circle, "Circle", 2, 2, bayes_circle, 0.0, source=f"{THESIS}, figure 1", citation=f"{THESIS}, figure 1"
    ),
    "tic-tac-toe": Generator(
        make_tic_tac_toe,
        "Tic-tac-toe",
        9,
        2,
        bayes_tic_tac_toe,
        0.0,
        source=f"{THESIS}, A.1.14",
        citation="Aha (1991). Tic-Tac-Toe Endgame. UCI Machine Learning Repository. https://doi.org/10.24432/C5688J",
        rows=958,
    ),
}
