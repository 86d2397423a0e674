"""What a section is about, in its own words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from citekit.adapters.drivers.pdf_text import Line
from citekit.adapters.mapping.local.pdf.lines import Typed
from citekit.adapters.mapping.local.pdf.pages import PageTexts
from citekit.adapters.mapping.local.pdf.placing import Section, height_of, place_of, says
from citekit.adapters.mapping.local.pdf.sentences import first_sentence

READ = 120
"""Lines that are searched for a summary."""


TITLES = 40
"""Headings of one page that are looked for among its lines."""


class HeadingLines:
    """Which lines of a page are headings, found once a page."""

    def __init__(self, sections: Sequence[Section], texts: PageTexts) -> None:
        self._texts = texts
        self._titles: dict[int, list[str]] = {}
        self._found: dict[int, frozenset[Line]] = {}
        for section in sections:
            self._titles.setdefault(section.page, []).append(section.title)

    def on(self, page: int) -> frozenset[Line]:
        """The lines of `page` that say the title of a section that begins there."""
        if page not in self._found:
            titles = self._titles.get(page, [])[:TITLES]
            lines = self._texts.lines(page) if titles else ()
            self._found[page] = frozenset(line for line in lines if any(says(title, line) for title in titles))
        return self._found[page]


def summary_of(
    section: Section, following: Section | None, last: int, texts: PageTexts, headings: HeadingLines
) -> str | None:
    """The first sentence below the heading and before that of `following`, other headings left out."""
    text = _below(section, following, texts)
    known = headings.on(section.page)
    if len(text) < 4 and last > section.page:
        text += texts.lines(section.page + 1)
        known |= headings.on(section.page + 1)
    return first_sentence([line for line in text[:READ] if line not in known])


def _below(section: Section, following: Section | None, texts: PageTexts) -> list[Typed]:
    """The lines after the heading on its page, up to the heading of `following`.

    Their order is that of the file, which keeps columns apart, where the heading is found among them; else what stands
    lower on the page.
    """
    lines = texts.lines(section.page)
    here = place_of(section, lines, texts)
    if following is None or following.page != section.page:
        stop, end = math.inf, None
    else:
        stop, end = height_of(following, lines, texts), place_of(following, lines, texts)
    if here is not None and (end is None or end > here):
        return lines[here + 1 : end]
    return [line for line in lines if _between(line, height_of(section, lines, texts), stop)]


def _between(line: Line, start: float, stop: float) -> bool:
    below = not math.isfinite(start) or line.bottom > start + 2
    return below and (not math.isfinite(stop) or stop <= start or line.top < stop - 2)
