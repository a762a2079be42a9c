"""Files of mostly zeros: what scipy and scikit-learn wrote comes back as it was."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from conjunto.datasets import TableError, as_wide, read_sparse, read_table

X = sp.random(40, 25, density=0.1, random_state=0, format="csr")
Y = (np.asarray(X.sum(axis=1)).ravel() > 0.9).astype(int)


def write_npz(path, X, **more):
    rows = sp.csr_matrix(X)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
    np.savez(path, format=np.array("csr"), **parts, **more)
    return path


def test_npz(tmp_path):
    sp.save_npz(tmp_path / "x.npz", X.tocsc())
    rows, y = read_sparse(tmp_path / "x.npz")
    assert y is None
    assert rows.format == "csr"
    np.testing.assert_array_equal(rows.toarray(), X.toarray())
    with pytest.raises(TableError, match="no array 'y' of answers"):
        read_table(tmp_path / "x.npz")
    data = read_table(write_npz(tmp_path / "words.npz", X, y=np.where(Y, "yes", "no")))
    assert (data.name, data.task, data.y.name) == ("words", "classification", "y")
    np.testing.assert_array_equal(data.X.toarray(), X.toarray())
    assert data.checksum


@pytest.mark.parametrize("name", ["a.svmlight", "a.svm", "a.libsvm", "a.svmlight.gz"])
@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight(tmp_path, name, zero_based):
    path = tmp_path / name
    dump_svmlight_file(X, Y, str(tmp_path / "plain"), zero_based=zero_based)
    written = (tmp_path / "plain").read_bytes()
    path.write_bytes(gzip.compress(written) if name.endswith(".gz") else written)
    data = read_table(path)
    # Columns keep the numbers that are written.
    np.testing.assert_allclose(data.X.toarray()[:, 0 if zero_based else 1 :], X.toarray())
    np.testing.assert_array_equal(data.y, Y)
    assert data.y.dtype.kind == "i"
    assert data.name == "a"


def test_a_regression_and_missing_values(tmp_path):
    rows = X.copy()
    rows.data[3] = np.nan
    data = read_table(write_npz(tmp_path / "a.npz", rows, y=np.linspace(0, 1, 40)))
    assert data.task == "regression"
    assert np.isnan(data.X.data).sum() == 1


def test_width():
    assert as_wide(X, 25) is X
    np.testing.assert_array_equal(as_wide(X, 10).toarray(), X.toarray()[:, :10])
    np.testing.assert_array_equal(as_wide(X, 30).toarray()[:, :25], X.toarray())
    assert as_wide(X, 30).shape == (40, 30)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npz", b"no zip", "not a sparse matrix that scipy.sparse.save_npz wrote"),
        ("a.svm", b"one 1:2", "not a readable svmlight file"),
        ("a.svm.gz", b"1 1:2", "not a readable svmlight file"),
        ("a.svm", b"1 1:inf\n0 2:1", "infinite number"),
        ("a.svm", b"1 1:1\n1 2:1", "all alike"),
        ("a.npz", b"", "is empty"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / name)


def test_arrays_that_do_not_fit(tmp_path):
    with pytest.raises(TableError, match="answers of shape"):
        read_table(write_npz(tmp_path / "a.npz", X, y=Y[:-1]))
    with pytest.raises(TableError, match="missing or infinite"):
        read_table(write_npz(tmp_path / "b.npz", X, y=np.where(np.arange(40) == 3, np.nan, Y)))
    np.savez(
        tmp_path / "c.npz", data=np.ones(1), indices=np.array([99]), indptr=np.array([0, 1]), shape=[1, 2], format="csr"
    )
    with pytest.raises(TableError, match="not a sparse matrix"):
        read_sparse(tmp_path / "c.npz")
    np.savez(tmp_path / "d.npz", y=np.array([{}], dtype=object))
    with pytest.raises(TableError, match="not a sparse matrix"):
        read_sparse(tmp_path / "d.npz")
    with pytest.raises(TableError, match="have no names"):
        read_table(write_npz(tmp_path / "e.npz", X, y=Y), drop=["x"])
    with pytest.raises(TableError, match=r"the answers of f\.npz are 'y'"):
        read_table(write_npz(tmp_path / "f.npz", X, y=Y), "label")
