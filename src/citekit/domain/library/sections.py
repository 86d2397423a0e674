"""Maps the nodes of a book to ranges of its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence

from attrs import evolve, frozen

from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.library.located_text import LocatedText
from citekit.domain.node import Node
from citekit.domain.vocabulary import APPENDIX, CHAPTER, PART, SECTION, any_of

_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(
    rf"\W*(?:(?:{any_of(CHAPTER, PART, SECTION, APPENDIX)})\W+)?(?:[\d.]+|[ivxlc]+|[a-z])?\W*", re.IGNORECASE
)
_LABEL_LIMIT = 24
"""Maximum number of characters of a chapter number before its title.

The same number of characters after the title, on its line, must not include a letter.
"""


def _folded(word: str) -> str:
    """Return the letters and digits of a word, without case and accents."""
    if word.isascii():
        return word.lower()
    return "".join(_WORD.findall(unicodedata.normalize("NFKD", word).casefold()))


@frozen
class _Words:
    """The words of a page, joined so that a search ignores spaces and line ends, with their offsets in the text."""

    joined: str
    starts: dict[int, int]
    ends: dict[int, int]


def _words(text: str, start: int, end: int) -> _Words:
    parts: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0
    for found in _WORD.finditer(text, start, end):
        part = _folded(found[0])
        if part:
            starts[length] = found.start()
            length += len(part)
            ends[length] = found.end()
            parts.append(part)
    return _Words("".join(parts), starts, ends)


class Headings:
    """Finds headings on the pages of a text. Consecutive searches on the same page are fast."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._page: tuple[int, int] | None = None
        self._words = _Words("", {}, {})

    def _on(self, page: tuple[int, int]) -> _Words:
        if page != self._page:
            self._page, self._words = page, _words(self.text, *page)
        return self._words

    def find(self, title: str, page: tuple[int, int], since: int = 0) -> tuple[int, int] | None:
        """Return (start, end) of the heading `title`, with its number on the same or the previous line, or None if it
        is not found.

        `page` is the (start, end) of the page in the text, and the search begins at the offset `since`. Case, spaces,
        punctuation, and line ends are ignored. If there are several matches, one in the first line is skipped, because
        it may be a running header.
        """
        found = [each for each in self._lines(title, page) if each[0] >= since]
        if len(found) > 1 and not self.text[page[0] : found[0][0]].strip():
            return found[1]
        return found[0] if found else None

    def _lines(self, title: str, page: tuple[int, int]) -> Iterator[tuple[int, int]]:
        wanted = "".join(_folded(word) for word in _WORD.findall(title))
        words = self._on(page)
        place = words.joined.find(wanted) if wanted else -1
        while place >= 0:
            start, end = words.starts.get(place), words.ends.get(place + len(wanted))
            if start is not None and end is not None and self._ends_line(end, page[1]):
                begin = self._line_start(start, page[0])
                if begin is not None:
                    yield begin, end
            place = words.joined.find(wanted, place + 1)

    def _ends_line(self, end: int, page_end: int) -> bool:
        line_end = self.text.find("\n", end, page_end)
        rest = self.text[end : page_end if line_end < 0 else line_end]
        return not any(character.isalpha() for character in rest[:_LABEL_LIMIT])

    def _line_start(self, start: int, page_start: int) -> int | None:
        """Return the start of a heading with its number, or None if its line contains anything else before it."""
        begin = max(page_start, self.text.rfind("\n", page_start, start) + 1)
        before = self.text[begin:start]
        if not _is_label(before):
            return None
        above = max(page_start, self.text.rfind("\n", page_start, max(page_start, begin - 1)) + 1)
        if not before.strip() and _is_number(self.text[above:begin]):
            begin, before = above, self.text[above:begin]
        return begin + len(before) - len(before.lstrip())


def _is_label(text: str) -> bool:
    return len(text) <= _LABEL_LIMIT and _LABEL.fullmatch(text) is not None


def _is_number(text: str) -> bool:
    """Return whether a line is a section number such as `1.2` or `Chapter 3`. A plain `3` may be the page number."""
    return _is_label(text) and ("." in text or any(c.isalpha() for c in text)) and any(c.isalnum() for c in text)


HEADER_LINES, HEADER_WORDS = 3, 12
"""Maximum number of lines of a running header, and of words in each line."""

_SPACE = re.compile(r"\s*")


@frozen
class BookSection:
    """A section of a book: the characters from `start` up to, but not including, `end` of an extracted text.

    `depth` is 0 at the top level. `node_id` is None if the section has no node.
    """

    start: int
    end: int
    title: str
    node_id: str | None
    depth: int


def sections(
    extracted_text: LocatedText, nodes: Iterable[Node], *, left_out: Container[str] = frozenset()
) -> tuple[BookSection, ...]:
    """Return the nodes as ranges of the text, in reading order, each node before its descendants.

    Ranges of the same depth do not overlap. A range ends where the location of the node ends or where the next node of
    the same or a higher level begins, and includes the white space there. In a text with pages, a range begins at the
    title of the node if the text above the title on its page is more than a running header. Nodes without a location in
    the text and nodes whose type is in `left_out` are left out, and their children move up one level. Nodes for which
    no text is left are also left out.
    """
    return tuple(_ended(extracted_text.text, list(_started(extracted_text, nodes, left_out))))


