import dataclasses
import hashlib
import json
import math
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import numpy as np
import pandas as pd
import pytest

from conjunto.experiments import Cell, Experiment, Method, OtherExperimentError, Protocol, Source, Store, StoreError
from conjunto.experiments import claims as module
from conjunto.experiments.answers import Answers, HeldOut
from conjunto.experiments.cells import Outcome

TRIAL = Experiment(("wine", "iris"), ("cart", "bagging"), Protocol("k-fold", 2, 3), name="trial")
CELLS = TRIAL.cells()


def outcome(cell, error=0.25, **more):
    facts = {
        "measures": {"error": error, "auc": math.nan},
        "nested": {1: {"error": 0.5}, 3: {"error": math.inf}},
        "confusion": [(0, 0, 3), (0, 1, 1)],
        "fit_seconds": 0.5,
        "predict_seconds": 0.25,
        "model_bytes": 100,
        "members": 5,
        "n_train": 20,
        "n_test": 10,
        "seed": 7,
        "warnings": ("UserWarning: well",),
    }
    return Outcome(cell, "done", **{**facts, **more})


def failure(cell):
    return Outcome(cell, "failed", traceback="Traceback\nValueError: no", seed=3)


def plain(path, query, *arguments):
    """What somebody sees who has sqlite3 and not this library."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, arguments).fetchall()


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_rows_are_committed_and_anybody_can_read_them(path):
    with Store(path, TRIAL, command="do it again") as store:
        store.save(outcome(CELLS[0]))
        # Another connection sees it while this one is open: it is committed.
        row = plain(
            path, "SELECT dataset, repetition, method, status, measures, nested, confusion, warnings FROM cells"
        )
        assert row[0][:4] == ("wine", 0, "cart", "done")
        measures, nested, confusion, warnings = map(json.loads, row[0][4:])
        assert measures == {"error": 0.25, "auc": None}
        assert nested == {"1": {"error": 0.5}, "3": {"error": None}}
        assert (confusion, warnings) == ([[0, 0, 3], [0, 1, 1]], ["UserWarning: well"])
        assert "NaN" not in row[0][4]
        (versions,) = plain(path, "SELECT versions FROM cells")[0]
        assert json.loads(versions)["numpy"] == np.__version__
        assert store.finished() == {CELLS[0]}
    name, spec, command = plain(path, "SELECT name, spec, command FROM experiment")[0]
    assert (name, command) == ("trial", "do it again")
    assert json.loads(spec) == TRIAL.as_dict()
    keys = TRIAL.keys()
    assert dict(plain(path, "SELECT name, key FROM keys WHERE part = 'method'")) == keys.methods
    assert dict(plain(path, "SELECT name, key FROM keys WHERE part = 'dataset'")) == keys.datasets
    assert plain(path, "SELECT sum(partitions) FROM plan") == [(len(CELLS),)]


def test_the_file_survives_a_power_cut(path):
    with Store(path, TRIAL) as store:
        assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        with Store(path) as reader:
            assert reader._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with Store(path, TRIAL) as store:
        assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_reading_needs_no_experiment(path):
    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[1]))
        store.describe_dataset("wine", {"task": "classification"})
    with Store(path) as store:
        assert (store.name, store.total, store.spec) == ("trial", len(CELLS), TRIAL.as_dict())
        assert store.finished() == {CELLS[1]}
        assert store.datasets() == {"wine": {"task": "classification"}}


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (dataclasses.replace(TRIAL, seed=1), "with another protocol or seed"),
        (dataclasses.replace(TRIAL, protocol=Protocol("holdout")), "with another protocol or seed"),
        (dataclasses.replace(TRIAL, protocol=Protocol("k-fold", 2, 5)), "with another protocol or seed"),
        (
            dataclasses.replace(TRIAL, methods=(Method("bagging", parameters={"n_estimators": 3}),)),
            "in which 'bagging' has other parameters",
        ),
        (
            dataclasses.replace(TRIAL, datasets=(Source("wine", load="iris"),)),
            "in which 'wine' held other data or was read in another way",
        ),
    ],
)
def test_another_experiment_is_refused(path, other, what):
    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[0]))
    before = digest(path)
    with pytest.raises(OtherExperimentError, match=rf"results\.sqlite holds .*trial.*{what}"):
        Store(path, other)
    assert digest(path) == before
    with Store(path, dataclasses.replace(TRIAL, name="renamed")) as store:
        assert store.finished() == {CELLS[0]}


def test_a_store_grows(path):
    """More repetitions, methods and data sets join; what fewer ask for is all still there."""
    with Store(path, TRIAL, command="first") as store:
        store.save(outcome(CELLS[0]))
    more = Experiment(("glass",), ("cart", "pasting"), Protocol("k-fold", 5, 3), ("mcc",), name="other")
    with Store(path, more, command="second") as store:
        assert store.finished() == {CELLS[0]}
    fewer = dataclasses.replace(TRIAL, methods=("cart",), protocol=Protocol("k-fold", 1, 3))
    with Store(path, fewer, command="first") as store:
        assert store.name == "trial"
        assert store.command == "first\nsecond"
        spec = store.spec
        assert [source["name"] for source in spec["datasets"]] == ["wine", "iris", "glass"]
        assert [method["label"] for method in spec["methods"]] == ["cart", "bagging", "pasting"]
        assert (spec["protocol"]["repetitions"], spec["measures"]) == (5, [])
        wanted = {(d, m): 6 for d in ("wine", "iris") for m in ("cart", "bagging")}
        assert store.plan() == wanted | {("glass", "cart"): 15, ("glass", "pasting"): 15}
        assert store.total == 4 * 6 + 2 * 15


def test_answers_come_back_as_they_went_in(path):
    proba = np.array([[0.125, 0.875], [1.0, 0.0], [0.3, 0.7]], dtype=np.float32)
    tested = HeldOut(np.array([7, 300, 2]), np.array([1, 0, 1]), np.array([0.25, 0.75]), 0)
    answers = Answers(np.array([1, 0, 0]), proba)
    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[0], tested=tested, answers=answers))
        store.save(outcome(CELLS[1], tested=tested, answers=Answers(np.array([0, 0, 0]))))
        store.save(outcome(CELLS[2]))
    with Store(path) as store:
        assert store.answered() == set(CELLS[:2])
        found, again = store.tested("wine", 0), store.answers(CELLS[0])
        for part in ("rows", "truth", "prior"):
            assert np.array_equal(getattr(found, part), getattr(tested, part))
        assert found.positive == 0
        assert np.array_equal(again.predicted, answers.predicted)
        assert np.array_equal(again.proba, proba)
        assert store.answers(CELLS[1]).proba is None
        assert store.answers(CELLS[2]) is None
        assert store.tested("iris", 0) is None
        assert 0 < store.answer_bytes() < 400
        store.forget(CELLS[:1])
        assert store.answered() == {CELLS[1]}


def test_remarks_hold_for_what_they_were_made_of(path):
    with Store(path, TRIAL) as store:
        store.remark("wine", "importances", "cart 1", {"a": 0.5})
        assert store.remarked("wine", "importances", "cart 1") == {"a": 0.5}
        assert store.remarked("wine", "importances", "cart 2") is None
        assert store.remarked("iris", "importances") is None
        store.remark("wine", "importances", "cart 2", {"a": 0.25})
        assert store.remarked("wine", "importances") == {"a": 0.25}


def test_data_that_changed_are_refused(path, tmp_path):
    file = tmp_path / "fruit.csv"
    file.write_text("a,b\n1,x\n2,y\n")
    trial = Experiment((Source("fruit", path=str(file)),), ("cart",))
    Store(path, trial).close()
    moved = tmp_path / "moved.csv"
    moved.write_bytes(file.read_bytes())
    Store(path, Experiment((Source("fruit", path=str(moved)),), ("cart",))).close()
    file.write_text("a,b\n1,x\n3,y\n")
    with pytest.raises(OtherExperimentError, match="in which 'fruit' held other data"):
        Store(path, trial)


def other_database(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE cells (precious TEXT)")
        connection.execute("INSERT INTO cells VALUES ('data')")
        connection.commit()


def newer_format(path):
    Store(path, TRIAL).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE experiment SET format = 99")
        connection.execute("DROP TABLE claims")
        connection.commit()


def truncated(path):
    with Store(path, TRIAL) as store:
        for cell in CELLS:
            store.save(outcome(cell))
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("reading", [True, False])
@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda path: path.write_text("dear diary\n" * 1000), "is not a conjunto store"),
        (lambda path: path.write_text("x"), "is not a conjunto store"),
        (other_database, "is not a conjunto store"),
        (newer_format, "has format 99, this release reads format 2"),
        (truncated, "is not a conjunto store"),
    ],
)
def test_what_is_no_store_is_refused_and_left_alone(path, make, match, reading):
    make(path)
    before = digest(path)
    with pytest.raises(StoreError, match=match) as caught:
        Store(path, None if reading else TRIAL)
    assert "results.sqlite" in str(caught.value)
    assert digest(path) == before
    assert not list(path.parent.glob("*-journal"))


def test_an_empty_file_is_no_store_but_can_become_one(path):
    """A run that is killed in its first moment leaves one."""
    path.touch()
    with pytest.raises(StoreError, match="is not a conjunto store"):
        Store(path)
    assert path.stat().st_size == 0
    with Store(path, TRIAL) as store:
        assert store.finished() == set()


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no store"):
        Store(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(FileNotFoundError, match="folder"):
        Store(tmp_path / "none" / "results.sqlite", TRIAL)
    with pytest.raises(IsADirectoryError, match="folder"):
        Store(tmp_path, TRIAL)


@pytest.mark.parametrize("attempt", range(8))
def test_many_arrive_at_once(path, attempt):
    """Whoever is first makes the tables; nobody finds half of them or a locked file."""
    barrier = threading.Barrier(8)

    def arrive(_):
        barrier.wait()
        with Store(path, TRIAL) as store:
            return store._connection.execute("PRAGMA journal_mode").fetchone()[0], store.finished()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(arrive, range(8))) == [("wal", set())] * 8


def test_two_workers_never_get_the_same_cell(path):
    """Four processes' worth of connections race for all cells, and nobody saves before all are claimed."""
    Store(path, TRIAL).close()
    barrier = threading.Barrier(4)

    def race(_):
        taken, pending = [], deque(CELLS)
        with Store(path, TRIAL) as store, store.worker() as worker:
            barrier.wait()
            while (cell := store.claim(worker, pending)) is not None:
                taken.append(cell)
            barrier.wait()
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(race, range(4)))
    assert Counter(cell for part in taken for cell in part) == Counter(CELLS)
    assert plain(path, "SELECT count(*) FROM claims") == [(0,)]
    assert plain(path, "SELECT count(*) FROM workers") == [(0,)]


