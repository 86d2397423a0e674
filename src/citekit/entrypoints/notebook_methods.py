"""Adds the methods that notebooks call to classes of the domain, whose own code does not depend on notebooks.

Notebooks call `_repr_mimebundle_` (IPython, "Rich display"). `notebook` is imported when the first result is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

PLAIN_LIMIT = 4_000
"""The maximum number of characters of a plain text."""


def show_in_notebooks(kind: type, name: str) -> None:
    """Make notebooks show values of `kind` with the function `name` of the module `notebook`."""
    if hasattr(kind, "_repr_mimebundle_"):
        return

    def html(shown: object) -> str:
        from citekit.entrypoints import notebook

        make: Callable[[object], str] = getattr(notebook, name)
        return make(shown)

    def bundle(shown: object, include: Collection[str] | None = None, exclude: Collection[str] | None = None) -> Any:
        made = {"text/html": html(shown), "text/plain": repr(shown)[:PLAIN_LIMIT]}
        return {key: text for key, text in made.items() if key in (include or made) and key not in (exclude or ())}

    for method, function in (("_repr_html_", html), ("_repr_mimebundle_", bundle)):
        setattr(kind, method, function)
