"""Continues the lines after a match in the next block of the file, such as the next page."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.ports.text_index import TextIndex
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.layout import mark_of, order_of

EDGE = 3
"""The number of lines at the top of a page that can be a running header."""


def lines_beyond(index: TextIndex, resource_id: str, block: TextBlock, characters: int, most: int) -> list[str]:
    """Return the first non-blank lines of the block after `block`: at most `most` lines and `characters` characters.

    A line such as `[page 12]`, which gives their location, precedes them. Running headers of pages are left out: lines
    at the top that have no letters, or that are also at the top of the previous page, whatever their digits. The list
    is empty if `block` is hidden, if no visible block follows, or if no line fits.
    """
    following = None if block.hidden else _block_after(index, resource_id, block)
    mark = None if following is None else mark_of(following, 0, None)
    if following is None or mark is None:
        return []
    found: list[str] = []
    for line in _without_header(following, block):
        characters -= len(line)
        if characters < 0 or len(found) == most:
            break
        found.append(line)
    return [mark[0], *found] if found else []


def _block_after(index: TextIndex, resource_id: str, block: TextBlock) -> TextBlock | None:
    version = index.versions([resource_id]).get(resource_id)
    count = 0 if version is None else index.size(resource_id, version)
    if version is None or not count:
        return None

    def blocks(start: int, end: int) -> list[TextBlock]:
        return list(index.blocks(resource_id, version, range(start, end)).values())

    page = _page(block)
    if page is not None:  # most files have text on every page
        near = blocks(page - 1, page + 1)
        if len(near) == 2 and _page(near[0]) == page:
            return near[1] if _follows(near[1], block) else None

    def place(number: int) -> tuple[float, float]:
        one = blocks(number, number + 1)
        return order_of(one[0]) if one else (float("inf"), 0.0)

    at = bisect_left(range(count), order_of(block), key=place)
    near = blocks(at, at + 2)
    return near[1] if len(near) == 2 and near[0].text == block.text and _follows(near[1], block) else None


def _follows(later: TextBlock, block: TextBlock) -> bool:
    """Return whether `later` is visible and, if `block` is a page, is the next page."""
    page = _page(block)
    return not later.hidden and (page is None or _page(later) == page + 1)


def _page(block: TextBlock) -> int | None:
    located = block.located
    if not isinstance(located, ExtractedText) or located.kind is not UnitKind.PAGE:
        return None
    return located.units[0].number


def _without_header(block: TextBlock, before: TextBlock) -> Iterator[str]:
    lines = list(filter(str.strip, block.text.split("\n")))
    if _page(block) is None:
        yield from lines
        return
    running = {_letters(line) for line in list(filter(str.strip, before.text.split("\n")))[:EDGE]}
    yield from (line for line in lines[:EDGE] if any(map(str.isalpha, line)) and _letters(line) not in running)
    yield from lines[EDGE:]


def _letters(line: str) -> str:
    """Return a line without digits and white space: running headers differ only by page numbers."""
    return "".join(each for each in line if not each.isdigit() and not each.isspace())