def test_finished_cells_are_not_claimed_and_leave_the_queue(path):
    with Store(path, TRIAL) as store, store.worker() as worker:
        store.save(outcome(CELLS[0]))
        store.save(failure(CELLS[1]))
        pending = deque(CELLS[:3])
        assert store.claim(worker, pending) == CELLS[2]
        assert not pending
        assert store.claim(worker, pending) is None


def test_what_somebody_else_is_at_goes_to_the_end(path):
    with Store(path, TRIAL) as one, Store(path, TRIAL) as two, one.worker() as first, two.worker() as second:
        assert one.claim(first, deque(CELLS[:1])) == CELLS[0]
        pending = deque(CELLS[:2])
        assert two.claim(second, pending) == CELLS[1]
        assert list(pending) == [CELLS[0]]
        assert two.claim(second, pending) is None
        assert list(pending) == [CELLS[0]]
        assert two.claimed_by(first) == CELLS[0]
        assert two.claimed_by("nobody") is None
        one.save(outcome(CELLS[0]))
        assert plain(path, "SELECT count(*) FROM claims") == [(1,)]


def claim_as(path, pid, alive):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO workers VALUES ('other', ?, ?)", (pid, alive))
        connection.execute("INSERT INTO claims VALUES (?, ?, ?, 'other')", CELLS[0])
        connection.commit()


