import numpy as np
import pytest

from conjunto import datasets
from conjunto.datasets.generators import GENERATORS

N = 20_000
SIZED = [name for name in GENERATORS if name != "tic-tac-toe"]


def make(name, *arguments, **keywords):
    if name == "tic-tac-toe":
        pytest.importorskip("pandas")
        return GENERATORS[name].make()
    return GENERATORS[name].make(*arguments, **keywords)


@pytest.mark.parametrize("name", GENERATORS)
def test_index(name):
    """What the index says of a problem is true, the Bayes error within 4 standard errors of a measurement."""
    generator = GENERATORS[name]
    X, y = make(name, N, random_state=0)
    assert X.shape == (len(y), generator.columns)
    assert len(np.unique(y)) == generator.classes
    error = (generator.bayes(X) != y).mean()
    expected = generator.bayes_error
    assert abs(error - expected) <= 4 * np.sqrt(expected * (1 - expected) / len(y))
    assert generator.make is getattr(datasets, "make_" + name.replace("-", "_"))
    assert generator.title
    assert generator.source
    assert generator.citation


@pytest.mark.parametrize("name", SIZED)
def test_seeds_and_sizes(name):
    for one, other in zip(make(name, 50, random_state=4), make(name, 50, random_state=4), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (make(name, 50, random_state=4)[0] != make(name, 50, random_state=5)[0]).all()
    assert len(make(name)[0]) == 300
    for n in (0, -1, 2.5):
        with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1, got"):
            make(name, n)
