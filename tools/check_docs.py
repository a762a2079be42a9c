"""Check that the documentation is true: README output, links between pages, examples in docstrings."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def check_readme() -> list[str]:
    """The code block of the README prints what the README shows below it."""
    text = (ROOT / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", text, re.DOTALL)
    if found is None:
        return ["README.md: no example with its output"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(found[1], {})
    shown = re.sub(r"^    ", "", found[2], flags=re.MULTILINE)
    return [] if printed.getvalue() == shown else [f"README.md: the example prints\n{printed.getvalue()}not\n{shown}"]


def check_links() -> list[str]:
    """Relative links of all pages lead somewhere."""
    problems = []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                problems.append(f"{page.relative_to(ROOT)}: {target} does not exist")
    return problems


def main() -> int:
    """Run all checks."""
    problems = check_readme() + check_links()
    print(*problems, sep="\n", end="\n" if problems else "")
    command = [sys.executable, "-m", "pytest", "-q", "--doctest-modules", str(ROOT / "src")]
    doctests = subprocess.run(command, check=False)
    return int(bool(problems) or doctests.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
