"""Finds the regions of an image, which are separated by bands without detail.

The method is a recursive X-Y cut (Nagy and Seth, 1984) of a small grayscale copy. The lines of text nearby decide which
bands count: a band higher than the usual line spacing separates paragraphs, and a band wider than a few letters
separates columns.
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
"""The minimum height, in pixels, of a band between regions. A band between columns is at least twice as wide."""

WORKING_SIZE = 1000
"""The longer side of the small copy in pixels. A line of a printed page is about 12 pixels high in it."""

REGION_LIMIT = 60
"""The maximum number of regions in one picture."""

LEVEL_LIMIT = 4
"""The maximum number of levels of nested regions."""

HEADING, GROUP = "heading", "region"
_DEPTH_LIMIT = 8
_LINE_SHARE = 60
_JOIN_GAP = 2
_FULL_SHARE = 0.97
_MIN_AREA = 40
_HEADING_RATIO = 1.25


def row_bands(lines: Sequence[tuple[int, int]], page_line_height: float) -> list[tuple[int, int]]:
    """Return the bands between rows that separate regions, not only lines.

    `lines` contains the top and bottom of each row of detail, and `page_line_height` is the usual height of a text
    line. All values are in pixels. Evenly spaced rows look like one list, so no band separates them.
    """
    pairs = list(pairwise(lines))
    heights = [end - start for start, end in lines]
    if _is_evenly_spaced(heights, [two[0] - one[1] for one, two in pairs]):
        return []
    pitches = sorted(two[0] - one[0] for one, two in pairs)
    pitch = pitches[len(pitches) // 4] if len(pitches) >= 3 else None
    return [(one[1], two[0]) for one, two in pairs if _separates(one, two, pitch, page_line_height)]


def _is_evenly_spaced(heights: Sequence[int], widths: Sequence[int]) -> bool:
    """Return whether rows look like the lines of one list. `widths` are the heights of the gaps between them."""
    if len(heights) < 3:
        return False
    alike = max(heights) <= 1.7 * min(heights) and max(widths) <= 1.5 * min(widths) + 2
    return alike and max(widths) <= 2 * median_low(heights)


def _separates(one: tuple[int, int], two: tuple[int, int], pitch: int | None, page_line_height: float) -> bool:
    """Return whether the band between two rows is larger than line spacing.

    `pitch` is the usual distance between the tops of lines, or None if it is unknown.
    """
    gap = two[0] - one[1]
    low, high = sorted((one[1] - one[0], two[1] - two[0]))
    if gap < _MIN_GAP:
        return False
    if gap >= 1.3 * min(high, 2 * page_line_height):
        return True
    if pitch is None:
        return gap >= (0.5 if high >= max(1.9 * low, page_line_height) else 0.9) * low
    return two[0] - one[0] >= 1.3 * pitch and gap >= 0.45 * low


def column_bands(letters: Sequence[tuple[int, int]], word_space: float) -> list[tuple[int, int]]:
    """Return the bands between columns: the gaps between `letters` of at least `word_space` and at least 6 pixels."""
    gaps = [(one[1], two[0]) for one, two in pairwise(letters)]
    min_width = max(2 * _MIN_GAP, word_space)
    return [(start, end) for start, end in gaps if end - start >= min_width]


def widest_common_band(one: Sequence[tuple[int, int]], two: Sequence[tuple[int, int]]) -> int:
    """Return the width of the widest overlap between a band in `one` and a band in `two`; 0 or less if no bands
    overlap.
    """
    widths = (min(a[1], b[1]) - max(a[0], b[0]) for a in one for b in two)
    return max(widths, default=0)


def widest_band(bands: Sequence[tuple[int, int]]) -> int:
    """Return the width of the widest band, or 0 if there is none."""
    return max((end - start for start, end in bands), default=0)


def complement(length: int, bands: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges from 0 to `length` that no band covers."""
    edges = [0, *(edge for band in bands for edge in band), length]
    return [(edges[number], edges[number + 1]) for number in range(0, len(edges), 2)]