def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.skipif(os.name == "nt", reason="processes cannot be asked there")
def test_claims_of_the_dead_are_void(path):
    with Store(path, TRIAL) as store, store.worker() as worker:
        claim_as(path, dead_pid(), time.time())
        assert store.claim(worker, deque(CELLS[:1])) == CELLS[0]
        assert plain(path, "SELECT worker FROM claims") == [(worker,)]
        assert plain(path, "SELECT id FROM workers") == [(worker,)]


def test_claims_of_the_silent_are_void_and_of_the_living_are_not(path, monkeypatch):
    with Store(path, TRIAL) as store, store.worker() as worker:
        claim_as(path, os.getpid(), time.time() - 50)
        assert store.claim(worker, deque(CELLS[:1])) is None
        monkeypatch.setattr(module, "SILENCE", 40)
        assert store.claim(worker, deque(CELLS[:1])) == CELLS[0]


def test_a_worker_shows_life(path, monkeypatch):
    """A worker that does nothing itself keeps its claim."""
    monkeypatch.setattr(module, "SILENCE", 0.4)
    with Store(path, TRIAL) as one, Store(path, TRIAL) as two, one.worker() as first, two.worker() as second:
        assert one.claim(first, deque(CELLS[:1])) == CELLS[0]
        began = plain(path, "SELECT alive FROM workers WHERE id = ?", first)[0][0]
        until = time.monotonic() + 20
        while plain(path, "SELECT alive FROM workers WHERE id = ?", first)[0][0] < began + 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        # Much longer than its last sign of life is old, on a busy machine too.
        monkeypatch.setattr(module, "SILENCE", 10)
        assert two.claim(second, deque(CELLS[:1])) is None


