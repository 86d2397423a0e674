"""Splits a text into words for search, ignoring case and accents."""

from __future__ import annotations

import re
import unicodedata

WORD_LIMIT = 64
"""Number of characters of a word that are used. The rest of a longer word is ignored."""

_NOT_WORD = re.compile(r"[\W_]")
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
"""Translation table for ASCII: letters and digits map to themselves, all other characters to a space."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in order: sequences of letters and digits, casefolded and without accents.

    Words are normalized for compatibility caseless matching (Unicode 3.13, D146), and combining marks are removed.
    """
    if text.isascii():
        words = text.encode("ascii").lower().translate(_SPACED).decode("ascii").split()
    else:
        words = text.casefold().translate(_BARE).split()
    is_long = len(text) > WORD_LIMIT and max(map(len, words), default=0) > WORD_LIMIT
    return [word[:WORD_LIMIT] for word in words] if is_long else words


class _Bare(dict[int, str]):
    """A translation table to letters and digits in normal form, and spaces. It removes combining marks.

    Each character is converted only once.
    """

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", chr(code).casefold()).casefold())
        bare = "".join(each for each in decomposed if not unicodedata.combining(each))
        self[code] = bare = _NOT_WORD.sub(" ", bare)
        return bare


_BARE = _Bare()
