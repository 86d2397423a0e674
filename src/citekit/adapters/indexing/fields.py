"""The fields of a payload that filters ask for, and how a field is written in an engine's filter."""

from __future__ import annotations

import json

from citekit.domain.library.vectors import Where

KEYWORDS = ("digest", "parent", "language", "authors", "tags")
"""Fields of texts that have an index of their own."""

INTEGERS = ("book_id",)
"""Fields of whole numbers that have one."""


def json_path(name: str) -> str:
    """A field's name as Qdrant's JSON path, in which dots and brackets mean something else."""
    return name if name.replace("_", "a").isalnum() and name.isascii() else json.dumps(name, ensure_ascii=False)


def is_never(where: Where) -> bool:
    """Whether nothing can fit, as a field can have none of no values."""
    return any(not values for values in where.fields.values())
