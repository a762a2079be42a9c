import math
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from conjunto.datasets import Dataset
from conjunto.experiments import Experiment, Method, Protocol, Source, Store, StoreError, run
from conjunto.experiments.cells import Bench, cell_seed

SMALL = Method("bagging", parameters={"n_estimators": 5}, sizes=(1, 3))
TRIAL = Experiment(("wine", "iris"), ("cart", SMALL), Protocol("k-fold", repetitions=1, folds=3))
posix = pytest.mark.skipif(os.name == "nt", reason="signals and /proc")

# Estimators of a user, who keeps them in a module of his own.
MINE = """
import os, sys, time
from pathlib import Path
from sklearn.tree import DecisionTreeClassifier

class Deadly(DecisionTreeClassifier):
    def __init__(self, fatal=0, random_state=None):
        super().__init__(random_state=random_state)
        self.fatal = fatal
    def fit(self, X, y):
        if self.random_state == self.fatal:
            os.kill(os.getpid(), 9)
        return super().fit(X, y)

class Once(DecisionTreeClassifier):
    def __init__(self, marker="", fatal=0, random_state=None):
        super().__init__(random_state=random_state)
        self.marker = marker
        self.fatal = fatal
    def fit(self, X, y):
        if self.random_state == self.fatal and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), 9)
        return super().fit(X, y)

class Quitter(Deadly):
    def fit(self, X, y):
        if self.random_state == self.fatal:
            print("goodbye", file=sys.stderr, flush=True)
            os._exit(7)
        return DecisionTreeClassifier.fit(self, X, y)

class Talker(DecisionTreeClassifier):
    def __init__(self, random_state=None):
        super().__init__(random_state=random_state)
    def fit(self, X, y):
        print("x" * 300_000, file=sys.stderr)
        print("x" * 300_000)
        return super().fit(X, y)

class Threads(DecisionTreeClassifier):
    def __init__(self, file="", random_state=None):
        super().__init__(random_state=random_state)
        self.file = file
    def fit(self, X, y):
        import joblib, threadpoolctl
        Path(self.file).write_text(f"{joblib.cpu_count()} {os.environ['MKL_NUM_THREADS']} "
            f"{max(pool['num_threads'] for pool in threadpoolctl.threadpool_info())}")
        return super().fit(X, y)

class Slow(DecisionTreeClassifier):
    def __init__(self, seconds=0.1, random_state=None):
        super().__init__(random_state=random_state)
        self.seconds = seconds
    def fit(self, X, y):
        time.sleep(self.seconds)
        return super().fit(X, y)

class Repaired(DecisionTreeClassifier):
    def __init__(self, folder="", random_state=None):
        super().__init__(random_state=random_state)
        self.folder = folder
    def fit(self, X, y):
        if not Path(self.folder, "repaired").exists():
            raise RuntimeError("broken")
        return super().fit(X, y)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    import mine

    yield mine
    sys.modules.pop("mine", None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def table(results):
    """What does not depend on the clock."""
    frame = getattr(results, "frame", results)
    timing = ["fit_seconds", "predict_seconds", "seconds", "threads", "finished"]
    return frame.drop(columns=timing).sort_values(["dataset", "repetition", "method", "size"]).reset_index(drop=True)


def assert_same(one, other):
    pd.testing.assert_frame_equal(table(one), table(other), check_like=True, check_exact=True)


def count(path, of):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT count(*) FROM {of}").fetchone()[0]


def processes():
    """Helper processes on this machine: pid to parent and open files, as /proc tells."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"conjunto.experiments.helper" not in (folder / "cmdline").read_bytes():
                continue
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            found[int(folder.name)] = parent, {os.path.realpath(file) for file in (folder / "fd").iterdir()}
        except OSError:
            continue
    return found


def helpers(path):
    """Helpers of this process, and those that have this store open."""
    return {pid for pid, (up, files) in processes().items() if up == os.getpid() or os.path.realpath(path) in files}


def answers_in(path):
    """Everything that was kept of what models said, to the byte."""
    with closing(sqlite3.connect(path)) as connection:
        return {row[:3]: row[3:] for row in connection.execute("SELECT * FROM answers")}


