"""Where a heading stands on its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from attrs import frozen

from citekit.adapters.drivers.pdf_text import Line
from citekit.adapters.mapping.local.pdf.pages import PageTexts


@frozen
class Section:
    """A heading on `page` (from 1); `y` is where it stands, in points from the top, NaN where that is not known."""

    level: int
    title: str
    page: int
    y: float = math.nan


def begins_page(section: Section, texts: PageTexts) -> bool:
    """Whether nothing but headers stands above the heading; true where the heading is not found on its page."""
    lines = texts.lines(section.page)
    y = height_of(section, lines, texts)
    if not math.isfinite(y):
        return True
    return not any(line.bottom <= y + 2 and not says(section.title, line) for line in lines)


def height_of(section: Section, lines: Sequence[Line], texts: PageTexts) -> float:
    """The top of the heading in points, NaN where it is neither said nor found among `lines`, those of its page."""
    if is_placed(section, texts):
        return section.y
    return next((line.top for line in lines if says(section.title, line)), math.nan)


def is_placed(section: Section, texts: PageTexts) -> bool:
    """Whether the file says where on its page the heading stands."""
    return math.isfinite(section.y) and not texts.is_turned(section.page)


def says(title: str, line: Line) -> bool:
    """Whether `line` is the heading `title`, or a line of it; numbers and punctuation are left out."""
    wanted, found = _letters(title), _letters(line.text)
    return bool(found) and (
        found == wanted or (len(found) >= 4 and wanted.startswith(found)) or (len(found) >= 8 and found in wanted)
    )


@lru_cache(maxsize=50_000)
def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalpha())


def place_of(section: Section, lines: Sequence[Line], texts: PageTexts) -> int | None:
    """Where the heading stands among the lines of its page: of several that read like it, the nearest to its place."""
    found = [place for place, line in enumerate(lines) if says(section.title, line)]
    if not found or not is_placed(section, texts):
        return found[0] if found else None
    return min(found, key=lambda place: abs(lines[place].top - section.y))
