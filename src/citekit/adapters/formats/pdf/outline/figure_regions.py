"""Finds the area of the picture that belongs to a caption, from the drawings near it."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.page_layout import Area, PageLayout, clusters, union

CAPTION_GAP = 60.0
"""The largest distance in points between a caption and its picture. Labels of parts may be between them."""

_STROKE_GAP = 8.0
"""The largest distance in points between strokes of one drawing."""

_PART_GAP = 28.0
"""The largest distance in points between parts of one figure."""

_PROSE_LENGTH = 40
"""The length from which a line is running text and not a label in a drawing."""


def figure_areas(captions: Sequence[Area], others: Sequence[Area], layout: PageLayout) -> list[Area | None]:
    """Return the area of each caption's picture, or None for a caption without a picture.

    `others` are captions of tables. All captions of a page are taken to be below their pictures, or all above,
    whichever finds more pictures. A caption that is still without a picture may then take an unused one from its other
    side or from its own row.
    """
    parts = [
        part for part in drawings(layout) if not any(part.contains_center_of(each) for each in (*captions, *others))
    ]
    ways = [
        [_picture_of(caption, captions, others, parts, layout, down) for caption in captions] for down in (False, True)
    ]
    best, second = sorted(ways, key=lambda way: sum(area is None for area in way))
    areas = list(best)
    for index, spare in enumerate(second):
        spare = spare if areas[index] is not None or spare is not None else _picture_in_row(captions[index], parts)
        if areas[index] is None and spare is not None and not any(each and each.touches(spare) for each in areas):
            areas[index] = spare
    return [area and _with_labels(area, caption, layout) for area, caption in zip(areas, captions, strict=True)]


def _picture_of(
    caption: Area,
    captions: Sequence[Area],
    others: Sequence[Area],
    parts: Sequence[Area],
    layout: PageLayout,
    down: bool,
) -> Area | None:
    barriers = [*others, *(each for each in captions if each is not caption), *_prose(layout, parts, caption)]
    return _collect_parts(caption, parts, barriers, down)


def _picture_in_row(caption: Area, parts: Sequence[Area]) -> Area | None:
    level = [part for part in parts if part.top < caption.bottom and caption.top < part.bottom]
    return min(level, key=lambda part: _gap(part, caption), default=None)


def drawings(layout: PageLayout) -> list[Area]:
    """Return the areas of drawings that are large enough to be pictures; strokes close to each other form one drawing."""
    strokes = [*layout.shapes, *(rule for rule in layout.rules if _is_stroke(rule, layout))]
    least = 0.002 * layout.width * layout.height
    joined = clusters(strokes, _STROKE_GAP)
    return [area for area in joined if area.width * area.height > least and min(area.width, area.height) > 14]


def _is_stroke(rule: Area, layout: PageLayout) -> bool:
    """Return whether a ruled line may be part of a drawing.

    A horizontal line across most of the page belongs to a header, table, or footnote instead.
    """
    return rule.width < 0.6 * layout.width or rule.height > rule.width


def _gap(part: Area, caption: Area) -> float:
    return max(part.left - caption.right, caption.left - part.right, 0.0)


def _prose(layout: PageLayout, parts: Sequence[Area], caption: Area) -> list[Area]:
    return [
        line_area
        for line_area, line in zip(layout.line_areas, layout.lines, strict=True)
        if len(line.text) >= _PROSE_LENGTH
        and not any(part.expanded(2).contains_center_of(line_area) for part in parts)
        and not caption.expanded(1).contains_center_of(line_area)
    ]


def _collect_parts(caption: Area, parts: Sequence[Area], barriers: Sequence[Area], down: bool) -> Area | None:
    """Return the union of the drawings on one side of the caption, collected outward until text is in the way.

    `down` selects the side below the caption. The result is None if there is no picture on that side.
    """
    ahead = [
        part
        for part in parts
        if _distance(caption, part, down) > -6 and caption.expanded(4).horizontal_overlap(part) > 0.25
    ]
    ahead.sort(key=lambda part: (_distance(caption, part, down), part.left))
    picture: Area | None = None
    for part in ahead:
        start = caption if picture is None else picture
        allowed = CAPTION_GAP if picture is None else _PART_GAP
        if max(_distance(start, part, down), 0) > allowed or _is_blocked(caption, part, barriers, down):
            continue
        picture = part if picture is None else union((picture, part))
    if picture is None:
        return None
    level = [part for part in parts if part.top < picture.bottom - 4 and picture.top < part.bottom - 4]
    near = [part for part in level if _gap(part, picture) < _PART_GAP and _distance(caption, part, down) > -6]
    return union((picture, *(part for part in near if not _is_blocked(caption, part, barriers, down))))


def _distance(start: Area, part: Area, down: bool) -> float:
    return part.top - start.bottom if down else start.top - part.bottom


def _is_blocked(caption: Area, part: Area, barriers: Sequence[Area], down: bool) -> bool:
    """Return whether one of the text areas `barriers` is between the caption and `part`."""
    low, high = (caption.bottom, part.top) if down else (part.bottom, caption.top)
    between = Area(max(caption.left, part.left), low + 0.5, min(caption.right, part.right), high - 0.5)
    if between.bottom <= between.top or between.right <= between.left:
        return False
    return any(
        between.top < (each.top + each.bottom) / 2 < between.bottom and each.horizontal_overlap(between) > 0
        for each in barriers
    )


def _with_labels(picture: Area, caption: Area, layout: PageLayout) -> Area:
    """Return the picture's area extended by short text lines at its edges, such as axis labels."""
    around = picture.expanded(12)
    labels = [
        line_area
        for line_area, line in zip(layout.line_areas, layout.lines, strict=True)
        if len(line.text) < _PROSE_LENGTH
        and around.contains_center_of(line_area)
        and not caption.expanded(1).contains_center_of(line_area)
    ]
    return union((picture, *labels))