def kill_group(child, path):
    """SIGKILL to a run; returns how many helpers it had, and the pids of those that live on for five seconds."""
    before = {pid for pid, (parent, _) in processes().items() if parent == child.pid} | helpers(path)
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    until = time.monotonic() + 5
    while (left := before & processes().keys()) and time.monotonic() < until:
        time.sleep(0.05)
    return len(before), left


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return run(TRIAL, tmp_path_factory.mktemp("reference") / "results.sqlite")


def test_every_cell_has_the_row_that_the_bench_gives(reference):
    bench = Bench(TRIAL)
    whole = reference.frame[reference.frame["size"] == 0].set_index(["dataset", "repetition", "method"])
    assert len(whole) == len(TRIAL.cells())
    for cell in TRIAL.cells():
        expected = bench.run(cell)
        assert whole.loc[tuple(cell), "status"] == "done"
        for name, value in expected.measures.items():
            assert whole.loc[tuple(cell), name] == value
        assert whole.loc[tuple(cell), "seed"] == expected.seed


def test_two_processes_give_the_same_table(path, reference):
    assert_same(run(TRIAL, path, n_jobs=2), reference)
    assert (count(path, "claims"), count(path, "workers")) == (0, 0)
    assert not helpers(path)


def test_only_what_is_missing_is_run(path, reference, monkeypatch):
    ran = []
    original = Bench.run
    monkeypatch.setattr(Bench, "run", lambda self, cell: (ran.append(cell), original(self, cell))[1])
    cells = TRIAL.cells()
    partial = run(TRIAL, path, cells=cells[1:4])
    assert Counter(ran) == Counter(cells[1:4])
    assert [cell.repetition for cell in ran] == sorted(cell.repetition for cell in ran)
    assert len(partial.frame.query("size == 0")) == 3
    assert_same(run(TRIAL, path), reference)
    assert Counter(ran) == Counter(cells)
    assert_same(run(TRIAL, path), reference)
    assert len(ran) == len(cells)


def test_cells_may_be_plain_tuples_and_must_exist(path):
    results = run(TRIAL, path, cells=[("iris", 2, "cart")])
    assert results.frame[["dataset", "repetition", "method"]].to_numpy().tolist() == [["iris", 2, "cart"]]
    assert list(results.facts) == ["iris"]
    for foreign in [("iris", 3, "cart"), ("iris", 0, "none"), ("none", 0, "cart")]:
        with pytest.raises(ValueError, match=f"cells: .*{foreign[0]}.* is not a cell"):
            run(TRIAL, path, cells=[foreign])
    assert count(path, "cells") == 1


def test_progress_tells_finished_failed_and_all(path, monkeypatch):
    monkeypatch.setattr(sys.modules["conjunto.experiments.run"], "PAUSE", 0)
    told = []
    run(TRIAL, path, progress=lambda *numbers: told.append(numbers))
    total = len(TRIAL.cells())
    assert told[0][:3] == (0, 0, total)
    assert math.isnan(told[0][3])
    assert told[-1] == (total, 0, total, 0.0)
    assert all(left > 0 for done, _, _, left in told if 0 < done < total)
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert {done for done, *_ in told} == set(range(total + 1))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_what_is_done(path, reference, n_jobs, monkeypatch):
    monkeypatch.setattr(sys.modules["conjunto.experiments.run"], "PAUSE", 0 if n_jobs == 1 else 0.05)

    def stop(done, failed, total, left):
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(TRIAL, path, n_jobs=n_jobs, progress=stop)
    done = count(path, "cells")
    assert done >= 5
    if n_jobs == 1:
        assert done == 5
    assert (count(path, "claims"), count(path, "workers")) == (0, 0)
    assert not helpers(path)
    assert_same(run(TRIAL, path), reference)


