"""Finds the area of the figure or table that belongs to a caption, from the drawings and lines near it."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.captions import Caption
from citekit.adapters.formats.pdf.outline.page_layout import Area, PageLayout, clusters, union

_FIGURE_GAP = 60.0
"""The largest distance in points between a caption and its picture. Labels of parts may be between them."""

_STROKE_GAP = 8.0
"""The largest distance in points between strokes of one drawing."""

_PART_GAP = 28.0
"""The largest distance in points between parts of one figure."""

_PROSE_LENGTH = 40
"""The minimum number of characters of a line that is running text and not a label in a drawing."""

_TABLE_GAP = 45.0
"""The largest distance in points between a caption and its table."""

_ALIGNMENT = 4.0
"""The maximum distance in points between the left or the right ends of two rules of one table."""

_CELL_LENGTH = 40
"""The maximum number of characters of a cell next to a short caption; a longer line belongs to another column."""

_HEIGHT_SHARE = 0.7
"""The maximum distance between two rules of one table, as a share of the page's height."""


def bodies_of(captions: Sequence[Caption], areas: Sequence[Area], layout: PageLayout) -> list[Area | None]:
    """Return the area of the table or figure that belongs to each caption, or None if it is not found.

    `areas` are the areas of the captions themselves. Tables are searched for by ruled lines and columns, and then, like
    figures, by drawings.
    """
    found: list[Area | None] = [None] * len(captions)
    for at, caption in enumerate(captions):
        if caption.kind == "table":
            found[at] = _table_area(areas[at], [area for area in areas if area is not areas[at]], layout)
    rest = [at for at in range(len(captions)) if found[at] is None]
    others = [area for at, area in enumerate(areas) if at not in rest]
    for at, body in zip(rest, _figure_areas([areas[at] for at in rest], others, layout), strict=True):
        found[at] = body
    return found


