"""Recognizes where sections begin and end in pages, which several sections can share."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.domain.evidence import SectionTitles
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Location, Pages
from citekit.domain.node import Node
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.headings import HEADING_LINES, heading_lines
from citekit.domain.text_search.layout import line_starts
from citekit.domain.text_search.section_titles import is_whole
from citekit.domain.words import line_words, words_of

EDGE = 2
"""The number of lines at the edge of a page that can be running headers or footers."""

WHOLE_PAGES = "The title of {} was not found on page {}, so the text can contain other text of that page."

_CUT = ("...", "…")


@frozen
class SectionCut:
    """Finds where a section begins and ends in the text of its first and last page."""

    titles: SectionTitles
    pages: Pages

    def start(self, text: str) -> tuple[int, int, list[str]]:
        """Return the offsets of the section's heading in the text of its first page, or (0, 0), and notes."""
        own = heading_span(text, self.titles.title, inside=self.titles.is_shared)
        missing = own is None and self.titles.is_shared
        return (*(own or (0, 0)), [WHOLE_PAGES.format("this part", self.pages.numbers[0])] if missing else [])

    def stop(self, text: str, beyond: int = 0) -> tuple[int | None, list[str]]:
        """Return the offset at which the section ends in the text of its last page, or None for the end of the page,
        and notes.

        `beyond` is the end of the heading of a section on one page.
        """
        if not self.titles.following:
            return None, []
        after = beyond if len(self.pages.numbers) == 1 else 0
        found = (heading_span(text, title, after, inside=True) for title in self.titles.following)
        stop = next((each[0] for each in found if each is not None), None)
        next_part = f"the next part, {self.titles.following[0]!r},"
        return stop, [] if stop is not None else [WHOLE_PAGES.format(next_part, self.pages.numbers[-1])]

    def of_page(self, number: int, text: str) -> tuple[str, list[str]]:
        """Return the text of a page that belongs to the section, and notes."""
        start, beyond, notes = self.start(text) if number == self.pages.numbers[0] else (0, 0, [])
        stop, missing = self.stop(text, beyond) if number == self.pages.numbers[-1] else (None, [])
        kept = text[start:] if stop is None else f"{text[start:stop].rstrip()}\n"
        return kept, [*notes, *missing]

    def span_in(self, text: ExtractedText) -> tuple[int, int] | None:
        """Return the offsets of the section in the text of a file, or None if its pages have no text."""
        whole = text.span_of(self.pages)
        if whole is None:
            return None
        first, last = (text.span_of(Pages((number,))) for number in (self.pages.numbers[0], self.pages.numbers[-1]))
        start, beyond, _ = (0, 0, []) if first is None else self.start(text.text[slice(*first)])
        stop = None if last is None else self.stop(text.text[slice(*last)], beyond)[0]
        begin = whole[0] if first is None else first[0] + start
        return begin, whole[1] if last is None or stop is None else last[0] + stop


def heading_span(text: str, title: str, beyond: int = 0, *, inside: bool = False) -> tuple[int, int] | None:
    """Return the start and end of the heading `title` in the text of a page, from the offset `beyond`, or None.

    With `inside`, a later line is preferred to the first or second line of the page, which are often running headers. A
    title that ends with an ellipsis is the beginning of a heading.
    """
    starts = list(line_starts(text))
    lines = [text[start:end] for start, end in starts]
    first = next((number for number, (start, _) in enumerate(starts) if start >= beyond), len(starts))
    find = _cut_heading_lines if title.endswith(_CUT) else heading_lines
    words = words_of(title)
    found = find(lines, words, first)
    if inside and found is not None and found[0] < EDGE:
        found = find(lines[:-EDGE], words, max(first, found[1] + 1)) or found
    return None if found is None else (starts[found[0]][0], starts[found[1]][1])


def _cut_heading_lines(lines: Sequence[str], title: Sequence[str], start: int = 0) -> tuple[int, int] | None:
    """Return the first and last line, from `start`, that begin with the words of a shortened title, whose last word can
    be cut; or None.
    """
    wanted = " ".join(title)
    for first in range(start, len(lines) if wanted else start):
        joined: list[str] = []
        for last in range(first, min(first + HEADING_LINES, len(lines))):
            joined += line_words(visible_text(lines[last]))
            text = " ".join(joined)
            if text.startswith(wanted):
                return first, last
            if not wanted.startswith(text):
                break
    return None


def node_at(outline: ResourceMap, block: TextBlock, start: int, location: Location) -> Node | None:
    """Return the node of `outline` whose text contains the character at `start` of a block, which is at `location`, or
    None.

    On a page, it is the last node whose heading is before the character, or else the one that continues from the page
    before. Elsewhere, or without either, it is the innermost node.
    """
    if not is_whole(location) or len(location.numbers) != 1:
        return outline.innermost(location)
    nodes = list(outline.nodes_on_page(location.numbers[0]))
    continued = next((node for node, begins in reversed(nodes) if not begins), None)
    best, at = continued, -1
    for node, begins in nodes:
        span = heading_span(block.text, node.title, inside=continued is not None) if begins else None
        if span is not None and at <= span[0] <= start:
            best, at = node, span[0]
    return outline.innermost(location) if best is None else best
