"""Whether a line says a title, by the letters of both: numbers, punctuation and spaces are left out."""

from __future__ import annotations


class _Letters(dict[int, int | None]):
    """For `str.translate`: letters and ends of lines stay, all else goes. Filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = code if chr(code).isalpha() or chr(code) == "\n" else None
        return kept


_LETTERS = _Letters()


def letters_of(text: str) -> str:
    """The letters of `text`, in lower case, line by line.

    >>> letters_of("2.1 Straße")
    'strasse'
    """
    return text.casefold().translate(_LETTERS)


def says(wanted: str, found: str) -> bool:
    """Whether a line with the letters `found` is the heading with the letters `wanted`, or a line of it, or holds it."""
    return bool(found) and (
        found == wanted or (len(found) >= 4 and wanted.startswith(found)) or (len(found) >= 8 and found in wanted)
    )