def _figure_areas(captions: Sequence[Area], others: Sequence[Area], layout: PageLayout) -> list[Area | None]:
    """Return the area of each caption's picture, or None for a caption without a picture.

    `others` are captions of tables. All captions of a page are assumed to be below their pictures, or all above,
    whichever finds more pictures. Captions without a picture then get one on the other side or next to them.
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
    """Return the areas of drawings, joined from nearby strokes, that are large enough to be pictures."""
    strokes = [*layout.shapes, *(rule for rule in layout.rules if _is_stroke(rule, layout))]
    least = 0.002 * layout.width * layout.height
    joined = clusters(strokes, _STROKE_GAP)
    return [area for area in joined if area.width * area.height > least and min(area.width, area.height) > 14]


def _is_stroke(rule: Area, layout: PageLayout) -> bool:
    """Return whether a ruled line may be part of a drawing. A long horizontal line belongs to a header, table, or
    footnote.
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
    """Return the union of the drawings near the caption, below (`down`) or above it, that no text separates from it, or
    None.
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
        allowed = _FIGURE_GAP if picture is None else _PART_GAP
        if max(_distance(start, part, down), 0) > allowed or _is_blocked(caption, part, barriers, down):
            continue
        picture = part if picture is None else union((picture, part))
    if picture is None:
        return None
    level = [part for part in parts if part.top < picture.bottom - 4 and picture.top < part.bottom - 4]
    near = [part for part in level if _gap(part, picture) < _PART_GAP and _distance(caption, part, down) > -6]
    return union((picture, *(part for part in near if not _is_blocked(caption, part, barriers, down))))


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


def _table_area(caption: Area, others: Sequence[Area], layout: PageLayout) -> Area | None:
    """Return the area of the table below `caption`, or else above it, up to the nearest of `others`, the other
    captions; None if there are no ruled lines or columns.
    """
    for down in (True, False):
        found = _ruled_table(caption, others, layout, down) or _table_of_columns(caption, others, layout, down)
        if found is not None:
            return found
    return None


def _distance(caption: Area, area: Area, down: bool) -> float:
    return area.top - caption.bottom if down else caption.top - area.bottom


def _ruled_table(caption: Area, others: Sequence[Area], layout: PageLayout, down: bool) -> Area | None:
    stop, around = _distance_to_next_caption(caption, others, down), caption.expanded(2)
    drawn = [
        area
        for area in (*layout.rules, *layout.shapes)
        if -2 <= _distance(caption, area, down) <= stop - area.height and around.horizontal_overlap(area) > 0.3
    ]
    drawn.sort(key=lambda area: (_distance(caption, area, down), area.left))
    if not drawn or _distance(caption, drawn[0], down) > _TABLE_GAP:
        return None
    table = drawn[0]
    for area in drawn[1:]:
        if _is_part_of(table, area, layout):
            table = union((table, area))
    enough = table.height > 12 and table.width > 40
    return table if enough else None


def _distance_to_next_caption(caption: Area, others: Sequence[Area], down: bool) -> float:
    """Return the distance in points to the nearest other caption below (`down`) or above in the same column, or 1e9."""
    ahead = [_distance(caption, other, down) for other in others if caption.horizontal_overlap(other) > 0.3]
    return min((each for each in ahead if each > 0), default=1e9)


def _is_part_of(table: Area, area: Area, layout: PageLayout) -> bool:
    """Return whether the drawn `area` touches the table, or has the same left and right ends and no body text between."""
    apart = max(area.top - table.bottom, table.top - area.bottom, 0.0)
    if apart <= 6:
        return table.expanded(6).touches(area)
    same = abs(area.left - table.left) <= _ALIGNMENT and abs(area.right - table.right) <= _ALIGNMENT
    return same and apart <= _HEIGHT_SHARE * layout.height and not _prose_between(table, area, layout)


def _prose_between(table: Area, area: Area, layout: PageLayout) -> bool:
    """Return whether at least three lines between `table` and `area` are nearly as wide as the table."""
    between = Area(table.left, min(table.bottom, area.bottom), table.right, max(table.top, area.top))
    wide = [
        line_area
        for line_area in layout.line_areas
        if between.contains_center_of(line_area) and line_area.width > 0.85 * max(table.width, 1)
    ]
    return len(wide) >= 3


def _table_of_columns(caption: Area, others: Sequence[Area], layout: PageLayout, down: bool) -> Area | None:
    """Return the area of successive rows of at least two cells next to the caption, or None if there are fewer than two
    rows.
    """
    stop, edge = _distance_to_next_caption(caption, others, down), 0.0
    cells: list[Area] = []
    count = 0
    for row in _rows(caption, layout, down):
        whole = union(row)
        distance = _distance(caption, whole, down)
        if distance - edge > (_TABLE_GAP if not cells else 30) or distance + whole.height > stop or len(row) < 2:
            break
        cells += row
        count += 1
        edge = distance + whole.height
    return union(cells) if count >= 2 else None


def _rows(caption: Area, layout: PageLayout, down: bool) -> list[list[Area]]:
    """Return the lines below (`down`) or above the caption, grouped into rows, the nearest row first."""
    narrow = caption.width < 0.5 * layout.width
    beyond = [
        line_area
        for line_area, line in zip(layout.line_areas, layout.lines, strict=True)
        if _distance(caption, line_area, down) > -1
        if caption.horizontal_overlap(line_area) > 0 or (narrow and len(line.text) <= _CELL_LENGTH)
    ]
    beyond.sort(key=lambda line_area: (_distance(caption, line_area, down), line_area.left))
    rows: list[list[Area]] = []
    for line_area in beyond:
        if (
            rows
            and min(rows[-1][0].bottom, line_area.bottom) - max(rows[-1][0].top, line_area.top) > 0.5 * line_area.height
        ):
            rows[-1].append(line_area)
        else:
            rows.append([line_area])
    return rows
