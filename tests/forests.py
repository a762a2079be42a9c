"""What tests of trees share: comparing forests by the names of their arrays."""

import numpy as np


def assert_same_trees(one, other, except_for=()):
    one, other = one.arrays(), other.arrays()
    assert list(one) == list(other)
    for name in set(one) - set(except_for):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
