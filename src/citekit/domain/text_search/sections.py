"""Recognizes where sections begin and end in the text of pages, which several sections can share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeGuard

from attrs import field, frozen

from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Location, Pages
from citekit.domain.node import Node
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.headings import HEADING_LINES, heading_lines
from citekit.domain.text_search.layout import line_starts
from citekit.domain.words import words_of

FOLLOWING = 20
"""The maximum number of nodes after a node whose titles are looked for where the node ends."""

EDGE = 2
"""The number of lines at the edge of a page that can be a running header or footer."""

WHOLE_PAGES = "The title of {} was not found on page {}, so the answer contains the whole page."

_CUT = ("...", "…")


@frozen
class SectionBounds:
    """The titles between which the text of a section lies on its pages.

    `title` is that of the section, and `following` are those of the sections after it that begin on its last page, in
    reading order. If `is_shared` is true, an earlier section has text on the first page.
    """

    title: str
    following: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    is_shared: bool = False

    @classmethod
    def of(cls, outline: ResourceMap, node_id: str) -> SectionBounds | None:
        """Return the bounds of a node of `outline`, or None if its location is not whole pages."""
        node = outline.find(node_id)
        if not is_whole(node.location):
            return None
        before, after = _neighbors(outline, node)
        first, last = node.location.numbers[0], node.location.numbers[-1]
        starting = [each.title for each in after if is_whole(each.location) and each.location.numbers[0] == last]
        shared = any(is_whole(each) and each.numbers[-1] >= first for each in before)
        return cls(node.title, tuple(starting), shared)

    def cut(self, first: str | None, last: str | None, pages: Pages) -> tuple[int, int | None, list[str]]:
        """Return where the section begins in the text `first` of its first page, where it ends in the text `last` of its
        last page, and notes about titles that were not found.

        `pages` is the location of the section; for a single page, both texts are equal. A text that is None is not searched.
        The start is 0, and the end None, if the page is not cut there.
        """
        notes = []
        own = None if first is None else heading_span(first, self.title, inside=self.is_shared)
        if own is None and self.is_shared and first is not None:
            notes.append(WHOLE_PAGES.format("this part", pages.numbers[0]))
        stop = None
        if self.following and last is not None:
            beyond = own[1] if own is not None and len(pages.numbers) == 1 else 0
            found = (heading_span(last, title, beyond, inside=True) for title in self.following)
            stop = next((each[0] for each in found if each is not None), None)
            if stop is None:
                notes.append(WHOLE_PAGES.format(f"the next part, {self.following[0]!r},", pages.numbers[-1]))
        return 0 if own is None else own[0], stop, notes

    def span_in(self, text: ExtractedText, pages: Pages) -> tuple[int, int] | None:
        """Return the offsets of the section in the text of a file, or None if the file has no text on its `pages`."""
        whole = text.span_of(pages)
        if whole is None or not is_whole(pages):
            return whole
        first, last = (text.span_of(Pages((number,))) for number in (pages.numbers[0], pages.numbers[-1]))
        start, stop, _ = self.cut(_part(text, first), _part(text, last), pages)
        begin = first[0] + start if first else whole[0]
        return begin, last[0] + stop if last and stop is not None else whole[1]


def _part(text: ExtractedText, span: tuple[int, int] | None) -> str | None:
    return None if span is None else text.text[span[0] : span[1]]


def is_whole(location: Location) -> TypeGuard[Pages]:
    """Return whether a location is whole pages."""
    return isinstance(location, Pages) and location.region is None


def heading_span(text: str, title: str, beyond: int = 0, *, inside: bool = False) -> tuple[int, int] | None:
    """Return the offsets at which the heading with the words of `title` begins and ends in the text of a page.

    Only lines from the offset `beyond` are searched. With `inside`, a later line is preferred to the first or second
    line of the page, which are often running headers that repeat a title. A title that ends with an ellipsis is the
    beginning of a heading.
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
    """Return the first and last of the lines from `start` that begin with the words of a shortened title, or None.

    The last word of the title can be cut.
    """
    wanted = " ".join(title)
    for first in range(start, len(lines) if wanted else start):
        joined: list[str] = []
        for last in range(first, min(first + HEADING_LINES, len(lines))):
            joined += words_of(visible_text(lines[last]))
            text = " ".join(joined)
            if text.startswith(wanted):
                return first, last
            if not wanted.startswith(text):
                break
    return None


def node_at(outline: ResourceMap, block: TextBlock, start: int, location: Location) -> Node | None:
    """Return the node of `outline` whose text contains the character at `start` of a block, which is at `location`.

    On a page that several nodes share, it is the last node whose heading is before the character, or else the one that
    continues from the page before. Elsewhere, and if no heading is found, it is the innermost node.
    """
    if not is_whole(location) or len(location.numbers) != 1:
        return outline.innermost(location)
    page = location.numbers[0]
    beginning: list[Node] = []
    continued: Node | None = None
    for node in outline.walk():
        place = node.location
        if is_whole(place) and place.numbers[0] <= page <= place.numbers[-1] and page in place.numbers:
            if place.numbers[0] == page:
                beginning.append(node)
            else:
                continued = node
    best, at = continued, -1
    for node in beginning:
        span = heading_span(block.text, node.title, inside=continued is not None)
        if span is not None and at <= span[0] <= start:
            best, at = node, span[0]
    return outline.innermost(location) if best is None else best


def _neighbors(resource_map: ResourceMap, node: Node) -> tuple[list[Location], list[Node]]:
    """Return the locations of the nodes before a node that do not contain it, and the first nodes after it and its
    children.
    """
    above = set()
    parent = resource_map.parent(node.id)
    while parent is not None:
        above.add(parent.id)
        parent = resource_map.parent(parent.id)
    walk = iter(resource_map.walk())
    before = []
    for each in walk:
        if each.id == node.id:
            break
        if each.id not in above:
            before.append(each.location)
    below = sum(1 for _ in node.walk()) - 1
    return before, list(islice(walk, below, below + FOLLOWING))
