"""A sentence splitter that uses sentencex, which knows abbreviations of many languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge

from citekit.domain.errors import DriverMissing
from citekit.domain.library.languages import two_letters

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*|\r[^\S\r\n]*\r\s*|\u2029\s*")
_SPACE = re.compile(r"\s*")


def paragraph_starts(text: str) -> Iterator[int]:
    """Yield the character offsets at which text continues after a blank line or a paragraph separator, ascending."""
    return (found.end() for found in _BLANK_LINE.finditer(text) if found.end() < len(text))


def after_space(text: str, starts: Iterable[int]) -> list[int]:
    """Return 0 and the offsets `starts`, each moved past white space, without duplicates and offsets at the end of the
    text.

    `starts` must be ascending.
    """
    moved = [0]
    for start in starts:
        if start <= moved[-1]:
            continue
        found = _SPACE.match(text, start)
        place = found.end() if found else start
        if place >= len(text):
            break
        moved.append(place)
    return moved


BLOCK = 200_000
"""Maximum number of characters that are processed at a time, because the run time of sentencex is quadratic."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class SentencexSplitter:
    """Splits a text at the sentence ends that sentencex finds, at blank lines, and at paragraph separators.

    Several threads can use it.

    A language that sentencex does not support gets the rules of another one.
    """

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:
        """See `SentenceSplitter.starts`. If `language` is None, the rules of English are used."""
        if not text:
            return ()
        code = two_letters(language or "en")
        return after_space(text, merge(_starts(_SURROGATE.sub("\ufffd", text), code), paragraph_starts(text)))


def _starts(text: str, code: str) -> Iterator[int]:
    """Yield the offsets of sentences in `text`, which is split block by block to limit the time.

    A block starts with the last sentence of the block before, which may continue.
    """
    position = 0
    while position < len(text):
        end = _block_end(text, position)
        found = _boundaries(code, text[position:end])
        if end < len(text) and len(found) > 1:
            end = position + found.pop()
        yield from (position + start for start in found if position + start or not position)
        position = end


def _block_end(text: str, position: int) -> int:
    """Return the end of the block that starts at `position`: the last blank line within `BLOCK` characters, or their
    end.
    """
    limit = position + BLOCK
    if limit >= len(text):
        return len(text)
    blank = text.rfind("\n\n", position, limit)
    return blank + 2 if blank > position else limit


def _boundaries(code: str, block: str) -> list[int]:
    try:
        from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]
    except ImportError as error:
        raise DriverMissing("Splitting text into sentences", "library") from error
    return [boundary["start_index"] for boundary in get_sentence_boundaries(code, block)]
