"""A draw is a value: pure, frozen, the same in another process."""

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

import conjunto
from conjunto import BaggingClassifier, CARTClassifier, RoundRobinClassifier
from conjunto.datasets import make_waveform
from conjunto.draw import Draw
from conjunto.ensembles.bagging import BaggingDraw
from conjunto.ensembles.random_forest import ForestDraw
from conjunto.learners.batch import fit_batch
from conjunto.problem import read_problem
from conjunto.streams import Stream, root_key

from .forests import assert_same_trees

X, Y = make_waveform(80, random_state=0)
PROBLEM = read_problem(CARTClassifier(), X, Y, None, classification=True)


def test_draws_are_frozen_values():
    assert BaggingDraw(80, 21) == BaggingDraw(80, 21)
    assert BaggingDraw(80, 21) != BaggingDraw(79, 21)
    assert BaggingDraw(80, 21) != ForestDraw(80)
    with pytest.raises(FrozenInstanceError):
        BaggingDraw(80, 21).size = 3


@pytest.mark.filterwarnings("ignore:flipping a share:UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, home in conjunto._HOMES.items()
        if name.endswith("Classifier") and not home.startswith("conjunto.combiners.")
    ],
)
def test_the_draw_of_a_fitted_model_pickles_and_draws_the_same_again(name):
    model = getattr(conjunto, name)().fit(X, Y)
    if "_drawn" not in model.__dict__:
        pytest.skip("members of this estimator are not independent")
    drawn = model._drawn
    again = pickle.loads(pickle.dumps(drawn))
    assert again.draw == drawn.draw
    assert (again.outline.n, again.outline.m) == (drawn.outline.n, drawn.outline.m)
    stream = Stream(drawn.key, 3 % len(drawn))
    for part in ("rows", "columns"):
        one, other = (getattr(each.draw, part)(stream, each.outline) for each in (drawn, again))
        np.testing.assert_array_equal(one, other)
    # Classes are kept only where rows depend on them.
    assert (drawn.outline.codes is None) == (name != "RoundRobinClassifier")


def test_a_batch_is_a_function_of_its_arguments():
    draw, key = BaggingDraw(80, 21), root_key(0)
    whole = fit_batch(CARTClassifier(), PROBLEM, draw, key, range(12), 2).members
    for numbers in (range(5), range(5, 12), [3, 11]):
        part = fit_batch(CARTClassifier(), PROBLEM, draw, key, numbers).members
        assert_same_trees(part.forest, whole.forest.take(np.array(numbers, dtype=np.int64)))


def test_a_batch_in_another_process_is_the_same():
    arguments = (CARTClassifier(max_depth=3), PROBLEM, BaggingDraw(80, 21), root_key(7), range(4))
    here = fit_batch(*arguments).members
    PROBLEM.table()
    code = (
        "import pickle, sys; from conjunto.learners.batch import fit_batch; "
        "batch = fit_batch(*pickle.load(sys.stdin.buffer)); sys.stdout.buffer.write(pickle.dumps(batch.members))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(arguments), capture_output=True, check=True)
    assert_same_trees(pickle.loads(done.stdout).forest, here.forest)


def test_members_report_that_their_rows_weigh_nothing():
    weights = np.where(np.arange(80) < 3, 1.0, 0.0)
    problem = read_problem(CARTClassifier(), X, Y, weights, classification=True)
    draw, key = BaggingDraw(10, 21), root_key(1)
    reported = fit_batch(CARTClassifier(), problem, draw, key, range(30)).without_rows
    outline = draw.outline(problem)
    expected = [t for t in range(30) if not draw.rows(Stream(key, t), outline)[:3].any()]
    assert reported == expected
    assert 0 < len(expected) < 30


def test_parts_know_their_members():
    model = BaggingClassifier(n_estimators=9, random_state=0).fit(X, Y)
    part = model._drawn.take([7, 2])
    for t, number in enumerate([7, 2]):
        np.testing.assert_array_equal(list(part.rows())[t], list(model._drawn.rows())[number])
    assert part.is_part
    assert not model._drawn.is_part


def test_outlines():
    model = RoundRobinClassifier().fit(X, Y)
    np.testing.assert_array_equal(model._drawn.outline.codes, Y)


@dataclass(frozen=True)
class Nothing(Draw):
    pass


def test_a_plain_draw_shows_the_problem_as_it_is():
    view = Nothing().view(Stream((1, 2), 0), PROBLEM, Nothing().outline(PROBLEM))
    assert view.weights is None
    assert view.labels is None
    assert view.columns is None
    assert not view.needs_own_table