def test_a_worker_signs_off_whatever_happens(path):
    with Store(path, TRIAL) as store:
        with suppress(KeyboardInterrupt), store.worker() as worker:
            store.claim(worker, deque(CELLS))
            raise KeyboardInterrupt
        assert plain(path, "SELECT count(*) FROM claims") == [(0,)]
        assert plain(path, "SELECT count(*) FROM workers") == [(0,)]
    assert not [thread for thread in threading.enumerate() if "_show_life" in thread.name]


def test_an_interrupt_leaves_no_transaction_open(path):
    with Store(path, TRIAL) as store:
        with suppress(KeyboardInterrupt), store._transaction():
            store.describe_dataset("wine", {})
            raise KeyboardInterrupt
        assert store.datasets() == {}
        store.save(outcome(CELLS[0]))
        assert store.finished() == {CELLS[0]}


def test_the_first_row_stays(path):
    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[0], 0.25))
        store.save(outcome(CELLS[0], 0.75))
        store.save(failure(CELLS[0]))
        whole = store.frame().query("size == 0")
        assert whole["error"].tolist() == [0.25]
        assert whole["status"].tolist() == ["done"]


def test_failures_are_counted_and_forgotten_where_asked(path):
    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[0]))
        store.save(failure(CELLS[1]))
        store.save(failure(CELLS[2]))
        assert len(store.finished("failed")) == 2
        store.forget(CELLS[:2], failed=True)
        assert store.finished() == {CELLS[0], CELLS[2]}
        store.forget(CELLS, failed=True)
        assert store.finished() == {CELLS[0]}


def test_the_frame_has_a_line_per_cell_and_size(path):
    with Store(path, TRIAL) as store:
        assert store.frame().empty
        store.save(failure(CELLS[1]))
        store.save(outcome(CELLS[0]))
        frame = store.frame()
    assert frame.columns[:7].tolist() == ["dataset", "repetition", "method", "size", "status", "error", "auc"] or (
        frame.columns[:7].tolist() == ["dataset", "repetition", "method", "size", "status", "auc", "error"]
    )
    done = frame[frame["status"] == "done"]
    assert done["size"].tolist() == [0, 1, 3]
    assert done["error"].tolist()[:2] == [0.25, 0.5]
    assert math.isnan(done["error"].tolist()[2])
    assert done["auc"].isna().all()
    assert done["auc"].dtype == float
    assert (done["seed"] == 7).all()
    (failed,) = frame[frame["status"] == "failed"].to_dict("records")
    assert failed["size"] == 0
    assert math.isnan(failed["error"])
    assert math.isnan(failed["fit_seconds"])
    assert failed["traceback"].endswith("ValueError: no")


