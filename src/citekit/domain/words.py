"""Splits a text into words for search, ignoring case and accents."""

from __future__ import annotations

import re
import unicodedata

WORD_LIMIT = 64
"""Number of characters of a word that are used. The rest of a longer word is ignored."""

_WORD = re.compile(r"[^\W_]+")
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
"""Translation table for ASCII: letters and digits map to themselves, all other characters to a space."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in order: sequences of letters and digits, casefolded and without accents.

    Words are normalized for compatibility caseless matching (Unicode 3.13, D146), and combining marks are removed.
    """
    if text.isascii():
        words = text.encode("ascii").lower().translate(_SPACED).decode("ascii").split()
    else:
        words = _WORD.findall(_bare(text))
    return [word[:WORD_LIMIT] for word in words] if len(text) > WORD_LIMIT else words


def _bare(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text.casefold()).casefold())
    return decomposed.translate(_MARKS)


class _Marks(dict[int, int | None]):
    """A translation table that removes combining marks. Each character is looked up only once."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.combining(chr(code)) else code
        self[code] = kept
        return kept


_MARKS = _Marks()
