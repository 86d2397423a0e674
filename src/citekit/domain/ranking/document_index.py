"""Indexes the pages of one document for ranking: which words each page contains, and what kind of page it is.

A page here is a page, or up to about 3000 characters of a text without pages.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from attrs import field, frozen

from citekit.domain.library.lexical import stems, term_number, tokens, without_repetition
from citekit.domain.ranking.references import labels_of
from citekit.domain.vocabulary import LIST_HEADING, TOC_HEADING

FIRST, TITLE = 1, 2
"""The fields of a page, as bits: its first lines, and its titles."""

FIRST_LINES, SHORT_LINE, TITLE_LINES = 12, 14, 4
"""The number of first lines, the maximum number of words in such a line, and the number of them that count as titles.
"""

RUNNING_SHARE, RUNNING_LEAST = 0.08, 3
"""Minimum fraction and minimum number of pages on which a running header or footer occurs."""

_HEADER, _FOOTER = 3, 2
"""Number of lines at the top and at the bottom of a page that may be running headers and footers."""

_MANY_WORDS, _LEAST_VARIETY = 100, 0.2
"""A page with more words than this, of which fewer than this fraction are different, is repetitive."""

_MOST = 255
_CONTENTS = frozenset((*TOC_HEADING, *LIST_HEADING))
_DIGITS = re.compile(r"\d+")
_NUMERIC = re.compile(r"[($\u20ac\u00a3\u00a5+\-\u2013\u2014]*\d[\d,.\u00a0]*[%)]*")
_TAIL = 60
"""Number of characters at the end of a line that are searched for a page number."""

_ENTRY = re.compile(r"(?:(?:\.\s?){3,60}|[\s,])(\d{1,4})$")
_CELLS = re.compile(r"\t|\s{2,}")
_RISING = 0.9
"""Minimum fraction of page numbers in a table of contents that are not lower than the preceding one."""

_ENTRIES = 5
"""Minimum number of entries in a table of contents or an index."""


@frozen(kw_only=True)
class DocumentIndex:
    """The index of one document.

    `terms` are the numbers of the terms, in ascending order. The postings of term i are from `starts[i]` to before
    `starts[i + 1]`. A posting is the number of a page from 0 (`pages`, ascending), how often the page has the term
    (`counts`, up to 255), and its `fields` there. `lengths` has the number of stems of each page, and `numeric` the
    fraction of its tokens that are numbers, times 255. `lists` is 1 for each page that is a table of contents or an
    index. `numbers` are the physical numbers of pages, from 1, or 0 in a text without pages.
    """

    terms: array[int] = field(repr=False)
    starts: array[int] = field(repr=False)
    pages: array[int] = field(repr=False)
    counts: bytes = field(repr=False)
    fields: bytes = field(repr=False)
    lengths: array[int] = field(repr=False)
    numeric: bytes = field(repr=False)
    lists: bytes = field(repr=False)
    numbers: array[int] = field(repr=False)

    def __len__(self) -> int:
        """The number of pages."""
        return len(self.lengths)

    def span(self, term: str) -> tuple[int, int]:
        """Return the range (first, end) of the postings of a term; empty if no page contains the term."""
        number = term_number(term)
        at = bisect_left(self.terms, number)
        if at == len(self.terms) or self.terms[at] != number:
            return 0, 0
        return self.starts[at], self.starts[at + 1]

    def pages_per_term(self) -> Iterator[tuple[int, int, int]]:
        """Yield the number of each term, the number of pages that contain it, and the sum of its `counts`."""
        for at, number in enumerate(self.terms):
            first, last = self.starts[at], self.starts[at + 1]
            yield number, last - first, sum(self.counts[first:last])


@frozen
class PageText:
    """A page as input for the index: its text, its number, and the titles that begin on it."""

    text: str
    number: int
    titles: Sequence[str] = ()


def index_document(pages: Iterable[PageText]) -> DocumentIndex:
    """Return the index of a document with these pages."""
    every = list(pages)
    lines = [[line.strip() for line in page.text.split("\n") if line.strip()] for page in every]
    running = _running(lines)
    postings: dict[int, list[tuple[int, int, int]]] = {}
    lengths, numeric, lists = array("I"), bytearray(), bytearray()
    for at, (page, own) in enumerate(zip(every, lines, strict=True)):
        words = stems(_without_stuffing(tokens("\n".join(own))))
        fields = _fields(own, page.titles, running)
        counts = Counter(words)
        counts.update({label.term: 1 for line in own for label in labels_of(line)})
        for term in counts.keys() | fields.keys():
            postings.setdefault(term_number(term), []).append(
                (at, min(_MOST, max(1, counts[term])), fields.get(term, 0))
            )
        lengths.append(len(words))
        numeric.append(_numeric_share(page.text))
        lists.append(_is_list(own, running))
    return _assembled(postings, lengths, bytes(numeric), bytes(lists), array("I", (page.number for page in every)))


def _without_stuffing(words: list[str]) -> list[str]:
    """Return the words, without repetition if few are different, because a page may repeat likely questions to rank
    first.
    """
    few = len(words) > _MANY_WORDS and len(set(words)) < _LEAST_VARIETY * len(words)
    return without_repetition(words) if few else words


def _assembled(
    postings: dict[int, list[tuple[int, int, int]]],
    lengths: array[int],
    numeric: bytes,
    lists: bytes,
    numbers: array[int],
) -> DocumentIndex:
    terms, starts, pages = array("I", sorted(postings)), array("I", [0]), array("I")
    counts, fields = bytearray(), bytearray()
    for term in terms:
        for page, count, where in postings[term]:
            pages.append(page)
            counts.append(count)
            fields.append(where)
        starts.append(len(pages))
    return DocumentIndex(
        terms=terms,
        starts=starts,
        pages=pages,
        counts=bytes(counts),
        fields=bytes(fields),
        lengths=lengths,
        numeric=numeric,
        lists=lists,
        numbers=numbers,
    )


def _running(lines: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the running headers and footers, with a 0 in place of each number."""
    seen = Counter(masked for own in lines for masked in {_masked(line) for line in (*own[:_HEADER], *own[-_FOOTER:])})
    least = max(RUNNING_LEAST, RUNNING_SHARE * len(lines))
    return frozenset(line for line, count in seen.items() if count >= least)