@frozen
class Region:
    """A region of an image, with subregions (`parts`) in reading order. `line_height` is the height of its text lines
    in pixels.

    `kind` is `text_region`, `heading` (text in larger letters), `picture`, or `region` for a group.
    """

    box: Rectangle
    kind: str = GROUP
    line_height: float = 0.0
    parts: tuple[Region, ...] = ()

    def leaves(self) -> Iterator[Region]:
        """Yield the innermost regions, which have no subregions. This may be the region itself."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()


def find_regions(gray: Image) -> tuple[Region, ...]:
    """Return the regions of the small grayscale image `gray` in reading order.

    A photograph, an image without detail, and a single picture that fills the image have none.
    """
    if is_photo(gray):
        return ()
    mask = detail_mask(gray)
    content = trim(mask, (0, 0, *mask.size))
    if content is None:
        return ()
    whole = _Cutter(gray, mask, median_value(pixel_changes(gray))).region(content, 0)
    whole = _limit_regions(_find_headings(whole))
    if whole.parts:
        return whole.parts
    share = area(content) / (gray.width * gray.height)
    return (whole,) if share < _FULL_SHARE or whole.kind == TEXT else ()


@frozen
class _Cutter:
    """Divides a grayscale image into regions. `mask` is its detail, and `noise` its grain."""

    gray: Image
    mask: Image
    noise: int

    def region(self, box: Rectangle, depth: int) -> Region:
        """Return the region in `box`, which has no empty margins, with its subregions."""
        pieces = self._split(box) if depth < _DEPTH_LIMIT else []
        parts = [self.region(each, depth + 1) for each in pieces]
        if len(parts) > 1:
            return self._group(box, parts)
        heights = line_heights(self.mask, box)
        return Region(box, classify_region(self.gray, self.mask, box, self.noise), typical_line_height(heights))

    def _group(self, box: Rectangle, parts: list[Region]) -> Region:
        """Combine regions into a group, or into one picture if a drawing was cut into many small regions."""
        flat = [each for part in parts for each in (part.parts if _same_direction(parts, part) else (part,))]
        leaves = [leaf for part in flat for leaf in part.leaves()]
        texts = sum(area(leaf.box) for leaf in leaves if leaf.kind == TEXT)
        small = max((area(leaf.box) for leaf in leaves if leaf.kind == PICTURE), default=0) < 0.5 * area(box)
        drawn = sum(1 for leaf in leaves if leaf.kind == PICTURE)
        if len(leaves) > 3 and small and 2 * drawn > len(leaves) and texts < 0.15 * area(box):
            return Region(box, PICTURE)
        return Region(box, GROUP, 0.0, tuple(flat))

    def _split(self, box: Rectangle) -> list[Rectangle]:
        """Cut `box` along rows or columns, whichever has the clearer bands, and trim the pieces."""
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
        """Join stacked pieces that the same wide vertical gap divides, because the gap separates columns."""
        joined = [pieces[0]]
        for piece in pieces[1:]:
            above = joined[-1]
            gutter = widest_common_band(self._gutters(above), self._gutters(piece))
            upper, lower = trim(self.mask, above), trim(self.mask, piece)
            gap = lower[1] - upper[3] if upper and lower else 0
            if 1.5 * gutter > gap:
                joined[-1] = (above[0], above[1], above[2], piece[3])
            else:
                joined.append(piece)
        return joined if len(joined) > 1 else pieces

    def _gutters(self, box: Rectangle) -> list[tuple[int, int]]:
        columns, rows = profiles(self.mask, box)
        return column_bands(runs(columns, _JOIN_GAP), self._word_space(runs(rows, _JOIN_GAP)))

    @property
    def _page_line_height(self) -> float:
        """The usual height of a text line in pixels, if a single page fills the image."""
        return max(6.0, max(self.gray.size) / _LINE_SHARE)

    def _word_space(self, lines: Sequence[tuple[int, int]]) -> float:
        """Return the largest space between words that is likely in these rows, in pixels.

        Spaces rarely line up over many lines of text.
        """
        height = typical_line_height([end - start for start, end in lines]) if lines else self._page_line_height
        if height > 4 * self._page_line_height:
            return 0.6 * self._page_line_height
        return (0.9 if len(lines) > 2 else 1.5) * height


def _same_direction(parts: Sequence[Region], part: Region) -> bool:
    """Return whether `part` was cut in the same direction as its parent, whose parts are `parts`."""
    return len(part.parts) > 1 and _are_stacked(parts) == _are_stacked(part.parts)


def _are_stacked(parts: Sequence[Region]) -> bool:
    return parts[0].box[3] <= parts[1].box[1]


def _find_headings(region: Region) -> Region:
    """Return the region with subregions marked as headings if their letters are clearly larger than most text."""
    texts = [leaf for leaf in region.leaves() if leaf.kind == TEXT and leaf.line_height]
    if len(texts) < 2:
        return region
    total = sum(area(leaf.box) for leaf in texts)
    cumulative = 0
    body = 0.0
    for leaf in sorted(texts, key=lambda each: each.line_height):
        cumulative, body = cumulative + area(leaf.box), leaf.line_height
        if 2 * cumulative >= total:
            break
    return _mark_headings(region, body)


def _mark_headings(region: Region, body: float) -> Region:
    if region.parts:
        return evolve(region, parts=tuple(_mark_headings(part, body) for part in region.parts))
    lines = (region.box[3] - region.box[1]) / region.line_height if region.line_height else 0
    large = region.kind == TEXT and region.line_height >= _HEADING_RATIO * body and lines <= 4
    return evolve(region, kind=HEADING) if large else region


def _limit_regions(region: Region) -> Region:
    """Return the region with at most `LEVEL_LIMIT` levels and `REGION_LIMIT` subregions.

    Deeper levels are removed first, and then the smallest subregions.
    """
    for levels in range(LEVEL_LIMIT, 0, -1):
        limited = _limit_depth(region, levels)
        if _count(limited) <= REGION_LIMIT + 1:
            return limited
    largest = sorted(limited.parts, key=lambda part: -area(part.box))[:REGION_LIMIT]
    return evolve(limited, parts=tuple(part for part in limited.parts if part in largest))


def _limit_depth(region: Region, levels: int) -> Region:
    if levels == 0 and region.parts:
        text = all(leaf.kind in (TEXT, HEADING) for leaf in region.leaves())
        return evolve(region, parts=(), kind=TEXT if text else GROUP)
    return evolve(region, parts=tuple(_limit_depth(part, levels - 1) for part in region.parts))


def _count(region: Region) -> int:
    return 1 + sum(map(_count, region.parts))


def area(box: Rectangle) -> int:
    """Return the number of pixels in a rectangle."""
    return (box[2] - box[0]) * (box[3] - box[1])
