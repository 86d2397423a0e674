"""What a section is about, in its own words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from citekit.adapters.drivers.pdf_text import Line
from citekit.adapters.mapping.local.pdf.pages import PageTexts
from citekit.adapters.mapping.local.pdf.placing import Section, height_of, place_of
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
        self._found: dict[int, frozenset[int]] = {}
        for section in sections:
            self._titles.setdefault(section.page, []).append(section.title)

    def on(self, page: int) -> frozenset[int]:
        """Which lines of `page`, counted from 0, say the title of a section that begins there."""
        if page not in self._found:
            titles = self._titles.get(page, [])[:TITLES]
            self._found[page] = frozenset(at for title in titles for at in self._texts.saying(title, page))
        return self._found[page]


def summary_of(
    section: Section, following: Section | None, last: int, texts: PageTexts, headings: HeadingLines
) -> str | None:
    """The first sentence below the heading and before that of `following`, other headings left out."""
    below, own = _below(section, following, texts)[:READ], headings.on(section.page)
    lines = texts.lines(section.page)
    text = [lines[at] for at in below if at not in own]
    if len(below) < 4 and last > section.page:
        other = headings.on(section.page + 1)
        text += [line for at, line in enumerate(texts.lines(section.page + 1)[:READ]) if at not in other]
    return first_sentence(text)


def _below(section: Section, following: Section | None, texts: PageTexts) -> Sequence[int]:
    """The lines after the heading on its page, counted from 0, up to the heading of `following`.

    Their order is that of the file, which keeps columns apart, where the heading is found among them; else what stands
    lower on the page.
    """
    lines = texts.lines(section.page)
    here = place_of(section, texts)
    if following is None or following.page != section.page:
        stop, end = math.inf, len(lines)
    else:
        found = place_of(following, texts)
        stop, end = height_of(following, texts), len(lines) if found is None else found
    if here is not None and end > here:
        return range(here + 1, end)
    start = height_of(section, texts)
    return [at for at, line in enumerate(lines) if _between(line, start, stop)]


def _between(line: Line, start: float, stop: float) -> bool:
    below = not math.isfinite(start) or line.bottom > start + 2
    return below and (not math.isfinite(stop) or stop <= start or line.top < stop - 2)
