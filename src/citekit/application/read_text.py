"""Reads the text of a part of a mapped file."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import define, field, frozen

from citekit.application.index_text import IndexText
from citekit.application.named_parts import part_named
from citekit.application.resolve import Resolve
from citekit.application.table_columns import keeps_white_space
from citekit.domain.address import Address
from citekit.domain.errors import LocationOutside, RequestRefused
from citekit.domain.evidence import SectionTitles
from citekit.domain.library.extracted_text import ExtractedText, Unit, UnitKind
from citekit.domain.locations import Location, Pages, Virtual
from citekit.domain.node import Node, NodeName
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.text_index import TextIndex
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.headers_footers import running_lines
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.headings import Headings
from citekit.domain.text_search.layout import (
    LaidOutLine,
    covering,
    laid_out,
    mark_of,
    order_of,
    order_of_location,
    shown_line,
)
from citekit.domain.text_search.limits import CHARS_LEAST, CHARS_LIMIT, MAX_CHARS
from citekit.domain.text_search.read import ReadTextAnswer
from citekit.domain.text_search.section_titles import titles_around
from citekit.domain.text_search.sections import SectionCut

COUNTED = 64
"""The maximum number of blocks whose characters are counted, and whose notes are read.

The size of a part with more blocks is estimated from the counted ones.
"""

GROUP, OVERLAP = 16, 3
"""Running headers are recognized in groups of `GROUP` pages, together with `OVERLAP` pages before and after each."""

ROUNDS = 2
"""The number of searches for running headers and footers. A footer can have more lines than one search finds."""

SLIDES_BEFORE = 64
"""The number of blocks before a part of a recording that are searched for a slide that is still shown in the part."""

_CURSOR = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9a-f]{8})")

NO_TEXT = "This part contains no text."


class _DamagedError(Exception):
    """Blocks are missing from the text index."""


@define
class _Blocks:
    """The blocks of a resource in the index, which are read when they are used (see `load`)."""

    index: TextIndex
    resource_id: str
    version: str
    count: int
    _read: dict[int, TextBlock] = field(factory=dict, init=False)

    @classmethod
    def of(cls, index: TextIndex, resource_id: str, version: str) -> _Blocks:
        return cls(index, resource_id, version, index.size(resource_id, version))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> TextBlock:
        if number not in self._read:
            self.load(number, number + 1)
        return self._read[number]

    def load(self, start: int, end: int) -> None:
        """Read the blocks `start` to `end` (exclusive) at once. Raise `_DamagedError` if one is missing."""
        found = self.index.blocks(self.resource_id, self.version, range(start, end))
        if len(found) != end - start:
            raise _DamagedError
        self._read.update(found)


@frozen
class _Part:
    """The requested part: the blocks from `first` to `end` (exclusive) that contain text of `location` (None: all)."""

    blocks: Sequence[TextBlock] | _Blocks
    first: int
    end: int
    location: Location | None
    cuts: tuple[int, int | None] = (0, None)
    """The offsets at which the part begins in its first block and ends in its last one (None: at the end of the block).
    """
    notes: Sequence[str] = ()

    def span(self, number: int) -> tuple[int, int] | None:
        """Return the offsets of a block's text that is in the part, or None if there is none."""
        block = self.blocks[number]
        low, high = 0, len(block.text)
        if self.location is not None:
            span = block.located.span_of(self.location)
            if span is None or not self._has(block):
                return None
            low, high = max(0, span[0]), min(high, span[1])
        if number == self.first:
            low = max(low, self.cuts[0])
        if number == self.end - 1 and self.cuts[1] is not None:
            high = min(high, self.cuts[1])
        return (low, high) if low < high else None

    def _has(self, block: TextBlock) -> bool:
        """Return whether the page of the block is one of the pages of the location, which can have gaps."""
        if not isinstance(self.location, Pages) or not isinstance(block.located, ExtractedText):
            return True
        return block.located.units[0].number in self.location.numbers


