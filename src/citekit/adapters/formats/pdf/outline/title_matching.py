"""Compares lines with titles by their letters only, ignoring numbers, punctuation, and spaces."""

from __future__ import annotations


class _Letters(dict[int, int | None]):
    """A table for `str.translate` that keeps letters and line feeds and deletes the rest.

    Entries are added on first use.
    """

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = code if chr(code).isalpha() or chr(code) == "\n" else None
        return kept


_LETTERS = _Letters()


def title_letters(text: str) -> str:
    """Return only the letters and line feeds of `text`, case-folded.

    >>> title_letters("2.1 Straße")
    'strasse'
    """
    return text.casefold().translate(_LETTERS)


def matches_title(wanted: str, found: str) -> bool:
    """Return whether a line with the letters `found` is all, the beginning, or a long part of the title `wanted`."""
    return bool(found) and (
        found == wanted or (len(found) >= 4 and wanted.startswith(found)) or (len(found) >= 8 and found in wanted)
    )
