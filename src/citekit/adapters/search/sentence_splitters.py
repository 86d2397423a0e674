"""Sentence splitters: sentencex, which knows the abbreviations of many languages, and a plain regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge

from citekit.domain.errors import DriverMissing
from citekit.domain.library.languages import two_letters

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*|\r[^\S\r\n]*\r\s*|\u2029\s*")
_SPACE = re.compile(r"\s*")


def paragraph_starts(text: str) -> Iterator[int]:
    """Where text goes on after a blank line; rising."""
    return (found.end() for found in _BLANK_LINE.finditer(text) if found.end() < len(text))


def after_space(text: str, starts: Iterable[int]) -> list[int]:
    """0, and the rising `starts` each moved past white space to where text goes on, once each. Linear time."""
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
"""Characters that are looked at in one go: the time that sentencex takes grows with the square of a paragraph's length."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class SentencexSplitter:
    """A sentence ends where sentencex says, and at every blank line; the white space behind it belongs to it.

    Languages that sentencex does not know are split by the rules of English. Knows no state: any thread may use it.
    """

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:
        """Where sentences begin, in characters. Raises `DriverMissing` where sentencex is not installed."""
        if not text:
            return ()
        code = two_letters(language or "en")
        return after_space(text, merge(_starts(_SURROGATE.sub("\ufffd", text), code), paragraph_starts(text)))


def _starts(text: str, code: str) -> Iterator[int]:
    """Block by block: the last sentence of a block may go on behind it, so the next block begins with it."""
    position = 0
    while position < len(text):
        end = _block_end(text, position)
        found = _boundaries(code, text[position:end])
        if end < len(text) and len(found) > 1:
            end = position + found.pop()
        yield from (position + start for start in found if position + start or not position)
        position = end


def _block_end(text: str, position: int) -> int:
    """Behind the last blank line in reach, else as far as a block may reach."""
    limit = position + BLOCK
    if limit >= len(text):
        return len(text)
    blank = text.rfind("\n\n", position, limit)
    return blank + 2 if blank > position else limit


def _boundaries(code: str, block: str) -> list[int]:
    try:
        from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]
    except ImportError as error:
        raise DriverMissing("Telling sentences apart", "library") from error
    return [boundary["start_index"] for boundary in get_sentence_boundaries(code, block)]


_END = re.compile(
    r"""(?<=[.!?…؟।॥])\s+|(?<=[.!?…؟।॥]["'”’»)\]])\s+|(?<=[。！？])(?![。！？」』”’）])\s*|(?<=[。！？][」』”’）])\s*"""
)


class RegularExpressionSplitter:
    """A sentence ends at a full stop, a question or an exclamation mark before white space, and at every blank line."""

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:  # noqa: ARG002 the rules are those of no language
        """Where sentences begin, in characters."""
        if not text:
            return ()
        return after_space(text, merge((found.end() for found in _END.finditer(text)), paragraph_starts(text)))
