"""The chapters that a book is read in."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from attrs import evolve

from citekit.domain.library.attach_chunks import AttachedChunks, with_chunks, without_chunks
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.library.passages import passages
from citekit.domain.library.sections import BookSection, sections
from citekit.domain.library.sentences import count_words, sentences
from citekit.domain.node import Node

__all__ = ["AttachedChunks", "BookSection", "chapters", "sections", "with_chunks", "without_chunks"]

FRONT_MATTER = "Front matter"
LEAST_WORDS = 20
"""Text of fewer words before a section's first part is its heading or a mark of the printer: it is no chapter."""

PART_WORDS = 5000
"""Words of a part of a book that shows no sections."""

UNSTRUCTURED = frozenset({"chunk", "lines", "page", "pages"})
"""Types of nodes that say nothing of what the text is about: groups of pages or lines, and our own chunks."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def chapters(
    extracted_text: ExtractedText, nodes: Iterable[Node], title: str, limit_words: int = 6000
) -> tuple[BookSection, ...]:
    """The book, called `title`, in chapters that together are its text; none for an empty text.

    They are the sections at the top of the map; one of more than `limit_words` words is replaced by those inside it, and by
    what stands before the first of them. Text before the first chapter is one of its own, the front matter. In both places
    fewer than `LEAST_WORDS` words belong to what follows. A book without sections is split at ends of paragraphs.
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
    """How many words stand between any two borders of sections."""

    def __init__(self, text: str, found: Sequence[BookSection]) -> None:
        self._borders = sorted({0, len(text)}.union(*((each.start, each.end) for each in found)))
        counts = (count_words(text[start:end]) for start, end in pairwise(self._borders))
        self._before = list(accumulate(counts, initial=0))

    def between(self, start: int, end: int) -> int:
        return self._before[bisect_left(self._borders, end)] - self._before[bisect_left(self._borders, start)]


def _chosen(found: Sequence[BookSection], words: _WordCounts, limit: int) -> Iterator[BookSection]:
    """The sections that begin a chapter; one may begin before its own start, with the heading of the one around it."""
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
    """Parts of about `PART_WORDS` words; a paragraph that is longer than a fifth of that may be cut."""
    paragraphs = [found.end() for found in _PARAGRAPH.finditer(text)]
    spans = passages(sentences(text, paragraphs, PART_WORDS // 5), PART_WORDS)
    if len(spans) == 1:
        return (BookSection(0, len(text), title, None, 0),)
    return tuple(BookSection(*span, f"Section {number}", None, 0) for number, span in enumerate(spans, 1))
