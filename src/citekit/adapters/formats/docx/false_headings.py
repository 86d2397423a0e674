"""Finds the paragraphs of a Word document that have the style or the look of headings but are something else.

They are text that has a heading style only because the style numbers it, form blanks, running headers, and entries of a
printed table of contents. The last two occur in documents that a program converted from pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from itertools import pairwise

from citekit.adapters.formats.docx.opening import TOC, is_blank

SENTENCE_LENGTH, CLAUSE_LENGTH = 100, 60
"""The minimum lengths of text that is no heading because it ends like a sentence: in any style, and to decide whether
most paragraphs of a style are text (see `_clauses`).
"""

LEAST_CLAUSES = 3
"""The minimum number of paragraphs of a style that is used for text."""

LEAST_HEADS, LEAST_ENTRIES = 4, 2
"""The minimum numbers of occurrences of a running header, and of entries of a table of contents."""

_CONTINUES = re.compile(r"[.,;:](?!\w)")
_UNFINISHED = re.compile(r";(?:\s*\w{1,4})?$")
"""Matches the end of an item of a list in a sentence (`; and`)."""

_SENTENCE = re.compile(r"[.:;,](?:[”\"’')\]]|\[\d+\])*$")
_PAGE = re.compile(r"(?:^|\D)(\d{1,4})$")
_ENTRY_PAGE = re.compile(r"[\s.](\d{1,3})$")
"""Matches the page number at the end of an entry. Four digits are more likely to be a year in a heading."""


def false_headings(
    headings: Mapping[int, str],
    styles: Mapping[int, str],
    prominent: Set[int],
    line: Callable[[int], str],
    end_before: Callable[[int], str],
) -> set[int]:
    """Return which of `headings`, the texts of paragraphs by number, are not headings.

    `styles` has the IDs of their styles by number. `prominent` has the numbers of the paragraphs that are bold or
    larger than body text; these can be headings even if they are long and end like a sentence. `line` returns the text
    of the paragraph with a number, or "" after the last one. `end_before` returns the last words before it, or "".
    """
    found = {at for at, text in headings.items() if is_text(text, at in prominent) or is_blank(text)}
    found.update(_clauses({at: text for at, text in headings.items() if at not in prominent}, styles))
    found.update(_running_headers(headings, end_before))
    found.update(_entries(headings, line))
    return found


def is_text(text: str, is_prominent: bool = False) -> bool:
    """Return whether `text` continues a sentence, is an item of a list within a sentence, or is long and ends like a
    sentence.

    A long, prominent text that ends like a sentence is a heading.
    """
    if _CONTINUES.match(text) or _UNFINISHED.search(text):
        return True
    return not is_prominent and len(text) >= SENTENCE_LENGTH and bool(_SENTENCE.search(text))


def _clauses(headings: Mapping[int, str], styles: Mapping[int, str]) -> Iterator[int]:
    """Yield the paragraphs that end like a sentence or are long, in styles in which most paragraphs are text."""
    by_style = defaultdict(list)
    for at, text in headings.items():
        by_style[styles[at]].append(
            (at, (len(text) >= CLAUSE_LENGTH and bool(_SENTENCE.search(text))) or is_text(text))
        )
    for members in by_style.values():
        if len(members) >= LEAST_CLAUSES and 2 * sum(is_clause for _, is_clause in members) > len(members):
            texts = ((at, headings[at]) for at, _ in members)
            yield from (at for at, text in texts if len(text) >= CLAUSE_LENGTH or _SENTENCE.search(text))


def _running_headers(headings: Mapping[int, str], end_before: Callable[[int], str]) -> Iterator[int]:
    """Yield the paragraphs with a text that is repeated, most often after a page number, if these numbers ascend."""
    counts = Counter(headings.values())
    repeated = defaultdict(list)
    for at, text in headings.items():
        if counts[text] >= LEAST_HEADS:
            repeated[text].append(at)
    for places in repeated.values():
        pages = [int(page[1]) for at in places if (page := _PAGE.search(end_before(at)))]
        ascending = sum(one < other for one, other in pairwise(pages))
        if 2 * len(pages) > len(places) and ascending + 1 == len(pages):
            yield from places


def _entries(headings: Mapping[int, str], line: Callable[[int], str]) -> Iterator[int]:
    """Yield the lines after the heading of a table of contents that end in ascending page numbers."""
    for start, text in headings.items():
        if TOC.fullmatch(text):
            at, last = start + 1, 0
            while (page := _page_of_entry(line(at))) >= max(last, 1):
                at, last = at + 1, page
            if at - start > LEAST_ENTRIES:
                yield from range(start + 1, at)


def _page_of_entry(line: str) -> int:
    """Return the page number at the end of a line with other words, or 0."""
    found = _ENTRY_PAGE.search(line)
    return int(found[1]) if found and any(map(str.isalpha, line)) else 0