@frozen
class _Visit:
    """A node to process, its range of text in the map (or None), and its depth in the tree."""

    node: Node
    span: tuple[int, int] | None
    depth: int


def _started(extracted_text: LocatedText, nodes: Iterable[Node], left_out: Container[str]) -> Iterator[BookSection]:
    """Yield the sections with their exact starts, which never decrease, and the ends that the map gives."""
    nodes = tuple(nodes)
    begins, places = _Begins(extracted_text), _Places(extracted_text, nodes)
    pending = places.visits(nodes, 0)[::-1]
    while pending:
        visit = pending.pop()
        node, depth = visit.node, visit.depth
        if visit.span is not None and node.type not in left_out:
            yield BookSection(begins.of(node.title, visit.span), visit.span[1], node.title, node.id, depth)
            depth += 1
        pending += places.visits(node.children, depth)[::-1]


def _paged(text: LocatedText) -> ExtractedText | None:
    """Return the text if it is divided into pages, else None."""
    return text if isinstance(text, ExtractedText) and text.kind is UnitKind.PAGE else None


class _Places:
    """The ranges of nodes. If a node spans whole chapter files of an EPUB, its leaves show more precisely where it
    begins.
    """

    def __init__(self, extracted_text: LocatedText, nodes: Iterable[Node]) -> None:
        self._is_exact = _paged(extracted_text) is None
        self._spans: dict[str, tuple[int, int] | None] = {}
        self._leaves: dict[str, tuple[int, int] | None] = {}
        for node in reversed([below for top in nodes for below in top.walk()]):
            span = self._spans[node.id] = extracted_text.span_of(node.location)
            inside = [found for child in node.children if (found := self._leaves[child.id])]
            self._leaves[node.id] = (inside[0][0], inside[-1][1]) if inside else span

    def visits(self, nodes: Sequence[Node], depth: int) -> list[_Visit]:
        """Return sibling nodes, with their ranges, sorted by start. A node without a range stays after the one before
        it.
        """
        visits: list[_Visit] = []
        done = 0
        for node in self._ordered(nodes):
            span, leaves = self._spans[node.id], self._leaves[node.id]
            if span is not None and leaves is not None and self._is_exact:
                span, done = (max(span[0], min(done, leaves[0])), span[1]), leaves[1]
            visits.append(_Visit(node, span, depth))
        return visits

    def _ordered(self, nodes: Sequence[Node]) -> list[Node]:
        keys: list[int] = []
        for node in nodes:
            place = self._leaves[node.id] if self._is_exact else self._spans[node.id]
            keys.append(place[0] if place else keys[-1] if keys else 0)
        return [nodes[number] for number in sorted(range(len(nodes)), key=keys.__getitem__)]


class _Begins:
    """Determines where each section begins. Requests must be in reading order."""

    def __init__(self, extracted_text: LocatedText) -> None:
        self._paged = _paged(extracted_text)
        self._headings = None if self._paged is None else Headings(extracted_text.text)
        self._last = self._behind = 0

    def of(self, title: str, span: tuple[int, int]) -> int:
        start = max(span[0], self._last)
        if self._headings is not None and self._paged is not None:
            unit = self._paged.unit_at(span[0])
            found = self._headings.find(title, (unit.start, unit.end), self._behind)
            if found is not None:
                top = self._behind <= unit.start and self._is_header(self._paged.text[unit.start : found[0]])
                start, self._behind = start if top else max(start, found[0]), found[1]
        self._last = start
        return start

    @staticmethod
    def _is_header(above: str) -> bool:
        """Return whether the text above a heading on its page is empty or a running header."""
        lines = [line for line in above.splitlines() if line.strip()]
        return len(lines) <= HEADER_LINES and all(len(line.split()) <= HEADER_WORDS for line in lines)


def _ended(text: str, found: Sequence[BookSection]) -> Iterator[BookSection]:
    limits = _limits(found, len(text))
    above: list[int] = []
    for section, limit in zip(found, limits, strict=True):
        del above[section.depth :]
        most = min([limit, *above[-1:]])
        end = min(section.end, most)
        space = _SPACE.match(text, end, most) if end < most else None
        end = space.end() if space else end
        above.append(end)
        if section.start < end:
            yield evolve(section, end=end)


def _limits(found: Sequence[BookSection], length: int) -> list[int]:
    """Return, for each section, the start of the next section that is not inside it, or else `length`."""
    limits = [length] * len(found)
    open_: list[BookSection] = []
    for place in range(len(found) - 1, -1, -1):
        while open_ and open_[-1].depth > found[place].depth:
            open_.pop()
        limits[place] = open_[-1].start if open_ else length
        open_.append(found[place])
    return limits
