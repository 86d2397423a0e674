"""Leaves out sections whose titles are only single lines of the heading before them."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.heading_location import Section, line_index_of
from citekit.adapters.formats.pdf.outline.pages import PageTexts, title_letters

HEADING_LINES = 6
"""The maximum number of lines of a heading."""


def without_parts(sections: Sequence[Section], texts: PageTexts) -> list[Section]:
    """Return the sections without those that are a line of the heading of the section before them.

    Tags may have a heading of three lines as one, and its lines, or the title of the slide, look like headings, too.
    """
    kept: list[Section] = []
    for section in sections:
        if not (kept and _is_part_of(section, kept[-1], texts)):
            kept.append(section)
    return kept


def _is_part_of(section: Section, whole: Section, texts: PageTexts) -> bool:
    own, wanted = title_letters(section.title), title_letters(whole.title)
    if section.page != whole.page or not own or own == wanted or own not in wanted:
        return False
    at = line_index_of(section, texts)
    if at is None:
        return False
    first = max(0, at - HEADING_LINES + 1)
    letters = [title_letters(line.text) for line in texts.lines(section.page)[first : at + HEADING_LINES]]
    return any(
        "".join(letters[start:end]) == wanted
        for start in range(at - first + 1)
        for end in range(at - first + 1, min(start + HEADING_LINES, len(letters)) + 1)
    )