def test_confusion_adds_up(path):
    with Store(path, TRIAL) as store:
        store.save(outcome(Cell("wine", 0, "cart")))
        store.save(outcome(Cell("wine", 1, "cart"), confusion=[(0, 0, 2), (1, 0, 5)]))
        store.save(outcome(Cell("wine", 1, "bagging"), confusion=[(0, 0, 100)]))
        store.save(outcome(Cell("iris", 1, "cart"), confusion=[(0, 0, 1000)]))
        assert store.confusion("wine", "cart") == {(0, 0): 5, (0, 1): 1, (1, 0): 5}
        assert store.confusion("wine", "none") == {}


@pytest.mark.parametrize("rows", [0, 4])
def test_exports_are_the_frame(path, tmp_path, rows):
    with Store(path, TRIAL) as store:
        for cell in CELLS[:rows]:
            store.save(outcome(cell, error=1 / 3) if cell != CELLS[2] else failure(cell))
        frame = store.frame()
        store.export(tmp_path / "out.csv")
        store.export(tmp_path / "out.parquet")
    parquet = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(parquet, frame, check_dtype=bool(rows))
    table = pd.read_csv(
        tmp_path / "out.csv", keep_default_na=False, na_values={c: [""] for c in frame if c != "traceback"}
    )
    pd.testing.assert_frame_equal(table, frame, check_dtype=False)
    assert sorted(file.name for file in tmp_path.glob("out.*")) == ["out.csv", "out.parquet"]


def test_an_export_that_fails_leaves_the_old_file(path, tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def half(self, part, **_):
        part.write_text("half of i")
        raise OSError("disk full")

    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[0]))
        monkeypatch.setattr(pd.DataFrame, "to_csv", half)
        with pytest.raises(OSError, match="disk full"):
            store.export(target)
        with pytest.raises(ValueError, match=r"\.csv or \.parquet, got 'out\.xlsx'"):
            store.export(tmp_path / "out.xlsx")
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.glob("out*")] == ["out.csv"]


def test_names_may_hold_anything(path):
    odd = "O'Brien; DROP TABLE cells; -- \n ü 漢"
    trial = Experiment((Source(odd, load="wine"),), (Method("cart", odd),), Protocol("k-fold", 1, 2))
    with Store(path, trial) as store, store.worker() as worker:
        cell = store.claim(worker, deque(trial.cells()))
        store.save(outcome(cell))
        assert store.finished() == {Cell(odd, 0, odd)}
        assert store.frame()["dataset"].tolist() == [odd] * 3


def test_a_worker_that_was_struck_off_comes_back_and_leaves_no_claim_behind(path):
    """After a long silence (a laptop asleep) the others have struck it off; its later claims must not outlive it."""
    with Store(path, TRIAL) as one, Store(path, TRIAL) as two, two.worker() as watcher:
        with one.worker() as sleeper:
            assert one.claim(sleeper, deque(CELLS[:1])) == CELLS[0]
            with sqlite3.connect(path) as connection:
                connection.execute("UPDATE workers SET alive = 0 WHERE id = ?", (sleeper,))
            connection.close()
            assert two.claim(watcher, deque(CELLS[:1])) == CELLS[0]
            assert one.claim(sleeper, deque(CELLS[1:2])) == CELLS[1]
            assert plain(path, "SELECT count(*) FROM workers") == [(2,)]
        assert plain(path, "SELECT count(*) FROM claims") == [(1,)]
        # A claim of nobody on the list, however it came about, is void.
        with sqlite3.connect(path) as connection:
            connection.execute("INSERT INTO claims VALUES (?, ?, ?, 'ghost')", CELLS[2])
        connection.close()
        assert two.claim(watcher, deque(CELLS[2:3])) == CELLS[2]


def test_a_store_on_a_medium_that_cannot_be_written_to(path, monkeypatch):
    with Store(path, TRIAL) as store:
        store.save(outcome(CELLS[0]))
        expected = store.frame()
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = {file.name: file.stat().st_mtime_ns for file in path.parent.iterdir()}
    with Store(path) as store:
        pd.testing.assert_frame_equal(store.frame(), expected)
    assert {file.name: file.stat().st_mtime_ns for file in path.parent.iterdir()} == before
