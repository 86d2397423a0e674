"""A quotation and what stands around it: how a passage is found again in a text that may have moved."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from citekit.domain.errors import AddressMalformed
from citekit.domain.exchange.text_position import TextPosition

CONTEXT = 32
"""Characters before and after that a quotation is given at least, where the text has them."""


@frozen
class TextQuote:
    """`exact` is the passage, `prefix` and `suffix` the characters right before and after it."""

    exact: str
    prefix: str = ""
    suffix: str = ""


def quote_of(position: TextPosition, text: str) -> TextQuote:
    """The quotation of a passage, with as much around it as tells it from every other passage of the text."""
    end = len(text) if position.end is None else position.end
    context = CONTEXT
    while True:
        before, after = max(0, position.start - context), end + context
        quote = TextQuote(text[position.start : end], text[before : position.start], text[end:after])
        if (before == 0 and after >= len(text)) or len(_first_two(quote, text)) == 1:
            return quote
        context *= 4


def find_quote(quote: TextQuote, text: str) -> TextPosition:
    """Where the passage stands. Raises `AddressMalformed` where it does not, or in more than one place."""
    found = _first_two(quote, text)
    if not quote.exact or not found:
        raise AddressMalformed(quote.exact, quote.exact, "the text does not hold this quotation")
    if len(found) > 1:
        raise AddressMalformed(quote.exact, quote.exact, "the text holds this quotation more than once")
    return TextPosition(found[0], found[0] + len(quote.exact))


def _first_two(quote: TextQuote, text: str) -> list[int]:
    places = _places(quote, text)
    return [place for place, _ in zip(places, range(2), strict=False)]


def _places(quote: TextQuote, text: str) -> Iterator[int]:
    whole = quote.prefix + quote.exact + quote.suffix
    place = text.find(whole) if quote.exact else -1
    while place >= 0:
        yield place + len(quote.prefix)
        place = text.find(whole, place + 1)