def test_an_interrupt_inside_a_cell_leaves_the_cell_undone(path, reference, monkeypatch):
    original = Bench._run
    fifth = sorted(TRIAL.cells(), key=lambda cell: cell.repetition)[4]

    def interrupted(self, cell, seed):
        if cell == fifth:
            raise KeyboardInterrupt
        return original(self, cell, seed)

    monkeypatch.setattr(Bench, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(TRIAL, path)
    assert (count(path, "cells"), count(path, "claims"), count(path, "workers")) == (4, 0, 0)
    monkeypatch.undo()
    assert_same(run(TRIAL, path), reference)


@posix
def test_one_death_is_forgiven(path, mine, tmp_path):
    """Somebody's kill -9 of a helper, or a lack of memory, must not change the table."""
    once = Method("once", estimator=mine.Once(str(tmp_path / "died"), cell_seed(0, "wine", 1, "once")))
    results = run(Experiment(("wine",), (once,), Protocol("k-fold", 1, 4)), path, n_jobs=2)
    assert (tmp_path / "died").exists()
    assert results.frame["status"].tolist() == ["done"] * 4


@posix
def test_the_last_cell_dies_in_a_helper_too(path, mine):
    deadly = Method("deadly", estimator=mine.Deadly(cell_seed(0, "wine", 0, "deadly")))
    trial = Experiment(("wine",), (deadly,), Protocol("k-fold", 1, 4))
    results = run(trial, path, n_jobs=2, cells=[("wine", 0, "deadly")])
    assert results.frame["status"].tolist() == ["failed"]


def test_classes_of_a_script_are_refused_where_processes_are_asked_for(path, monkeypatch):
    monkeypatch.setattr(
        sys.modules["__main__"],
        "Here",
        type("Here", (DecisionTreeClassifier,), {"__module__": "__main__"}),
        raising=False,
    )
    trial = Experiment(("wine",), (Method("here", estimator=sys.modules["__main__"].Here()),), Protocol("k-fold", 1, 4))
    with pytest.raises(ValueError, match=r"holds 'Here', which this script defines .* into a module, or use n_jobs=1"):
        run(trial, path, n_jobs=2)


def test_the_word_main_in_data_is_no_class_of_a_script():
    """Classes are told apart by what they are, not by a text in what is sent."""
    data = Dataset("d", pd.DataFrame({"a": range(4)}), pd.Series(["__main__", "b"] * 2), "classification")
    trial = Experiment((Source("d", data=data),), (Method("cart", label="__main__"),), Protocol("k-fold", 1, 2))
    sent = pickle.loads(sys.modules["conjunto.experiments.run"]._pack(trial))
    assert sent.keys() == trial.keys()


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_n_jobs_that_make_no_sense(path, n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        run(TRIAL, path, n_jobs=n_jobs)


@posix
def test_a_helper_that_dies_is_a_failed_cell(path, mine, tmp_path, monkeypatch):
    """Both helpers die, one after the other or together, and others take their place.

    They may also say as much as they like: a pipe that nobody reads would stop them at 64 KB. Each has its share of the
    processors, and what the user has set.
    """
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    methods = (
        Method("deadly", estimator=mine.Deadly(cell_seed(0, "wine", 0, "deadly"))),
        Method("quitter", estimator=mine.Quitter(cell_seed(0, "wine", 0, "quitter"))),
        Method("talker", estimator=mine.Talker()),
        Method("threads", estimator=mine.Threads(str(tmp_path / "threads"))),
    )
    results = run(Experiment(("wine",), methods, Protocol("k-fold", 1, 4)), path, n_jobs=2)
    failed = results.frame[results.frame["status"] == "failed"].set_index(["dataset", "repetition", "method"])
    assert set(failed.index) == {("wine", 0, "deadly"), ("wine", 0, "quitter")}
    assert "killed by signal 9" in failed.loc[("wine", 0, "deadly"), "traceback"]
    assert "exit code 7\n" in failed.loc[("wine", 0, "quitter"), "traceback"]
    assert len(results.frame) == 16
    share = max(1, joblib.cpu_count() // 2)
    assert (tmp_path / "threads").read_text() == f"{share} 7 {share}"
    assert not helpers(path)
    assert (count(path, "claims"), count(path, "workers")) == (0, 0)


def test_a_helper_that_cannot_start_is_an_error_that_says_why(path, mine):
    trial = Experiment(("iris",), (Method("mine", estimator=mine.Slow()),), Protocol("k-fold", 1, 2))
    Path(mine.__file__).write_text("raise ImportError('moved away')")
    with pytest.raises(RuntimeError, match="moved away"):
        run(trial, path, n_jobs=2)
    assert not helpers(path)


def test_what_cannot_be_sent_to_helpers_starts_none(path):
    trial = Experiment(("iris",), (Method("f", estimator=FunctionTransformer(lambda X: X)),), Protocol("k-fold", 1, 2))
    with pytest.raises(ValueError, match=r"n_jobs: .*lambda.*use n_jobs=1"):
        run(trial, path, n_jobs=2)
    assert not helpers(path)


def test_failed_cells_are_run_again_only_when_asked(path, mine, tmp_path):
    methods = (Method("mine", estimator=mine.Repaired(str(tmp_path))), "cart")
    trial = Experiment(("iris", "wine"), methods, Protocol("k-fold", 1, 2))
    assert len(run(trial, path).failures()) == 4
    before = run(trial, path).frame
    assert set(run(trial, path).failures()["reason"]) == {"RuntimeError: broken"}
    (tmp_path / "repaired").touch()
    assert len(run(trial, path).failures()) == 4
    # Asked for some cells, only theirs are forgotten.
    some = [cell for cell in trial.cells() if cell.dataset == "iris"]
    failures = run(trial, path, cells=some, retry_failed=True).failures()
    assert failures[["dataset", "method"]].drop_duplicates().to_numpy().tolist() == [["wine", "mine"]]
    assert len(failures) == 2
    after = run(trial, path, retry_failed=True)
    assert after.failures().empty
    done = before["status"] == "done"
    kept = after.frame.merge(before[done][["dataset", "repetition", "method", "finished"]])
    assert len(kept) == done.sum() == 4


def test_data_that_cannot_be_had_leave_no_store(path, tmp_path):
    with pytest.raises(LookupError, match="did you mean 'wine'"):
        run(Experiment(("wien",), ("cart",)), path)
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        run(Experiment((Source("none", path=str(tmp_path / "none.csv")),), ("cart",)), path)
    assert not path.exists()


def test_another_experiment_is_refused(path):
    run(TRIAL, path, cells=TRIAL.cells()[:1])
    other = Experiment(("wine",), ("cart",), TRIAL.protocol, seed=TRIAL.seed + 1)
    with pytest.raises(StoreError, match="with another protocol or seed"):
        run(other, path)
    assert count(path, "cells") == 1


def start(trial_code, folder, path, n_jobs=1, log="log.txt"):
    """A run in a process and process group of its own."""
    script = folder / "trial.py"
    script.write_text(trial_code)
    with open(folder / log, "ab") as out:
        return subprocess.Popen(
            [sys.executable, script, path, str(n_jobs)], stdout=out, stderr=out, start_new_session=True
        )


def rows_of(path):
    if not path.exists():
        return 0
    try:
        return count(path, "cells")
    except sqlite3.OperationalError:  # the tables are not made yet
        return 0


def wait_for(happened, seconds=120.0):
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)


# 3 data sets x 3 methods x (6 x 4) partitions = 216 cells; each sleeps a little so that a kill can hit it.
KILL_TRIAL = textwrap.dedent(
    """
    import sys
    from conjunto.experiments import Experiment, Method, Protocol, run

    trial = Experiment(
        ("wine", "iris", "new-thyroid"),
        ("cart", Method("bagging", parameters={"n_estimators": 5}, sizes=(1, 3)),
         Method("class-switching", parameters={"n_estimators": 5})),
        Protocol("k-fold", repetitions=6, folds=4),
        measures=("error", "auc"),
    )

    if __name__ == "__main__":
        run(trial, sys.argv[1], n_jobs=int(sys.argv[2]))
    """
)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    names = {}
    exec(compile(KILL_TRIAL, "trial", "exec"), names)
    assert len(names["trial"].cells()) >= 200
    return names["trial"], run(names["trial"], folder / "results.sqlite")


@posix
def test_kill_minus_nine(path, tmp_path, uninterrupted):
    """SIGKILL at five random moments in the middle of the work, and on from there."""
    trial, expected = uninterrupted
    rng = random.Random(2006)
    total = len(trial.cells())
    hits = 0
    for _ in range(5):
        begun = rows_of(path)
        child = start(KILL_TRIAL, tmp_path, path, n_jobs=2)
        # A moment: so many rows further on, and then some milliseconds into the next cells.
        aim = begun + rng.randint(1, total // 7)
        wait_for(lambda: child.poll() is not None or rows_of(path) >= aim)  # noqa: B023
        time.sleep(rng.uniform(0, 0.03))
        ended = child.poll() is not None
        had, left = kill_group(child, path)
        assert not left
        kept = rows_of(path)
        assert kept >= aim
        hits += not ended and had > 0 and kept < total
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert hits >= 3
    assert_same(run(trial, path, n_jobs=2), expected)
    assert answers_in(path) == answers_in(expected.path)
    assert (count(path, "cells"), count(path, "claims"), count(path, "workers")) == (total, 0, 0)
    assert not helpers(path)


@posix
def test_ctrl_c_and_kills_before_the_work_has_begun(path, tmp_path, uninterrupted):
    """SIGKILL during imports, the making of the file, the start of helpers; then SIGINT in the middle."""
    trial, expected = uninterrupted
    rng = random.Random(4)
    for _ in range(2):
        child = start(KILL_TRIAL, tmp_path, path, n_jobs=2)
        time.sleep(rng.uniform(0.3, 3.0))
        assert not kill_group(child, path)[1]
    begun = rows_of(path)
    child = start(KILL_TRIAL, tmp_path, path, n_jobs=2)
    wait_for(lambda: rows_of(path) >= begun + 5)
    child.send_signal(signal.SIGINT)  # its helpers are in sessions of their own and go with it
    assert child.wait(60) != 0
    assert not helpers(path)
    assert (count(path, "claims"), count(path, "workers")) == (0, 0)
    assert begun + 5 <= rows_of(path) < len(trial.cells())
    assert_same(run(trial, path), expected)


@posix
def test_a_second_run_on_the_same_store_helps(path, tmp_path, mine):
    """Two processes that know nothing of each other share the work: no cell is run twice."""
    code = textwrap.dedent(
        f"""
        import os, sys, time
        from pathlib import Path
        sys.path.insert(0, {str(tmp_path)!r})
        import mine
        from conjunto.experiments import Experiment, Method, Protocol, run
        from conjunto.experiments.cells import Bench

        trial = Experiment(("iris",), ("cart", Method("slow", estimator=mine.Slow(0.05))), Protocol("k-fold", 5, 4))
        original = Bench.run
        def noted(self, cell):
            with open(sys.argv[1] + f".{{os.getpid()}}", "a") as file:
                file.write(repr(tuple(cell)) + "\\n")
            return original(self, cell)
        Bench.run = noted
        if __name__ == "__main__":
            # Neither begins before both are there.
            here = Path(sys.argv[1]).parent
            (here / f"ready.{{os.getpid()}}").touch()
            while len(list(here.glob("ready.*"))) < 2:
                time.sleep(0.01)
            run(trial, sys.argv[1], n_jobs=int(sys.argv[2]))
        """
    )
    children = [start(code, tmp_path, path) for _ in range(2)]
    assert [child.wait(120) for child in children] == [0, 0], (tmp_path / "log.txt").read_text()
    shares = [(tmp_path / f"results.sqlite.{child.pid}").read_text().splitlines() for child in children]
    assert all(len(share) >= 3 for share in shares)
    trial = Experiment(("iris",), ("cart", Method("slow", estimator=mine.Slow(0.05))), Protocol("k-fold", 5, 4))
    assert Counter(shares[0] + shares[1]) == Counter(repr(tuple(cell)) for cell in trial.cells())
    with Store(path, trial) as store:
        assert_same(store.frame(), run(trial, tmp_path / "alone.sqlite"))
        assert (count(path, "claims"), count(path, "workers")) == (0, 0)
