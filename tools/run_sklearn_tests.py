"""Run scikit-learn's own tests with conjunto's classes in place of scikit-learn's.

    python tools/run_sklearn_tests.py                    # forests, bagging, AdaBoost, trees
    python tools/run_sklearn_tests.py --meta             # voting, stacking, search, calibration, inspection and others
    python tools/run_sklearn_tests.py --combining        # voting and stacking that are ours themselves
    python tools/run_sklearn_tests.py --log swap.jsonl   # keep the outcome of every test

The test files are those of the installed wheel; copies are made in a temporary folder, where nothing but the imports is
changed: a name that conjunto has is imported from conjunto. A test counts if it constructs one of our estimators.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import sklearn
from sklearn_swap_reasons import reason_of

import conjunto

MAIN = (
    "ensemble/tests/test_forest.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_weight_boosting.py",
    "tree/tests/test_tree.py",
)
META = (
    "ensemble/tests/test_voting.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_base.py",
    "ensemble/tests/test_common.py",
    "tests/test_multioutput.py",
    "tests/test_multiclass.py",
    "tests/test_calibration.py",
    "model_selection/tests/test_search.py",
    "model_selection/tests/test_validation.py",
    "model_selection/tests/test_classification_threshold.py",
    "model_selection/tests/test_plot.py",
    "feature_selection/tests/test_from_model.py",
    "feature_selection/tests/test_rfe.py",
    "inspection/tests/test_permutation_importance.py",
    "inspection/tests/test_partial_dependence.py",
    "inspection/_plot/tests/test_boundary_decision_display.py",
)
SWAPPED = {
    **{
        name: name
        for stem in ("RandomForest", "ExtraTrees", "Bagging", "AdaBoost")
        for name in (f"{stem}Classifier", f"{stem}Regressor")
    },
    "DecisionTreeClassifier": "CARTClassifier",
    "DecisionTreeRegressor": "CARTRegressor",
}
"""Names of scikit-learn, and ours."""
COMBINING = ("ensemble/tests/test_voting.py", "ensemble/tests/test_stacking.py")
COMBINERS = {
    f"{stem}{kind}": f"{stem}{kind}" for stem in ("Voting", "Stacking") for kind in ("Classifier", "Regressor")
}
"""What takes members, which are then scikit-learn's."""


def swapped(source: str, names: dict[str, str]) -> str:
    """The source with an import of ours behind every import from scikit-learn's rooms of trees and ensembles."""
    lines = source.splitlines(keepends=True)
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    for node in sorted(imports, key=lambda node: -(node.end_lineno or 0)):
        found = [alias for alias in node.names if alias.name in names]
        if node.module not in ("sklearn.ensemble", "sklearn.tree") or not found:
            continue
        ours = ", ".join(f"{names[alias.name]} as {alias.asname or alias.name}" for alias in found)
        lines.insert(node.end_lineno or 0, " " * node.col_offset + f"from conjunto import {ours}\n")
    return "".join(lines)


def run(files: tuple[str, ...], names: dict[str, str], log: Path, workers: int) -> None:
    """Copy, change and run the files; the outcomes go to the log."""
    home = Path(sklearn.__file__).parent
    names = {theirs: ours for theirs, ours in names.items() if hasattr(conjunto, ours)}
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "conftest.py").write_text((home / "conftest.py").read_text())
        (root / "pytest.ini").write_text("[pytest]\n")
        for file in files:
            name = "_".join(part.removeprefix("test_") for part in file.split("/") if part != "tests")
            (root / f"test_{name}").write_text(swapped((home / file).read_text(), names))
        environment = os.environ | {"CONJUNTO_SWAP_LOG": str(log.resolve()), "PYTHONPATH": str(Path(__file__).parent)}
        options = ["-p", "sklearn_swap_plugin", "-p", "no:cacheprovider", "-q", "--tb=no", "-W", "ignore"]
        command = [sys.executable, "-m", "pytest", *options, "-n", str(workers), str(root)]
        subprocess.run(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=False)


def entries_of(log: Path) -> list[dict[str, Any]]:
    """One entry per test that constructs an estimator of ours."""
    entries = map(json.loads, log.read_text().splitlines())
    return [entry for entry in entries if entry["ours"]]


def report(entries: list[dict[str, Any]]) -> str:
    """The counts, and a table of the failures by their reason."""
    outcomes = Counter(entry["outcome"] for entry in entries)
    failed = [entry for entry in entries if entry["outcome"] == "failed"]
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in failed:
        reasons[reason_of(entry["test"], entry["message"])].append(entry["test"].split("::", 1)[1])
    lines = [
        f"{len(entries)} tests construct an estimator of ours: {outcomes['passed']} pass, {len(failed)} fail, "
        f"{outcomes['skipped']} are skipped.",
        "",
        "| reason | tests | for example |",
        "|---|---:|---|",
    ]
    for reason, tests in sorted(reasons.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {reason} | {len(tests)} | `{tests[0]}` |")
    return "\n".join(lines)


def main() -> None:
    """Run the files that were asked for, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--meta", action="store_true", help="the tests of what takes our estimators as members")
    parser.add_argument("--combining", action="store_true", help="the tests of voting and stacking, with ours")
    parser.add_argument("--log", type=Path, default=Path("sklearn-swap.jsonl"), help="the outcome of every test")
    parser.add_argument("--from-log", action="store_true", help="print the table of a log that is there already")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if not asked.from_log:
        files = COMBINING if asked.combining else META if asked.meta else MAIN
        run(files, COMBINERS if asked.combining else SWAPPED, asked.log, asked.workers)
    print(report(entries_of(asked.log)))


if __name__ == "__main__":
    main()