@frozen
class ReadText:
    """Returns the text of a node, an address, or a resource in reading order, in answers of limited length."""

    maps: MapStore
    resolve: Resolve
    texts: QuotableTexts
    indexed: IndexText
    index: TextIndex
    scan_advice: Callable[[], str] = str

    def __call__(
        self,
        resource: str,
        part: str | None = None,
        *,
        max_chars: int = MAX_CHARS,
        cursor: str | None = None,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> ReadTextAnswer:
        """Read a part of a resource, or the whole resource.

        `resource` is an ID or an address, and `part` is a node ID or an address (see `part_named`). Without `part`, the
        part that `resource` names is read, or else the whole resource. `cursor` is the `next_cursor` of the previous
        answer. Raise `RequestRefused` for a number of characters outside the limits, a virtual part, a cursor of
        another part or version, or a text index that cannot be rebuilt; and the errors of `Resolve`, `IndexText`, and
        `part_named`.
        """
        if not CHARS_LEAST <= max_chars <= CHARS_LIMIT:
            raise RequestRefused(f"max_chars must be from {CHARS_LEAST} to {CHARS_LIMIT}, not {max_chars}.")
        what = part_named(self.maps, resource, part)
        resource_map = self.maps.get(what if isinstance(what, str) else what.resource_id)
        location, node = self._located(what)
        for _ in range(2):
            known = self.index.versions([resource_map.resource_id]).get(resource_map.resource_id)
            version, stale = self.indexed(resource_map, known, roots, progress)
            try:
                blocks = self._blocks(resource_map, version, location, roots, is_stale=stale is not None)
                found = _part(resource_map, blocks, location, node if isinstance(what, NodeName) else None)
                return _answer(resource_map, found, node, version, max_chars, cursor, stale, self.scan_advice)
            except _DamagedError:
                continue
        raise RequestRefused(
            "Parts of the text index are missing, even after it was built again. Check the disk of the home, and "
            "the database if there is one (CITEKIT_DATABASE)."
        )

    def _located(self, what: NodeName | Address | str) -> tuple[Location | None, Node | None]:
        if isinstance(what, str):
            return None, None
        cited = self.resolve(what, virtual=True)
        if isinstance(cited.location, Virtual):
            raise RequestRefused("The node or address is virtual: it has no file, so there is no text to read.")
        return cited.location, cited.node

    def _blocks(
        self,
        resource_map: ResourceMap,
        version: str,
        location: Location | None,
        roots: Sequence[Path],
        *,
        is_stale: bool,
    ) -> Sequence[TextBlock] | _Blocks:
        if isinstance(location, Pages) and location.region is not None and not is_stale:
            text = self.texts.region(self.indexed.locate(resource_map, roots), location).text
            located = ExtractedText(UnitKind.PAGE, text, [Unit(location.numbers[0], 0, len(text))])
            return [TextBlock(located)] if text.strip() else []
        return _Blocks.of(self.index, resource_map.resource_id, version)


def _part(
    resource_map: ResourceMap, blocks: Sequence[TextBlock] | _Blocks, location: Location | None, node: Node | None
) -> _Part:
    numbers = range(len(blocks))
    end = bisect_left(numbers, (float("inf"), 0.0), key=lambda number: order_of(blocks[number]))
    if location is None or not end:
        return _Part(blocks, 0, end, location)
    located = blocks[0].located
    order = order_of_location(location, located.sheets if isinstance(located, ExtractedText) else ())
    if order is None:
        return _Part(blocks, 0, 0, location)
    low, high = (bisect_right(numbers, each, 0, end, key=lambda number: order_of(blocks[number])) for each in order)
    before = max(0, low - 1)
    earliest = max(0, before - SLIDES_BEFORE) if isinstance(located, Transcript) else before
    part = _Part(blocks, earliest, high, location)
    first = next((number for number in range(earliest, min(before + 2, high)) if part.span(number)), before)
    part = _Part(blocks, first, high, location)
    if node is None or not isinstance(location, Pages) or location.region is not None or first >= high:
        return part
    return _between_headings(resource_map, part, node, location)


def _between_headings(resource_map: ResourceMap, part: _Part, node: Node, location: Pages) -> _Part:
    """Return the part from the heading of its node to that of the next node, on shared pages."""
    titles = titles_around(resource_map.outline, node.id)
    cut = SectionCut(titles or SectionTitles(node.title), location)
    first, last = part.blocks[part.first], part.blocks[part.end - 1]
    start, beyond, notes = cut.start(first.text) if _page_of(first) == location.numbers[0] else (0, 0, [])
    stop, missing = cut.stop(last.text, beyond) if _page_of(last) == location.numbers[-1] else (None, [])
    return _Part(part.blocks, part.first, part.end, location, (start, stop), [*notes, *missing])


def _page_of(block: TextBlock) -> int | None:
    located = block.located
    return located.units[0].number if isinstance(located, ExtractedText) and located.kind is UnitKind.PAGE else None


def _is_on_screen(block: TextBlock) -> bool:
    return isinstance(block.located, Transcript) and bool(block.located.screen_reader)


@frozen
class _Position:
    block: int
    offset: int


def _answer(
    resource_map: ResourceMap,
    part: _Part,
    node: Node | None,
    version: str,
    max_chars: int,
    cursor: str | None,
    stale: str | None,
    scan_advice: Callable[[], str],
) -> ReadTextAnswer:
    key = hashlib.sha256(f"{version} {part.location}".encode("utf-8", "replace")).hexdigest()[:8]
    start = _position(cursor, key)
    writer = _Writer(resource_map, part, max_chars)
    after = writer.write(start)
    total, is_estimate = _size(part)
    is_whole = start is None and after is None
    covered = part.location if is_whole and part.location is not None and not any(part.cuts) else writer.location()
    if covered is not None and node is None:
        node = resource_map.outline.innermost(part.location or covered)
    return ReadTextAnswer(
        address=None if covered is None or not writer.lines else Address(resource_map.resource_id, covered),
        node=node,
        titles=[] if node is None else resource_map.titles(node.id),
        text="\n".join(writer.lines),
        total=total,
        is_estimate=is_estimate,
        next_cursor=None if after is None else f"{after.block}.{after.offset}.{key}",
        stale=stale,
        notes=[
            *part.notes,
            *_recognition_notes(part),
            *([] if writer.lines or start is not None else [_nothing(resource_map, scan_advice)]),
        ],
    )


def _nothing(resource_map: ResourceMap, scan_advice: Callable[[], str]) -> str:
    """Return the note for a part without text."""
    return f"{NO_TEXT}{scan_advice() if resource_map.metadata.get('format') == 'pdf' else ''}"


def _recognition_notes(part: _Part) -> list[str]:
    """Return the notes about the software that recognized the words in the first `COUNTED` blocks of a recording."""
    located = [part.blocks[number].located for number in range(part.first, min(part.end, part.first + COUNTED))]
    return list(dict.fromkeys(each.note for each in located if isinstance(each, Transcript) and each.note))


def _position(cursor: str | None, key: str) -> _Position | None:
    if cursor is None:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None or found[3] != key:
        raise RequestRefused(
            f"The cursor {cursor[:40]!r} does not belong to this part, or the text has changed since. Read the part "
            "again without a cursor."
        )
    return _Position(int(found[1]), int(found[2]))


def _size(part: _Part) -> tuple[int, bool]:
    """Return the number of characters of a part, and whether it is an estimate from some of its blocks."""
    count = part.end - part.first
    step = -(-count // COUNTED) if count > COUNTED else 1
    spans = [part.span(number) for number in range(part.first, part.end, step)]
    total = sum(span[1] - span[0] for span in spans if span)
    return (total, False) if step == 1 else (total * count // len(spans), True)


@define
class _Writer:
    """Collects the lines of an answer until it is full."""

    resource_map: ResourceMap
    part: _Part
    limit: int
    room: int = field(init=False)
    lines: list[str] = field(factory=list, init=False)
    _read: list[tuple[int, int, int]] = field(factory=list, init=False)
    """For each line: the number of its block, and its offsets in the text of the block."""
    _before: int | None = field(default=None, init=False)
    """The last page of the preceding answer."""
    _running: dict[int, dict[int, set[int]]] = field(factory=dict, init=False)

    @room.default
    def _all_room(self) -> int:
        return self.limit

    def write(self, start: _Position | None) -> _Position | None:
        """Collect lines from `start`. Return the position of the first text that does not fit, or None if all fits."""
        headings = Headings(self.resource_map.outline.walk())
        raw = keeps_white_space(self.resource_map)
        last: Location | None = None
        is_on_screen = False
        for number in range(self.part.first if start is None else max(start.block, self.part.first), self.part.end):
            span = self.part.span(number)
            if span is None:
                continue
            block = self.part.blocks[number]
            if self.lines and _is_on_screen(block) != is_on_screen:
                last = None  # speech and text on the screen have separate marks
            is_on_screen = _is_on_screen(block)
            low = start.offset if start is not None and number == start.block else span[0]
            if low >= span[1]:
                continue
            running = self._running_in(number) if _page_of(block) is not None else set()
            if start is not None and not self.lines:
                whole = laid_out(block, span, headings.on(block), running, raw=raw)
                top = next(iter(whole), None)
                self._before = self._page_before(number, is_begun=top is not None and top.start < low)
            for line in laid_out(block, (max(low, span[0]), span[1]), headings.on(block), running, raw=raw):
                marked = mark_of(block, line.end - 1, last) if line.start < line.end else None
                mark = "" if marked is None else marked[0]
                needed = len(line.text) + 1
                if needed + len(mark) > self.room and (self.room < self.limit // 2 or (line.is_heading and self.lines)):
                    return _Position(number, line.start)
                if marked is not None:
                    self._skipped(last, marked[1])
                    last = marked[1]
                    self.lines.append(mark)
                    self.room -= len(mark) + 1
                if needed > self.room and not line.is_heading:
                    return self._cut(number, line, span[1], raw=raw)
                self.room -= needed
                self.lines.append(line.text)
                self._read.append((number, line.start, line.end))
        return None

    def _page_before(self, block: int, *, is_begun: bool) -> int | None:
        """Return the page on which the preceding answer ended, or None if the blocks are not pages.

        It is the page of `block` if the preceding answer has the start of this block (`is_begun`).
        """
        here = _page_of(self.part.blocks[block])
        if here is None or is_begun:
            return here
        earlier = (number for number in range(block - 1, self.part.first - 1, -1) if self.part.span(number))
        before = next(earlier, None)
        return here - 1 if before is None else _page_of(self.part.blocks[before])

    def _cut(self, number: int, line: LaidOutLine, end: int, *, raw: bool) -> _Position | None:
        """Write the start of a long line, if possible up to a sentence end or space in its second half."""
        text = self.part.blocks[number].text[line.start : line.end]
        room = max(self.room, CHARS_LEAST // 4)
        piece = text[:room]
        while len(shown := shown_line(piece, raw=raw)) > room:
            piece = piece[: len(piece) * room // len(shown)]
        border = max(piece.rfind(". ", len(piece) // 2) + 1, 0) or piece.rfind(" ", len(piece) // 2)
        piece = piece if border < 0 else piece[:border]
        self.lines.append(shown_line(piece, raw=raw))
        stop = line.start + max(1, len(piece))
        self._read.append((number, line.start, stop))
        return _Position(number, stop) if stop < end else None

    def _skipped(self, last: Location | None, here: Location) -> None:
        """Add a line that names the requested pages without text between `last` and `here`, if there are any."""
        if not isinstance(here, Pages):
            return
        wanted = self.part.location
        first = wanted.numbers[0] if isinstance(wanted, Pages) else 1
        if isinstance(last, Pages):
            low = last.numbers[-1] + 1
        elif self._before is not None:
            low = self._before + 1
        else:
            low = here.numbers[0] if self._read else first
        empty = [
            page for page in range(low, here.numbers[0]) if not isinstance(wanted, Pages) or page in wanted.numbers
        ]
        if empty:
            runs = Pages.of(empty).runs if isinstance(wanted, Pages) else [(empty[0], empty[-1])]
            which = ", ".join(str(start) if start == end else f"{start}-{end}" for start, end in runs)
            self.lines.append(f"[{'page' if len(empty) == 1 else 'pages'} {which}: no text]")

    def location(self) -> Location | None:
        """Return the location of the collected lines, or None if there are no lines or they are outside the extent."""
        places = [(number, start, end) for number, start, end in self._read if start < end]
        if not places:
            return None
        (first, start, end), (last, begin, finish) = places[0], places[-1]
        blocks = self.part.blocks
        pages = sorted({page for number, *_ in places if (page := _page_of(blocks[number])) is not None})
        try:
            one = blocks[first].located.locate(start, end)
            other = blocks[last].located.locate(begin, finish)
            return covering(one, other, pages).clamp(self.resource_map.extent)
        except LocationOutside:
            return None

    def _running_in(self, number: int) -> set[int]:
        group = number // GROUP
        if group not in self._running:
            self._running[group] = self._running_of(group)
        return self._running[group].get(number, set())

    def _running_of(self, group: int) -> dict[int, set[int]]:
        blocks = self.part.blocks
        low, high = max(0, group * GROUP - OVERLAP), min((group + 1) * GROUP + OVERLAP, len(blocks))
        if isinstance(blocks, _Blocks):
            blocks.load(low, high)
        pages = [each for each in range(low, high) if not blocks[each].hidden]
        lines = [blocks[each].text.split("\n") for each in pages]
        numbers = [_page_of(blocks[each]) or 0 for each in pages]
        every: list[set[int]] = [set() for _ in pages]
        for _ in range(ROUNDS):
            for left, found, page in zip(every, running_lines(lines, numbers), lines, strict=True):
                left |= found
                page[:] = ["" if index in found else line for index, line in enumerate(page)]
        return dict(zip(pages, every, strict=True))
