"""Splits a book into chapters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from attrs import evolve

from citekit.domain.library.attach_chunks import AttachedChunks, with_chunks, without_chunks
from citekit.domain.library.located_text import LocatedText
from citekit.domain.library.passages import passages
from citekit.domain.library.sections import BookSection, sections
from citekit.domain.library.sentences import count_words, sentences
from citekit.domain.node import Node

__all__ = ["AttachedChunks", "BookSection", "chapters", "sections", "with_chunks", "without_chunks"]

FRONT_MATTER = "Front matter"
LEAST_WORDS = 20
"""Minimum number of words for a chapter of text before a section or subsection. Shorter text is, for example, a
heading.
"""

PART_WORDS = 5000
"""Maximum number of words of each part of a book without sections."""

UNSTRUCTURED = frozenset({"chunk", "lines", "page", "pages"})
"""Types of nodes that do not show the structure of the content."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def chapters(
    extracted_text: LocatedText, nodes: Iterable[Node], title: str, limit_words: int = 6000
) -> tuple[BookSection, ...]:
    """Split the book into chapters that together cover its whole text. The result is empty if the text is empty.

    Chapters are the top-level sections of the map. A section of more than `limit_words` words is replaced by its
    subsections, if any, and a chapter with the text before them. Text before the first chapter becomes a chapter, the
    front matter. Text of fewer than `LEAST_WORDS` words is added to the following chapter instead. A book without
    sections is split into parts named `Section 1`, `Section 2`, and so on. If there is only one part, its title is
    `title`.
    """
    text = extracted_text.text
    if not text:
        return ()
    found = sections(extracted_text, nodes, left_out=UNSTRUCTURED)
    if not found:
        return _parts(text, title)
    begun = list(_chosen(found, _WordCounts(text, found), limit_words))
    if count_words(text[: begun[0].start]) >= LEAST_WORDS:
        begun.insert(0, BookSection(0, begun[0].start, FRONT_MATTER, None, 0))
    spans = pairwise([0, *(each.start for each in begun[1:]), len(text)])
    return tuple(evolve(each, start=start, end=end) for each, (start, end) in zip(begun, spans, strict=True))


class _WordCounts:
    """Counts the words between two boundaries of sections from sums that are computed once."""

    def __init__(self, text: str, found: Sequence[BookSection]) -> None:
        self._borders = sorted({0, len(text)}.union(*((each.start, each.end) for each in found)))
        counts = (count_words(text[start:end]) for start, end in pairwise(self._borders))
        self._before = list(accumulate(counts, initial=0))

    def between(self, start: int, end: int) -> int:
        return self._before[bisect_left(self._borders, end)] - self._before[bisect_left(self._borders, start)]


def _chosen(found: Sequence[BookSection], words: _WordCounts, limit: int) -> Iterator[BookSection]:
    skipped_depth: int | None = None
    heading: int | None = None
    for section, following in zip(found, [*found[1:], None], strict=True):
        if skipped_depth is not None and section.depth > skipped_depth:
            continue
        skipped_depth = None
        inside = following if following is not None and following.depth > section.depth else None
        start = section.start if heading is None else heading
        if inside is None or words.between(section.start, section.end) <= limit:
            yield evolve(section, start=start)
            skipped_depth, heading = section.depth, None
        elif words.between(start, inside.start) >= LEAST_WORDS:
            yield evolve(section, start=start)
            heading = None
        else:
            heading = start


def _parts(text: str, title: str) -> tuple[BookSection, ...]:
    """Split a text without sections into parts of at most `PART_WORDS` words, mostly at the ends of paragraphs."""
    paragraphs = [found.end() for found in _PARAGRAPH.finditer(text)]
    spans = passages(sentences(text, paragraphs, PART_WORDS // 5), PART_WORDS)
    if len(spans) == 1:
        return (BookSection(0, len(text), title, None, 0),)
    return tuple(BookSection(*span, f"Section {number}", None, 0) for number, span in enumerate(spans, 1))
