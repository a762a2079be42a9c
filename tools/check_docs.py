"""Check that the documentation is true: README output, links between pages, examples in docstrings."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Code and what it prints; code that nothing is shown of is not run.
BLOCK = re.compile(r"```python\n((?:(?!```).)*)```\n\n((?:    [^\n]*\n)+)", re.DOTALL)


def check_examples(page: Path) -> list[str]:
    """The code blocks of a page print what it shows below them; one page is one program.

    What another library computes may change with its version, so blocks that import one are run, not compared.
    """
    problems: list[str] = []
    names: dict[str, object] = {}
    for code, shown in BLOCK.findall(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        expected = re.sub(r"^    ", "", shown, flags=re.MULTILINE)
        if "sklearn" not in code and printed.getvalue() != expected:
            problems.append(f"{page.name}: an example prints\n{printed.getvalue()}not\n{expected}")
    return problems or ([] if names else [f"{page.name}: no example with its output"])


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
    pages = (ROOT / "README.md", ROOT / "docs" / "pruning.md", ROOT / "docs" / "combining.md")
    problems = [problem for page in pages for problem in check_examples(page)] + check_links()
    print(*problems, sep="\n", end="\n" if problems else "")
    command = [sys.executable, "-m", "pytest", "-q", "--doctest-modules", str(ROOT / "src")]
    doctests = subprocess.run(command, check=False)
    return int(bool(problems) or doctests.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
