"""Leaves out the lines of printed contents that bookmarks, tags, or their look present as sections."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from citekit.adapters.formats.pdf.outline.heading_location import Section, line_index_of
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import font_of
from citekit.adapters.formats.pdf.outline.toc import title_key

MIN_TITLES = 4
"""The minimum number of titles on one page that return later if the titles are a list of contents."""

OTHERS = 0.25
"""The largest share of the titles of a list that do not return, such as `Conclusion` if the section is called
`Conclusions`.

It is also the largest number of other lines among the titles, as a share of the number of titles.
"""


_PAGE = re.compile(r"[\s.\u2026]+\d{1,4}$")


def without_contents_lists(sections: Sequence[Section], texts: PageTexts) -> Sequence[Section]:
    """Return the sections without those of lists of contents: sections of one page, without text between them, whose
    titles return later in the same order.

    Such a list has no links, and no page numbers apart from its titles, so that it is not read as a table of contents.
    """
    keys = [(title_key(section.title), title_key(_PAGE.sub("", section.title))) for section in sections]
    places: dict[str, list[int]] = defaultdict(list)
    for at, (key, _) in enumerate(keys):
        places[key].append(at)
    kept: list[Section] = []
    at = 0
    while at < len(sections):
        end, returning = _run_from(at, sections, keys, places)
        listed = sections[at:end]
        if returning >= max(MIN_TITLES, (1 - OTHERS) * len(listed)) and _has_no_text(listed, texts, places):
            at = end
        kept += sections[at:end]
        at = end
    return kept


def _run_from(
    start: int, sections: Sequence[Section], keys: Sequence[tuple[str, str]], places: Mapping[str, Sequence[int]]
) -> tuple[int, int]:
    """Return the index after the longest run of sections from `start`, and how many of their titles return later in
    order.

    The run stays on one page, and ends before its first title returns. Between two titles that return, at most one does
    not. If the first title does not return, the run is this section, and the number is 0. `keys` are those of each
    title with and without a page number at its end.
    """
    first = last = _next_place(places, keys[start], start)
    end, returning = start + 1, 1
    if first is None:
        return end, 0
    for at in range(start + 1, min(first, len(sections))):
        if sections[at].page != sections[start].page or at > end + 1:
            break
        place = _next_place(places, keys[at], max(at, last or at))
        if place is not None:
            last, end, returning = place, at + 1, returning + 1
    return end, returning


def _next_place(places: Mapping[str, Sequence[int]], keys: tuple[str, str], after: int) -> int | None:
    found = [own[at] for key in keys if (at := bisect_right(own := places.get(key, ()), after)) < len(own)]
    return min(found, default=None)


def _has_no_text(listed: Sequence[Section], texts: PageTexts, titles: Container[str]) -> bool:
    """Return whether nearly all lines from the first to the last title are among the keys of `titles`.

    As many other lines as titles are allowed in the fonts of titles, such as the names of authors.
    """
    lines = texts.lines(listed[0].page)
    found = [at for section in listed if (at := line_index_of(section, texts)) is not None]
    if len(found) < (1 - OTHERS) * len(listed):
        return False
    own = {at for section in listed for at in texts.lines_matching(section.title, section.page)}
    shown = [at for at in range(min(found), max(found) + 1) if any(map(str.isalpha, lines[at].text))]
    own.update(at for at in shown if title_key(lines[at].text) in titles)
    between = [lines[at] for at in shown if at not in own]
    fonts = {font_of(lines[at]) for at in own.intersection(shown)}
    alike = len(between) <= len(listed) and all(font_of(line) in fonts for line in between)
    return alike or len(between) <= OTHERS * len(listed)
