"""Titles and references made of foreign texts."""

from __future__ import annotations

from citekit.domain.locations import Virtual

TITLE_LIMIT = 120
SUMMARY_LIMIT = 300


def brief(text: str, limit: int) -> str:
    """`text` on one line without control characters, cut at a word to at most `limit` characters."""
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 3].rsplit(" ", 1)[0]
    return f"{head if len(head) > limit // 2 else flat[: limit - 3]}..."


def opening(text: str) -> str:
    """The beginning of a passage, as its title."""
    return brief(text[:1000].lstrip("#*-> \n\t"), 60)


def reference(scheme: str, name: str) -> Virtual:
    """A place that only the other program knows, as one line of printable text."""
    return Virtual(f"{scheme}://{''.join(c if c.isprintable() else '_' for c in name)}"[:500])
