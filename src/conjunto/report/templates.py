"""The templates of pages, compiled once: everything that users wrote is escaped, and what is not given is an error."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from conjunto.report.words import unbroken


def templates(*names: str) -> Any:
    """The environment of these templates; refuses where what pages need is not installed."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError(f"a report needs {error.name}: pip install 'conjunto[report]'") from error
    return _compiled(names)


@cache
def _compiled(names: tuple[str, ...]) -> Any:
    import jinja2

    home = resources.files("conjunto.report")
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({name: home.joinpath(name).read_text(encoding="utf-8") for name in names}),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = unbroken
    return environment
