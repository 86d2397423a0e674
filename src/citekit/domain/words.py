"""Splits a text into words for search, ignoring case and accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

WORD_LIMIT = 64
"""Number of characters of a word that are used."""

LINES_KEPT = 1 << 12
"""Maximum number of lines whose words stay in memory, and of those whose stems do."""

FEW = 1 / 16
"""A text has few non-ASCII characters if it has at most this many more bytes in UTF-8 than characters, as a fraction of
its characters.
"""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_WORD = re.compile(r"[\W_]")
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
"""Translation table for ASCII: everything except letters and digits becomes a space."""

_SPACED_LINES = _SPACED[:10] + b"\n" + _SPACED[11:]
"""`_SPACED` that keeps line feeds."""


def words_of(text: str) -> list[str]:
    """Return the words of a text: sequences of letters and digits, casefolded, without accents, and cut to `WORD_LIMIT`
    characters.

    They are normalized for compatibility caseless matching (Unicode 3.13, D146).
    """
    folded = text.casefold()
    plain = with_few_translated(folded, _BARE)
    if plain.isascii():
        words = plain.encode("ascii").translate(_SPACED).decode("ascii").split()
    else:
        words = folded.translate(_BARE).split()
    is_long = len(text) > WORD_LIMIT and max(map(len, words), default=0) > WORD_LIMIT
    return [word[:WORD_LIMIT] for word in words] if is_long else words


def spaced_lines(text: str) -> list[str]:
    """Return, for each line of a text, a text with `words_of` the line and spaces between them.

    This takes less time than dividing each line into words.
    """
    plain = with_few_translated(text.casefold(), _BARE)
    if plain.isascii():
        spaced = plain.encode("ascii").translate(_SPACED_LINES).decode("ascii")
        if max(map(len, spaced.split()), default=0) <= WORD_LIMIT:
            return spaced.split("\n")
    return [" ".join(words_of(line)) for line in text.split("\n")]


@lru_cache(maxsize=LINES_KEPT)
def line_words(line: str) -> tuple[str, ...]:
    """Return the words of a line, cached because the lines of a page are compared with many queries and titles."""
    return tuple(words_of(line))


def lines_that_may_have(text: str, words: Iterable[str]) -> set[int]:
    """Return the numbers of the lines, from 0, that may contain one of `words`: those in which it occurs in any place,
    and those that are not ASCII, because `words_of` changes other characters.
    """
    lines = text.split("\n")
    found = {number for number, line in enumerate(lines) if not line.isascii()}
    lowered = "\n".join(line if line.isascii() else "" for line in lines).lower()  # fast, because it is ASCII
    for word in words:
        number, end = 0, 0
        while end >= 0 and (at := lowered.find(word, end)) >= 0:
            number += lowered.count("\n", end, at)
            found.add(number)
            end = lowered.find("\n", at)
    return found


def with_few_translated(text: str, table: Mapping[int, str]) -> str:
    """Return `text` with its non-ASCII characters translated if they are few, as in English. Otherwise, return `text`.

    The result is then usually ASCII, which can be divided into words faster.
    """
    size = len(text)
    is_other = text.isascii() or len(text.encode("utf-8", "surrogatepass")) - size > size * FEW
    return text if is_other else _NOT_ASCII.sub(lambda found: found[0].translate(table), text)


class _Bare(dict[int, str]):
    """A translation table that normalizes letters and digits, drops combining marks, and replaces all other characters
    by spaces.
    """

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", chr(code).casefold()).casefold())
        bare = "".join(each for each in decomposed if not unicodedata.combining(each))
        self[code] = bare = _NOT_WORD.sub(" ", bare)
        return bare


_BARE = _Bare()
