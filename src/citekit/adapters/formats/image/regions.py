"""The regions of a picture: parts that bands without detail separate.

A recursive X-Y cut (Nagy and Seth, 1984) over a small grey copy of the picture: bands right across or right down in which
nothing changes separate the parts of a page, a slide, a screen. Which bands separate is told from the lines of text around
them: more than the usual distance of lines is a new paragraph, more than a few letters is a new column. A photograph has
no regions.

Empty bands between the lines of a part of a picture, and between its letters: which of them separate parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from citekit.adapters.formats.image.detail import (
    Rectangle,
    detail_mask,
    median_value,
    pixel_changes,
    profiles,
    runs,
    trim,
)
from citekit.adapters.formats.image.region_kinds import (
    PICTURE,
    TEXT,
    classify_region,
    is_photo,
    line_heights,
    typical_line_height,
)

if TYPE_CHECKING:
    from PIL.Image import Image


_MIN_GAP = 3
"""Pixels of a band that separates anything."""


def row_bands(lines: Sequence[tuple[int, int]], usual: float) -> list[tuple[int, int]]:
    """The bands between rows that separate more than one line from the next."""
    pairs = list(pairwise(lines))
    heights = [end - start for start, end in lines]
    if _is_evenly_spaced(heights, [two[0] - one[1] for one, two in pairs]):
        return []
    pitches = sorted(two[0] - one[0] for one, two in pairs)
    pitch = pitches[len(pitches) // 4] if len(pitches) >= 3 else None
    return [(one[1], two[0]) for one, two in pairs if _separates(one, two, pitch, usual)]


def _is_evenly_spaced(heights: Sequence[int], widths: Sequence[int]) -> bool:
    """Whether these are the lines of one list: alike in height and distance, however far apart up to two lines."""
    if len(heights) < 3:
        return False
    alike = max(heights) <= 1.7 * min(heights) and max(widths) <= 1.5 * min(widths) + 2
    return alike and max(widths) <= 2 * median_low(heights)


def _separates(one: tuple[int, int], two: tuple[int, int], pitch: int | None, usual: float) -> bool:
    """Whether the band between two rows is more than that between lines, whose tops are `pitch` apart where known."""
    gap = two[0] - one[1]
    low, high = sorted((one[1] - one[0], two[1] - two[0]))
    if gap < _MIN_GAP:
        return False
    if gap >= 1.3 * min(high, 2 * usual):
        return True
    if pitch is None:
        return gap >= (0.5 if high >= max(1.9 * low, usual) else 0.9) * low
    return two[0] - one[0] >= 1.3 * pitch and gap >= 0.45 * low


def column_bands(letters: Sequence[tuple[int, int]], space: float) -> list[tuple[int, int]]:
    """The bands between columns that are wider than the space between words."""
    gaps = [(one[1], two[0]) for one, two in pairwise(letters)]
    least = max(2 * _MIN_GAP, space)
    return [(start, end) for start, end in gaps if end - start >= least]


def widest_common_band(one: Sequence[tuple[int, int]], two: Sequence[tuple[int, int]]) -> int:
    """The width of the widest band that both have."""
    widths = (min(a[1], b[1]) - max(a[0], b[0]) for a in one for b in two)
    return max(widths, default=0)


def widest_band(bands: Sequence[tuple[int, int]]) -> int:
    """The width of the widest band, 0 where there is none."""
    return max((end - start for start, end in bands), default=0)


def complement(length: int, bands: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What lies between the bands."""
    edges = [0, *(edge for band in bands for edge in band), length]
    return [(edges[number], edges[number + 1]) for number in range(0, len(edges), 2)]


WORKING_SIZE = 1000
"""Pixels of the longer side of the small copy: a line of a printed page is about 12 high in it."""

REGION_LIMIT = 60
"""Regions of one picture."""

LEVEL_LIMIT = 4
"""How deep regions lie in one another."""

HEADING, GROUP = "heading", "region"

_DEPTH_LIMIT = 8
_LINE_SHARE = 60
_JOIN_GAP = 2
_FULL_SHARE = 0.97
_MIN_AREA = 40
_HEADING_RATIO = 1.25


