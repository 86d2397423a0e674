"""Sections of a PDF, and functions that locate their headings on a page."""

from __future__ import annotations

import math

from attrs import frozen

from citekit.adapters.formats.pdf.outline.pages import PageTexts


@frozen
class Section:
    """A section heading: its level, its title, its 1-based page, and its distance `y` from the top of the page.

    `y` is in points, or NaN if unknown.
    """

    level: int
    title: str
    page: int
    y: float = math.nan

    @property
    def position(self) -> tuple[int, float]:
        """The sort key of the section in the document. Without a known `y`, it is at the top of its page."""
        return self.page, self.y if math.isfinite(self.y) else 0.0


def begins_page(section: Section, texts: PageTexts) -> bool:
    """Return whether no body text is above the section's heading on its page; True if the heading is not found."""
    y = top_of(section, texts)
    if not math.isfinite(y):
        return True
    own, lines = texts.lines_matching(section.title, section.page), texts.lines(section.page)
    others = [line for at, line in enumerate(lines) if at not in own]
    if own and not lines[own[0]].upright:
        return not any(line.left >= lines[own[0]].right - 2 for line in others if not line.upright)
    return not any(line.bottom <= y + 2 for line in others)


def top_of(section: Section, texts: PageTexts) -> float:
    """Return the distance of the section's heading from the top of its page in points, or NaN if it is not found."""
    if has_position(section, texts):
        return section.y
    found = texts.lines_matching(section.title, section.page)
    return texts.lines(section.page)[found[0]].top if found else math.nan


def has_position(section: Section, texts: PageTexts) -> bool:
    """Return whether the section has a known `y` on a page that is not rotated."""
    return math.isfinite(section.y) and not texts.is_rotated(section.page)


def line_index_of(section: Section, texts: PageTexts) -> int | None:
    """Return the index of the section's heading among the lines of its page, or None if it is not found.

    Of several matching lines, the one nearest to the section's position is chosen, or the first if that is unknown.
    """
    found = texts.lines_matching(section.title, section.page)
    if not found or not has_position(section, texts):
        return found[0] if found else None
    lines = texts.lines(section.page)
    return min(found, key=lambda index: abs(lines[index].top - section.y))
