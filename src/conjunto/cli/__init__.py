"""The command line. Nothing heavy is imported before a command runs, so that `--help` answers at once."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        from conjunto.cli.app import run
    except ImportError as error:
        print(f"conjunto: the command line needs {error.name}: pip install 'conjunto[cli]'", file=sys.stderr)
        sys.exit(1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path that is no UTF-8 is printed as the bytes that it is.
        sys.stdout.reconfigure(errors="surrogateescape")
    sys.exit(run(sys.argv[1:]))