def _masked(line: str) -> str:
    return _DIGITS.sub("0", line)


def _fields(lines: Sequence[str], titles: Iterable[str], running: frozenset[str]) -> dict[str, int]:
    """Return the fields, as bits, in which each term occurs. Numbers are left out."""
    fields: dict[str, int] = {}
    short = (line for line in lines if len(line.split()) <= SHORT_LINE)
    kept = 0
    for line in islice(short, FIRST_LINES):
        is_title = kept < TITLE_LINES and _masked(line) not in running
        kept += is_title
        for term in _plain_stems(line):
            fields[term] = fields.get(term, 0) | FIRST | (TITLE if is_title else 0)
    for title in titles:
        for term in _plain_stems(title):
            fields[term] = fields.get(term, 0) | TITLE
    return fields


def _plain_stems(text: str) -> Iterator[str]:
    return (term for term in stems(tokens(text)) if not term.isdigit())


def _numeric_share(text: str) -> int:
    every = text.split()
    return _MOST * sum(_NUMERIC.fullmatch(each) is not None for each in every) // max(20, len(every))


def _is_list(lines: Sequence[str], running: frozenset[str]) -> bool:
    """Return whether a page is a table of contents, which has rising page numbers, or an index, which has a heading."""
    numbers = [number for line in lines if (number := _page_of(line)) is not None]
    if len(numbers) < _ENTRIES or 2 * len(numbers) < len(lines):
        return False
    rising = sum(first <= second for first, second in pairwise(numbers))
    return rising >= _RISING * (len(numbers) - 1) or any(
        " ".join(line.lower().split()).strip(" .:0123456789") in _CONTENTS and _masked(line) not in running
        for line in lines[:4]
    )


def _page_of(line: str) -> int | None:
    """Return the page number at the end of an entry, or None if the line is not an entry."""
    found = _ENTRY.search(line[-_TAIL:])
    if found is None or not any(map(str.isalpha, line)):
        return None
    cells = _CELLS.split(line[: -len(found[0])])
    return None if any(map(_NUMERIC.fullmatch, cells[1:])) else int(found[1])
