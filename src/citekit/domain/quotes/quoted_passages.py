"""Finds the quotes and addresses in an answer, so that they can be checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from attrs import frozen

from citekit.domain.modality import Modality

WORDS = 3
"""Minimum number of words of a quote without digits, because fewer words occur almost anywhere."""

QUOTE_LIMIT = 2_000
"""Maximum number of characters between two quotation marks. A longer text probably has an unpaired mark."""

_MARKS = re.compile(
    rf"“([^“”]{{1,{QUOTE_LIMIT}}})[”“]|„([^„“”]{{1,{QUOTE_LIMIT}}})[“”]|«([^«»]{{1,{QUOTE_LIMIT}}})»"
    rf"|»([^«»]{{1,{QUOTE_LIMIT}}})«|「([^「」]{{1,{QUOTE_LIMIT}}})」|\"([^\"\n]{{1,{QUOTE_LIMIT}}})\""
)
_BLOCK = re.compile(r"(?m)(?:^[ \t]*>[^\n]*(?:\n|\Z))+")
_BLOCK_MARK = re.compile(r"(?m)^[ \t]*>[ \t]?")
_ADDRESS = re.compile(rf"\b(?:{'|'.join(each.scheme for each in Modality)})://[^\s<>\"“”«»`|]+")
_TRAILING = ".,;:!?'’*_"
_CLOSING = {")": "(", "]": "[", "}": "{"}


@frozen
class QuotedPassage:
    """A quote in a text and the address that the text gives for it. One of them may be empty.

    `start` and `end` are the offsets of the quote, or of the address if there is no quote.
    """

    quote: str
    address: str
    start: int
    end: int


@frozen
class _Found:
    text: str
    start: int
    end: int


def quoted_passages(text: str) -> list[QuotedPassage]:
    """Return the quotes in `text` in order, each with the address that follows it in its paragraph, before the next
    quote.

    A quote is a text in double quotation marks or a Markdown block quote that is not too short. If no address follows a
    quote, it gets the address before it in its paragraph, provided that only one of these belongs to no other quote.
    The remaining addresses are returned without a quote.
    """
    addresses = [_Found(_trimmed(each[0]), *each.span()) for each in _ADDRESS.finditer(text)]
    quotes = sorted(_quotes(text), key=lambda each: each.start)
    paragraphs = [_paragraph(text, each) for each in quotes]
    ends = [*(each.start for each in quotes[1:]), len(text)][: len(quotes)]
    of: dict[int, _Found] = {}
    for place, (quote, (_, last), before) in enumerate(zip(quotes, paragraphs, ends, strict=True)):
        after = next((each for each in addresses if quote.end <= each.start < min(before, last)), None)
        if after is not None:
            of[place] = after
    taken = set(of.values())
    for place, (quote, (first, _)) in enumerate(zip(quotes, paragraphs, strict=True)):
        earlier = [each for each in addresses if first <= each.start < quote.end and each not in taken]
        if place not in of and len(earlier) == 1:
            of[place] = earlier[0]
    used = set(of.values())
    found = [
        QuotedPassage(quote.text, of[place].text if place in of else "", quote.start, quote.end)
        for place, quote in enumerate(quotes)
    ]
    found += [QuotedPassage("", each.text, each.start, each.end) for each in addresses if each not in used]
    return sorted(found, key=lambda each: each.start)


def is_too_short(quote: str) -> bool:
    """Return whether a quote is too short to support a statement."""
    return len(quote.split()) < WORDS and not any(map(str.isdigit, quote))


def _quotes(text: str) -> Iterator[_Found]:
    """Yield block quotes, and quotes in quotation marks outside of them."""
    blocks = [each.span() for each in _BLOCK.finditer(text)]
    for start, end in blocks:
        body = _ADDRESS.sub("", _BLOCK_MARK.sub("", text[start:end])).strip(" \n\t-–—()[]")
        inner = _MARKS.fullmatch(body)
        quote = next(filter(None, inner.groups())) if inner else body
        if not is_too_short(quote):
            yield _Found(quote.strip(), start, end)
    edges = [(0, 0), *blocks, (len(text), len(text))]
    for (_, start), (end, _) in pairwise(edges):
        for each in _MARKS.finditer(text, start, end):
            quote = next(filter(None, each.groups())).strip()
            if not is_too_short(quote):
                yield _Found(quote, *each.span())


def _paragraph(text: str, quote: _Found) -> tuple[int, int]:
    """Return the offsets of the paragraph around a quote. A block quote includes the paragraph after it."""
    start = text.rfind("\n\n", 0, quote.start)
    end = text.find("\n\n", max(quote.start, quote.end - 1))
    if text[quote.start : quote.start + 8].lstrip()[:1] == ">" and 0 <= end <= quote.end:
        end = text.find("\n\n", quote.end + 1)
    return (0 if start < 0 else start), (len(text) if end < 0 else end)


def _trimmed(address: str) -> str:
    """Return an address without the punctuation of the sentence around it."""
    while address:
        last = address[-1]
        opening = _CLOSING.get(last)
        if last in _TRAILING or (opening is not None and address.count(last) > address.count(opening)):
            address = address[:-1]
        else:
            break
    return address
