"""The words of a text, as they are searched for: without case and accents."""

from __future__ import annotations

import re
import unicodedata

WORD_LIMIT = 64
"""Characters of a word that count; what a longer word has beyond them is left out."""

_WORD = re.compile(r"[^\W_]+")
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
"""For each ASCII character itself, or a space where it is neither letter nor digit."""


def words_of(text: str) -> list[str]:
    """The words of a text, in order: runs of letters and digits, without case and accents.

    Compatibility caseless matching (Unicode 3.13, D146), with the combining marks left out.
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
    """What becomes of a character: None, which leaves it out, for a combining mark. Each is looked up once."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.combining(chr(code)) else code
        self[code] = kept
        return kept


_MARKS = _Marks()
