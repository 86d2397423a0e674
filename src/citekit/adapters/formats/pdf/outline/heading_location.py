"""Where a heading stands on its page."""

from __future__ import annotations

import math

from attrs import frozen

from citekit.adapters.formats.pdf.outline.pages import PageTexts


@frozen
class Section:
    """A heading on `page` (from 1); `y` is where it stands, in points from the top, NaN where that is not known."""

    level: int
    title: str
    page: int
    y: float = math.nan


def begins_page(section: Section, texts: PageTexts) -> bool:
    """Whether nothing but headers stands above the heading; true where the heading is not found on its page."""
    y = height_of(section, texts)
    if not math.isfinite(y):
        return True
    own, lines = texts.saying(section.title, section.page), texts.lines(section.page)
    others = [line for at, line in enumerate(lines) if at not in own]
    if own and not lines[own[0]].upright:
        return not any(line.left >= lines[own[0]].right - 2 for line in others if not line.upright)
    return not any(line.bottom <= y + 2 for line in others)


def height_of(section: Section, texts: PageTexts) -> float:
    """The top of the heading in points, NaN where it is neither said nor found among the lines of its page."""
    if is_placed(section, texts):
        return section.y
    found = texts.saying(section.title, section.page)
    return texts.lines(section.page)[found[0]].top if found else math.nan


def is_placed(section: Section, texts: PageTexts) -> bool:
    """Whether the file says where on its page the heading stands."""
    return math.isfinite(section.y) and not texts.is_turned(section.page)


def place_of(section: Section, texts: PageTexts) -> int | None:
    """Where the heading stands among the lines of its page: of several that read like it, the nearest to its place."""
    found = texts.saying(section.title, section.page)
    if not found or not is_placed(section, texts):
        return found[0] if found else None
    lines = texts.lines(section.page)
    return min(found, key=lambda place: abs(lines[place].top - section.y))
