"""Command line: `python -m benchmarks [WORKLOAD ...]` prints tables, and writes a page or JSON when asked."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

from benchmarks import page, peers
from benchmarks.runs import R_PACKAGES, Result, run
from benchmarks.workloads import WORKLOADS

# Mean number of other programs running in the last minute that makes elapsed times doubtful.
BUSY_LOAD = 0.5


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure conjunto against its peers.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"all by default: {', '.join(WORKLOADS)}")
    parser.add_argument("--repeats", type=int, help="repetitions of everything (default 5, with --quick 2)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="default: 1 2")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a Markdown page")
    parser.add_argument("--everyday", type=Path, metavar="FILE", help="what benchmarks.everyday wrote, for the page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every repetition")
    options = parser.parse_args(given)
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no such workload: {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    if options.repeats is None:
        options.repeats = 2 if options.quick else 5
    if options.repeats < 1 or min(options.threads) < 1:
        parser.error("--repeats and --threads must be at least 1")
    return options


def main() -> None:
    """Run what was asked for."""
    options = arguments()
    # Other libraries' warnings about our settings say nothing about the figures.
    warnings.filterwarnings("ignore")
    libraries, missing = peers.installed()
    r_versions = {package: version for package in R_PACKAGES if (version := package.version())}
    missing += [package.name() for package in R_PACKAGES if package not in r_versions]
    for name in missing:
        print(f"skipped: {name} is not installed", file=sys.stderr)
    busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > BUSY_LOAD
    if busy:
        print(page.BUSY, file=sys.stderr)
    results: list[Result] = []
    for name in options.workloads or WORKLOADS:
        workload = WORKLOADS[name].quick() if options.quick else WORKLOADS[name]
        start = time.perf_counter()
        results += run(workload, options.threads, options.repeats, libraries, r_versions)
        print(f"{name}: measured in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    print(page.report(results, options.quick))
    if options.out:
        versions = {package.name(): version for package, version in r_versions.items()}
        everyday = options.everyday.read_text(encoding="utf-8") if options.everyday else ""
        text = page.page(results, options.repeats, missing, versions, quick=options.quick, busy=busy, everyday=everyday)
        options.out.write_text(text, encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(page.as_json(results), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
