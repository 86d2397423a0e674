"""Finds the table that belongs to a caption: between ruled lines, in a frame, or as text lines in columns."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.page_layout import Area, PageLayout, union

CAPTION_GAP = 45.0
"""The largest distance in points between a caption and its table."""

_ALIGNMENT = 4.0
"""The number of points by which the ends of two rules of one table may differ."""

_CELL_LENGTH = 40
"""The longest line next to a short caption that may be a cell; a longer one is the text of another column."""

_HEIGHT_SHARE = 0.7
"""The share of a page's height that two rules of one table may be apart."""


def table_area(caption: Area, others: Sequence[Area], layout: PageLayout) -> Area | None:
    """Return the area of the table below `caption`, or else above it; None if no ruled lines or columns show a table.

    The area never extends across `others`, the other captions of the page.
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
    if not drawn or _distance(caption, drawn[0], down) > CAPTION_GAP:
        return None
    table = drawn[0]
    for area in drawn[1:]:
        if _is_part_of(table, area, layout):
            table = union((table, area))
    enough = table.height > 12 and table.width > 40
    return table if enough else None


def _distance_to_next_caption(caption: Area, others: Sequence[Area], down: bool) -> float:
    """Return the distance in points to the nearest other caption in the same column, below (`down`) or above."""
    ahead = [_distance(caption, other, down) for other in others if caption.horizontal_overlap(other) > 0.3]
    return min((each for each in ahead if each > 0), default=1e9)


def _is_part_of(table: Area, area: Area, layout: PageLayout) -> bool:
    """Return whether the drawn `area` is part of the table.

    It is if it touches the table, or if it has the same edges and is nearby with only cells between.
    """
    apart = max(area.top - table.bottom, table.top - area.bottom, 0.0)
    if apart <= 6:
        return table.expanded(6).touches(area)
    same = abs(area.left - table.left) <= _ALIGNMENT and abs(area.right - table.right) <= _ALIGNMENT
    return same and apart <= _HEIGHT_SHARE * layout.height and not _prose_between(table, area, layout)


def _prose_between(table: Area, area: Area, layout: PageLayout) -> bool:
    """Return whether three or more lines between `table` and `area` are as wide as the table, as body text is."""
    between = Area(table.left, min(table.bottom, area.bottom), table.right, max(table.top, area.top))
    wide = [
        line_area
        for line_area in layout.line_areas
        if between.contains_center_of(line_area) and line_area.width > 0.85 * max(table.width, 1)
    ]
    return len(wide) >= 3


def _table_of_columns(caption: Area, others: Sequence[Area], layout: PageLayout, down: bool) -> Area | None:
    """Return the area of at least two successive rows next to the caption, each with at least two cells, or None."""
    stop, edge = _distance_to_next_caption(caption, others, down), 0.0
    cells: list[Area] = []
    count = 0
    for row in _rows(caption, layout, down):
        whole = union(row)
        distance = _distance(caption, whole, down)
        if distance - edge > (CAPTION_GAP if not cells else 30) or distance + whole.height > stop or len(row) < 2:
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
