"""Selects a passage of a text by its character range, or by a quotation with its context."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from attrs import frozen

from citekit.domain.errors import AddressMalformed, LocationMalformed, LocationOutside
from citekit.domain.locations import Lines

_END = re.compile(r"\r\n|\n|\r")


@frozen
class TextPosition:
    """The characters of a text from `start` (included) to `end` (excluded), 0-based, counted in Unicode code points.

    If `end` is None, the range extends to the end of the text. An empty range is a position between two characters.
    Raise `LocationMalformed` for a negative or reversed range.
    """

    start: int
    end: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            shown = f"{self.start}-{'' if self.end is None else self.end}"
            raise LocationMalformed(
                f"the character range {shown} must start at 0 or later, and not end before it starts"
            )


def position_of(lines: Lines, text: str) -> TextPosition:
    """Return the character range of `lines` in `text`, including the line ends.

    Raise `LocationOutside` if the text has fewer lines.
    """
    starts = line_starts(text)
    if lines.last > len(starts):
        raise LocationOutside.beyond("line", lines.last, "text", len(starts))
    return TextPosition(starts[lines.first - 1], starts[lines.last] if lines.last < len(starts) else len(text))


def lines_of(position: TextPosition, text: str) -> Lines:
    """Return the lines of `text` that contain the characters at `position`.

    Raise `LocationOutside` if the range begins at the end of the text or extends beyond it.
    """
    end = len(text) if position.end is None else position.end
    if end > len(text) or position.start >= len(text):
        raise LocationOutside.beyond("character", max(position.start + 1, end), "text", len(text))
    starts = line_starts(text)
    return Lines(bisect_right(starts, position.start), bisect_right(starts, max(position.start, end - 1)))


def line_starts(text: str) -> list[int]:
    """Return the 0-based character offset at which each line of `text` begins.

    Lines end at LF, CR LF, or CR, as in `citekit.domain.line_index`.
    """
    starts = [0, *(found.end() for found in _END.finditer(text))] if text else []
    return starts[:-1] if len(starts) > 1 and starts[-1] == len(text) else starts


CONTEXT = 32
"""Minimum number of characters of context on each side of a quotation, if the text has them."""


@frozen
class TextQuote:
    """A quotation of a passage with its context.

    `exact` is the passage, and `prefix` and `suffix` are the characters directly before and after it.
    """

    exact: str
    prefix: str = ""
    suffix: str = ""


def quote_of(position: TextPosition, text: str) -> TextQuote:
    """Return the quotation of the passage at `position` in `text`, with enough context to be unique in the text."""
    end = len(text) if position.end is None else position.end
    context = CONTEXT
    while True:
        before, after = max(0, position.start - context), end + context
        quote = TextQuote(text[position.start : end], text[before : position.start], text[end:after])
        if (before == 0 and after >= len(text)) or len(_first_two(quote, text)) == 1:
            return quote
        context *= 4


def find_quote(quote: TextQuote, text: str) -> TextPosition:
    """Return the position of a quoted passage in `text`.

    Raise `AddressMalformed` if the passage is empty, or if the text does not contain the quotation exactly once.
    """
    if not quote.exact:
        raise AddressMalformed(quote.exact, quote.exact, "it is empty", "quotation")
    found = _first_two(quote, text)
    if not found:
        context = " in this context" if quote.prefix or quote.suffix else ""
        raise AddressMalformed(quote.exact, quote.exact, f"the text does not contain these words{context}", "quotation")
    if len(found) > 1:
        raise AddressMalformed(quote.exact, quote.exact, "the text contains these words more than once", "quotation")
    return TextPosition(found[0], found[0] + len(quote.exact))


def _first_two(quote: TextQuote, text: str) -> list[int]:
    positions = _positions(quote, text)
    return [position for position, _ in zip(positions, range(2), strict=False)]


def _positions(quote: TextQuote, text: str) -> Iterator[int]:
    whole = quote.prefix + quote.exact + quote.suffix
    position = text.find(whole) if quote.exact else -1
    while position >= 0:
        yield position + len(quote.prefix)
        position = text.find(whole, position + 1)
