"""Write the imports in `conjunto/__init__.py` by which type checkers and editors know the public names.

    python tools/write_names.py [--check]

`conjunto/__init__.py` finds its names when they are first used, which no type checker follows. The block under
`if TYPE_CHECKING:` imports each from where the table there says that it lives. With `--check` nothing is written, and
the exit status is 1 where the block is not what the table gives.
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / "src" / "conjunto" / "__init__.py"
COMMAND = "python tools/write_names.py"
BLOCK = re.compile(r"^if TYPE_CHECKING:\n(?:    .*\n|\n(?=    ))*", flags=re.MULTILINE)


def written() -> str:
    """The file with the block that its table of names gives."""
    table = runpy.run_path(str(HOME))
    homes = sorted((home, name) for name, home in (table["_HOMES"] | table["_TOOLS"]).items())
    # "as" is what type checkers take for a public name.
    lines = [f"    from {home} import {name} as {name}\n" for home, name in homes]
    block = f"if TYPE_CHECKING:\n    # Written by `{COMMAND}` from the table above.\n{''.join(lines)}"
    return BLOCK.sub(lambda _: block, HOME.read_text(), count=1)


def main() -> int:
    """Write the block, or check it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; the exit status says whether it is right")
    text = written()
    if not parser.parse_args().check:
        HOME.write_text(text)
    elif HOME.read_text() != text:
        print(f"{HOME} does not import the names of its table: run `{COMMAND}`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
