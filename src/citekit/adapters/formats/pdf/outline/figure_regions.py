"""Where the picture of a caption lies: what is drawn above it, else below it."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.page_layout import Area, PageLayout, clusters, union

NEAR = 60.0
"""Points between a caption and its picture at most; the labels of parts may stand there."""

_JOIN = 8.0
"""Points between the strokes of one drawing at most."""

_PARTS = 28.0
"""Points between the parts of one figure at most."""

_PROSE = 40
"""Characters from which on a line is running text, not a label in a drawing."""


def figure_areas(captions: Sequence[Area], others: Sequence[Area], layout: PageLayout) -> list[Area | None]:
    """For each of `captions` its picture, or None where nothing is drawn next to it; `others` are those of tables.

    All captions of a page stand below their pictures, or all above, whichever fits more of them; what is then without a
    picture may have one on the other side that nobody else has, or beside it.
    """
    parts = [part for part in drawings(layout) if not any(part.holds_middle_of(each) for each in (*captions, *others))]
    ways = [[_found(caption, captions, others, parts, layout, down) for caption in captions] for down in (False, True)]
    best, second = sorted(ways, key=lambda way: sum(area is None for area in way))
    areas = list(best)
    for place, spare in enumerate(second):
        spare = spare if areas[place] is not None or spare is not None else _beside(captions[place], parts)
        if areas[place] is None and spare is not None and not any(each and each.meets(spare) for each in areas):
            areas[place] = spare
    return [area and _with_labels(area, caption, layout) for area, caption in zip(areas, captions, strict=True)]


def _found(
    caption: Area,
    captions: Sequence[Area],
    others: Sequence[Area],
    parts: Sequence[Area],
    layout: PageLayout,
    down: bool,
) -> Area | None:
    barriers = [*others, *(each for each in captions if each is not caption), *_prose(layout, parts, caption)]
    return _grown_from(caption, parts, barriers, down)


def _beside(caption: Area, parts: Sequence[Area]) -> Area | None:
    level = [part for part in parts if part.top < caption.bottom and caption.top < part.bottom]
    return min(level, key=lambda part: _gap(part, caption), default=None)


def drawings(layout: PageLayout) -> list[Area]:
    """What is drawn on a page as far as it is large enough to be a picture, strokes close to one another joined."""
    strokes = [*layout.shapes, *(rule for rule in layout.rules if _is_stroke(rule, layout))]
    least = 0.002 * layout.width * layout.height
    joined = clusters(strokes, _JOIN)
    return [area for area in joined if area.width * area.height > least and min(area.width, area.height) > 14]


def _is_stroke(rule: Area, layout: PageLayout) -> bool:
    """Whether a thin line may be part of a drawing; one across the text is the rule of a header, table or footnote."""
    return rule.width < 0.6 * layout.width or rule.height > rule.width


def _gap(part: Area, caption: Area) -> float:
    return max(part.left - caption.right, caption.left - part.right, 0.0)


def _prose(layout: PageLayout, parts: Sequence[Area], caption: Area) -> list[Area]:
    return [
        place
        for place, line in zip(layout.places, layout.lines, strict=True)
        if len(line.text) >= _PROSE
        and not any(part.grown(2).holds_middle_of(place) for part in parts)
        and not caption.grown(1).holds_middle_of(place)
    ]


def _grown_from(caption: Area, parts: Sequence[Area], barriers: Sequence[Area], down: bool) -> Area | None:
    """The parts on one side of the caption, the nearest first, up to the next text."""
    ahead = [part for part in parts if _distance(caption, part, down) > -6 and caption.grown(4).beside(part) > 0.25]
    ahead.sort(key=lambda part: (_distance(caption, part, down), part.left))
    picture: Area | None = None
    for part in ahead:
        start = caption if picture is None else picture
        allowed = NEAR if picture is None else _PARTS
        if max(_distance(start, part, down), 0) > allowed or _crosses(caption, part, barriers, down):
            continue
        picture = part if picture is None else union((picture, part))
    if picture is None:
        return None
    level = [part for part in parts if part.top < picture.bottom - 4 and picture.top < part.bottom - 4]
    near = [part for part in level if _gap(part, picture) < _PARTS and _distance(caption, part, down) > -6]
    return union((picture, *(part for part in near if not _crosses(caption, part, barriers, down))))


def _distance(start: Area, part: Area, down: bool) -> float:
    return part.top - start.bottom if down else start.top - part.bottom


def _crosses(caption: Area, part: Area, barriers: Sequence[Area], down: bool) -> bool:
    """Whether text stands between the caption and the part."""
    low, high = (caption.bottom, part.top) if down else (part.bottom, caption.top)
    between = Area(max(caption.left, part.left), low + 0.5, min(caption.right, part.right), high - 0.5)
    if between.bottom <= between.top or between.right <= between.left:
        return False
    return any(
        between.top < (each.top + each.bottom) / 2 < between.bottom and each.beside(between) > 0 for each in barriers
    )


def _with_labels(picture: Area, caption: Area, layout: PageLayout) -> Area:
    """The picture with the short lines at its edges: the labels of axes and parts."""
    around = picture.grown(12)
    labels = [
        place
        for place, line in zip(layout.places, layout.lines, strict=True)
        if len(line.text) < _PROSE and around.holds_middle_of(place) and not caption.grown(1).holds_middle_of(place)
    ]
    return union((picture, *labels))
