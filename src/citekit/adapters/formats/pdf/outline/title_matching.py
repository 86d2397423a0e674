"""Compares lines with titles by their letters, without numbers, punctuation, and spaces."""

from __future__ import annotations


class _Letters(dict[int, int | None]):
    """A table for `str.translate` that keeps letters and line feeds. It fills itself on demand."""

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = code if chr(code).isalpha() or chr(code) == "\n" else None
        return kept


_LETTERS = _Letters()


def title_letters(text: str) -> str:
    """Return the letters of `text` in lower case, line by line.

    >>> letters_of("2.1 Straße")
    'strasse'
    """
    return text.casefold().translate(_LETTERS)


def matches_title(wanted: str, found: str) -> bool:
    """Return whether a line with the letters `found` is the title `wanted`, starts it, or is a long part of it."""
    return bool(found) and (
        found == wanted or (len(found) >= 4 and wanted.startswith(found)) or (len(found) >= 8 and found in wanted)
    )
