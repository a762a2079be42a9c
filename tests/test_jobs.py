import os

import numpy as np
import pytest
from joblib import parallel_config

from conjunto import AdaBoostClassifier, DoubleBaggingClassifier, RandomForestClassifier
from conjunto.datasets import load
from conjunto.jobs import count_jobs
from conjunto.ordering import reduce_error


def test_jobs_are_counted_as_joblib_does_up_to_what_is_of_use():
    processors = os.cpu_count()
    assert (count_jobs(None), count_jobs(1), count_jobs(processors)) == (1, 1, processors)
    assert count_jobs(10**9) == 4 * processors
    assert count_jobs(-(10**9)) == 1
    with parallel_config(n_jobs=processors, backend="threading"):
        assert count_jobs(None) == processors
    with pytest.raises(ValueError, match="n_jobs == 0"):
        count_jobs(0)


@pytest.mark.parametrize("kind", [RandomForestClassifier, AdaBoostClassifier, DoubleBaggingClassifier])
def test_a_number_of_jobs_that_no_machine_has_changes_nothing(kind):
    data = load("glass")
    one, many = (kind(n_estimators=6, random_state=0, n_jobs=n).fit(data.X, data.y) for n in (1, 10**9))
    np.testing.assert_array_equal(many.predict_proba(data.X), one.predict_proba(data.X))
    orders = [reduce_error(model.votes(data.X), data.y, n_jobs=model.n_jobs) for model in (one, many)]
    np.testing.assert_array_equal(*orders)
