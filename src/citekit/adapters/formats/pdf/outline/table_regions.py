"""Where the table of a caption lies: between rules, in a frame, or in lines that stand in columns."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.page_layout import Area, PageLayout, union

NEAR = 45.0
"""Points between a caption and its table at most."""

_SAME = 4.0
"""Points by which the ends of two rules of one table may differ."""

_CELL = 40
"""Characters of a line beside a short caption that may be a cell; a longer one is the text of another column."""

_TALL = 0.7
"""The part of a page's height that two rules of one table may lie apart."""


def table_area(caption: Area, others: Sequence[Area], layout: PageLayout) -> Area | None:
    """The table below `caption`, else above it; None where neither rules nor columns show one.

    `others` are the other captions of the page, which a table never crosses.
    """
    for down in (True, False):
        found = _ruled(caption, others, layout, down) or _aligned(caption, others, layout, down)
        if found is not None:
            return found
    return None


def _distance(caption: Area, area: Area, down: bool) -> float:
    return area.top - caption.bottom if down else caption.top - area.bottom


def _ruled(caption: Area, others: Sequence[Area], layout: PageLayout, down: bool) -> Area | None:
    stop, around = _stop(caption, others, down), caption.grown(2)
    drawn = [
        area
        for area in (*layout.rules, *layout.shapes)
        if -2 <= _distance(caption, area, down) <= stop - area.height and around.beside(area) > 0.3
    ]
    drawn.sort(key=lambda area: (_distance(caption, area, down), area.left))
    if not drawn or _distance(caption, drawn[0], down) > NEAR:
        return None
    table = drawn[0]
    for area in drawn[1:]:
        if _belongs(table, area, layout):
            table = union((table, area))
    enough = table.height > 12 and table.width > 40
    return table if enough else None


def _stop(caption: Area, others: Sequence[Area], down: bool) -> float:
    """The distance to the next caption of the same column."""
    ahead = [_distance(caption, other, down) for other in others if caption.beside(other) > 0.3]
    return min((each for each in ahead if each > 0), default=1e9)


def _belongs(table: Area, area: Area, layout: PageLayout) -> bool:
    """Whether what is drawn is a part of the table: it touches it, or is as wide, with nothing but cells between."""
    apart = max(area.top - table.bottom, table.top - area.bottom, 0.0)
    if apart <= 6:
        return table.grown(6).meets(area)
    same = abs(area.left - table.left) <= _SAME and abs(area.right - table.right) <= _SAME
    return same and apart <= _TALL * layout.height and not _prose_between(table, area, layout)


def _prose_between(table: Area, area: Area, layout: PageLayout) -> bool:
    """Whether running text lies between: three lines or more that fill the whole width."""
    between = Area(table.left, min(table.bottom, area.bottom), table.right, max(table.top, area.top))
    wide = [
        place for place in layout.places if between.holds_middle_of(place) and place.width > 0.85 * max(table.width, 1)
    ]
    return len(wide) >= 3


def _aligned(caption: Area, others: Sequence[Area], layout: PageLayout, down: bool) -> Area | None:
    """Rows of two cells or more that follow one another next to the caption."""
    stop, edge = _stop(caption, others, down), 0.0
    cells: list[Area] = []
    count = 0
    for row in _rows(caption, layout, down):
        whole = union(row)
        distance = _distance(caption, whole, down)
        if distance - edge > (NEAR if not cells else 30) or distance + whole.height > stop or len(row) < 2:
            break
        cells += row
        count += 1
        edge = distance + whole.height
    return union(cells) if count >= 2 else None


def _rows(caption: Area, layout: PageLayout, down: bool) -> list[list[Area]]:
    """The lines beyond the caption that stand side by side, nearest first."""
    narrow = caption.width < 0.5 * layout.width
    beyond = [
        place
        for place, line in zip(layout.places, layout.lines, strict=True)
        if _distance(caption, place, down) > -1
        if caption.beside(place) > 0 or (narrow and len(line.text) <= _CELL)
    ]
    beyond.sort(key=lambda place: (_distance(caption, place, down), place.left))
    rows: list[list[Area]] = []
    for place in beyond:
        if rows and min(rows[-1][0].bottom, place.bottom) - max(rows[-1][0].top, place.top) > 0.5 * place.height:
            rows[-1].append(place)
        else:
            rows.append([place])
    return rows