@frozen
class Region:
    """A part of the picture, what it seems to be, how high its lines are, and its own parts in reading order.

    `kind` is `text_region`, `heading` (text in larger letters), `picture`, or `region` for what holds other parts.
    """

    box: Rectangle
    kind: str = GROUP
    line_height: float = 0.0
    parts: tuple[Region, ...] = ()

    def leaves(self) -> Iterator[Region]:
        """The innermost parts."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()


def find_regions(grey: Image) -> tuple[Region, ...]:
    """The parts of a small grey picture, in reading order; empty where nothing separates any, and for a photograph."""
    if is_photo(grey):
        return ()
    mask = detail_mask(grey)
    content = trim(mask, (0, 0, *mask.size))
    if content is None:
        return ()
    whole = _Cutter(grey, mask, median_value(pixel_changes(grey))).region(content, 0)
    whole = _limit_regions(_find_headings(whole))
    if whole.parts:
        return whole.parts
    share = area(content) / (grey.width * grey.height)
    return (whole,) if share < _FULL_SHARE or whole.kind == TEXT else ()


@frozen
class _Cutter:
    """Cuts one picture: `mask` is its detail."""

    grey: Image
    mask: Image
    noise: int

    def region(self, box: Rectangle, depth: int) -> Region:
        """What lies in `box`, which holds no empty margin."""
        pieces = self._split(box) if depth < _DEPTH_LIMIT else []
        parts = [self.region(each, depth + 1) for each in pieces]
        if len(parts) > 1:
            return self._group(box, parts)
        heights = line_heights(self.mask, box)
        return Region(box, classify_region(self.grey, self.mask, box, self.noise), typical_line_height(heights))

    def _group(self, box: Rectangle, parts: list[Region]) -> Region:
        """Parts that are cut in one direction are siblings; a drawing that falls to pieces is one picture."""
        flat = [each for part in parts for each in (part.parts if _same_direction(parts, part) else (part,))]
        leaves = [leaf for part in flat for leaf in part.leaves()]
        texts = sum(area(leaf.box) for leaf in leaves if leaf.kind == TEXT)
        small = max((area(leaf.box) for leaf in leaves if leaf.kind == PICTURE), default=0) < 0.5 * area(box)
        drawn = sum(1 for leaf in leaves if leaf.kind == PICTURE)
        if len(leaves) > 3 and small and 2 * drawn > len(leaves) and texts < 0.15 * area(box):
            return Region(box, PICTURE)
        return Region(box, GROUP, 0.0, tuple(flat))

    def _split(self, box: Rectangle) -> list[Rectangle]:
        """`box` cut along the direction with the clearer bands, each piece without its empty margins."""
        left, top, right, bottom = box
        columns, rows = profiles(self.mask, box)
        lines, letters = runs(rows, _JOIN_GAP), runs(columns, _JOIN_GAP)
        down = row_bands(lines, self._page_line_height)
        across = column_bands(letters, self._word_space(lines))
        if not down and not across:
            return []
        if widest_band(down) >= 1.5 * widest_band(across):
            cut = self._join_columns(
                [(left, top + start, right, top + end) for start, end in complement(len(rows), down)]
            )
        else:
            cut = [(left + start, top, left + end, bottom) for start, end in complement(len(columns), across)]
        found = [piece for each in cut if (piece := trim(self.mask, each)) is not None]
        return [piece for piece in found if area(piece) >= _MIN_AREA]

    def _join_columns(self, pieces: list[Rectangle]) -> list[Rectangle]:
        """Pieces one above the other that the same wide gutter parts are columns: they stay together."""
        found = [pieces[0]]
        for piece in pieces[1:]:
            above = found[-1]
            common = widest_common_band(self._gutters(above), self._gutters(piece))
            upper, lower = trim(self.mask, above), trim(self.mask, piece)
            gap = lower[1] - upper[3] if upper and lower else 0
            if 1.5 * common > gap:
                found[-1] = (above[0], above[1], above[2], piece[3])
            else:
                found.append(piece)
        return found if len(found) > 1 else pieces

    def _gutters(self, box: Rectangle) -> list[tuple[int, int]]:
        columns, rows = profiles(self.mask, box)
        return column_bands(runs(columns, _JOIN_GAP), self._word_space(runs(rows, _JOIN_GAP)))

    @property
    def _page_line_height(self) -> float:
        """The height of a line of a page that fills the picture."""
        return max(6.0, max(self.grey.size) / _LINE_SHARE)

    def _word_space(self, lines: Sequence[tuple[int, int]]) -> float:
        """What the space between two words in these rows stays below; it never lines up over many lines of text."""
        height = typical_line_height([end - start for start, end in lines]) if lines else self._page_line_height
        if height > 4 * self._page_line_height:
            return 0.6 * self._page_line_height
        return (0.9 if len(lines) > 2 else 1.5) * height


def _same_direction(parts: Sequence[Region], part: Region) -> bool:
    """Whether a part was cut in the direction in which it was cut out itself."""
    return len(part.parts) > 1 and _are_stacked(parts) == _are_stacked(part.parts)


def _are_stacked(parts: Sequence[Region]) -> bool:
    return parts[0].box[3] <= parts[1].box[1]


def _find_headings(region: Region) -> Region:
    """Text whose letters are clearly larger than those of most text in the picture is a heading."""
    texts = [leaf for leaf in region.leaves() if leaf.kind == TEXT and leaf.line_height]
    if len(texts) < 2:
        return region
    total = sum(area(leaf.box) for leaf in texts)
    passed = 0
    body = 0.0
    for leaf in sorted(texts, key=lambda each: each.line_height):
        passed, body = passed + area(leaf.box), leaf.line_height
        if 2 * passed >= total:
            break
    return _mark_headings(region, body)


def _mark_headings(region: Region, body: float) -> Region:
    if region.parts:
        return evolve(region, parts=tuple(_mark_headings(part, body) for part in region.parts))
    lines = (region.box[3] - region.box[1]) / region.line_height if region.line_height else 0
    large = region.kind == TEXT and region.line_height >= _HEADING_RATIO * body and lines <= 4
    return evolve(region, kind=HEADING) if large else region


def _limit_regions(region: Region) -> Region:
    """At most `LEVEL_LIMIT` levels and `REGION_LIMIT` regions: what lies deeper is left to its group."""
    for levels in range(LEVEL_LIMIT, 0, -1):
        cut = _limit_depth(region, levels)
        if _count(cut) <= REGION_LIMIT + 1:
            return cut
    return evolve(region, parts=tuple(sorted(region.parts, key=lambda part: -area(part.box))[:REGION_LIMIT]))


def _limit_depth(region: Region, levels: int) -> Region:
    if levels == 0 and region.parts:
        text = all(leaf.kind in (TEXT, HEADING) for leaf in region.leaves())
        return evolve(region, parts=(), kind=TEXT if text else GROUP)
    return evolve(region, parts=tuple(_limit_depth(part, levels - 1) for part in region.parts))


def _count(region: Region) -> int:
    return 1 + sum(map(_count, region.parts))


def area(box: Rectangle) -> int:
    """Pixels of a rectangle."""
    return (box[2] - box[0]) * (box[3] - box[1])
